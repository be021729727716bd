/** Defines the flags for those properties of an annotation service that the contract leaves open. */
import {
  Config,
  ConfigProvider,
  Duration,
  Effect,
  FileSystem,
  Layer,
  Option,
  Redacted,
  Result,
  Schema,
  Struct,
} from "effect"
import { type Command, Flag } from "effect/cli"
import * as Authorization from "../../api/Authorization.ts"
import * as ContractSettings from "../../api/ContractSettings.ts"
import {
  baseUrlForm,
  defaults,
  isBaseUrl,
  type ItemLimits,
  ServiceProfile,
  type ServiceSettings,
  type ServiceSettingsError,
} from "../../api/ServiceProfile.ts"
import { maxVotes } from "../../api/MaxVotes.ts"
import type * as TaskMembers from "../../api/TaskMembers.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { defined } from "../../io/Values.ts"
import * as RequestLimits from "../../service/http/RequestLimits.ts"
import * as PublishedLimits from "../../task/client/PublishedLimits.ts"
import { type UsageError, usageError } from "../output/ExitStatus.ts"
import { annotationFlags } from "./AnnotationPath.ts"
import { inGroup } from "./Definition.ts"
import {
  assignment,
  choice,
  duration,
  durationForm,
  file,
  formatDuration,
  integer,
  literals,
  option,
  parsed,
  parseDuration,
  repeated,
  text,
} from "./Values.ts"

/** There is no flag for the token, because all users of the machine can read flags in the list of processes. */
export const token = Effect.map(Config.option(Config.Redacted("PREFSTREAM_TOKEN")), Option.getOrUndefined)

const formed = (
  setting: "authorization" | "choice" | "createRequest" | "pollRequest",
  isForm: (text: string) => boolean,
  form: string,
  { description, metavar }: { readonly metavar: string; readonly description: string },
) =>
  option(
    parsed(
      setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      (text) => (isForm(text) ? Option.some(text) : Option.none()),
      form,
    ),
    metavar,
    description,
    { default: defaults[setting] },
  )

export const serviceFlags = {
  ...inGroup("SERVICE", {
    baseUrl: text("base-url", "URL", "Annotation service URL, such as https://host/v1", {
      environment: "PREFSTREAM_BASE_URL",
      note: "; its token: PREFSTREAM_TOKEN",
      isEssential: true,
    }),
    authorization: formed("authorization", Authorization.isValid, Authorization.form, {
      metavar: "FORM",
      description: "Token scheme (Bearer, Basic, Token), or a header name with a colon (X-Api-Key:)",
    }),
    createRequest: formed("createRequest", ContractSettings.isCreate, ContractSettings.createForm, {
      metavar: "REQUEST",
      description: "Method and path that create a task",
    }),
    pollRequest: formed("pollRequest", ContractSettings.isPoll, ContractSettings.pollForm, {
      metavar: "REQUEST",
      description: "Method and path that poll a task",
    }),
    requestExtra: file("request-extra", "JSON file with fields to add to each request that creates a task"),
    resultPath: repeated(
      parsed(
        "result-path",
        (text) => {
          const [name, path] = assignment(text)
          return (name === "task_id" || ContractSettings.isResultMember(name)) &&
            Result.isSuccess(FieldPath.parse(path))
            ? Option.some([name, path] as const)
            : Option.none()
        },
        `MEMBER=PATH, where MEMBER is one of task_id, ${Object.keys(ContractSettings.resultPlaces).join(", ")}`,
      ),
      "MEMBER=PATH",
      "Path of MEMBER in responses, such as results=data.items or choice=answer.option; repeatable",
    ),
    choice: formed("choice", (form) => ContractSettings.choiceOf(form) !== undefined, ContractSettings.choiceForm, {
      metavar: "FORM",
      description: "Choice form: index (from 0), index-1 (from 1), text, letter, or labels (left,right)",
    }),
    completedStatus: repeated(
      Flag.String("completed-status"),
      "STATUS",
      "Another status, such as 'done', that means 'completed'; repeatable",
    ),
    idempotencyKey: literals("idempotency-key", ["honored", "ignored"], "Whether the service honors Idempotency-Key", {
      default: "from openapi.json",
      environment: "PREFSTREAM_IDEMPOTENCY_KEY",
    }),
    idempotencyKeyLifetime: option(
      parsed(
        "idempotency-key-lifetime",
        (text) => (text === "forever" ? Option.some(Duration.infinity) : parseDuration(text)),
        `${durationForm}, or forever`,
      ),
      "DURATION",
      'Lifetime of idempotency keys, or "forever"',
      { default: formatDuration(defaults.idempotencyKeyLifetime), environment: "PREFSTREAM_IDEMPOTENCY_KEY_LIFETIME" },
    ),
    concurrency: integer("concurrency", "Maximum concurrent requests", {
      min: 1,
      default: defaults.concurrency,
      environment: "PREFSTREAM_CONCURRENCY",
    }),
    requestsPerSecond: integer("requests-per-second", "Rate limit, in requests per second", {
      min: 1,
      default: defaults.requestsPerSecond,
      environment: "PREFSTREAM_REQUESTS_PER_SECOND",
    }),
    maxCompletions: integer("max-completions", "Reject items with more than N completions", {
      min: 2,
      default: "from openapi.json",
      environment: "PREFSTREAM_MAX_COMPLETIONS",
    }),
    moved: choice("moved", "Accept a changed base URL, because this job's service has moved", {
      isTypedOnly: true,
    }),
    pollMin: duration("poll-min", "Minimum interval between polls of a task", {
      default: formatDuration(defaults.pollInterval.min),
    }),
    pollMax: duration("poll-max", "Maximum interval between polls of a task", {
      default: formatDuration(defaults.pollInterval.max),
    }),
    patience: duration("patience", "Maximum wait for a service that is down; then exit status 1", {
      default: formatDuration(defaults.patience),
    }),
  }),
  ...annotationFlags,
}

