/**
 * Loads pipeline files: modules whose default export is `Pipeline.make(…)`. A setting that no pipeline has is refused,
 * because such a file runs without a type check. The values of settings are not checked here.
 *
 * Adapter: uses `node:url` and `node:path` to import the module by its absolute path.
 */
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Cause, Context, Effect, type FileSystem, Layer, Option, type Path, Predicate, Schema } from "effect"
import { Argument } from "effect/cli"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import * as FileLock from "../../node/FileLock.ts"
import type * as Pipeline from "../../pipeline/Pipeline.ts"
import { type DatasetSettings, settingNames } from "../../pipeline/DatasetSettings.ts"
import { done, Finished, UsageError, usageError } from "../output/ExitStatus.ts"
import { messageOf } from "../output/Failure.ts"
import { didYouMean } from "../../io/NearestName.ts"
import { orFiles } from "./Definition.ts"
import { isPipelineFile } from "./PipelineName.ts"

export class ServiceUnusable extends Schema.TaggedError<ServiceUnusable>()("ServiceUnusable", {
  message: Schema.String,
}) {}

type PlatformNeeds = FileSystem.FileSystem | Path.Path

export interface Loaded extends Pipeline.Settings {
  readonly service: Layer.Layer<ServiceProfile, unknown, PlatformNeeds>
  readonly client?: Pipeline.Pipeline["client"]
}

/** For commands that read no input: they take the job folder, service and dataset settings from the pipeline. */
export const pipelineArgument = Argument.String("PIPELINE").pipe(
  Argument.withDescription("Pipeline file of the job, if it has one"),
  Argument.optional,
  Argument.mapEffect((file) => Effect.map(orFiles(Option.toArray(file)), ([first]) => first)),
)

/** Advice for projects made by `npm init`, whose files Node does not load as ES modules. */
const adviceOn = (cause: unknown): string =>
  cause instanceof SyntaxError && /outside a module|Unexpected token 'export'/.test(cause.message)
    ? ': give the file the extension .mts or .mjs, or set "type": "module" in package.json'
    : ""

/** The settings of a pipeline besides those of its dataset. The type check fails if one is missing. */
// prettier-ignore
const otherSettings = {
  directory: true, source: true, service: true, client: true, ledger: true, job: true, timeout: true, grace: true,
  once: true, webhook: true, guidelines: true, taskType: true, votes: true, votesUpTo: true, confidence: true,
  price: true, budget: true, shuffleSeed: true, completionsPerItem: true, completionsSeed: true, keepReordered: true,
  batch: true, gold: true, newCampaign: true, newLedger: true, resubmit: true, maxAttempts: true, maxRejects: true,
} satisfies { readonly [Name in Exclude<keyof Required<Pipeline.Pipeline>, "_tag" | keyof DatasetSettings>]: true }

const allNames: ReadonlyArray<string> = [...settingNames, ...Object.keys(otherSettings)]

const isPipeline = (value: unknown): value is Loaded => Predicate.isTagged(value, "Pipeline")

export const loadPipeline = Effect.fn("PipelineFile.load")(function* (file: string) {
  if (!isPipelineFile(file)) {
    return yield* usageError(`expected a pipeline file (.ts, .js, .mts, .mjs, .cts, or .cjs): ${file}`)
  }
  const module: unknown = yield* Effect.tryPromise({
    try: () => import(pathToFileURL(resolve(file)).href),
    catch: (cause) => usageError(`cannot load the pipeline ${file}: ${messageOf(cause)}${adviceOn(cause)}`),
  })
  if (!Predicate.hasProperty(module, "default") || !isPipeline(module.default)) {
    return yield* usageError(`expected ${file} to have a default export made by Pipeline.make(…)`)
  }
  const unknown = Object.keys(module.default).filter((name) => name !== "_tag" && !allNames.includes(name))
  if (unknown.length > 0) {
    return yield* usageError(
      `${file} has ${unknown.length === 1 ? "an unknown setting" : "unknown settings"}: ${unknown.map((name) => name + didYouMean(name, allNames)).join(", ")}`,
    )
  }
  return module.default
})

const isUsageError = Schema.is(UsageError)
const isFileLockError = Schema.is(FileLock.FileLockError)

/**
 * Maps the errors with which a service fails to start. A wrong setting becomes a `UsageError`. Lock errors stay as they
 * are. Any other error becomes `ServiceUnusable`.
 */
export const reported = (
  service: Loaded["service"],
): Layer.Layer<ServiceProfile, ServiceUnusable | UsageError | FileLock.FileLockError, PlatformNeeds> =>
  Layer.catchCause(service, (cause) => {
    const failure = Cause.squash(cause)
    const message = messageOf(failure)
    // prettier-ignore
    const settingTags = ["ConfigError", "JudgeSettingsError", "ServiceSettingsError", "UnknownExpert", "UnusableGoldFile"]
    const isSetting = settingTags.some((tag) => Predicate.isTagged(failure, tag))
    const reason: ServiceUnusable | UsageError | FileLock.FileLockError =
      isUsageError(failure) || isFileLockError(failure)
        ? failure
        : isSetting
          ? usageError(message)
          : new ServiceUnusable({ message })
    return Layer.effect(ServiceProfile, Effect.fail(reason))
  })

/** Whether to check a command line without running it. `schedule` does so before it waits for the first run. */
export const DryRun = Context.Reference<boolean>("prefstream/cli/DryRun", { defaultValue: () => false })

export const endOfDryRun = Effect.fnUntraced(function* () {
  if (yield* DryRun) return yield* new Finished({ status: done })
})
