/**
 * Pipelines written as programs: a module whose default export is `Pipeline.make(…)`.
 *
 * Adapter: uses `node:url` and `node:path` to import the module from where it stands.
 */
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Cause, Effect, type FileSystem, Layer, type Path, Predicate, Schema } from "effect"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import type * as Pipeline from "../pipeline/Pipeline.ts"
import { UsageError } from "./ExitStatus.ts"

/** The annotation service that a pipeline names could not be reached or started. */
export class ServiceUnusable extends Schema.TaggedError<ServiceUnusable>()("ServiceUnusable", {
  message: Schema.String,
}) {}

type PlatformNeeds = FileSystem.FileSystem | Path.Path

interface Loaded extends Pipeline.Settings {
  readonly service: Layer.Layer<ServiceProfile, unknown, PlatformNeeds>
}

/** Whether an argument names a program rather than data. */
export const isPipelineFile = (file: string): boolean => /\.[cm]?[jt]s$/.test(file)

const isPipeline = (value: unknown): value is Loaded => Predicate.isTagged(value, "Pipeline")

const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))

export const loadPipeline = Effect.fn("PipelineFile.load")(function* (file: string) {
  const module: unknown = yield* Effect.tryPromise({
    try: () => import(pathToFileURL(resolve(file)).href),
    catch: (cause) => new UsageError({ message: `can't load the pipeline ${file}: ${messageOf(cause)}` }),
  })
  if (!Predicate.hasProperty(module, "default") || !isPipeline(module.default)) {
    return yield* new UsageError({ message: `expected ${file} to have a default export made by Pipeline.make(…)` })
  }
  return module.default
})

/** A service's own failures to start, all told in the same way. */
export const reported = (
  service: Loaded["service"],
): Layer.Layer<ServiceProfile, ServiceUnusable | UsageError, PlatformNeeds> =>
  Layer.catchCause(service, (cause) => {
    const failure = Cause.squash(cause)
    const message = messageOf(failure)
    const misnamed = Predicate.isTagged(failure, "UnknownExpert") || Predicate.isTagged(failure, "GoldFileError")
    const told: ServiceUnusable | UsageError = misnamed ? new UsageError({ message }) : new ServiceUnusable({ message })
    return Layer.effect(ServiceProfile, Effect.fail(told))
  })