export type ServiceFlags = Command.Command.Config.Infer<typeof serviceFlags>

export const usableToken = Effect.fnUntraced(function* (token: Redacted.Redacted<string>) {
  const text = Redacted.value(token).trim()
  if (/^[\x21-\x7e]+$/.test(text)) return Redacted.make(text)
  return yield* usageError("PREFSTREAM_TOKEN: the organization token is empty, or contains invalid characters")
})

// prettier-ignore
const sameNames = [
  "authorization", "choice", "createRequest", "pollRequest", "concurrency", "idempotencyKey", "idempotencyKeyLifetime", "maxCompletions", "moved", "patience", "requestsPerSecond",
] as const

const overlay = (profile: ServiceSettings, flags: ServiceFlags): ServiceSettings => ({
  ...profile,
  ...defined(Struct.pick(flags, sameNames)),
  resultPaths: {
    ...profile.resultPaths,
    ...Object.fromEntries(flags.resultPath.filter(([name]) => name !== "task_id")),
  },
  taskIdPaths: [
    ...flags.resultPath.flatMap(([name, path]) => (name === "task_id" ? path : [])),
    ...profile.taskIdPaths,
  ],
  completedStatuses: [...profile.completedStatuses, ...flags.completedStatus],
  ...defined({ kindPath: flags.annotationPath.find(([member]) => member === "kind")?.[1] }),
  pollInterval: { ...profile.pollInterval, ...defined({ min: flags.pollMin, max: flags.pollMax }) },
})

const ExtraMembers = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))

const extraOf = Effect.fnUntraced(function* (file: string) {
  const text = yield* FileSystem.FileSystem.use((fs) => fs.readFileString(file))
  const extra = Option.getOrUndefined(Schema.decodeUnknownOption(ExtraMembers)(text))
  if (extra !== undefined && !ContractSettings.contractMembers.some((name) => Object.hasOwn(extra, name))) return extra
  const expected = `a JSON object without ${ContractSettings.contractMembers.join(", ")}`
  return yield* usageError(`--request-extra ${file}: expected ${expected}`)
})

/** Whether `PREFSTREAM_BASE_URL` is set, but empty. `Config.String` reports an empty variable as missing. */
const isEmpty = Effect.gen(function* () {
  const provider = yield* ConfigProvider.ConfigProvider
  const node = yield* Effect.orElseSucceed(provider.load(["PREFSTREAM", "BASE"]), () => undefined)
  return node?._tag === "Record" && node.keys.has("URL")
})

