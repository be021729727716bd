/**
 * Decides when a request may be sent. At most `requestsPerSecond` requests are sent in any second. At most
 * `concurrency` requests are in flight. After `createsPerPoll` requests that create tasks, a waiting poll is sent.
 * After a 429 or 503, both limits are halved. They rise again as requests succeed. All requests obey `Retry-After` and
 * quotas. A request that would wait longer than `patience` fails. (Effect's `RateLimiter` would send all requests of a
 * second at once.)
 */
/* oxlint-disable max-lines -- rate, concurrency, pauses, quotas, and slots decide together when the next request is sent */
import { Deferred, Duration, Effect, Latch, Option } from "effect"
import * as SteadyClock from "../../io/SteadyClock.ts"
import type { Quota } from "../../api/RateLimit.ts"
import * as Metrics from "../../telemetry/Metrics.ts"
import { count } from "../../io/Values.ts"
import { instant } from "./AnnotationClientError.ts"
import type { RequestBudget } from "./RequestBudget.ts"

export type Kind = "create" | "poll"

export interface Permit {
  /** How often the rate had been halved when the request was sent. */
  readonly halvings: number
  readonly ordinal: number
}

/** The right to send one request. The request counts as in flight until the turn is given back. */
export interface Turn {
  readonly permit: Permit
  readonly giveBack: Effect.Effect<void>
}

export type Throttle<E> = Effect.Success<ReturnType<typeof make<E>>>

interface Waiter<E> {
  readonly granted: Deferred.Deferred<Permit, E>
  hasTurn: boolean
}

/** If requests are sent late, the next ones follow faster, to make up for at most this many milliseconds. */
const catchUp = 100
const takeAhead = 50
const maxSlotDelay = 40
/** Assumed maximum time for a request to reach the service, in milliseconds, with a new connection. */
const maxLateness = 150
/** Milliseconds added to the rate limit's window, because requests may arrive closer together than they were sent. */
const margin = (requestsPerSecond: number): number => Math.min(50, Math.max(10, 100 / requestsPerSecond))

/** The send rate of all workers together: below `requestsPerSecond`, because requests can arrive late. */
export const slotsPerSecond = (requestsPerSecond: number): number => (1000 * requestsPerSecond) / (1000 + maxLateness)

const maxRemembered = 10_000

const createsPerPoll = 3
/** How long a request with `isNextStep` waits before it can be interrupted. A run's default `grace` is longer. */
const maxStepWait = Duration.millis(10_000)
const recovery = Duration.toSeconds("30 seconds")

const maxPause = Duration.toMillis("1 day")

const longPause = Duration.toMillis("5 seconds")
const minWarningInterval = Duration.toMillis("1 minute")

