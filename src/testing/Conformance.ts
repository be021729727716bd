/**
 * The conformance suite: tests that a protocol loses nothing and pays for nothing twice, whatever faults occur.
 *
 * Each case runs the library over real HTTP against a fake of the service. A proxy causes the faults, and kill -9 ends
 * a real process. A passing suite does not prove that the fake behaves like the service. Any test runner can run the
 * cases; with Vitest:
 *
 *     import { Effect } from "effect"
 *     import { cases } from "prefstream/testing"
 *     import { describe, it } from "vitest"
 *
 *     describe(subject.name, () => {
 *       for (const { name, run } of cases(subject)) it(name, () => Effect.runPromise(run), 300_000)
 *     })
 */
import { Array as Arr, Cause, Deferred, type Duration, Effect, References, Result, Schema } from "effect"
import { Ledger } from "../task/ledger/Ledger.ts"
import * as WebhookReceiver from "../task/webhook/WebhookReceiver.ts"
import { platform } from "./Job.ts"
import { type ProxyFault, faults } from "./Proxy.ts"
import type { Subject } from "./Subject.ts"
import * as Trial from "./Trial.ts"

export type { RouteOptions } from "../task/webhook/WebhookReceiver.ts"
export type { FakeService, JudgingOptions, MakeFake, ProtocolModule, Subject } from "./Subject.ts"

/** A case failed: the library or the protocol lost something, paid twice, or misread a result. */
export class ConformanceFailure extends Schema.TaggedError<ConformanceFailure>()("ConformanceFailure", {
  /** Name of the subject. */
  subject: Schema.String,
  /** Name of the case. */
  case: Schema.String,
  /** The expectation and the observed value, or the error of the run. */
  detail: Schema.String,
}) {
  override get message() {
    return `${this.subject}, ${this.case}: ${this.detail}`
  }
}

/** The totals of all runs of a case. */
export interface Counts {
  /** Number of runs, each with a new fake and a new ledger. */
  readonly runs: number
  /** Number of prompts that the fake was paid for. Each run has four prompts. */
  readonly paid: number
  /** Number of tasks for which it was unknown whether the service had created them (state `in_doubt`). */
  readonly doubts: number
  /** Number of prompts that were sent again, because their task's id was unknown or their result was invalid. */
  readonly sentAgain: number
}

/** A case for a test runner. */
export interface Case {
  /** The fault that the case tests. */
  readonly name: string
  /** Runs the case. Ends within five minutes. */
  readonly run: Effect.Effect<Counts, ConformanceFailure>
}

type Trial = Effect.Success<ReturnType<typeof Trial.make>>

const withSettings = (subject: Subject, settings: Subject["settings"]): Subject => ({
  ...subject,
  settings: { ...subject.settings, ...settings },
})

const trial = <A, E, R>(subject: Subject, body: (trial: Trial) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(Trial.make(subject), body))

/** Runs `body` once for each request that creating a task takes. In run n, `isIt` is true only for request n. */
const atEachRequest = Effect.fnUntraced(function* <E, R>(
  subject: Subject,
  body: (trial: Trial, isIt: (nth: number) => boolean) => Effect.Effect<Omit<Counts, "runs">, E, R>,
) {
  const requests = yield* trial(subject, (it) => Effect.map(it.inProcess(it.submit), () => it.proxy.arrivals.length))
  const perTask = Math.ceil(requests / Math.ceil(4 / (subject.promptsPerTask ?? 2)))
  return yield* Effect.forEach(Arr.range(1, perTask), (n) => trial(subject, (it) => body(it, (nth) => nth === n)))
})

/** How many tasks may be `in_doubt` after a lost answer: none if idempotency keys allow repeating the request. */
const maxDoubts = ({ settings }: Subject) => (settings?.idempotencyKey === "honored" ? 0 : 1)

