/**
 * The whole flow on one screen: source, tasks, judgments, pairs, dataset.
 *
 * Guarantees: a run may be broken off at any point and started again over the same
 * job folder; it then finishes what is left and submits nothing twice. The dataset
 * depends on nothing but the ledger.
 *
 * `run` is `submit` and `collect` at once, and then `exportDataset`. Each of the
 * three may also be run alone, in other processes and on other days.
 */
import { type Array as Arr, type Duration, Effect, Latch, Layer, Option, Stream } from "effect"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import * as Dataset from "../dataset/Dataset.ts"
import type { Judgment } from "../domain/Judgment.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { bestAgainstRest } from "../pair/BestAgainstRest.ts"
import type { Source } from "../source/Source.ts"
import { AnnotationClient } from "../task/AnnotationClient.ts"
import { collect as collectLoop } from "../task/Collect.ts"
import * as Judgments from "../task/Judgments.ts"
import { Ledger } from "../task/Ledger.ts"
import { submit as submitLoop, type SubmitOptions } from "../task/Submit.ts"
import * as WebhookReceiver from "../task/WebhookReceiver.ts"
import * as JobFolder from "./JobFolder.ts"
import * as RejectsFile from "./RejectsFile.ts"
import * as RunReport from "./RunReport.ts"

export interface Settings extends SubmitOptions {
  /** The job folder: ledger, rejects and dataset. Created if need be. */
  readonly directory: string
  readonly source: Source
  /** How a judgment becomes pairs. Defaults to the best against each of the rest. */
  readonly pairs?: ((judgment: Judgment) => ReadonlyArray<PreferencePair>) | undefined
  /** Time after which a run stops waiting for results. Without it a run waits for as long as it takes. */
  readonly timeout?: Duration.Input | undefined
  /** Where to receive the service's webhooks while results are awaited. Without it, polling alone finds them. */
  readonly webhook?: WebhookReceiver.ListenOptions | undefined
}

export interface Pipeline<E = never, R = never> extends Settings {
  readonly _tag: "Pipeline"
  /** Where the tasks go: a service at an address (`ServiceProfile.layer`) or an embedded one (`AnnotationService.layerEmbedded`). */
  readonly service: Layer.Layer<ServiceProfile, E, R>
}

/** A pipeline as a value, to be run by `run` or by `prefstream run FILE`. */
export const make = <E, R>(settings: Omit<Pipeline<E, R>, "_tag">): Pipeline<E, R> => ({
  _tag: "Pipeline",
  ...settings,
})

/** All that a run needs beside the platform: the ledger in the job folder, and a client of the pipeline's service. */
export const layer = <E, R>(pipeline: Pick<Pipeline<E, R>, "directory" | "service">) =>
  Layer.mergeAll(ledgerOf(pipeline.directory), AnnotationClient.layer).pipe(
    Layer.provideMerge(pipeline.service),
    Layer.provide(Layer.effectDiscard(JobFolder.create(pipeline.directory))),
  )

/** Waits for the disk only where what a loss of power takes away could not be found again. */
const ledgerOf = (directory: string) =>
  Layer.unwrap(
    Effect.map(ServiceProfile, ({ idempotencyKey }) =>
      Ledger.layerFile(JobFolder.ledger(directory), {
        synchronous: idempotencyKey === "honoured" ? "normal" : "full",
      }),
    ),
  )

/** Runs a pipeline to its end: reads, submits, waits for the results, and writes the dataset. */
export const run = Effect.fn("Pipeline.run")(function* (settings: Settings) {
  const [elapsed, ended] = yield* Effect.timed(
    Effect.gen(function* () {
      const submittingDone = yield* Latch.make()
      const submitting = submitLoop(settings.source.records, settings).pipe(Effect.ensuring(submittingDone.open))
      const ended = yield* Effect.all([submitting, collectLoop({ submittingDone })], { concurrency: 2 }).pipe(
        within(settings.timeout),
        listening(settings.webhook),
        thenWriteRejects(settings),
      )
      const read = { rejects: ended.rejects, run: Option.getOrUndefined(ended.value)?.[0] }
      return (yield* RunReport.outstanding) > 0 ? read : { ...read, ...(yield* exportDataset(settings)) }
    }),
  )
  return yield* RunReport.make({ elapsed, ...ended })
})

/** Reads the source and submits what is new. Does not wait for results. */
export const submit = Effect.fn("Pipeline.submit")(function* (settings: Settings) {
  const [elapsed, { rejects, value }] = yield* Effect.timed(
    submitLoop(settings.source.records, settings).pipe(within(settings.timeout), thenWriteRejects(settings)),
  )
  return yield* RunReport.make({ elapsed, rejects, run: Option.getOrUndefined(value) })
})

/** Waits for the results of what was submitted, or looks `once` at each outstanding task. */
export const collect = Effect.fn("Pipeline.collect")(function* (
  options: Pick<Settings, "timeout" | "webhook"> & { readonly once?: boolean | undefined },
) {
  const [elapsed] = yield* Effect.timed(
    collectLoop({ once: options.once }).pipe(within(options.timeout), listening(options.webhook)),
  )
  return yield* RunReport.make({ elapsed })
})

/** Writes the dataset of all results that are there. A pure function of the ledger: the same ledger gives the same bytes. */
export const exportDataset = Effect.fn("Pipeline.exportDataset")(function* (
  settings: Pick<Settings, "directory" | "pairs">,
) {
  const toPairs = settings.pairs ?? bestAgainstRest
  let example = Option.none<PreferencePair>()
  const pairs = Judgments.fromLedger.pipe(
    Stream.chunks,
    Stream.map((judgments) => judgments.flatMap(toPairs)),
    Stream.filter((pairs): pairs is Arr.NonEmptyArray<PreferencePair> => pairs.length > 0),
    Stream.flattenArray,
    Stream.mapArray((pairs) => {
      example = Option.orElse(example, () => Option.some(pairs[0]))
      return pairs
    }),
  )
  const info = yield* Dataset.write(pairs, { directory: JobFolder.dataset(settings.directory) })
  return { dataset: Option.some(info), example }
})

/** Ends the effect after a time, without failing: what is left to do is seen from the ledger. */
const within =
  (timeout: Duration.Input | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
    timeout === undefined ? Effect.asSome(effect) : Effect.timeoutOption(effect, timeout)

/** Receives webhooks while the effect runs, if asked to. */
const listening =
  (webhook: WebhookReceiver.ListenOptions | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(effect, webhook === undefined ? Layer.empty : WebhookReceiver.layer(webhook))

/** Writes the rejects file, however the reading ends. */
const thenWriteRejects =
  ({ directory }: Pick<Settings, "directory">) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.onError(() => Effect.ignore(RejectsFile.write(directory))),
      Effect.flatMap((value) => Effect.map(RejectsFile.write(directory), (rejects) => ({ value, rejects }))),
    )
