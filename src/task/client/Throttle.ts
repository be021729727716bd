/**
 * When a request to the service may be sent: each waits here for its turn.
 *
 * Guarantees: at most `requestsPerSecond` in any second and `concurrency` at once; three creations for one poll where both
 * wait; 429 and 503 halve both limits, which then recover; `Retry-After` and quotas hold for all requests, and a request
 * that would wait for them longer than `patience` fails at once.
 *
 * Effect's `RateLimiter` lets a whole second's requests go at once, and cannot hold back a slot that it gave out.
 */
import { Clock, DateTime, Deferred, Duration, Effect, Latch, type Scope } from "effect"
import type { Quota } from "../../api/RateLimit.ts"

/** What a request is for. */
export type Kind = "create" | "poll"

/** A request that was let go. */
export interface Permit {
  /** How often the pace had been halved when it was let go. */
  readonly cuts: number
  /** How many were let go before it. */
  readonly ordinal: number
}

export interface Throttle<E> {
  /** Carries out a request when its turn has come. The wait can be interrupted, also where the request can't be. */
  readonly turn: <A, E2, R>(
    kind: Kind,
    request: (permit: Permit) => Effect.Effect<A, E2, R>,
  ) => Effect.Effect<A, E | E2, R>
  /** The service took a request. */
  readonly taken: (permit: Permit) => void
  /** The service refused a request for its load. */
  readonly refused: (permit: Permit, status: number) => Effect.Effect<void>
  /** The service asks everyone to wait, and whose patience is shorter fails with `failure`. */
  readonly pause: (millis: number, failure: E) => Effect.Effect<void>
  /** What the service says of its quota, in the answer to a request. */
  readonly quota: (permit: Permit, quotas: ReadonlyArray<Quota>) => Effect.Effect<void>
  /** The time until which the service asked everyone to wait, in epoch milliseconds. */
  readonly pausedUntil: Effect.Effect<number>
  /** Counts a request that did not wait for its turn. */
  readonly count: Effect.Effect<void>
  /** Lets nothing go until `resume`. */
  readonly hold: Effect.Effect<void>
  /** Whether a look waits for its turn. */
  readonly isPollWaiting: () => boolean
  /** Lets requests go again; `carefully`, one at once, a look first, and more as the service takes them. */
  readonly resume: (carefully?: boolean) => Effect.Effect<void>
  /** Done as soon as any request waits. */
  readonly wanted: Effect.Effect<void>
  /** All that waits fails; what comes later begins anew. */
  readonly end: (failure: E) => Effect.Effect<void>
}

interface Waiter<E> {
  readonly granted: Deferred.Deferred<Permit, E>
  hasTurn: boolean
}

/** How many milliseconds of a delay may be caught up with. */
const catchUp = 100

/** A second, and what requests may be nearer to each other when they arrive than when they left. */
const second = 1010

/** So many of the last departures are remembered at the most; the same part of a second is then looked back at. */
const maxRemembered = 10_000

/** Where both wait, so many tasks are created for each that is looked at. */
const createsPerPoll = 3

/** How long the full pace takes to come back. */
const recovery = Duration.toSeconds("30 seconds")

/** As long as a service may keep everyone waiting, or failing, without being asked again. */
const maxPause = Duration.toMillis("1 day")

/** A pause that is worth a word, and the shortest time between two words about the pace. */
const longPause = Duration.toMillis("5 seconds")
const quiet = Duration.toMillis("1 minute")

/** A time as it is told to people. */
export const instant = (millis: number): string =>
  DateTime.formatIso(DateTime.makeUnsafe(Math.round(millis / 1000) * 1000)).replace(".000Z", "Z")

