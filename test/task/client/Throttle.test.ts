import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Option, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Throttle from "../../../src/task/client/Throttle.ts"
import * as WallClock from "../../support/wallClock.ts"
import * as Logs from "../../support/logs.ts"
import { effectTest } from "../../support/effectTest.ts"

const test = effectTest(it.effect)

/** A test whose messages are not printed. */
const testQuietly = effectTest<Scope.Scope>((name, effect) => it.effect(name, () => Logs.make().during(effect())))

const make = (
  settings: Partial<
    Pick<Parameters<typeof Throttle.make>[0], "budget" | "concurrency" | "patience" | "requestsPerSecond">
  > = {},
) =>
  Throttle.make<string>({
    concurrency: 8,
    requestsPerSecond: 1000,
    patience: 3_600_000,
    usedUp: (millis) => `used up for ${millis}`,
    ...settings,
  })

/** Requests that are asked for, and are under way until the test answers them. */
const asking = Effect.fnUntraced(function* (throttle: Throttle.Throttle<string>) {
  const underWay: Array<{
    readonly kind: Throttle.Kind
    readonly permit: Throttle.Permit
    readonly answer: Effect.Effect<void>
  }> = []
  const ask = (kind: Throttle.Kind = "poll") =>
    Effect.forkChild(
      throttle.turn(kind, ({ permit }) =>
        Effect.gen(function* () {
          const answered = yield* Deferred.make<void>()
          underWay.push({ kind, permit, answer: Effect.asVoid(Deferred.succeed(answered, undefined)) })
          yield* Deferred.await(answered)
        }),
      ),
      { startImmediately: true },
    )
  return { ask, underWay }
})

/** Asks so many times at once, again and again. */
const again = (n: number, request: Effect.Effect<unknown, string>) =>
  Effect.forEach(Array.from({ length: n }), () => Effect.forever(request), { concurrency: "unbounded" })

/** Lets what is due happen. */
const settle = Effect.andThen(TestClock.adjust("1 millis"), Effect.yieldNow)

