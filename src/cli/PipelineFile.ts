/**
 * Pipelines written as programs: a module whose default export is `Pipeline.make(…)`.
 *
 * Adapter: uses `node:url` and `node:path` to import the module from where it stands.
 */
import { pathToFileURL } from "node:url"
import { resolve } from "node:path"
import { Effect, Predicate } from "effect"
import type { FileSystem, Layer, Path } from "effect"
import type { ServiceProfile } from "../api/ServiceProfile.ts"
import type * as Pipeline from "../pipeline/Pipeline.ts"
import { UsageError } from "./ExitStatus.ts"

/** Whether an argument names a program rather than data. */
export const isPipelineFile = (file: string): boolean => /\.[cm]?[jt]s$/.test(file)

type Loaded = Pipeline.Settings & {
  readonly service: Layer.Layer<ServiceProfile, unknown, FileSystem.FileSystem | Path.Path>
}

const isPipeline = (value: unknown): value is Loaded => Predicate.isTagged(value, "Pipeline")

export const loadPipeline = Effect.fn("PipelineFile.load")(function* (file: string) {
  const module: unknown = yield* Effect.tryPromise({
    try: () => import(pathToFileURL(resolve(file)).href),
    catch: (cause) =>
      new UsageError({ message: `can't load the pipeline ${file}: ${cause instanceof Error ? cause.message : String(cause)}` }),
  })
  if (Predicate.hasProperty(module, "default") && isPipeline(module.default)) return module.default
  return yield* new UsageError({ message: `expected ${file} to have a default export made by Pipeline.make(…)` })
})
