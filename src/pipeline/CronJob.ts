/**
 * A job that is started again and again by a cron expression, in one process: for where there
 * is no cron.
 *
 * Guarantees: runs never overlap. A time that comes while a run is going on is skipped, and
 * said. A time that passes while the machine sleeps, or that its clock jumps over, is made up
 * for by one run as soon as it is noticed, within half a minute; of several, by one run for all.
 * In the hour that a time zone leaves out in spring, a job runs once that hour is over; of the
 * hour that it repeats in autumn, the first counts, unless the job is for every hour.
 *
 * Does not: remember across processes when it last ran. Whoever starts it between two times
 * waits for the second one.
 */
import { Clock, Cron, DateTime, Duration, Effect, Option, Result, Schema } from "effect"

/** A cron expression or time zone that is none, or times that never come. */
export class InvalidCron extends Schema.TaggedError<InvalidCron>()("InvalidCron", {
  what: Schema.Literals(["expression", "time zone"]),
  message: Schema.String,
}) {
  get isRetryable() {
    return false
  }
}

/** What a schedule tells of itself. */
export type Event =
  /** It waits for this time. */
  | { readonly _tag: "Waiting"; readonly due: DateTime.Zoned }
  /** A run starts. `late` is how long after its time that is, `missed` how many more times have passed since. */
  | { readonly _tag: "Starting"; readonly late: Duration.Duration; readonly missed: number }
  /** Times came while the run was going on, from the first to the last. */
  | { readonly _tag: "Skipped"; readonly times: number; readonly first: DateTime.Zoned; readonly last: DateTime.Zoned }

export interface Options {
  readonly cron: Cron.Cron
  /** Whether to run at once, before the first time comes. */
  readonly now?: boolean | undefined
  readonly onEvent?: ((event: Event) => Effect.Effect<void>) | undefined
}

/** The clock is looked at this often: a timer stands still while the machine sleeps. */
const longestSleep = Duration.toMillis("30 seconds")

/** More skipped times than this are not counted. */
const mostCounted = 1000

/** Names for expressions, as cron has them. */
const nicknames: { readonly [name: string]: string } = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
}

/**
 * Reads a cron expression: minute, hour, day of the month, month, day of the week, and seconds
 * before them if there are six fields; or a name such as `@daily`. The time zone is that of the
 * machine unless one is named.
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
  const fields = nicknames[expression.trim()] ?? expression
  const found = JSON.stringify(expression)
  const invalid = (message: string) => new InvalidCron({ what: "expression", message })
  return Cron.parse(fields, zone.value, { onDstOverlap: "both" }).pipe(
    Result.flatMap((cron) =>
      // No hours at all stand for all of them.
      cron.hours.size === 0 || cron.hours.size === 24
        ? Result.succeed(cron)
        : Cron.parse(fields, zone.value, { onDstOverlap: "earlier" }),
    ),
    Result.mapError(() =>
      invalid(
        wrapped(fields) ??
          `expected minute, hour, day of month, month and day of week, such as "0 2 * * *", or one of ${Object.keys(nicknames).join(", ")}, found ${found}`,
      ),
    ),
    Result.flatMap((cron) =>
      Result.try({
        try: () => Cron.next(cron, 0),
        catch: () => invalid(`${found} is at a time that never comes`),
      }).pipe(Result.map(() => cron)),
    ),
  )
}

/** From the last field to the first: the first and last value of each. */
const limits: ReadonlyArray<readonly [first: number, last: number]> = [
  [0, 6],
  [1, 12],
  [1, 31],
  [0, 23],
  [0, 59],
  [0, 59],
]

/** What to write in place of a range that goes over the end of its field, such as `22-2`; undefined where there is none. */
const wrapped = (expression: string): string | undefined => {
  for (const [i, field] of expression.trim().split(/\s+/).toReversed().entries()) {
    for (const part of field.split(",")) {
      const [, from, to, step] = /^(\d+)-(\d+)(\/\d+)?$/.exec(part) ?? []
      const [first, last] = limits[i] ?? []
      if (from === undefined || to === undefined || first === undefined || Number(from) <= Number(to)) continue
      const instead =
        step === undefined ? `; write ${from}-${last},${first}-${to}` : "; write its values, separated by commas"
      return `the range ${part} begins after its end${instead}`
    }
  }
  return undefined
}

/** Runs the job at each of its times, without end; fails when the job does. */
export const run = Effect.fn("CronJob.run")(function* <A, E, R>(
  job: Effect.Effect<A, E, R>,
  { cron, now = false, onEvent = () => Effect.void }: Options,
): Effect.fn.Return<never, E, R> {
  const zone = Option.getOrElse(cron.tz, () => DateTime.zoneMakeLocal())
  const at = (time: number) => DateTime.makeZonedUnsafe(time, { timeZone: zone })
  const nextAfter = (time: number): number => Cron.next(cron, time).getTime()
  const started = yield* Clock.currentTimeMillis
  let due = now ? started : nextAfter(started)
  while (true) {
    if (due > (yield* Clock.currentTimeMillis)) yield* onEvent({ _tag: "Waiting", due: at(due) })
    yield* sleepUntil(due)
    const start = yield* Clock.currentTimeMillis
    const missed = timesBetween(cron, due, start)
    yield* onEvent({ _tag: "Starting", late: Duration.millis(start - due), missed: missed.length })
    yield* job
    const end = yield* Clock.currentTimeMillis
    const skipped = timesBetween(cron, start, end)
    const [first] = skipped
    const last = skipped.at(-1)
    if (first !== undefined && last !== undefined) {
      yield* onEvent({ _tag: "Skipped", times: skipped.length, first: at(first), last: at(last) })
    }
    due = nextAfter(Math.max(end, due))
  }
})

const sleepUntil = Effect.fnUntraced(function* (time: number) {
  for (let now = yield* Clock.currentTimeMillis; now < time; now = yield* Clock.currentTimeMillis) {
    yield* Effect.sleep(Math.min(time - now, longestSleep))
  }
})

/** The times after one and up to the other. */
const timesBetween = (cron: Cron.Cron, after: number, upTo: number): ReadonlyArray<number> => {
  const times: Array<number> = []
  for (const time of Cron.sequence(cron, after)) {
    if (time.getTime() > upTo || times.length === mostCounted) break
    times.push(time.getTime())
  }
  return times
}