export const fromEnvironment = Effect.fnUntraced(function* <Flags extends Pick<ServiceFlags, "baseUrl">>(flags: Flags) {
  if (flags.baseUrl?.trim() === "") {
    return yield* usageError("--base-url is empty: give the address of the annotation service, or leave the flag out")
  }
  const environment = yield* Config.option(Config.String("PREFSTREAM_BASE_URL"))
  if (flags.baseUrl === undefined && (Option.isNone(environment) ? yield* isEmpty : environment.value.trim() === "")) {
    const message = "PREFSTREAM_BASE_URL is empty: set the address of the annotation service, or unset it"
    return yield* usageError(message)
  }
  return { ...flags, baseUrl: flags.baseUrl ?? Option.getOrUndefined(environment) }
})

export const addressOf = Effect.fnUntraced(function* ({ baseUrl }: Pick<ServiceFlags, "baseUrl">) {
  if (baseUrl === undefined) return undefined
  if (!isBaseUrl(baseUrl)) return yield* usageError(`--base-url: expected ${baseUrlForm}`)
  const variable = yield* token
  if (variable === undefined) return yield* usageError("no organization token: set PREFSTREAM_TOKEN")
  return { baseUrl, token: yield* usableToken(variable) }
})

export const serviceOf = <E, R>(flags: ServiceFlags, otherwise: Layer.Layer<ServiceProfile, E, R>) => {
  const chosen = Layer.unwrap(
    Effect.gen(function* (): Effect.fn.Return<
      Layer.Layer<ServiceProfile, E | ServiceSettingsError, R>,
      UsageError | Config.ConfigError
    > {
      const address = yield* addressOf(flags)
      return address === undefined ? otherwise : ServiceProfile.layer(address)
    }),
  )
  const settings = Effect.gen(function* () {
    const overlaid = overlay(yield* ServiceProfile, flags)
    const { max, min } = overlaid.pollInterval
    if (Duration.toMillis(min) > Duration.toMillis(max))
      return yield* usageError("--poll-min is longer than --poll-max")
    return flags.requestExtra === undefined
      ? overlaid
      : { ...overlaid, requestExtra: yield* extraOf(flags.requestExtra) }
  })
  return Layer.effect(ServiceProfile, settings).pipe(Layer.provide(chosen))
}

export const serviceRequired = Layer.effect(
  ServiceProfile,
  Effect.fail(usageError("no annotation service: set its address in PREFSTREAM_BASE_URL or with --base-url")),
)

const embedded: TaskMembers.TaskMembers = { group: true, maxVotes }

export const itemLimitsOf = Effect.fnUntraced(function* ({
  authorization,
  baseUrl,
  maxCompletions,
}: Pick<ServiceFlags, "baseUrl" | "maxCompletions"> & Partial<Pick<ServiceFlags, "authorization">>) {
  const published: ItemLimits & Pick<PublishedLimits.Published, "taskMembers"> =
    baseUrl === undefined
      ? { ...RequestLimits.ofItems(RequestLimits.defaultLimits), taskMembers: embedded }
      : yield* PublishedLimits.read({ authorization, baseUrl, token: yield* token })
  return { ...published, ...defined({ maxCompletions }) }
})

export const limitsForPreview = Effect.fnUntraced(function* (
  flags: Parameters<typeof itemLimitsOf>[0] &
    Pick<ServiceFlags, "createRequest" | "requestExtra" | "requestsPerSecond">,
) {
  const requestsPerSecond =
    flags.baseUrl === undefined ? undefined : (flags.requestsPerSecond ?? defaults.requestsPerSecond)
  const { taskMembers, ...limits } = yield* itemLimitsOf(flags)
  const { createRequest = defaults.createRequest, requestExtra } = flags
  const extra = requestExtra === undefined ? {} : yield* extraOf(requestExtra)
  const { maxVotes: maxTaskVotes } = PublishedLimits.membersOf({ createRequest, requestExtra: extra }, taskMembers)
  return { limits, maxTaskVotes, requestsPerSecond }
})
