/**
 * A job on a cron schedule, in one process: for machines without cron.
 *
 * Guarantees: runs never overlap; a run that is due while another is running is skipped. Runs missed while the machine
 * sleeps, or because its clock jumps, are made up for by one run within 30 seconds of wake-up. All of this is logged.
 * Daylight saving: a run scheduled in the hour that is skipped starts right after it; in the hour that is repeated, a run
 * starts only the first time, unless the job runs every hour.
 *
 * Does not remember across processes when it last ran.
 */
import { Clock, Cron, DateTime, Duration, Effect, Option, Result, Schema } from "effect"
import * as SteadyClock from "../io/SteadyClock.ts"

/** An invalid cron expression or time zone, or one whose time never comes. */
export class InvalidCron extends Schema.TaggedError<InvalidCron>()("InvalidCron", {
  /** Which of both is invalid. */
  what: Schema.Literals(["expression", "time zone"]),
  /** What was expected, in words. */
  message: Schema.String,
}) {
  /** Never: the setting must change. */
  get isRetryable() {
    return false
  }
}

/** When a program is carried out. */
export interface Options {
  /** Made by `parse`, with its time zone. */
  readonly cron: Cron.Cron
  /** Whether to run immediately, before the first scheduled time. */
  readonly now?: boolean | undefined
}

/** The clock is read this often: a timer stands still while the machine sleeps. */
const maxSleepMillis = Duration.toMillis("30 seconds")

/** Later starts than this are logged. */
const maxLateMillis = Duration.toMillis("1 minute")

/** Smaller steps of the clock, such as those of NTP, change nothing. */
const minSetBackMillis = Duration.toMillis("1 second")

/** More skipped times than this are not counted. */
const maxCounted = 1000

/** Names for expressions, as cron has them. */
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
 * Reads a cron expression: minute, hour, day of the month, month, day of the week, and seconds before them if there are
 * six fields; or a name such as `@daily`. The default time zone is that of the machine.
 */
export const parse = (expression: string, timeZone?: string): Result.Result<Cron.Cron, InvalidCron> => {
  const zone = timeZone === undefined ? Option.some(DateTime.zoneMakeLocal()) : DateTime.zoneFromString(timeZone)
  if (Option.isNone(zone)) {
    return Result.fail(
      new InvalidCron({
        what: "time zone",
        message: `expected a time zone such as Europe/Berlin, UTC or +02:00, found ${JSON.stringify(timeZone)}`,
      }),
    )
  }
  const fields = nicknames.get(expression.trim()) ?? expression
  const found = JSON.stringify(expression)
  const invalid = (message: string) => new InvalidCron({ what: "expression", message })
  const reversed = fields.split(/[\s,]+/).find((part) => {
    const [, from, to] = /^(\d+)-(\d+)(\/\d+)?$/.exec(part) ?? []
    return Number(from) > Number(to)
  })
  return Cron.parse(fields, zone.value, { onDstOverlap: "both" }).pipe(
    Result.flatMap((cron) =>
      // An empty set of hours means every hour.
      cron.hours.size === 0 || cron.hours.size === 24
        ? Result.succeed(cron)
        : Cron.parse(fields, zone.value, { onDstOverlap: "earlier" }),
    ),
    Result.mapError(() =>
      invalid(
        reversed === undefined
          ? `expected minute, hour, day of month, month and day of week, such as "0 2 * * *", or one of ${[...nicknames.keys()].join(", ")}, found ${found}`
          : `the range ${reversed} begins after its end; write two ranges, such as 22-23,0-2`,
      ),
    ),
    Result.flatMap((cron) =>
      Result.try({
        try: () => Cron.next(cron, 0),
        catch: () => invalid(`${found} never matches a date`),
      }).pipe(Result.map(() => cron)),
    ),
  )
}

/** Milliseconds by which the wall clock was set back since this process began. */
const setBack = Effect.gen(function* () {
  return (yield* SteadyClock.now) - (yield* Clock.currentTimeMillis)
})

/**
 * Runs the job at each of its times, without end; fails when the job does. Where the clock is set back, the next run is at
 * the first of its times after as much time as was to elapse before it.
 */
export const run = Effect.fn("CronJob.run")(function* <A, E, R>(
  job: Effect.Effect<A, E, R>,
  { cron, now = false }: Options,
): Effect.fn.Return<never, E, R> {
  const timeZone = Option.getOrElse(cron.tz, () => DateTime.zoneMakeLocal())
  const format = (time: number) =>
    DateTime.formatIsoOffset(DateTime.makeZonedUnsafe(time, { timeZone })).replace(/\.\d+/, "")
  const nextAfter = (time: number): number => Cron.next(cron, time).getTime()
  /** That of the wall clock by which `due` was found. */
  let before = yield* setBack
  const started = yield* Clock.currentTimeMillis
  let due = now ? started : nextAfter(started)

  /** Waits until the time that is due, and gives the present time. */
  const waitUntilDue = Effect.gen(function* () {
    while (true) {
      const millis = (yield* setBack) - before
      if (millis >= minSetBackMillis) {
        before += millis
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
        `starting ${Duration.format(Duration.millis(start - due))} late, and skipping ${missed} missed runs: the machine slept, or its clock changed`,
      )
    }
    yield* job
    const end = (yield* SteadyClock.now) - before
    const skipped = timesBetween(cron, start, end)
    const [first, last] = [skipped[0], skipped.at(-1)]
    if (first !== undefined && last !== undefined) {
      yield* Effect.logWarning(
        `skipped ${skipped.length} runs, from ${format(first)} to ${format(last)}: the previous run had not finished`,
      )
    }
    due = nextAfter(Math.max(end, due))
  }
})

/** The times after one and up to the other. */
const timesBetween = (cron: Cron.Cron, after: number, upTo: number): ReadonlyArray<number> => {
  const times: Array<number> = []
  for (const time of Cron.sequence(cron, after)) {
    if (time.getTime() > upTo || times.length === maxCounted) break
    times.push(time.getTime())
  }
  return times
}
