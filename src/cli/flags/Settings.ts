/**
 * The flags that several commands share, and what they become.
 *
 * Guarantees: a flag has the same name, meaning, default and environment variable
 * in every command; the token is `Redacted` from the moment it is read.
 */
import { Config, ConfigProvider, Context, Duration, Effect, FileSystem, Layer, Option, Redacted, Schema } from "effect"
import { Flag } from "effect/cli"
import { defaults, ServiceProfile, type ServiceSettings, type ServiceSettingsError } from "../../api/ServiceProfile.ts"
import { type BatchLimits, defaultLimits } from "../../task/plan/Batch.ts"
import type { Replannable } from "../../task/ledger/Resolve.ts"
import { defaultMaxAttempts, type SubmitOptions } from "../../task/Submit.ts"
import { done, Finished, UsageError } from "../output/ExitStatus.ts"
import { judgeFlags } from "./JudgeFlags.ts"

const Positive = Schema.Int.check(Schema.isGreaterThan(0))

const CompletionLimit = Schema.Int.check(Schema.isGreaterThan(1))

const units: { readonly [unit: string]: (amount: number) => Duration.Duration } = {
  ms: Duration.millis,
  s: Duration.seconds,
  m: Duration.minutes,
  h: Duration.hours,
  d: Duration.days,
}

/** `500ms`, `30s`, `15m`, `12h`, `2d`. */
export const readDuration = (text: string): Option.Option<Duration.Duration> => {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? []
  return Option.map(Option.fromNullishOr(units[unit]), (of) => of(Number(amount)))
}

export const durationsLook = "a duration such as 500ms, 30s, 15m, 12h or 2d"

export const duration = (name: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("DURATION"),
    Flag.filterMap(readDuration, () => durationsLook),
  )

/** Where a job keeps its ledger, rejects and dataset. */
export const directory = Flag.String("dir").pipe(
  Flag.withAlias("d"),
  Flag.withMetavar("DIR"),
  Flag.withDescription(
    "Job folder: ledger, rejects and dataset stand in it (default: prefstream-job) [PREFSTREAM_DIR]",
  ),
  Flag.withFallbackConfig(Config.String("PREFSTREAM_DIR")),
  Flag.optional,
)

export const defaultDirectory = "prefstream-job"

export const directoryOf = (flag: Option.Option<string>): string => Option.getOrElse(flag, () => defaultDirectory)

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print the result as JSON on standard output"),
  Flag.withDefault(false),
)

export const timeout = duration("timeout").pipe(
  Flag.withDescription("Stop after this time, as by a signal, and exit with 3 if anything is left to do"),
  Flag.optional,
)

/** How items become tasks. */
export const task = {
  guidelines: Flag.String("guidelines").pipe(
    Flag.withMetavar("TEXT"),
    Flag.withDescription("Instructions for the experts"),
    Flag.optional,
  ),
  guidelinesFile: Flag.File("guidelines-file", { mustExist: true }).pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("File with the instructions for the experts"),
    Flag.optional,
  ),
  newCampaign: Flag.Boolean("new-campaign").pipe(
    Flag.withDescription(
      "Allow other guidelines than the last run's: begins a campaign, in which all items are judged anew, or goes back to the one that had these; earlier results stay",
    ),
    Flag.optional,
  ),
  resubmit: Flag.Literals("resubmit", ["failed", "invalid", "refused"]).pipe(
    Flag.withDescription(
      "Send tasks of earlier runs that ended so again, as new tasks, which are paid for again; once for each state",
    ),
    Flag.atLeast(0),
  ),
  maxAttempts: Flag.Int("max-attempts").pipe(
    Flag.withMetavar("N"),
    Flag.withSchema(Positive),
    Flag.withDescription(
      `With --resubmit: how often a task is sent at most, the first time included (default: ${defaultMaxAttempts})`,
    ),
    Flag.optional,
  ),
  keepReordered: Flag.Boolean("keep-reordered").pipe(
    Flag.withDescription(
      "Judge an item without an id again where only its completions' order differs (default: duplicate)",
    ),
    Flag.withDefault(false),
  ),
  batchSize: Flag.Int("batch-size").pipe(
    Flag.withMetavar("N"),
    Flag.withSchema(Positive),
    Flag.withDescription(`Prompts per task (default: ${defaultLimits.maxPrompts})`),
    Flag.optional,
  ),
  batchBytes: Flag.Int("batch-bytes").pipe(
    Flag.withMetavar("N"),
    Flag.withSchema(Positive),
    Flag.withDescription(`Bytes of prompts and completions per task (default: ${defaultLimits.maxBytes})`),
    Flag.optional,
  ),
}

