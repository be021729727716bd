/**
 * Loads pipeline files: modules whose default export is `Pipeline.make(…)`. Unknown settings, and values of the wrong
 * kind, are refused, because a pipeline file runs without a type check.
 *
 * Adapter: uses `node:url` and `node:path` to import the module by its absolute path.
 */
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Cause, Context, Effect, type FileSystem, Layer, Option, type Path, Predicate, Schema } from "effect"
import { Argument } from "effect/cli"
import type { HttpClient } from "effect/http"
import type { ServiceProfile } from "../../api/ServiceProfile.ts"
import { type AnnotationClient, TaskClient } from "../../task/client/AnnotationClient.ts"
import * as FileLock from "../../node/FileLock.ts"
import type * as Pipeline from "../../pipeline/Pipeline.ts"
import * as Settings from "../../pipeline/Settings.ts"
import { done, Finished, UsageError, usageError } from "../output/ExitStatus.ts"
import { messageOf } from "../output/Failure.ts"
import { orFiles } from "./Definition.ts"
import { isPipelineFile } from "./PipelineName.ts"

export class ServiceUnusable extends Schema.TaggedError<ServiceUnusable>()("ServiceUnusable", {
  message: Schema.String,
}) {}

type PlatformNeeds = FileSystem.FileSystem | Path.Path

type Unusable = ServiceUnusable | UsageError | FileLock.FileLockError

export interface Loaded extends Pipeline.Settings {
  readonly service: Layer.Layer<ServiceProfile, unknown, PlatformNeeds>
  readonly client?: Layer.Layer<AnnotationClient, Unusable, PlatformNeeds | ServiceProfile | HttpClient.HttpClient>
}

/**
 * The argument of commands that read no input. They take the job folder, service, and dataset settings from the
 * pipeline.
 */
export const pipelineArgument = Argument.String("PIPELINE").pipe(
  Argument.withDescription("Pipeline file of the job, if it has one"),
  Argument.optional,
  Argument.mapEffect((file) => Effect.map(orFiles(Option.toArray(file)), ([first]) => first)),
)

/** Returns advice for projects made by `npm init`: Node does not load their files as ES modules. */
const adviceOn = (cause: unknown): string =>
  cause instanceof SyntaxError && /outside a module|Unexpected token 'export'/.test(cause.message)
    ? ': give the file the extension .mts or .mjs, or set "type": "module" in package.json'
    : ""

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
  yield* Effect.mapError(Settings.check(module.default), ({ message }) => usageError(`${file}: ${message}`))
  const { client, ...pipeline } = module.default
  return { ...pipeline, ...(client !== undefined && { client: reported(client, TaskClient) }) } satisfies Loaded
})

const isUsageError = Schema.is(UsageError)
const isFileLockError = Schema.is(FileLock.FileLockError)

/**
 * Maps the errors with which a service or its client fails to start. A wrong setting becomes a `UsageError`. Lock
 * errors stay unchanged. Any other error becomes `ServiceUnusable`.
 */
export const reported = <I, S, R>(
  layer: Layer.Layer<I, unknown, R>,
  service: Context.Key<I, S>,
): Layer.Layer<I, Unusable, R> =>
  Layer.catchCause(layer, (cause) => {
    const failure = Cause.squash(cause)
    const message = messageOf(failure)
    // prettier-ignore
    const settingTags = ["ConfigError", "JudgeAnswersError", "JudgeSettingsError", "ServiceSettingsError", "UnknownExpert", "UnusableGoldFile"]
    const isSetting = settingTags.some((tag) => Predicate.isTagged(failure, tag))
    const reason: Unusable =
      isUsageError(failure) || isFileLockError(failure)
        ? failure
        : isSetting
          ? usageError(message)
          : new ServiceUnusable({ message })
    return Layer.effect(service, Effect.fail(reason))
  })

/** Whether to check a command line without running it. `schedule` sets this before it waits for the first run. */
export const DryRun = Context.Reference<boolean>("prefstream/cli/DryRun", { defaultValue: () => false })

export const endOfDryRun = Effect.fnUntraced(function* () {
  if (yield* DryRun) return yield* new Finished({ status: done })
})
