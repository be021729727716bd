/**
 * Runs a job on a cron schedule in one process. A run that is due during another run is skipped. If the machine slept,
 * or its clock was set forward, one late run replaces all missed runs, and starts within 30 seconds. Skipped and late
 * runs are logged. A new process ignores runs missed before its start. If daylight saving time skips an hour, a run in
 * that hour starts after the gap. If an hour occurs twice, a run starts once, or twice if the hour field is `*`.
 */
import { Clock, Cron, DateTime, Duration, Effect, Option, Result, Schema } from "effect"
import * as SteadyClock from "../io/SteadyClock.ts"
import { describeValue, plural } from "../io/Values.ts"

/** The cron expression or the time zone is invalid, or the expression never matches a date. */
export class InvalidCron extends Schema.TaggedError<InvalidCron>()("InvalidCron", {
  /** The invalid setting. */
  what: Schema.Literals(["expression", "time zone"]),
  message: Schema.String,
}) {
  /** Always false: a retry would fail until the setting is changed. */
  get isRetryable() {
    return false
  }
}

/** When to run a job. */
export interface Options {
  /** The schedule with its time zone, made by `parse`. */
  readonly cron: Cron.Cron
  /** Whether to run immediately, before the first scheduled time. */
  readonly now?: boolean | undefined
}

/** Maximum length of a timer. Timers stop during sleep, so a missed run starts at most this long after wake-up. */
const maxSleepMillis = Duration.toMillis("30 seconds")

const maxLateMillis = Duration.toMillis("1 minute")

const minSetBackMillis = Duration.toMillis("1 second")

const maxCounted = 1000

const nicknames = new Map(
  Object.entries({
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
  }),
)

/**
 * Parses a cron expression: five fields (minute, hour, day of the month, month, day of the week), six fields that begin
 * with seconds, or a name such as `@daily`. Default time zone: the machine's.
 */
export const parse = (expression: string, timeZone?: string): Result.Result<Cron.Cron, InvalidCron> => {
  const zone = timeZone === undefined ? Option.some(DateTime.zoneMakeLocal()) : DateTime.zoneFromString(timeZone)
  if (Option.isNone(zone)) {
    return Result.fail(
      new InvalidCron({
        what: "time zone",
        message: `expected a time zone such as Europe/Berlin, UTC, or +02:00, found ${JSON.stringify(timeZone)}`,
      }),
    )
  }
  if (typeof expression !== "string") {
    const message = `expected a text such as "0 3 * * *", found ${describeValue(expression)}`
    return Result.fail(new InvalidCron({ what: "expression", message }))
  }
  const fields = nicknames.get(expression.trim()) ?? expression
  const expressionText = JSON.stringify(expression)
  const invalid = (message: string) => new InvalidCron({ what: "expression", message })
  const reversed = fields.split(/[\s,]+/).find((part) => {
    const [, from, to] = /^(\d+)-(\d+)(\/\d+)?$/.exec(part) ?? []
    return Number(from) > Number(to)
  })
  return Cron.parse(fields, zone.value, { onDstOverlap: "both" }).pipe(
    Result.flatMap((cron) =>
      cron.hours.size === 0 || cron.hours.size === 24
        ? Result.succeed(cron)
        : Cron.parse(fields, zone.value, { onDstOverlap: "earlier" }),
    ),
    Result.mapError(() =>
      invalid(
        reversed === undefined
          ? `expected minute, hour, day of month, month, and day of week, such as "0 2 * * *", or one of ${[...nicknames.keys()].join(", ")}, found ${expressionText}`
          : `the range ${reversed} begins after its end; write two ranges, such as 22-23,0-2`,
      ),
    ),
    Result.flatMap((cron) =>
      Result.try({
        try: () => Cron.next(cron, 0),
        catch: () => invalid(`expected an expression that matches some date, found ${expressionText}`),
      }).pipe(Result.map(() => cron)),
    ),
  )
}

const backwardShift = Effect.gen(function* () {
  return (yield* SteadyClock.now) - (yield* Clock.currentTimeMillis)
})

/** Runs the job at each scheduled time. Fails as soon as a run fails. */
export const run = Effect.fn("CronJob.run")(function* <A, E, R>(
  job: Effect.Effect<A, E, R>,
  options: Options,
): Effect.fn.Return<never, E, R> {
  const { cron, now = false } = options
  const timeZone = Option.getOrElse(cron.tz, () => DateTime.zoneMakeLocal())
  const format = (time: number) =>
    DateTime.formatIsoOffset(DateTime.makeZonedUnsafe(time, { timeZone })).replace(/\.\d+/, "")
  const nextAfter = (time: number): number => Cron.next(cron, time).getTime()
  let shiftWhenPlanned = yield* backwardShift
  const started = yield* Clock.currentTimeMillis
  let due = now ? started : nextAfter(started)

  const waitUntilDue = Effect.gen(function* () {
    while (true) {
      const millis = (yield* backwardShift) - shiftWhenPlanned
      if (millis >= minSetBackMillis) {
        shiftWhenPlanned += millis
        due = nextAfter(due - millis - 1)
        yield* Effect.logWarning(
          `the clock was set back by ${Duration.format(Duration.seconds(Math.round(millis / 1000)))}: next run at ${format(due)}`,
        )
      }
      const time = yield* Clock.currentTimeMillis
      if (time >= due) return time
      yield* Effect.sleep(Math.min(due - time, maxSleepMillis))
    }
  })

  while (true) {
    if (due > (yield* Clock.currentTimeMillis)) yield* Effect.logInfo(`next run at ${format(due)}`)
    const start = yield* waitUntilDue
    if (start - due >= maxLateMillis) {
      const { length: missed } = timesBetween(cron, due, start)
      yield* Effect.logWarning(
        `this run starts ${Duration.format(Duration.millis(start - due))} late, because the machine slept or its clock changed. Skipped: ${missed} ${plural(missed, "run that was", "runs that were")} due in the meantime`,
      )
    }
    yield* job
    const end = (yield* SteadyClock.now) - shiftWhenPlanned
    const skipped = timesBetween(cron, start, end)
    const [first, last] = [skipped[0], skipped.at(-1)]
    if (first !== undefined && last !== undefined) {
      yield* Effect.logWarning(
        `skipped ${skipped.length} ${plural(skipped.length, "run")}, ${first === last ? `at ${format(first)}` : `from ${format(first)} to ${format(last)}`}: the previous run had not finished`,
      )
    }
    due = nextAfter(Math.max(end, due))
  }
})

const timesBetween = (cron: Cron.Cron, after: number, upTo: number): ReadonlyArray<number> => {
  const times: Array<number> = []
  for (const time of Cron.sequence(cron, after)) {
    if (time.getTime() > upTo || times.length === maxCounted) break
    times.push(time.getTime())
  }
  return times
}