const duringCreation = (fault: ProxyFault, doubts = maxDoubts, requestTimeout: Duration.Input = "30 seconds") =>
  Effect.fnUntraced(function* (subject: Subject) {
    return yield* atEachRequest(withSettings(subject, { requestTimeout }), (it, isIt) =>
      it.inProcess(
        Effect.gen(function* () {
          it.proxy.disturb((nth) => (isIt(nth) ? fault : undefined))
          yield* it.submit
          const at = it.proxy.arrivals.findIndex((_, i) => isIt(i + 1))
          const [first = 0, next = Infinity] = it.proxy.arrivals.slice(at)
          const waitMillis = Math.round(next - first)
          yield* Trial.expect(
            fault !== faults.tooManyRequests || waitMillis >= 1000,
            `expected a wait of at least 1000 ms before the retry, found ${waitMillis} ms`,
          )
          it.proxy.disturb(() => undefined)
          return yield* it.settle(doubts(subject))
        }),
      ),
    )
  })

const killAt = (acts: boolean) =>
  Effect.fnUntraced(function* (subject: Subject) {
    return yield* atEachRequest(
      subject,
      Effect.fnUntraced(function* (it, isIt) {
        const arrival = yield* Deferred.make<void>()
        const hold: ProxyFault = ({ forward }) =>
          Effect.andThen(
            acts ? forward : Effect.void,
            Effect.andThen(Deferred.succeed(arrival, undefined), Effect.never),
          )
        it.proxy.disturb((nth) => (isIt(nth) ? hold : undefined))
        yield* it.submitAndKill(Deferred.await(arrival))
        it.proxy.disturb(() => undefined)
        return yield* it.inProcess(Effect.andThen(it.submit, it.settle(maxDoubts(subject))))
      }),
    )
  })

const afterCreation =
  <E, R>(body: (trial: Trial) => Effect.Effect<unknown, E, R>) =>
  (subject: Subject) =>
    Effect.map(
      trial(subject, (it) =>
        it.inProcess(it.submit.pipe(Effect.andThen(Effect.suspend(() => body(it))), Effect.andThen(it.settle(0)))),
      ),
      Arr.of,
    )

const pollFaults = [faults.cut, faults.serverError, faults.brokenAnswer, faults.tooManyRequests]

const webhooks = (options: WebhookReceiver.RouteOptions) => (subject: Subject) =>
  afterCreation(
    Effect.fnUntraced(function* (it) {
      const url = yield* Deferred.make<string>()
      const notifying = Effect.gen(function* () {
        const to = yield* Deferred.await(url)
        yield* it.judge()
        const notify = Effect.promise(() => it.fake.notify?.(to) ?? Promise.resolve())
        yield* Effect.all([notify, notify], { concurrency: 2 })
      })
      const onListening = (at: string) => Effect.asVoid(Deferred.succeed(url, at))
      const collecting = Effect.provide(it.collect(), WebhookReceiver.layer({ ...options, onListening }))
      yield* Effect.all([collecting, notifying], { concurrency: 2 })
    }),
  )(withSettings(subject, { pollInterval: { min: "1 hour", max: "1 hour" } }))

const judgedTasks = Ledger.use(({ counts }) => Effect.map(counts, ({ completed }) => completed.tasks))