export const batchOf = (flags: {
  readonly batchSize: Option.Option<number>
  readonly batchBytes: Option.Option<number>
}): BatchLimits => ({
  maxPrompts: Option.getOrElse(flags.batchSize, () => defaultLimits.maxPrompts),
  maxBytes: Option.getOrElse(flags.batchBytes, () => defaultLimits.maxBytes),
})

export const submitOptionsOf = Effect.fnUntraced(function* (flags: {
  readonly guidelines: Option.Option<string>
  readonly guidelinesFile: Option.Option<string>
  readonly batchSize: Option.Option<number>
  readonly batchBytes: Option.Option<number>
  readonly maxRejects: Option.Option<SubmitOptions["maxRejects"] & {}>
  readonly keepReordered: boolean
  readonly newCampaign: Option.Option<boolean>
  readonly resubmit: ReadonlyArray<Replannable>
  readonly maxAttempts: Option.Option<number>
}): Effect.fn.Return<
  SubmitOptions,
  UsageError | Effect.Error<ReturnType<FileSystem.FileSystem["readFileString"]>>,
  FileSystem.FileSystem
> {
  const fs = yield* FileSystem.FileSystem
  if (Option.isSome(flags.guidelines) && Option.isSome(flags.guidelinesFile)) {
    return yield* new UsageError({ message: "--guidelines and --guidelines-file: give one of them" })
  }
  const fromFile = Option.isSome(flags.guidelinesFile)
    ? yield* fs.readFileString(flags.guidelinesFile.value)
    : undefined
  return {
    guidelines: Option.getOrElse(flags.guidelines, () => fromFile),
    keepReordered: flags.keepReordered,
    batch: batchOf(flags),
    maxRejects: Option.getOrUndefined(flags.maxRejects),
    ...(yield* againOf(flags)),
  }
})

/** What is to be judged or sent again; also beside a pipeline file, which says it for each run alike. */
export const againOf = Effect.fnUntraced(function* (
  flags: {
    readonly newCampaign: Option.Option<boolean>
    readonly resubmit: ReadonlyArray<Replannable>
    readonly maxAttempts: Option.Option<number>
  },
  pipeline: Pick<SubmitOptions, "newCampaign" | "resubmit" | "maxAttempts"> = {},
) {
  const resubmit = flags.resubmit.length > 0 ? flags.resubmit : pipeline.resubmit
  if (Option.isSome(flags.maxAttempts) && (resubmit ?? []).length === 0) {
    return yield* new UsageError({ message: "--max-attempts: only with --resubmit" })
  }
  return {
    newCampaign: Option.getOrElse(flags.newCampaign, () => pipeline.newCampaign),
    resubmit,
    maxAttempts: Option.getOrElse(flags.maxAttempts, () => pipeline.maxAttempts),
  }
})

