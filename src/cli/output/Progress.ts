/** Redraws one line on a terminal. Elsewhere, prints a line every 5 seconds, or every 10 minutes without changes. */
import { Duration, Effect, Option, Stdio, Stream } from "effect"
import * as SteadyClock from "../../io/SteadyClock.ts"
import { Ledger } from "../../task/ledger/Ledger.ts"
import { number } from "../../io/Values.ts"
import * as Stderr from "./Stderr.ts"
import { duration, present } from "./Text.ts"

const redrawInterval = Duration.millis(200)
const lineInterval = Duration.seconds(5)
const unchangedLines = 120
const barWidth = 12
const rateWindow = { max: 60_000, min: 2_000 }

const write = Effect.fnUntraced(function* (text: string) {
  const stdio = yield* Stdio.Stdio
  yield* Stream.make(text).pipe(Stream.run(stdio.stderr({ endOnDone: false })), Effect.ignore)
})

const line = Effect.gen(function* () {
  const ledger = yield* Ledger
  const tasks = yield* ledger.counts
  const run = yield* ledger.lastRun
  const dropped = tasks.superseded.items + tasks.given_up.items
  const all = Object.values(tasks).reduce((sum, state) => sum + state.items, 0) - dropped
  const reading = Option.exists(run, ({ readFinished }) => !readFinished)
  const rejected = Option.match(run, { onNone: () => 0, onSome: ({ counts }) => counts.rejected })
  const judged = tasks.completed.items
  const several = Option.exists(run, ({ votes }) => votes > 1)
  const unusable = tasks.failed.items + tasks.invalid.items
  const filled = all === 0 ? 0 : Math.floor((barWidth * judged) / all)
  const submitted = all - tasks.planned.items - tasks.submitting.items - tasks.refused.items
  const done = judged > 0 ? judged : submitted
  const open = all - judged - unusable - tasks.in_doubt.items - tasks.refused.items
  const left = reading || judged === 0 ? undefined : open
  const text = present([
    `${number(judged)} of ${number(all)}${reading ? "+" : ""} ${several ? "votes given" : "items judged"},`,
    `${number(submitted)} submitted,`,
    `${number(rejected + tasks.refused.items)} rejected,`,
    tasks.failed.items > 0 && `${number(tasks.failed.items)} failed,`,
    tasks.invalid.items > 0 && `${number(tasks.invalid.items)} invalid,`,
    tasks.in_doubt.items > 0 && `${number(tasks.in_doubt.items)} in doubt,`,
  ]).join(" ")
  return { bar: `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}]`, text, done, left }
})

const makeRate = () => {
  let samples: Array<{ readonly at: number; readonly done: number }> = []
  return Effect.fnUntraced(function* ({ done, left }: Effect.Success<typeof line>) {
    const at = yield* SteadyClock.now
    // At the first result, `done` becomes smaller: it no longer counts submitted items, but judged items.
    if (done < (samples.at(-1)?.done ?? 0)) samples = []
    samples.push({ at, done })
    const recent = samples.findIndex((sample) => at - sample.at <= rateWindow.max)
    samples = samples.slice(recent)
    const first = samples[0]!
    const rate = ((done - first.done) * 1000) / (at - first.at)
    if (at - first.at < rateWindow.min || rate === 0) return ""
    const perSecond = `${rate < 10 ? rate.toFixed(1) : number(Math.round(rate))}/s, `
    return left === undefined || left <= 0 ? perSecond : `${perSecond}${duration(left / rate)} left, `
  })
}

const elapsed = Effect.fnUntraced(function* (since: number) {
  return duration(((yield* SteadyClock.now) - since) / 1000)
})

export const during = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const stdio = yield* Stdio.Stdio
  const since = yield* SteadyClock.now
  const redraw = yield* stdio.stderrIsTerminal
  const rateOf = makeRate()
  let lastText = ""
  let unchanged = 0
  const show = redraw
    ? Effect.gen(function* () {
        const [took, drawn] = yield* Effect.timed(line)
        Stderr.draw(`${drawn.bar} ${yield* rateOf(drawn)}${drawn.text} ${yield* elapsed(since)}`)
        // `line` counts tasks, which is slow for 100,000 tasks. This pause limits the counting to a tenth of the time.
        yield* Effect.sleep(Duration.max(redrawInterval, Duration.times(took, 9)))
      })
    : Effect.gen(function* () {
        yield* Effect.sleep(lineInterval)
        const progress = yield* line
        const rate = yield* rateOf(progress)
        unchanged = progress.text === lastText ? unchanged + 1 : 0
        lastText = progress.text
        if (unchanged % unchangedLines === 0) yield* write(`${progress.text} ${rate}${yield* elapsed(since)}\n`)
      })
  const clear = redraw ? Effect.sync(() => Stderr.draw("")) : Effect.void
  return yield* Effect.raceFirst(effect, Effect.ensuring(Effect.forever(show), clear)).pipe(Effect.ensuring(clear))
})
