/**
 * The pipeline for programs that do not use Effect: promises, async iterables, and plain values. Promises reject with
 * an `Error` whose `_tag` names its kind, or with the error of the program's own source. After an abort, requests in
 * flight are finished and recorded, and the promise rejects with the signal's reason. By default, messages go to
 * stderr.
 */
import { Cause, Effect, Exit, Layer, Logger, Option, Predicate, Redacted, Stream } from "effect"
import type { HttpClient as Http } from "effect/http"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ServiceProfile, type ServiceSettings, unknownIn } from "./api/ServiceProfile.ts"
import * as Dataset from "./dataset/Dataset.ts"
import * as Kinds from "./io/SettingKinds.ts"
import { describeValue } from "./io/Values.ts"
import type { PreferencePair } from "./domain/PreferencePair.ts"
import type { TaskPrompt } from "./domain/Task.ts"
import * as HttpClient from "./node/HttpClient.ts"
import * as JobFolder from "./pipeline/JobFolder.ts"
import * as Pipeline from "./pipeline/Pipeline.ts"
import type { RunReport } from "./pipeline/RunReport.ts"
import { SettingInvalid } from "./io/SettingInvalid.ts"
import type { ServiceOptions } from "./service/AnnotationService.ts"
import type { JudgeError, JudgeVote } from "./service/expert/Expert.ts"
import * as Source from "./source/Source.ts"

/** An annotation service at an address. */
export interface RemoteService extends Partial<Omit<ServiceSettings, "baseUrl" | "token">> {
  /** The URL of the service, with its version segment: `https://host/v1`. */
  readonly baseUrl: string
  /** The organization token. */
  readonly token: string
}

/** The vote of a program's expert on one prompt. The index of the preferred completion counts from 0. */
export interface PlainVote extends Omit<JudgeVote, "rationale"> {
  /** Why the expert prefers the completion. Default: none. */
  readonly rationale?: string | null | undefined
}

/** An automatic expert that the program defines. */
export interface PlainExpert {
  /** The expert's name in votes. */
  readonly name: string
  /** Returns a vote on one prompt, or null. If it throws, other experts can vote, and the next run calls it again. */
  readonly judge: (prompt: TaskPrompt, guidelines: string | undefined) => PlainVote | null | Promise<PlainVote | null>
  /** Maximum number of prompts that the expert judges at once. Default 1. */
  readonly concurrency?: number | undefined
}

/** An annotation service inside the program, with automatic experts. */
export interface EmbeddedService extends Omit<ServiceOptions, "experts" | "token"> {
  /** Names of built-in experts, such as `longest` or `gold:FILE`, and experts that the program defines. */
  readonly experts: ReadonlyArray<string | PlainExpert>
  /** The path of the service's SQLite file. Default: `service.db` in the job folder. */
  readonly database?: string | undefined
}

/** The settings of a pipeline as plain values. Settings that are not listed here are those of `Pipeline.make`. */
export interface PlainSettings extends Omit<Pipeline.Settings, "source"> {
  /** Names of files, or the records themselves. Records can be in an array, an iterable, or an async iterable. */
  readonly source: string | ReadonlyArray<string> | Iterable<unknown> | AsyncIterable<unknown>
  /** How to read the source: the options of `Source.files` for files, or the options of `Source.make` for records. */
  readonly input?: Source.FilesOptions | Source.MakeOptions | undefined
  /** The annotation service. */
  readonly service: RemoteService | EmbeddedService
  /** The client for a service whose interface differs from the contract, made by `AnnotationClient.layerProtocol`. */
  readonly client?: Pipeline.ServiceOf<never, never, unknown, ServiceProfile | Http.HttpClient>["client"]
}

/** How to stop the work, and where its messages go. */
export interface WorkOptions {
  /** Stops the work when the signal is aborted. */
  readonly signal?: AbortSignal | undefined
  /** Called with each message. Default: writes it to stderr. */
  readonly log?: ((message: string, level: string) => void) | undefined
}

/**
 * Failures with which `run` rejects. If `signal` is aborted, `run` rejects with the reason of the abort. If an iterable
 * `source` throws, `run` rejects with the error that was thrown.
 */
export type RunFailure = Effect.Error<ReturnType<typeof Pipeline.run<Source.SourceError, never>>> | SettingInvalid

const toStderr = (message: string, level: string): void => void process.stderr.write(`${level}: ${message}\n`)

const platform = Layer.merge(NodeServices.layer, HttpClient.layer)

const workKinds: Kinds.KindsOf<WorkOptions> = {
  signal: ["an AbortSignal", (value) => value instanceof AbortSignal],
  log: Kinds.fn,
}

const promise = <A, E>(effect: Effect.Effect<A, E, Pipeline.Platform>, options: WorkOptions = {}): Promise<A> => {
  const wrong = Kinds.wrongIn(options, workKinds)
  if (wrong !== undefined) return Promise.reject(new SettingInvalid(wrong))
  const { log = toStderr, signal } = options
  const logger = Logger.make(({ cause, logLevel, message }) => {
    const causes = cause.reasons.length === 0 ? [] : [Cause.pretty(cause)]
    log([message].flat().map(String).concat(causes).join(": "), logLevel)
  })
  const work = Effect.provide(effect, Layer.merge(platform, Logger.layer([logger])))
  return Effect.runPromiseExit(work, { signal }).then((exit) => {
    if (Exit.isSuccess(exit)) return exit.value
    throw signal?.aborted === true && Cause.hasInterruptsOnly(exit.cause) ? signal.reason : Cause.squash(exit.cause)
  })
}

