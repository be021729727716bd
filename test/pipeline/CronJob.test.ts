import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Duration, Effect, Fiber, Logger, Result } from "effect"
import { TestClock } from "effect/testing"
import * as CronJob from "../../src/pipeline/CronJob.ts"
import * as WallClock from "../support/wallClock.ts"
import { clockTest } from "../support/job.ts"

const cronOf = (expression: string, zone = "UTC") => Result.getOrThrow(CronJob.parse(expression, zone))

const iso = (time: DateTime.Zoned) => DateTime.formatIsoOffset(time).replace(/(:00)?\.000/, "")

/** What a schedule did from a moment on, told as lines. A run takes `takes`, in turn, and else no time. */
const scheduled = Effect.fnUntraced(function* (
  from: string,
  options: {
    readonly cron: string
    readonly zone?: string
    readonly now?: boolean
    readonly takes?: ReadonlyArray<Duration.Input>
  },
) {
  const cron = cronOf(options.cron, options.zone)
  yield* TestClock.setTime(Date.parse(from))
  const lines: Array<string> = []
  const at = Effect.map(Clock.currentTimeMillis, (millis) =>
    iso(DateTime.makeZonedUnsafe(millis, { timeZone: options.zone ?? "UTC" })),
  )
  const durations = [...(options.takes ?? [])]
  const job = Effect.gen(function* () {
    lines.push(`runs at ${yield* at}`)
    yield* Effect.sleep(durations.shift() ?? 0)
  })
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  const fiber = yield* CronJob.run(job, { cron, now: options.now }).pipe(
    Effect.provide(Logger.layer([logger])),
    Effect.forkChild,
  )
  yield* Effect.yieldNow
  return { fiber, lines }
})

const runsOf = (lines: ReadonlyArray<string>) =>
  lines.flatMap((line) => (line.startsWith("runs at ") ? [line.slice("runs at ".length)] : []))

describe("a job by a cron expression", () => {
  clockTest("runs at its times, and says the next one", function* () {
    const { lines } = yield* scheduled("2026-11-21T15:00:00Z", { cron: "0 2 * * *" })
    assert.deepStrictEqual(lines, ["next run at 2026-11-22T02:00:00+00:00"])
    yield* TestClock.adjust("11 hours")
    assert.deepStrictEqual(lines.slice(1), ["runs at 2026-11-22T02:00+00:00", "next run at 2026-11-23T02:00:00+00:00"])
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual(lines.slice(3), ["runs at 2026-11-23T02:00+00:00", "next run at 2026-11-24T02:00:00+00:00"])
  })

  clockTest("runs at once, too, if told so", function* () {
    const { lines } = yield* scheduled("2026-11-21T15:00:00Z", { cron: "0 2 * * *", now: true })
    assert.deepStrictEqual(lines, ["runs at 2026-11-21T15:00+00:00", "next run at 2026-11-22T02:00:00+00:00"])
  })

  clockTest("never overlaps: times that come while it runs are skipped, and said", function* () {
    const { lines } = yield* scheduled("2026-11-21T00:59:00Z", {
      cron: "0 * * * *",
      takes: ["150 minutes", "90 minutes"],
    })
    yield* TestClock.adjust("5 hours")
    assert.deepStrictEqual(lines, [
      "next run at 2026-11-21T01:00:00+00:00",
      "runs at 2026-11-21T01:00+00:00",
      "skipped 2 runs, from 2026-11-21T02:00:00+00:00 to 2026-11-21T03:00:00+00:00: the previous run had not finished",
      "next run at 2026-11-21T04:00:00+00:00",
      "runs at 2026-11-21T04:00+00:00",
      "skipped 1 run, at 2026-11-21T05:00:00+00:00: the previous run had not finished",
      "next run at 2026-11-21T06:00:00+00:00",
    ])
  })

  clockTest("makes up once for times that the machine slept through, within half a minute", function* () {
    // While a machine sleeps, timers stand still and the wall clock goes on.
    const wall = yield* WallClock.make
    const { lines } = yield* wall.provide(scheduled("2026-11-21T00:50:00Z", { cron: "0 * * * *" }))
    yield* TestClock.adjust("5 minutes")
    wall.setForward(Duration.toMillis("215 minutes"))
    yield* TestClock.adjust("30 seconds")
    assert.deepStrictEqual(lines, [
      "next run at 2026-11-21T01:00:00+00:00",
      "this run starts 3h 30m 30s late, because the machine slept or its clock changed. Skipped: 3 runs that were due in the meantime",
      "runs at 2026-11-21T04:30:30+00:00",
      "next run at 2026-11-21T05:00:00+00:00",
    ])
  })

  clockTest("goes on where the clock is set back: no run comes later, and no daily one twice", function* () {
    const after = Effect.fnUntraced(function* (cron: string, ...adjust: ReadonlyArray<Duration.Input>) {
      const wall = yield* WallClock.make
      const { fiber, lines } = yield* wall.provide(scheduled("2026-11-21T05:59:00Z", { cron, takes: ["5 seconds"] }))
      yield* TestClock.adjust("62 seconds")
      wall.setBack(3_600_000)
      for (const time of adjust) yield* TestClock.adjust(time)
      yield* Fiber.interrupt(fiber)
      return runsOf(lines)
    })
    assert.deepStrictEqual(yield* after("* * * * *", "1 minute", "1 minute"), [
      "2026-11-21T06:00+00:00",
      "2026-11-21T05:01+00:00",
      "2026-11-21T05:02+00:00",
    ])
    assert.deepStrictEqual(yield* after("0 * * * *", "1 hour", "1 hour"), [
      "2026-11-21T06:00+00:00",
      "2026-11-21T06:00+00:00",
      "2026-11-21T07:00+00:00",
    ])
    assert.deepStrictEqual(yield* after("0 6 * * *", "2 hours", "1 day"), [
      "2026-11-21T06:00+00:00",
      "2026-11-22T06:00+00:00",
    ])
  })

  clockTest("ends when the job fails", function* () {
    const fiber = yield* Effect.forkChild(CronJob.run(Effect.fail("no"), { cron: cronOf("* * * * *") }))
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), "no")
  })
})

