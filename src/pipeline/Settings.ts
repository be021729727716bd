/** The settings of a pipeline. `check` checks names and kinds. `Submit` and `DatasetSettings` check ranges. */
import { type Duration, Effect, type FileSystem, type Layer, type Path, Predicate, Struct } from "effect"
import type { HttpClient } from "effect/http"
import type { ServiceProfile } from "../api/ServiceProfile.ts"
import { didYouMean } from "../io/NearestName.ts"
import { describeValue } from "../io/Values.ts"
import type { Source, SourceError } from "../source/Source.ts"
import type { AnnotationClient } from "../task/client/AnnotationClient.ts"
import type * as LedgerLocation from "../task/ledger/LedgerLocation.ts"
import type { SubmitOptions } from "../task/Submit.ts"
import type * as WebhookReceiver from "../task/webhook/WebhookReceiver.ts"
import { type DatasetSettings, settingKinds } from "./DatasetSettings.ts"
import { SettingInvalid } from "../io/SettingInvalid.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { any, flag, type SettingKind, layer, number, object, text, time, timeAbove0 } from "../io/SettingKinds.ts"

/** The settings of a pipeline: job folder, source, ledger, submission, and dataset. */
export interface Settings<out E = SourceError, out R = FileSystem.FileSystem | Path.Path>
  extends SubmitOptions, LedgerLocation.LedgerSettings, DatasetSettings {
  /** The job folder: ledger (unless it is elsewhere), rejects, and dataset. It is created if missing. */
  readonly directory: string
  /**
   * Whether to start a new ledger if the ledger of a used job folder is lost. The run then submits all items again.
   * Default false: the run fails with `LedgerLost`.
   */
  readonly newLedger?: boolean | undefined
  /** The items: `Source.files`, `Source.join`, `Source.make`, or a custom source. */
  readonly source: Source<E, R>
  /** Time after which a run stops waiting for results. Without it, a run waits as long as necessary. */
  readonly timeout?: Duration.Input | undefined
  /** Time to finish requests in flight after the timeout. Default: the service's `requestTimeout` plus 5 seconds. */
  readonly grace?: Duration.Input | undefined
  /** Whether to poll each outstanding task once instead of waiting, and then export the results so far. */
  readonly once?: boolean | undefined
  /** Where to receive the service's webhooks during the wait for results. Default: no webhooks, only polling. */
  readonly webhook?: WebhookReceiver.ListenOptions | undefined
}

/** The annotation service of a pipeline. */
export interface ServiceOf<E1, R1, E2, R2> {
  /** The service: at an address (`ServiceProfile.layer`) or embedded (`AnnotationService.layerEmbedded`). */
  readonly service: Layer.Layer<ServiceProfile, E1, R1>
  /** Client for a service with another API: `AnnotationClient.layerProtocol`. Default: `AnnotationClient.layer`. */
  readonly client?: Layer.Layer<AnnotationClient, E2, R2> | undefined
}

/** A pipeline: its settings and its service. `E` and `R` are the errors and requirements of source, service, client. */
export interface Pipeline<out E = SourceError, out R = FileSystem.FileSystem | Path.Path>
  extends Settings<E, R>, ServiceOf<E, R, E, R | ServiceProfile | HttpClient.HttpClient> {
  readonly _tag: "Pipeline"
}

const webhook: SettingKind = [
  "an object with `secrets`, or with a function `verify`",
  (value) =>
    Predicate.hasProperty(value, "verify") || (Predicate.hasProperty(value, "secrets") && Array.isArray(value.secrets)),
]
// prettier-ignore
const kinds = {
  _tag: text, directory: text, service: layer, client: layer, ledger: any, job: text, timeout: timeAbove0, grace: time,
  source: Kinds.source,
  once: flag, webhook, guidelines: text, taskType: text, votes: number, votesUpTo: number, confidence: number, peopleWhen: text, group: text,
  price: any, budget: any, shuffleSeed: any, completionsPerItem: number, completionsSeed: number, keepReordered: flag,
  batch: object, maxPlanned: number, gold: object, newCampaign: flag, newLedger: flag, resubmit: Kinds.texts,
  maxAttempts: number, maxRejects: any, ...settingKinds,
} satisfies { readonly [Name in keyof Required<Pipeline>]: SettingKind }

export const names: ReadonlyArray<string> = Struct.keys(kinds)

const required: ReadonlyArray<string> = ["directory", "source", "service"]

export const check = Effect.fnUntraced(function* (settings: object) {
  if (!Predicate.isObject(settings)) {
    const expected = "an object with `directory`, `source`, and `service`"
    return yield* new SettingInvalid({ setting: "pipeline", expected, found: describeValue(settings) })
  }
  const unknown = Object.keys(settings).filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    const setting = unknown.map((name) => name + didYouMean(name, names)).join(", ")
    return yield* new SettingInvalid({ setting, expected: "the name of a pipeline setting", found: "an unknown name" })
  }
  yield* Kinds.check(settings, kinds, required, "pipeline")
})

export const checked =
  <R>() =>
  <A, E>(pipeline: object, effect: () => Effect.Effect<A, E, R>) =>
    Effect.andThen(check(pipeline), Effect.suspend(effect))
