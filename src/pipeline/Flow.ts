/**
 * The steps of a pipeline. A run can be stopped at any point, and started again with the same job folder. The new run
 * submits nothing twice. The dataset depends only on the ledger and the dataset's settings.
 */
import { Cause, Effect, Exit, Latch, Layer, Option } from "effect"
import type { ServiceProfile } from "../api/ServiceProfile.ts"
import { collect as collectLoop, type CollectOptions } from "../task/Collect.ts"
import { Ledger } from "../task/ledger/Ledger.ts"
import { noteWanted, planFurtherVotes } from "../task/FurtherVotes.ts"
import { sendPlanned } from "../task/Submit.ts"
import * as WebhookReceiver from "../task/webhook/WebhookReceiver.ts"
import { plural } from "../io/Values.ts"
import { choose } from "./AdaptiveVotes.ts"
import { validate } from "./DatasetSettings.ts"
import { readAndSubmit, warn } from "./Reading.ts"
import { checkOwner, exportDataset } from "./Reexport.ts"
import * as RejectsFile from "./RejectsFile.ts"
import * as RunReport from "./RunReport.ts"
import type { Settings } from "./Settings.ts"
import * as Stop from "./Stop.ts"

export const run = Effect.fn("Pipeline.run")(function* <E, R>(settings: Settings<E, R>) {
  const [elapsed, ended] = yield* Effect.timed(
    Effect.gen(function* () {
      yield* validate(settings)
      yield* checkOwner(settings.directory)
      const submittingDone = yield* Latch.make()
      let stopped = true
      const settled = yield* Latch.make()
      const once = settings.once === true
      // A run with `once` chooses items for further votes at its start. Any other run waits for all results before it
      // chooses, because its choice must not depend on whether the run was interrupted and restarted.
      const chooseFurther = once ? choose(settings) : undefined
      const submitting = readAndSubmit({ ...settings, settled, chooseFurther }).pipe(
        Effect.tap(() => Effect.sync(() => void (stopped = false))),
        Effect.ensuring(submittingDone.open),
      )
      const collecting = Effect.andThen(settled.await, collectLoop({ submittingDone }))
      const loops = once
        ? Effect.all([submitting, collectLoop({ once })]).pipe(Effect.tap(noteWanted(choose(settings))))
        : Effect.all([submitting, collecting], { concurrency: 2 }).pipe(Effect.tap(thenFurtherVotes(settings)))
      const ended = yield* loops.pipe(stoppable(settings), listening(settings.webhook), thenWriteRejects(settings))
      const [reading] = Option.getOrElse(ended.value, () => [undefined])
      if (reading !== undefined) yield* warn(reading)
      const read = { rejects: ended.rejects, run: reading?.run, stopped }
      return !once && (stopped || (yield* RunReport.outstanding) > 0)
        ? read
        : { ...read, ...(yield* exportDataset(settings)) }
    }),
  )
  return yield* RunReport.make({ elapsed, ...ended })
})

const thenFurtherVotes = Effect.fnUntraced(function* (settings: Omit<Settings, "source">) {
  const { shuffleSeed } = settings
  while ((yield* planFurtherVotes(choose(settings), { shuffleSeed })) > 0) {
    const submittingDone = yield* Latch.make()
    const sending = Effect.ensuring(sendPlanned, submittingDone.open)
    yield* Effect.all([sending, collectLoop({ submittingDone })], { concurrency: 2, discard: true })
  }
})

export const submit = Effect.fn("Pipeline.submit")(function* <E, R>(settings: Settings<E, R>) {
  const [elapsed, { rejects, value }] = yield* Effect.timed(
    readAndSubmit({ ...settings, chooseFurther: choose(settings) }).pipe(
      stoppable(settings),
      thenWriteRejects(settings),
    ),
  )
  const reading = Option.getOrUndefined(value)
  if (reading !== undefined) yield* warn(reading)
  return yield* RunReport.make({
    elapsed,
    rejects,
    run: reading?.run,
    stopped: Option.isNone(value),
    sharedWithWorkers: (yield* Ledger).isShared,
  })
})

/** Settings of `collect`. */
export interface CollectSettings
  extends
    Pick<Settings, "timeout" | "grace" | "webhook" | "annotationPaths" | "once">,
    Pick<CollectOptions, "recheckCompleted"> {}

export const collect = Effect.fn("Pipeline.collect")(function* (options: CollectSettings) {
  const [elapsed] = yield* Effect.timed(
    collectLoop({ once: options.once, recheckCompleted: options.recheckCompleted }).pipe(
      Effect.tap(noteWanted(choose(options))),
      stoppable(options),
      listening(options.webhook),
    ),
  )
  return yield* RunReport.make({ elapsed })
})

const stoppable =
  ({ grace, timeout }: Pick<Settings, "timeout" | "grace">) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R | Ledger | ServiceProfile> =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const options: Stop.StopOptions = {
        ...(yield* Stop.CurrentOptions),
        grace: yield* Stop.graceOf(grace),
        inFlight: ledger.counts.pipe(
          Effect.map(({ submitting: { tasks } }) =>
            tasks === 0 ? Option.none() : Option.some(`${tasks} ${plural(tasks, "request")}`),
          ),
          Effect.orElseSucceed(() => Option.none()),
        ),
      }
      const supervised = Stop.withOptions(options)(effect)
      if (timeout === undefined) return yield* Effect.asSome(supervised)
      const stop = Effect.as(Effect.sleep(timeout), "timeout")
      const { exit, reason } = yield* Stop.until(supervised, { stop, options, announce: Effect.logInfo })
      if (exit === undefined) return Option.none()
      // The timeout counts only if the effect was interrupted. Otherwise, the effect's own result or failure counts.
      if (Option.isSome(reason) && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return Option.none()
      return Option.some(yield* exit)
    })

const listening =
  (webhook: WebhookReceiver.ListenOptions | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(effect, webhook === undefined ? Layer.empty : WebhookReceiver.layer(webhook))

const thenWriteRejects =
  ({ directory }: Pick<Settings, "directory">) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.onError(() => Effect.ignore(RejectsFile.write(directory))),
      Effect.flatMap((value) => Effect.map(RejectsFile.write(directory), (rejects) => ({ value, rejects }))),
    )