/** The annotation service, and what its contract leaves open. */
export const service = {
  baseUrl: Flag.String("base-url").pipe(
    Flag.withMetavar("URL"),
    Flag.withDescription("Annotation service, with its version: https://host/v1 [PREFSTREAM_BASE_URL]"),
    Flag.optional,
  ),
  token: Flag.Redacted("token").pipe(
    Flag.withMetavar("TOKEN"),
    Flag.withDescription("Organization token; better given in the environment [PREFSTREAM_TOKEN]"),
    Flag.withFallbackConfig(Config.Redacted("PREFSTREAM_TOKEN")),
    Flag.optional,
  ),
  idempotencyKey: Flag.Literals("idempotency-key", ["honored", "ignored"]).pipe(
    Flag.withDescription(
      "Whether the service honors Idempotency-Key; if not, a task that may have arrived is held in doubt (default: ignored; honored by the embedded service) [PREFSTREAM_IDEMPOTENCY_KEY]",
    ),
    Flag.withFallbackConfig(Config.Literals(["honored", "ignored"], "PREFSTREAM_IDEMPOTENCY_KEY")),
    Flag.optional,
  ),
  idempotencyKeyLifetime: Flag.String("idempotency-key-lifetime").pipe(
    Flag.withMetavar("DURATION"),
    Flag.withDescription(
      `How long a service that honors Idempotency-Key remembers one, or forever; a task that may have arrived longer ago is held in doubt (default: ${Duration.format(Duration.fromInputUnsafe(defaults.idempotencyKeyLifetime))}; forever with the embedded service) [PREFSTREAM_IDEMPOTENCY_KEY_LIFETIME]`,
    ),
    Flag.withFallbackConfig(Config.String("PREFSTREAM_IDEMPOTENCY_KEY_LIFETIME")),
    Flag.filterMap(
      (text) => (text === "forever" ? Option.some(Duration.infinity) : readDuration(text)),
      () => `${durationsLook}, or forever`,
    ),
    Flag.optional,
  ),
  concurrency: Flag.Int("concurrency").pipe(
    Flag.withMetavar("N"),
    Flag.withSchema(Positive),
    Flag.withDescription(`Requests under way at once (default: ${defaults.concurrency}) [PREFSTREAM_CONCURRENCY]`),
    Flag.withFallbackConfig(Config.schema(Positive, "PREFSTREAM_CONCURRENCY")),
    Flag.optional,
  ),
  requestsPerSecond: Flag.Int("requests-per-second").pipe(
    Flag.withMetavar("N"),
    Flag.withSchema(Positive),
    Flag.withDescription(
      `Requests per second at most (default: ${defaults.requestsPerSecond}) [PREFSTREAM_REQUESTS_PER_SECOND]`,
    ),
    Flag.withFallbackConfig(Config.schema(Positive, "PREFSTREAM_REQUESTS_PER_SECOND")),
    Flag.optional,
  ),
  maxCompletions: Flag.Int("max-completions").pipe(
    Flag.withMetavar("N"),
    Flag.withSchema(CompletionLimit),
    Flag.withDescription(
      "Reject items with more completions (default: what openapi.json says) [PREFSTREAM_MAX_COMPLETIONS]",
    ),
    Flag.withFallbackConfig(Config.schema(CompletionLimit, "PREFSTREAM_MAX_COMPLETIONS")),
    Flag.optional,
  ),
  moved: Flag.Boolean("moved").pipe(
    Flag.withDescription("The service of this job has moved to the base URL that is given now"),
    Flag.optional,
  ),
  pollMin: duration("poll-min").pipe(
    Flag.withDescription(
      `Shortest time between two looks at a task (default: ${Duration.format(Duration.fromInputUnsafe(defaults.pollInterval.min))})`,
    ),
    Flag.optional,
  ),
  pollMax: duration("poll-max").pipe(
    Flag.withDescription(
      `Longest time between two looks at a task (default: ${Duration.format(Duration.fromInputUnsafe(defaults.pollInterval.max))})`,
    ),
    Flag.optional,
  ),
  patience: duration("patience").pipe(
    Flag.withDescription(
      `How long to wait for a service that is down, or asks to wait, before giving up with 1 (default: ${Duration.format(Duration.fromInputUnsafe(defaults.patience))})`,
    ),
    Flag.optional,
  ),
}

export interface ServiceFlags {
  readonly baseUrl: Option.Option<string>
  readonly token: Option.Option<Redacted.Redacted<string>>
  readonly idempotencyKey: Option.Option<"honored" | "ignored">
  readonly idempotencyKeyLifetime: Option.Option<Duration.Duration>
  readonly concurrency: Option.Option<number>
  readonly requestsPerSecond: Option.Option<number>
  readonly maxCompletions: Option.Option<number>
  readonly moved: Option.Option<boolean>
  readonly pollMin: Option.Option<Duration.Duration>
  readonly pollMax: Option.Option<Duration.Duration>
  readonly patience: Option.Option<Duration.Duration>
}

/** A token as it can stand in a header: what surrounds it, such as the end of a file's line, is cut off. */
export const usableToken = Effect.fnUntraced(function* (token: Redacted.Redacted<string>) {
  const text = Redacted.value(token).trim()
  if (/^[\x21-\x7e]+$/.test(text)) return Redacted.make(text)
  return yield* new UsageError({ message: "the organization token is empty, or holds characters that no token has" })
})

/** The settings that were given, laid over those of a profile. */
const overlay = (profile: ServiceSettings, flags: ServiceFlags): ServiceSettings => ({
  ...profile,
  moved: Option.getOrElse(flags.moved, () => profile.moved),
  idempotencyKey: Option.getOrElse(flags.idempotencyKey, () => profile.idempotencyKey),
  idempotencyKeyLifetime: Option.getOrElse(flags.idempotencyKeyLifetime, () => profile.idempotencyKeyLifetime),
  maxCompletions: Option.getOrElse(flags.maxCompletions, () => profile.maxCompletions),
  concurrency: Option.getOrElse(flags.concurrency, () => profile.concurrency),
  requestsPerSecond: Option.getOrElse(flags.requestsPerSecond, () => profile.requestsPerSecond),
  pollInterval: {
    min: Option.getOrElse(flags.pollMin, () => profile.pollInterval.min),
    max: Option.getOrElse(flags.pollMax, () => profile.pollInterval.max),
  },
  patience: Option.getOrElse(flags.patience, () => profile.patience),
})