describe("daylight saving", () => {
  const spring = "2026-03-28T12:00:00Z"
  const autumn = "2026-10-24T12:00:00Z"
  const lateAutumn = "2026-10-24T23:45:00Z"
  const inBerlin: ReadonlyArray<
    readonly [what: string, cron: string, from: string, time: Duration.Input, runs: ReadonlyArray<string>]
  > = [
    [
      "spring: a time that is left out is run once, when the hour is over",
      "30 2 * * *",
      spring,
      "2 days",
      ["2026-03-29T03:30+02:00", "2026-03-30T02:30+02:00"],
    ],
    [
      "autumn: a time that is repeated is run once",
      "30 2 * * *",
      autumn,
      "2 days",
      ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"],
    ],
    ...[
      ["15 0-23 * * *", "2026-10-25T02:15+02:00", "2026-10-25T02:15+01:00", "2026-10-25T03:15+01:00"],
      ["15 */1 * * *", "2026-10-25T02:15+02:00", "2026-10-25T02:15+01:00", "2026-10-25T03:15+01:00"],
      ["@hourly", "2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00"],
      ["15 */2 * * *", "2026-10-25T02:15+02:00"],
      ["15 1-23 * * *", "2026-10-25T02:15+02:00", "2026-10-25T03:15+01:00"],
    ].map(
      ([cron = "", ...runs]) =>
        [
          `autumn: ${cron}, by its hours and not by how they are written`,
          cron,
          lateAutumn,
          "165 minutes",
          runs,
        ] as const,
    ),
  ]
  for (const [what, cron, from, time, runs] of inBerlin) {
    clockTest(what, function* () {
      const { lines } = yield* scheduled(from, { cron, zone: "Europe/Berlin" })
      yield* TestClock.adjust(time)
      assert.deepStrictEqual(runsOf(lines), [...runs])
    })
  }

  clockTest("the day is that of the time zone", function* () {
    const { lines } = yield* scheduled("2026-06-01T12:00:00Z", { cron: "0 0 * * 2", zone: "Asia/Kolkata" })
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual(runsOf(lines), ["2026-06-02T00:00+05:30"])
  })
})

clockTest("names stand for expressions", function* () {
  for (const [name, next] of [
    ["@hourly", "2026-11-21T16:00:00+00:00"],
    ["@daily", "2026-11-22T00:00:00+00:00"],
    ["@midnight", "2026-11-22T00:00:00+00:00"],
    ["@weekly", "2026-11-22T00:00:00+00:00"],
    ["@monthly", "2026-12-01T00:00:00+00:00"],
    ["@yearly", "2027-01-01T00:00:00+00:00"],
    ["@annually", "2027-01-01T00:00:00+00:00"],
  ] as const) {
    const { lines } = yield* scheduled("2026-11-21T15:00:00Z", { cron: name })
    assert.deepStrictEqual(lines, [`next run at ${next}`], name)
  }
})

describe("an expression or time zone that is none", () => {
  const wrong: ReadonlyArray<readonly [string, string | undefined, RegExp]> = [
    ["", undefined, /such as "0 2 \* \* \*", .* found ""/],
    ["0 2 * *", undefined, /found "0 2 \* \*"/],
    ["60 2 * * *", undefined, /expected minute, hour/],
    ["0 2 * * mond", undefined, /expected minute, hour/],
    ["@reboot", undefined, /one of @yearly.*found "@reboot"/],
    ["0 22-2 * * *", undefined, /^the range 22-2 begins after its end; write two ranges, such as 22-23,0-2$/],
    ["0 2 * * 5-1", undefined, /the range 5-1 begins after its end/],
    ["0 0 2 * 11-2 *", undefined, /the range 11-2 begins after its end/],
    ["0 22-4/2 * * *", undefined, /^the range 22-4\/2 begins after its end/],
    ["0 2 30 2 *", undefined, /expected an expression that matches some date/],
    ["0 2 * * *", "Europe/Berln", /expected a time zone such as Europe\/Berlin.*"Europe\/Berln"/],
    ["0 2 * * *", "", /expected a time zone/],
  ]
  for (const [expression, zone, message] of wrong) {
    it(`${JSON.stringify(expression)} in ${zone ?? "this machine's zone"} is refused`, () => {
      const parsed = CronJob.parse(expression, zone)
      assert(Result.isFailure(parsed))
      assert.match(parsed.failure.message, message)
    })
  }
})
