/**
 * Pipelines written as programs: a module whose default export is `Pipeline.make(…)`.
 *
 * Adapter: uses `node:url` and `node:path` to import the module from where it stands.
 */
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Cause, Effect, type FileSystem, Layer, Option, type Path, Predicate, Record, Schema } from "effect"
import { Argument } from "effect/cli"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import * as FileLock from "../../node/FileLock.ts"
import type * as Pipeline from "../../pipeline/Pipeline.ts"
import { UsageError } from "../output/ExitStatus.ts"
import { messageOf } from "../output/Failure.ts"
import * as Settings from "./Settings.ts"

/** The annotation service that a pipeline names could not be reached or started. */
export class ServiceUnusable extends Schema.TaggedError<ServiceUnusable>()("ServiceUnusable", {
  message: Schema.String,
}) {}

type PlatformNeeds = FileSystem.FileSystem | Path.Path

interface Loaded extends Pipeline.Settings {
  readonly service: Layer.Layer<ServiceProfile, unknown, PlatformNeeds>
}

/** For commands that read no input: the job folder, service and pairs of a pipeline. */
export const pipelineArgument = Argument.String("PIPELINE").pipe(
  Argument.withDescription("File of the pipeline that the job belongs to, where there is one"),
  Argument.optional,
)

/** Whether an argument names a program rather than data. */
export const isPipelineFile = (file: string): boolean => /\.[cm]?[jt]s$/.test(file)

const isUsageError = Schema.is(UsageError)
const isFileLockError = Schema.is(FileLock.FileLockError)

const isPipeline = (value: unknown): value is Loaded => Predicate.isTagged(value, "Pipeline")

const loadPipeline = Effect.fn("PipelineFile.load")(function* (file: string) {
  const module: unknown = yield* Effect.tryPromise({
    try: () => import(pathToFileURL(resolve(file)).href),
    catch: (cause) => new UsageError({ message: `can't load the pipeline ${file}: ${messageOf(cause)}` }),
  })
  if (!Predicate.hasProperty(module, "default") || !isPipeline(module.default)) {
    return yield* new UsageError({ message: `expected ${file} to have a default export made by Pipeline.make(…)` })
  }
  return module.default
})

/** What a pipeline file says itself, and the command line must not say as well. */
const saidByProgram = {
  inputFormat: "--input-format",
  encoding: "--encoding",
  idleTimeout: "--idle-timeout",
  delimiter: "--delimiter",
  layout: "--layout",
  promptPath: "--prompt-path",
  systemPath: "--system-path",
  completionsPath: "--completions-path",
  key: "--key",
  modelPath: "--model-path",
  idPath: "--id-path",
  goldPath: "--gold-path",
  metadataPath: "--metadata-path",
  missing: "--missing",
  guidelines: "--guidelines",
  guidelinesFile: "--guidelines-file",
  completionsPerItem: "--completions-per-item",
  completionsSeed: "--completions-seed",
  batchSize: "--batch-size",
  batchBytes: "--batch-bytes",
  votes: "--votes",
  shuffleSeed: "--shuffle-seed",
  gold: "--gold",
  goldRate: "--gold-rate",
  turnaround: "--turnaround",
} as const

/** The pipeline of a file, unless flags say what the file says. */
export const fromProgram = Effect.fnUntraced(function* (
  program: string,
  flags: { readonly [Name in keyof typeof saidByProgram]?: Option.Option<unknown> } & {
    readonly files: ReadonlyArray<string>
    readonly completions: ReadonlyArray<string>
    readonly completionPath: ReadonlyArray<string>
    readonly keep: ReadonlyArray<string>
    readonly header: boolean
    readonly experts?: ReadonlyArray<string>
    readonly shuffle?: boolean
    readonly keepReordered?: boolean
  },
) {
  const said = [
    ...(flags.files.length > 1 ? ["other files"] : []),
    ...(flags.completions.length > 0 ? ["--completions"] : []),
    ...(flags.completionPath.length > 0 ? ["--completion-path"] : []),
    ...(flags.keep.length > 0 ? ["--keep"] : []),
    ...(flags.header ? [] : ["--no-header"]),
    ...(flags.experts !== undefined && flags.experts.length > 0 ? ["--expert"] : []),
    ...(flags.shuffle === false ? ["--no-shuffle"] : []),
    ...(flags.keepReordered === true ? ["--keep-reordered"] : []),
    ...Record.keys(saidByProgram).flatMap((name) =>
      Option.isSome(flags[name] ?? Option.none()) ? [saidByProgram[name]] : [],
    ),
  ]
  if (said.length > 0) {
    return yield* new UsageError({ message: `${said.join(", ")}: not together with the pipeline file ${program}` })
  }
  return yield* loadPipeline(program)
})

/** The pipeline that a command names, if it does, and the job folder. */
export const jobOf = Effect.fnUntraced(function* (flags: {
  readonly pipeline: Option.Option<string>
  readonly directory: Option.Option<string>
}) {
  const pipeline = Option.isSome(flags.pipeline) ? yield* loadPipeline(flags.pipeline.value) : undefined
  return {
    pipeline,
    directory: Option.getOrElse(flags.directory, () => pipeline?.directory ?? Settings.defaultDirectory),
  }
})

/** A service's own failures to start, all told in the same way. */
export const reported = (
  service: Loaded["service"],
): Layer.Layer<ServiceProfile, ServiceUnusable | UsageError | FileLock.FileLockError, PlatformNeeds> =>
  Layer.catchCause(service, (cause) => {
    const failure = Cause.squash(cause)
    const message = messageOf(failure)
    const misnamed = ["UnknownExpert", "GoldFileError", "JudgeSettingsError", "ServiceSettingsError"].some((tag) =>
      Predicate.isTagged(failure, tag),
    )
    const told: ServiceUnusable | UsageError | FileLock.FileLockError =
      isUsageError(failure) || isFileLockError(failure)
        ? failure
        : misnamed
          ? new UsageError({ message })
          : new ServiceUnusable({ message })
    return Layer.effect(ServiceProfile, Effect.fail(told))
  })