/** Whether the variable is there and came to nothing. As a value it counts as missing; its name is listed all the same. */
const isEmpty = Effect.gen(function* () {
  const provider = yield* ConfigProvider.ConfigProvider
  const node = yield* Effect.orElseSucceed(provider.load(["PREFSTREAM", "BASE"]), () => undefined)
  return node?._tag === "Record" && node.keys.has("URL")
})

/**
 * The flags with the base URL of the environment, where none was given. Not for a pipeline
 * file, which names its service itself: there only the flag says otherwise.
 */
export const fromEnvironment = Effect.fnUntraced(function* <Flags extends Pick<ServiceFlags, "baseUrl">>(flags: Flags) {
  const environment = yield* Config.option(Config.String("PREFSTREAM_BASE_URL"))
  if (Option.isNone(flags.baseUrl) && (Option.isNone(environment) ? yield* isEmpty : environment.value.trim() === "")) {
    const message = "PREFSTREAM_BASE_URL is empty: set the address of the annotation service, or unset it"
    return yield* new UsageError({ message })
  }
  return { ...flags, baseUrl: Option.orElse(flags.baseUrl, () => environment) }
})

/** The service at `--base-url`, or else `otherwise`. */
export const serviceOf = <E, R>(flags: ServiceFlags, otherwise: Layer.Layer<ServiceProfile, E, R>) => {
  const chosen = Layer.unwrap(
    Effect.gen(function* (): Effect.fn.Return<Layer.Layer<ServiceProfile, E | ServiceSettingsError, R>, UsageError> {
      if (Option.isNone(flags.baseUrl)) return otherwise
      if (!/^https?:\/\/[^/@]+(\/[^@]*)?$/.test(flags.baseUrl.value)) {
        return yield* new UsageError({
          message: "--base-url: expected http://… or https://…, without a user or password in it",
        })
      }
      if (Option.isNone(flags.token)) {
        return yield* new UsageError({ message: "set the organization token in PREFSTREAM_TOKEN" })
      }
      return ServiceProfile.layer({ baseUrl: flags.baseUrl.value, token: yield* usableToken(flags.token.value) })
    }),
  )
  const settings = Effect.flatMap(ServiceProfile, (profile) => {
    const overlaid = overlay(profile, flags)
    const { max, min } = overlaid.pollInterval
    return Duration.toMillis(min) > Duration.toMillis(max)
      ? Effect.fail(new UsageError({ message: "--poll-min is longer than --poll-max" }))
      : Effect.succeed(overlaid)
  })
  return Layer.effect(ServiceProfile, settings).pipe(Layer.provide(chosen))
}

/** For commands that have no service of their own to fall back to. */
export const serviceRequired = Layer.effect(
  ServiceProfile,
  Effect.fail(
    new UsageError({
      message: "set the address of the annotation service in PREFSTREAM_BASE_URL, or give it as --base-url",
    }),
  ),
)

/** Whether a command line is to be checked, and not carried out: `schedule` does it before its first wait. */
export const Checking = Context.Reference<boolean>("prefstream/cli/Checking", { defaultValue: () => false })

/**
 * Where a command line is only checked, ends the command here, once its flags and files, and the
 * settings of `service`, are known to be right.
 */
export const endOfCheck = Effect.fnUntraced(function* <E = never, R = never>(
  service?: Layer.Layer<ServiceProfile, E, R>,
) {
  if (!(yield* Checking)) return
  if (service !== undefined) yield* Effect.scoped(Layer.build(service))
  return yield* new Finished({ status: done })
})

/** The embedded annotation service. */
export const embedded = {
  experts: Flag.String("expert").pipe(
    Flag.withMetavar("EXPERT"),
    Flag.withDescription(
      "Automatic expert of the embedded service: judge:MODEL (a language model), gold:FILE, first, last, longest, shortest or random; repeat to ask the next where one has no answer",
    ),
    Flag.atLeast(0),
  ),
  ...judgeFlags,
  turnaround: duration("turnaround").pipe(
    Flag.withDescription("Time that the scripted experts take for a task, to try out waiting"),
    Flag.optional,
  ),
}