export const make = Effect.fnUntraced(function* <E>(settings: {
  readonly concurrency: number
  readonly requestsPerSecond: number
  /** Milliseconds that a request may have to wait because the service asks for that. */
  readonly patience: number
  /** What a request fails with that would have to wait longer for a quota: so many milliseconds. */
  readonly usedUp: (millis: number) => E
}): Effect.fn.Return<Throttle<E>, never, Scope.Scope> {
  const { concurrency, patience, requestsPerSecond, usedUp } = settings
  const slowest = Math.min(requestsPerSecond, 0.2)
  const departures = new Float64Array(Math.min(Math.ceil(requestsPerSecond), maxRemembered)).fill(-Infinity)
  const window = (second * departures.length) / requestsPerSecond
  const waiting: Readonly<Record<Kind, Array<Waiter<E>>>> = { create: [], poll: [] }
  const quotas = new Map<string, { readonly remaining: number; readonly until: number; readonly ordinal: number }>()
  /** Opened when something has changed that may let a request go. */
  const changed = yield* Latch.make()
  const arrived = yield* Latch.make()
  let createsInARow = 0
  let underWay = 0
  let ordinal = 0
  let atOnce = concurrency
  let perSecond = requestsPerSecond
  let cuts = 0
  let nextAt = 0
  let pausedUntil = 0
  let pausedBy: E | undefined
  let held = false
  let saidAt = -Infinity
  let saidUntil = -Infinity

  /** The time until which nothing may be sent because of a quota that is used up. */
  const quotaUntil = (now: number): number => {
    let until = 0
    for (const [name, quota] of quotas) {
      if (quota.until <= now) quotas.delete(name)
      // What was let go since is not in the service's count yet.
      else if (quota.remaining <= ordinal - quota.ordinal) until = Math.max(until, quota.until)
    }
    return until
  }

  const depart = (now: number): Permit => {
    nextAt = Math.max(nextAt, now - catchUp) + 1000 / perSecond
    departures[ordinal % departures.length] = now
    return { cuts, ordinal: ++ordinal }
  }

  /** Milliseconds until a request may go: 0 now, infinity where something else has to happen first. */
  const wait = (now: number): number => {
    if (held || underWay >= Math.max(1, Math.floor(atOnce))) return Infinity
    const oldest = departures[ordinal % departures.length]!
    return Math.max(
      0,
      nextAt - now,
      oldest + window - now,
      pausedUntil - now,
      quotas.size === 0 ? 0 : quotaUntil(now) - now,
    )
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
    const now = yield* Clock.currentTimeMillis
    const quotaWait = quotas.size === 0 ? 0 : quotaUntil(now) - now
    if (pausedBy !== undefined && pausedUntil - now > patience) fail(pausedBy)
    else if (quotaWait > patience) fail(usedUp(quotaWait))
    while (isWanted()) {
      const millis = wait(now)
      if (millis > 0) return millis
      underWay++
      const waiter = nextWaiter()!
      waiter.hasTurn = true
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

  const giveBack = Effect.sync(() => {
    underWay--
    changed.openUnsafe()
  })

  const acquire = (kind: Kind) =>
    Effect.suspend((): Effect.Effect<Permit, E> => {
      const waiter: Waiter<E> = { granted: Deferred.makeUnsafe(), hasTurn: false }
      waiting[kind].push(waiter)
      changed.openUnsafe()
      arrived.openUnsafe()
      return Effect.onInterrupt(Effect.interruptible(Deferred.await(waiter.granted)), () => {
        const place = waiting[kind].indexOf(waiter)
        if (place !== -1) waiting[kind].splice(place, 1)
        // Its turn had come at the same moment.
        return waiter.hasTurn ? giveBack : Effect.void
      })
    })

  const turn = <A, E2, R>(kind: Kind, request: (permit: Permit) => Effect.Effect<A, E2, R>) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(acquire(kind), (permit) => Effect.ensuring(restore(request(permit)), giveBack)),
    )

  const taken = ({ cuts: seen }: Permit) => {
    if (seen !== cuts || (atOnce === concurrency && perSecond === requestsPerSecond)) return
    atOnce = Math.min(concurrency, atOnce + 1 / atOnce)
    perSecond = Math.min(requestsPerSecond, perSecond + requestsPerSecond / (perSecond * recovery))
    changed.openUnsafe()
  }

  const refused = Effect.fnUntraced(function* ({ cuts: seen }: Permit, status: number) {
    // It was under way with the one that the pace was halved for.
    if (seen !== cuts) return
    cuts++
    atOnce = Math.max(1, atOnce / 2)
    perSecond = Math.max(slowest, perSecond / 2)
    const now = yield* Clock.currentTimeMillis
    if (now - saidAt < quiet) return
    saidAt = now
    yield* Effect.logWarning(
      `the service refuses requests for its load (${status}): now at most ${Math.floor(atOnce)} at once and ${Number(perSecond.toPrecision(3))} per second, and more again as it takes them`,
    )
  })

  /** Says what makes everyone wait, unless as long a wait was told of before. */
  const sayPause = Effect.fnUntraced(function* (now: number, until: number, why: string) {
    const news = until - Math.max(now, saidUntil) > longPause
    if (!news) return
    saidUntil = until
    yield* Effect.logWarning(`${why}: no requests before ${instant(until)}`)
  })

  const pause = Effect.fnUntraced(function* (millis: number, failure: E) {
    const now = yield* Clock.currentTimeMillis
    const until = now + Math.min(millis, maxPause)
    if (until <= pausedUntil) return
    pausedUntil = until
    pausedBy = failure
    changed.openUnsafe()
    if (millis <= patience) yield* sayPause(now, pausedUntil, "the service asks to wait")
  })

  const quota = Effect.fnUntraced(function* ({ ordinal: seen }: Permit, found: ReadonlyArray<Quota>) {
    const now = yield* Clock.currentTimeMillis
    for (const { name, remaining, reset } of found) {
      const known = quotas.get(name)
      // The answer to an earlier request says less.
      if (known !== undefined && known.ordinal > seen && known.until > now) continue
      quotas.set(name, { remaining, until: now + reset, ordinal: seen })
      if (remaining === 0 && reset <= patience)
        yield* sayPause(now, now + reset, "the service's quota of requests is used up")
    }
    changed.openUnsafe()
  })

  return {
    turn,
    taken,
    refused,
    pause,
    quota,
    count: Effect.map(Clock.currentTimeMillis, (now) => void depart(now)),
    pausedUntil: Effect.sync(() => pausedUntil),
    hold: Effect.sync(() => void (held = true)),
    resume: (carefully = false) =>
      Effect.sync(() => {
        held = false
        if (carefully) {
          atOnce = 1
          createsInARow = createsPerPoll
        }
        changed.openUnsafe()
      }),
    isPollWaiting: () => waiting.poll.length > 0,
    wanted: Effect.andThen(
      arrived.close,
      Effect.suspend(() => (isWanted() ? Effect.void : arrived.await)),
    ),
    end: (failure) => Effect.sync(() => fail(failure)),
  }
})