describe("Throttle", () => {
  for (const requestsPerSecond of [0.5, 1, 2.5, 3, 10, 250, 1000]) {
    test(`lets no more than ${requestsPerSecond} requests go in any second, and hardly fewer`, function* () {
      const throttle = yield* make({ requestsPerSecond, concurrency: 64 })
      const times: Array<number> = []
      const request = throttle.turn("poll", () => Effect.map(Clock.currentTimeMillis, (now) => void times.push(now)))
      const asking = yield* Effect.forkChild(again(64, request))
      // Time passes unevenly, as it does under load, and at times by far too much.
      for (let i = 0; i < 400; i++) {
        yield* TestClock.adjust(
          i % 100 === 99 ? "3 seconds" : i % 7 === 0 ? "60 millis" : i % 3 === 0 ? "11 millis" : "1 millis",
        )
      }
      const steady = times.length
      const from = yield* Clock.currentTimeMillis
      for (let i = 0; i < 2_000; i++) yield* TestClock.adjust("1 millis")
      yield* Fiber.interrupt(asking)
      const most = Math.ceil(requestsPerSecond)
      for (let i = 0; i + most < times.length; i++) {
        assert.isAtLeast(times[i + most]! - times[i]!, (1000 * most) / requestsPerSecond, `from request ${i}`)
      }
      const inTwoSeconds = times.length - steady
      assert.isAtLeast(inTwoSeconds, Math.floor(0.95 * 2 * requestsPerSecond) - 1, `from ${from}`)
    })
  }

  for (const requestsPerSecond of [2, 20, 200]) {
    test(`has at most ${requestsPerSecond} requests arrive in any second if connections are slow to open`, function* () {
      const throttle = yield* make({ requestsPerSecond, concurrency: 64 })
      const arrivals: Array<number> = []
      const request = throttle.turn("poll", ({ permit }) =>
        Effect.gen(function* () {
          yield* throttle.leaving(permit)
          // The first requests are 120 ms under way, later ones 2 ms, but now and then one is late.
          yield* Effect.sleep(permit.ordinal <= requestsPerSecond || permit.ordinal % 17 === 0 ? 120 : 2)
          arrivals.push(yield* Clock.currentTimeMillis)
          yield* Effect.sleep(1)
          yield* throttle.answered(permit)
        }),
      )
      const asking = yield* Effect.forkChild(again(64, request))
      for (let i = 0; i < 6_000; i++) yield* TestClock.adjust("1 millis")
      yield* Fiber.interrupt(asking)
      for (let i = 0; i + requestsPerSecond < arrivals.length; i++) {
        assert.isAtLeast(arrivals[i + requestsPerSecond]! - arrivals[i]!, 1000, `from request ${i}`)
      }
      assert.isAtLeast(arrivals.length, 5 * requestsPerSecond)
    })
  }

  test("halves both numbers once for all that was under way, and says so once; lets them grow again", function* () {
    const logs = Logs.make()
    yield* Effect.gen(function* () {
      const throttle = yield* make({ concurrency: 8, requestsPerSecond: 1000 })
      const { ask, underWay } = yield* asking(throttle)
      for (let i = 0; i < 100; i++) yield* ask()
      for (let i = 0; i < 20; i++) yield* settle
      assert.strictEqual(underWay.length, 8)
      for (const { answer, permit } of underWay.slice(0, 8)) {
        yield* throttle.refused(permit, 429)
        yield* answer
      }
      for (let i = 0; i < 20; i++) yield* settle
      assert.strictEqual(underWay.length, 8 + 4)
      // An answer to what was sent before the cut proves nothing.
      throttle.accepted(underWay[0]!.permit)
      // A round of answers makes room for one more.
      let done = 8
      for (const atOnce of [5, 6, 7, 8, 8]) {
        const round = underWay.slice(done)
        done = underWay.length
        for (const { answer, permit } of round) {
          throttle.accepted(permit)
          yield* answer
        }
        for (let i = 0; i < 40; i++) yield* settle
        assert.isAtMost(underWay.length - done, atOnce)
        assert.isAtLeast(underWay.length - done, atOnce - 1)
      }
    }).pipe(Effect.scoped, logs.during)
    assert.deepStrictEqual(logs.messages, [
      "the service limits requests or is overloaded (429). prefstream now sends at most 4 requests at the same time. It sends at most 500 requests per second. Both limits rise again as requests succeed",
    ])
  })

  for (const requestsPerSecond of [1, 2, 10]) {
    test(`shares ${requestsPerSecond} requests in any second with another process, if some are late`, function* () {
      let freeAt = 0
      let sent = 0
      const spacing = 1000 / Throttle.slotsPerSecond(requestsPerSecond)
      const take = (wanted: number) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const first = Math.max(freeAt, now)
          freeAt = first + wanted * spacing
          return { count: wanted, first: first - now, spacing, pause: 0, halvings: 0 }
        })
      const nothing = Effect.void
      const budget = { atOnce: () => 1, take, sent: () => {}, pause: () => nothing, halveRate: () => nothing }
      const times: Array<number> = []
      for (let process = 0; process < 2; process++) {
        const throttle = yield* make({ requestsPerSecond, budget: Option.some({ ...budget, answered: nothing }) })
        const request = throttle.turn("poll", () =>
          Effect.map(Effect.delay(Clock.currentTimeMillis, sent++ % 5 < 2 ? 40 : 0), (now) => void times.push(now)),
        )
        yield* Effect.forkChild(Effect.forever(request))
      }
      yield* TestClock.adjust("20 seconds")
      const inSecond = times.map((from) => times.filter((at) => at >= from && at < from + 1000).length)
      assert.isAtMost(Math.max(...inSecond), requestsPerSecond)
      assert.isAtLeast(times.length, 20 * requestsPerSecond * 0.85)
    })
  }

  testQuietly(
    "goes down to one at once and one in five seconds, and is back at full pace half a minute later",
    function* () {
      const throttle = yield* make({ concurrency: 4, requestsPerSecond: 10 })
      let refusing = true
      const times: Array<number> = []
      const request = throttle.turn("poll", ({ permit }) =>
        Effect.gen(function* () {
          times.push(yield* Clock.currentTimeMillis)
          if (refusing) yield* throttle.refused(permit, 503)
          else throttle.accepted(permit)
        }),
      )
      yield* Effect.forkChild(again(4, request))
      for (let i = 0; i < 60_000; i += 50) yield* TestClock.adjust("50 millis")
      const gaps = times.slice(1).map((at, i) => at - times[i]!)
      assert.isAtLeast(gaps.at(-1)!, 5_000)
      assert.isAtMost(gaps.at(-1)!, 5_200)
      refusing = false
      for (let i = 0; i < 45_000; i += 50) yield* TestClock.adjust("50 millis")
      const now = yield* Clock.currentTimeMillis
      assert.isAtLeast(times.filter((at) => at > now - 5_000).length, 45)
    },
  )

  test("waits for as long as the service asks, and keeps its rate, where the clock is set back meanwhile", function* () {
    const wall = yield* WallClock.make
    yield* Effect.gen(function* () {
      const throttle = yield* make()
      const { ask, underWay } = yield* asking(throttle)
      yield* throttle.pause(10_000, "asked to wait")
      yield* throttle.quota({ halvings: 0, ordinal: 0 }, [{ name: "q", remaining: 0, reset: 10_000 }])
      yield* ask("create")
      yield* TestClock.adjust("5 seconds")
      wall.setBack(3_600_000)
      yield* TestClock.adjust("4900 millis")
      assert.strictEqual(underWay.length, 0)
      yield* TestClock.adjust("200 millis")
      assert.strictEqual(underWay.length, 1)
      wall.setBack(3_600_000)
      yield* ask("create")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(underWay.length, 2)
    }).pipe(wall.provide)
  })

  testQuietly(
    "sends nothing while the service asks to wait, and while it is held; what waits fails at its end, and what comes later begins anew",
    function* () {
      const throttle = yield* make()
      const { ask, underWay } = yield* asking(throttle)
      yield* throttle.pause(10_000, "asked to wait")
      yield* throttle.pause(5_000, "asked to wait")
      yield* ask("create")
      yield* TestClock.adjust("9900 millis")
      assert.strictEqual(underWay.length, 0)
      yield* TestClock.adjust("200 millis")
      assert.strictEqual(underWay.length, 1)
      yield* throttle.hold
      const waiting = yield* ask("poll")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(underWay.length, 1)
      yield* throttle.resume()
      yield* settle
      assert.strictEqual(underWay.length, 2)
      yield* throttle.hold
      const late = yield* ask("poll")
      yield* settle
      yield* throttle.end("over")
      assert.strictEqual(yield* Effect.flip(Fiber.join(late)), "over")
      yield* throttle.resume()
      const anew = yield* ask("create")
      for (let i = 0; i < 5; i++) yield* settle
      assert.strictEqual(underWay.length, 3)
      yield* underWay[2]!.answer
      yield* Fiber.join(anew)
      // What is under way is not touched.
      yield* underWay[1]!.answer
      yield* Fiber.join(waiting)
    },
  )

  test("loses no turn to those who give up waiting", function* () {
    const throttle = yield* make({ concurrency: 1, requestsPerSecond: 10 })
    const { ask, underWay } = yield* asking(throttle)
    for (let i = 0; i < 20; i++) {
      const waiting = yield* ask()
      // Given up before, at and after the moment when its turn comes.
      yield* TestClock.adjust(i * 10)
      yield* Fiber.interrupt(waiting)
    }
    const before = underWay.length
    yield* ask()
    yield* TestClock.adjust("1 second")
    assert.strictEqual(underWay.length, before + 1)
  })

  testQuietly(
    "keeps to the service's quota: what is under way counts, and an older answer says nothing new",
    function* () {
      const throttle = yield* make()
      const { ask, underWay } = yield* asking(throttle)
      const quota = (i: number, remaining: number, reset: number) =>
        throttle.quota(underWay[i]!.permit, [{ name: "default", remaining, reset }])
      for (let i = 0; i < 4; i++) yield* ask()
      for (let i = 0; i < 10; i++) yield* settle
      assert.strictEqual(underWay.length, 4)
      // Five are left after the second; the third and the fourth are two of them.
      yield* quota(1, 5, 60_000)
      yield* quota(0, 100, 60_000)
      yield* Effect.forEach(underWay.slice(), ({ answer }) => answer)
      for (let i = 0; i < 10; i++) yield* ask()
      for (let i = 0; i < 30; i++) yield* settle
      yield* Effect.forEach(underWay.slice(), ({ answer }) => answer)
      for (let i = 0; i < 30; i++) yield* settle
      assert.strictEqual(underWay.length, 2 + 5)
      yield* TestClock.adjust("1 minute")
      for (let i = 0; i < 30; i++) yield* settle
      assert.strictEqual(underWay.length, 2 + 5 + 7)
    },
  )

  test("says once that a quota is used up, and until when", function* () {
    const logs = Logs.make()
    yield* Effect.gen(function* () {
      const throttle = yield* make()
      for (let i = 0; i < 3; i++) {
        yield* throttle.quota({ halvings: 0, ordinal: i }, [{ name: "default", remaining: 0, reset: 60_000 }])
      }
      yield* throttle.quota({ halvings: 0, ordinal: 3 }, [{ name: "burst", remaining: 0, reset: 1_000 }])
    }).pipe(Effect.scoped, logs.during)
    assert.deepStrictEqual(logs.messages, [
      "the service's request quota is used up: no requests before 1970-01-01T00:01:00Z",
    ])
  })

  describe("with a budget of several processes", () => {
    /** A budget as the test says, with what was asked of it. */
    const budgeted = Effect.fnUntraced(function* (
      found: () => { count: number; first?: number; spacing?: number; pause?: number; halvings?: number },
    ) {
      const asked: Array<number> = []
      const told: Array<number> = []
      const slowed: Array<number> = []
      let sent = 0
      const throttle = yield* make({
        patience: Infinity,
        budget: Option.some({
          atOnce: (together) => together,
          take: (wanted) =>
            Effect.sync(() => {
              asked.push(wanted)
              return { first: 0, spacing: 1000, pause: 0, halvings: 0, ...found() }
            }),
          sent: () => void sent++,
          pause: (millis) => Effect.sync(() => void told.push(millis)),
          halveRate: (halvings) => Effect.sync(() => void slowed.push(halvings)),
          answered: Effect.void,
        }),
      })
      return { throttle, asked, told, slowed, sent: () => sent }
    })

    test("sends in the slots that it gives, and asks for more shortly before the last one", function* () {
      const { asked, sent, throttle } = yield* budgeted(() => ({ count: 2, first: 4000 }))
      const { ask, underWay } = yield* asking(throttle)
      for (let i = 0; i < 3; i++) yield* ask()
      yield* settle
      yield* TestClock.adjust("3998 millis")
      assert.deepStrictEqual([asked, underWay.length], [[3], 0])
      yield* TestClock.adjust("1 millis")
      yield* settle
      assert.deepStrictEqual([underWay.length, sent()], [1, 1])
      yield* TestClock.adjust("948 millis")
      assert.deepStrictEqual(asked, [3])
      yield* TestClock.adjust("1 millis")
      yield* settle
      assert.deepStrictEqual([asked, underWay.length], [[3, 1], 1])
      yield* TestClock.adjust("50 millis")
      yield* settle
      assert.deepStrictEqual([underWay.length, sent()], [2, 2])
    })

    test("takes none while it may send none, and sends none in a slot that has passed", function* () {
      const { asked, throttle } = yield* budgeted(() => ({ count: 2, first: 0, spacing: 200 }))
      const { ask, underWay } = yield* asking(throttle)
      yield* throttle.hold
      for (let i = 0; i < 3; i++) yield* ask()
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(asked, [])
      yield* throttle.resume()
      yield* settle
      assert.deepStrictEqual([asked, underWay.length], [[3], 1])
      // The second slot comes while requests are held.
      yield* throttle.hold
      yield* TestClock.adjust("1 minute")
      yield* throttle.resume()
      yield* settle
      assert.deepStrictEqual([asked, underWay.length], [[3, 2], 2])
    })

    test("waits as long as another process was asked to, and tells them of pauses and used-up quotas", function* () {
      const day = 86_400_000
      let pause = day
      const { asked, throttle, told } = yield* budgeted(() => ({ count: pause === 0 ? 1 : 0, pause }))
      const { ask, underWay } = yield* asking(throttle)
      yield* ask()
      yield* settle
      pause = 0
      yield* TestClock.adjust("23 hours")
      assert.deepStrictEqual([asked.length, underWay.length], [1, 0])
      yield* TestClock.adjust("1 hours")
      yield* settle
      assert.deepStrictEqual([asked.length, underWay.length], [2, 1])
      yield* throttle.quota(underWay[0]!.permit, [{ name: "requests", remaining: 0, reset: 30_000 }])
      yield* throttle.pause(60_000, "asked to wait")
      assert.deepStrictEqual(told, [30_000, 60_000])
    })

    testQuietly("halves the rate of all for a refusal, once for those that were sent before", function* () {
      let halvings = 4
      const { slowed, throttle } = yield* budgeted(() => ({ count: 1, halvings }))
      const { ask, underWay } = yield* asking(throttle)
      yield* ask()
      yield* ask()
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.strictEqual(underWay.length, 2)
      yield* throttle.refused(underWay[0]!.permit, 429)
      yield* throttle.refused(underWay[1]!.permit, 429)
      assert.deepStrictEqual(slowed, [4])
      // Another process was refused, too.
      halvings = 6
      yield* underWay[0]!.answer
      yield* ask()
      yield* TestClock.adjust("5 seconds")
      yield* settle
      yield* throttle.refused(underWay.at(-1)!.permit, 429)
      assert.deepStrictEqual(slowed, [4, 6])
    })

    test("takes one slot for a probe, which does not wait for its turn", function* () {
      const { asked, sent, throttle } = yield* budgeted(() => ({ count: 1 }))
      yield* throttle.hold
      yield* throttle.count
      yield* throttle.count
      assert.deepStrictEqual([asked, sent()], [[1, 1], 2])
    })
  })
})