const isNames = (source: unknown): source is string | ReadonlyArray<string> =>
  typeof source === "string" || (Array.isArray(source) && source.length > 0 && source.every(Predicate.isString))

const sourceOf = (source: PlainSettings["source"], input: PlainSettings["input"]): Source.Source<unknown> =>
  isNames(source)
    ? Source.files(source, input)
    : Source.make(
        Predicate.hasProperty(source, Symbol.asyncIterator)
          ? Stream.fromAsyncIterable(source, (error) => error)
          : source,
        input,
      )

const expertOf = ({ concurrency = 1, judge, name }: PlainExpert, Failure: typeof JudgeError) => {
  const failure = (problem: string) => new Failure({ problem: `${name}: ${problem}`, isRetryable: false })
  const isVote = (vote: PlainVote) => Predicate.hasProperty(vote, "best_completion_index")
  return {
    name,
    concurrency,
    judge: (prompt: TaskPrompt, guidelines: string | undefined) =>
      Effect.tryPromise({
        try: () => Promise.resolve(judge(prompt, guidelines)),
        catch: (cause) => failure(String(cause)),
      }).pipe(
        Effect.map(Option.fromNullishOr),
        Effect.tap((vote) =>
          Option.isNone(vote) || isVote(vote.value)
            ? Effect.void
            : failure(`expected null or an object with \`best_completion_index\`, found ${describeValue(vote.value)}`),
        ),
        Effect.map(Option.map((vote) => ({ ...vote, rationale: vote.rationale ?? "" }))),
      ),
  }
}

// prettier-ignore
const embeddedSettings = {
  experts: true, database: true, judge: true, turnaround: true, limits: true, votes: true, hold: true,
  undoGrace: true, gold: true, cancelUnanswered: true, rateLimit: true, requestTimeout: true, pages: true,
  publicUrl: true, imageHosts: true, allowPrivateWebhooks: true,
  allowRepeatedVotes: true,
} satisfies { readonly [Name in keyof Required<EmbeddedService>]: true }

const serviceOf = ({ directory, service }: PlainSettings) => {
  if (Predicate.hasProperty(service, "baseUrl")) {
    const { token } = service
    return ServiceProfile.layer({ ...service, token: Redacted.make(token) })
  }
  return Layer.unwrap(
    Effect.gen(function* () {
      if (!Predicate.hasProperty(service, "experts") || !Array.isArray(service.experts)) {
        const expected = "{ baseUrl, token } for a remote service, or { experts } for an embedded one"
        return yield* new SettingInvalid({ setting: "service", expected, found: "another value" })
      }
      const unknown = unknownIn(service, Object.keys(embeddedSettings))
      if (unknown !== undefined) {
        return yield* new SettingInvalid({ ...unknown, setting: `service.${unknown.setting}` })
      }
      const { Expert, layerEmbedded } = yield* Effect.promise(() => import("./service/AnnotationService.ts"))
      const { database = JobFolder.service(directory), experts, ...options } = service
      const all = experts.map((expert) => (typeof expert === "string" ? expert : expertOf(expert, Expert.JudgeError)))
      return layerEmbedded({ ...options, database, experts: all })
    }),
  )
}

const pipelineOf = (plain: PlainSettings) => {
  const { input, source, ...settings } = plain
  return Pipeline.make({ ...settings, source: sourceOf(source, input), service: serviceOf(plain) })
}

const ofPipeline = <A, E>(
  settings: PlainSettings,
  use: (pipeline: ReturnType<typeof pipelineOf>) => Effect.Effect<A, E, Pipeline.Platform>,
  options: WorkOptions | undefined,
): Promise<A> => {
  const expected = "an object with `directory`, `source`, and `service`"
  const invalid = new SettingInvalid({ setting: "settings", expected, found: describeValue(settings) })
  const work: Effect.Effect<A, E | SettingInvalid, Pipeline.Platform> = Predicate.isObject(settings)
    ? Effect.suspend(() => use(pipelineOf(settings)))
    : Effect.fail(invalid)
  return promise(work, options)
}

/** Reads the source, submits tasks, waits for the results, and writes the dataset. */
export const run = (settings: PlainSettings, options?: WorkOptions): Promise<RunReport> =>
  ofPipeline(settings, (pipeline) => Pipeline.run(pipeline), options)

/** Reads the source and submits new items. Does not wait for results. */
export const submit = (settings: PlainSettings, options?: WorkOptions): Promise<RunReport> =>
  ofPipeline(settings, (pipeline) => Pipeline.submit(pipeline), options)

/** Waits for the results of submitted tasks. With `once`, polls each outstanding task only once, and then ends. */
export const collect = (settings: PlainSettings, options?: WorkOptions): Promise<RunReport> =>
  ofPipeline(settings, (pipeline) => Pipeline.collect(pipeline), options)

/** Writes the dataset of all results so far. If the results give no pairs, writes no dataset, and returns null. */
export const exportDataset = (settings: PlainSettings, options?: WorkOptions): Promise<Dataset.DatasetInfo | null> =>
  ofPipeline(
    settings,
    (pipeline) => Effect.map(Pipeline.exportDataset(pipeline), ({ dataset }) => Option.getOrNull(dataset)),
    options,
  )

/** Reads a file of items with known answers, for the setting `gold`. */
export const gold = (file: string, options?: WorkOptions) => promise(Source.gold(file), options)

/** Reads the pairs of a dataset. */
export const read = (directory: string, options?: Dataset.ReadOptions): AsyncIterable<PreferencePair> =>
  Stream.toAsyncIterable(Stream.provide(Dataset.read(directory, options), NodeServices.layer))
