/** Adapter: imports a pipeline file by `node:url` and `node:path`, and checks its settings. Node checks no types. */
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

export const pipelineArgument = Argument.String("PIPELINE").pipe(
  Argument.withDescription("Pipeline file of the job, if it has one"),
  Argument.optional,
  Argument.mapEffect((file) => Effect.map(orFiles(Option.toArray(file)), ([first]) => first)),
)

/** In a project that `npm init` made, Node does not load `.js` and `.ts` files as ES modules. */
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

export const DryRun = Context.Reference<boolean>("prefstream/cli/DryRun", { defaultValue: () => false })

export const endOfDryRun = Effect.fnUntraced(function* () {
  if (yield* DryRun) return yield* new Finished({ status: done })
})