export const make = Effect.fnUntraced(function* <E>(settings: {
  readonly concurrency: number
  readonly requestsPerSecond: number
  /** Maximum milliseconds that a request waits for `Retry-After` or a quota. */
  readonly patience: number
  /** The failure of a request that would wait longer than `patience` for a quota. */
  readonly usedUp: (millis: number) => E
  readonly budget?: Option.Option<RequestBudget> | undefined
  /** Time at which `PublishedLimits` sent its request, in ms of `SteadyClock`. The request counts toward the rate. */
  readonly firstRequest?: number | undefined
}) {
  const { concurrency, patience, requestsPerSecond, usedUp } = settings
  const budget = Option.getOrUndefined(settings.budget ?? Option.none())
  const slowest = Math.min(requestsPerSecond, 0.2)
  /** For each recent request, the latest time at which it may reach the service. The response can lower this value. */
  const latestArrivals = new Float64Array(Math.min(Math.ceil(requestsPerSecond), maxRemembered)).fill(-Infinity)
  const window = (1000 * latestArrivals.length) / requestsPerSecond + margin(requestsPerSecond)
  const waiting: Readonly<Record<Kind, Array<Waiter<E>>>> = { create: [], poll: [] }
  const quotas = new Map<string, { readonly remaining: number; readonly until: number; readonly ordinal: number }>()
  const changed = yield* Latch.make()
  const arrived = yield* Latch.make()
  let createsInARow = 0
  let inFlight = 0
  let ordinal = 0
  let atOnce = concurrency
  let perSecond = requestsPerSecond
  let halvings = 0
  let nextAt = 0
  let minAnswerMillis = Infinity
  let pausedUntil = 0
  let pausedBy: E | undefined
  let held = false
  const slots: Array<number> = []
  const slotsWanted = yield* Latch.make()
  let saidAt = -Infinity
  let saidUntil = -Infinity
  if (settings.firstRequest !== undefined) {
    latestArrivals[ordinal++ % latestArrivals.length] = settings.firstRequest
    nextAt = settings.firstRequest + 1000 / requestsPerSecond
    if (budget !== undefined) yield* budget.take(1)
  }
  yield* Metrics.observeRequests(() => [waiting.create.length + waiting.poll.length, inFlight])

  const quotaUntil = (now: number): number => {
    let until = 0
    for (const [name, quota] of quotas) {
      if (quota.until <= now) quotas.delete(name)
      else if (quota.remaining <= ordinal - quota.ordinal) until = Math.max(until, quota.until)
    }
    return until
  }

  const depart = (now: number): Permit => {
    nextAt = Math.max(nextAt, now - catchUp) + 1000 / perSecond
    latestArrivals[ordinal % latestArrivals.length] = now
    budget?.sent()
    return { halvings, ordinal: ++ordinal }
  }

  const placeOf = ({ ordinal: seen }: Permit): number | undefined =>
    ordinal - seen < latestArrivals.length ? (seen - 1) % latestArrivals.length : undefined

  const maxInFlight = () => Math.max(1, budget?.atOnce(Math.floor(atOnce)) ?? Math.floor(atOnce))

  const dropMissedSlots = (now: number): void => {
    while (slots.length > 0 && slots[0]! < now - maxSlotDelay) slots.shift()
  }

  const wait = (now: number): number => {
    if (held || inFlight >= maxInFlight()) return Infinity
    const oldest = latestArrivals[ordinal % latestArrivals.length]!
    dropMissedSlots(now)
    const own = budget === undefined ? Math.max(nextAt, oldest + window) : (slots[0] ?? Infinity)
    return Math.max(0, own - now, pausedUntil - now, quotaUntil(now) - now)
  }

  const nextWaiter = (): Waiter<E> | undefined => {
    const { create, poll } = waiting
    if (create.length > 0 && (poll.length === 0 || createsInARow < createsPerPoll)) {
      createsInARow++
      return create.shift()
    }
    createsInARow = 0
    return poll.shift()
  }

  const isWanted = () => waiting.create.length + waiting.poll.length > 0

  const fail = (failure: E) => {
    for (const { granted } of [...waiting.create.splice(0), ...waiting.poll.splice(0)]) {
      Deferred.doneUnsafe(granted, Effect.fail(failure))
    }
  }

  const grantAll = Effect.fnUntraced(function* () {
    const now = yield* SteadyClock.now
    const quotaWait = quotaUntil(now) - now
    if (pausedBy !== undefined && pausedUntil - now > patience) fail(pausedBy)
    else if (quotaWait > patience) fail(usedUp(quotaWait))
    while (isWanted()) {
      const millis = wait(now)
      if (millis > 0) return millis
      inFlight++
      const waiter = nextWaiter()!
      waiter.hasTurn = true
      slots.shift()
      Deferred.doneUnsafe(waiter.granted, Effect.succeed(depart(now)))
    }
    return Infinity
  })

  yield* Effect.forkScoped(
    Effect.forever(
      Effect.gen(function* () {
        yield* changed.close
        const millis = yield* grantAll()
        yield* millis === Infinity
          ? changed.await
          : Effect.raceFirst(changed.await, Effect.sleep(Duration.millis(Math.ceil(millis))))
      }),
    ),
  )

  const wanted = Effect.andThen(
    arrived.close,
    Effect.suspend(() => (isWanted() ? Effect.void : arrived.await)),
  )

  if (budget !== undefined) {
    const take = Effect.gen(function* () {
      yield* wanted
      yield* slotsWanted.close
      if (held || inFlight >= maxInFlight()) return yield* slotsWanted.await
      const now = yield* SteadyClock.now
      dropMissedSlots(now)
      const wants = Math.min(maxInFlight() - inFlight, waiting.create.length + waiting.poll.length) - slots.length
      const left = (slots.at(-1) ?? -Infinity) + (wants > 0 ? -takeAhead : maxSlotDelay + 1) - now
      if (left > 0) return yield* Effect.raceFirst(slotsWanted.await, Effect.sleep(Duration.millis(left)))
      const grant = yield* budget.take(wants)
      halvings = grant.halvings
      const then = yield* SteadyClock.now
      pausedUntil = Math.max(pausedUntil, then + grant.pause)
      for (let i = 0; i < grant.count; i++) slots.push(then + grant.first + i * grant.spacing)
      yield* changed.open
      yield* Effect.sleep(Duration.millis(grant.pause))
    })
    yield* Effect.forkScoped(Effect.forever(take))
  }

  const giveBack = Effect.sync(() => {
    inFlight--
    changed.openUnsafe()
    slotsWanted.openUnsafe()
  })

  const acquire = (kind: Kind, isNextStep: boolean) =>
    Effect.suspend((): Effect.Effect<Permit, E> => {
      const waiter: Waiter<E> = { granted: Deferred.makeUnsafe(), hasTurn: false }
      if (isNextStep) waiting[kind].unshift(waiter)
      else waiting[kind].push(waiter)
      changed.openUnsafe()
      arrived.openUnsafe()
      slotsWanted.openUnsafe()
      const granted = Deferred.await(waiter.granted)
      const interruptible = Effect.interruptible(granted)
      const awaited = isNextStep
        ? Effect.timeoutOrElse(granted, { duration: maxStepWait, orElse: () => interruptible })
        : interruptible
      return Effect.onInterrupt(awaited, () => {
        const place = waiting[kind].indexOf(waiter)
        if (place !== -1) waiting[kind].splice(place, 1)
        // If the request got its turn just before the interruption, the turn is given back.
        return waiter.hasTurn ? giveBack : Effect.void
      })
    })

  /**
   * @param isNextStep whether an earlier request of the same call may have created something. Without the next request,
   * the task could stay in doubt. The next request therefore goes before other waiting requests. Its wait cannot be
   * interrupted until `maxStepWait` has passed
   */
  const turn = <A, E2, R>(kind: Kind, call: (turn: Turn) => Effect.Effect<A, E2, R>, isNextStep = false) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(acquire(kind, isNextStep), (permit) => {
        let isOver = false
        const giveBackOnce = Effect.suspend(() => {
          if (isOver) return Effect.void
          isOver = true
          return giveBack
        })
        return Effect.ensuring(restore(call({ permit, giveBack: giveBackOnce })), giveBackOnce)
      }),
    )

  const logPause = Effect.fnUntraced(function* (now: number, until: number, why: string) {
    if (until - Math.max(now, saidUntil) <= longPause) return
    saidUntil = until
    yield* Effect.logWarning(`${why}: no requests before ${instant(until)}`)
  })

  const quota = Effect.fnUntraced(function* ({ ordinal: seen }: Permit, serviceQuotas: ReadonlyArray<Quota>) {
    const now = yield* SteadyClock.now
    for (const { name, remaining, reset } of serviceQuotas) {
      const storedQuota = quotas.get(name)
      if (storedQuota !== undefined && storedQuota.ordinal > seen && storedQuota.until > now) continue
      quotas.set(name, { remaining, until: now + reset, ordinal: seen })
      if (remaining > 0) continue
      if (reset <= patience) yield* logPause(now, now + reset, "the service's request quota is used up")
      slots.length = 0
      if (budget !== undefined) yield* budget.pause(reset)
    }
    changed.openUnsafe()
  })

  return {
    turn,
    /** Call this just before the request is sent. The request is assumed to arrive at most `maxLateness` later. */
    leaving: (permit: Permit) =>
      Effect.map(SteadyClock.now, (now) => {
        const place = placeOf(permit)
        if (place !== undefined) latestArrivals[place] = now + maxLateness
      }),
    answered: (permit: Permit) =>
      Effect.map(SteadyClock.now, (now) => {
        const place = placeOf(permit)
        if (place === undefined) return
        const latest = latestArrivals[place]!
        const millis = now - (latest - maxLateness)
        minAnswerMillis = Math.min(minAnswerMillis, millis)
        // The first requests take longer, because they open connections. Their arrival time is therefore not estimated.
        latestArrivals[place] = Math.min(latest, permit.ordinal > latestArrivals.length ? now - minAnswerMillis : now)
        changed.openUnsafe()
      }),
    accepted: ({ halvings: seen }: Permit) => {
      if (seen !== halvings || (atOnce === concurrency && perSecond === requestsPerSecond)) return
      atOnce = Math.min(concurrency, atOnce + 1 / atOnce)
      perSecond = Math.min(requestsPerSecond, perSecond + requestsPerSecond / (perSecond * recovery))
      changed.openUnsafe()
    },

    refused: Effect.fnUntraced(function* ({ halvings: seen }: Permit, status: number) {
      if (seen !== halvings) return
      halvings++
      atOnce = Math.max(1, atOnce / 2)
      if (budget === undefined) perSecond = Math.max(slowest, perSecond / 2)
      else yield* budget.halveRate(seen)
      const now = yield* SteadyClock.now
      if (now - saidAt < minWarningInterval) return
      saidAt = now
      yield* Effect.logWarning(
        `the service limits requests or is overloaded (${status}). prefstream now sends at most ${count(Math.floor(atOnce), "request")} at the same time. ${budget === undefined ? `It sends at most ${Number(perSecond.toPrecision(3))} requests per second` : "All workers together send half as many requests per second as before"}. Both limits rise again as requests succeed`,
      )
    }),
    pause: Effect.fnUntraced(function* (millis: number, failure: E) {
      const now = yield* SteadyClock.now
      const until = now + Math.min(millis, maxPause)
      if (until <= pausedUntil) return
      pausedUntil = until
      pausedBy = failure
      slots.length = 0
      changed.openUnsafe()
      if (millis <= patience) yield* logPause(now, pausedUntil, "the service asks prefstream to wait")
      if (budget !== undefined) yield* budget.pause(until - now)
    }),
    quota,
    /** Counts a request that did not wait for its turn, such as a probe. */
    count: Effect.gen(function* () {
      if (budget !== undefined) yield* budget.take(1)
      depart(yield* SteadyClock.now)
    }),
    pausedUntil: Effect.sync(() => pausedUntil),
    hold: Effect.sync(() => {
      held = true
      slots.length = 0
    }),
    /** Ends `hold`. If `carefully` is true, sends one request at a time, first a poll, until a request succeeds. */
    resume: (carefully = false) =>
      Effect.sync(() => {
        held = false
        if (carefully) {
          atOnce = 1
          createsInARow = createsPerPoll
        }
        changed.openUnsafe()
        slotsWanted.openUnsafe()
      }),
    isPollWaiting: () => waiting.poll.length > 0,
    wanted,
    end: (failure: E) => Effect.sync(() => fail(failure)),
  }
})