/** Returns the cases for a subject. */
export const cases = (subject: Subject): ReadonlyArray<Case> => {
  const definitions = {
    "no fault, but the same items are submitted twice": afterCreation((it) => it.submit),
    "the process is killed (kill -9) before a request arrives": killAt(false),
    "the process is killed (kill -9) after the service has carried out a request": killAt(true),
    "the connection breaks before a request arrives": duringCreation(faults.cut),
    "the service carries out a request, but the answer is lost": duringCreation(faults.cutAfterActing),
    "no answer within the timeout": duringCreation(faults.silenceAfterActing, maxDoubts, "2 seconds"),
    "the service carries out a request, but answers 500": duringCreation(faults.serverErrorAfterActing),
    "the service carries out a request, but the answer is unreadable": duringCreation(faults.brokenAnswer, () => 1),
    "429 with Retry-After": duringCreation(faults.tooManyRequests, () => 0),
    "polls that fail": (subject: Subject) =>
      Effect.map(
        Effect.forEach(pollFaults, (fault) =>
          afterCreation((it) => {
            it.proxy.disturb((nth) => (nth === 1 ? fault : undefined))
            return Effect.andThen(it.judge(), it.collect())
          })(subject),
        ),
        Arr.flatten,
      ),
    "late results": afterCreation((it) => Effect.andThen(it.collect({ once: true }), it.collect({ once: true }))),
    "reordered results": afterCreation((it) => Effect.andThen(it.judge({ reversed: true }), it.collect())),
    "duplicate results": afterCreation((it) =>
      it.judge({ repeated: true }).pipe(Effect.andThen(it.collect()), Effect.andThen(it.resolve)),
    ),
    "wrong results": afterCreation(
      Effect.fnUntraced(function* (it) {
        yield* it.judge({ wrong: true })
        yield* it.collect()
        const judgments = yield* judgedTasks
        yield* Trial.expect(judgments === 0, `expected 0 completed tasks if all results are wrong, found ${judgments}`)
        yield* it.resolve
      }),
    ),
    "results of other tasks": afterCreation((it) =>
      it.judge({ foreign: true }).pipe(Effect.andThen(it.collect()), Effect.andThen(it.resolve)),
    ),
    ...(subject.webhook !== undefined && { "duplicate webhooks": webhooks(subject.webhook) }),
  }
  return Object.entries(definitions).map(([name, definition]) => ({
    name,
    run: definition(subject).pipe(
      Effect.map(
        Arr.reduce({ runs: 0, paid: 0, doubts: 0, sentAgain: 0 }, (sum, one) => ({
          runs: sum.runs + 1,
          paid: sum.paid + one.paid,
          doubts: sum.doubts + one.doubts,
          sentAgain: sum.sentAgain + one.sentAgain,
        })),
      ),
      Effect.timeout("5 minutes"),
      Effect.catchCause((cause) => {
        const failure = Cause.squash(cause)
        const detail = failure instanceof Error ? failure.message : String(failure)
        return Effect.fail(new ConformanceFailure({ subject: subject.name, case: name, detail }))
      }),
      Effect.provide(platform),
      Effect.provideService(References.MinimumLogLevel, "None"),
    ),
  }))
}

/** Runs all cases of all subjects. Returns the failures, and a table in Markdown with one row per case. */
export const table = Effect.fnUntraced(function* (subjects: ReadonlyArray<Subject>) {
  const columns = yield* Effect.forEach(subjects, (subject) =>
    Effect.map(
      Effect.forEach(cases(subject), ({ name, run }) =>
        Effect.map(Effect.result(run), (result) => [name, result] as const),
      ),
      (results) => new Map(results),
    ),
  )
  const names = [...new Set(columns.flatMap((column) => [...column.keys()]))]
  const cellOf = (result: Result.Result<Counts, ConformanceFailure> | undefined) =>
    result === undefined
      ? "does not apply"
      : Result.match(result, {
          onFailure: ({ detail }) => `**failed**: ${detail.replaceAll(/[|\n]/g, " ")}`,
          onSuccess: ({ doubts, paid, runs, sentAgain }) =>
            `runs (4 prompts each): ${runs}, paid prompts: ${paid}${doubts > 0 ? `, tasks in doubt: ${doubts}` : ""}${sentAgain > 0 ? `, prompts sent again: ${sentAgain}` : ""}`,
        })
  const row = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const markdown = [
    row(["fault", ...subjects.map(({ name }) => name)]),
    row(["---", ...subjects.map(() => "---")]),
    ...names.map((name) => row([name, ...columns.map((column) => cellOf(column.get(name)))])),
  ].join("\n")
  const failures = columns.flatMap((column) =>
    [...column.values()].filter(Result.isFailure).map(({ failure }) => failure),
  )
  return { failures, markdown }
})
