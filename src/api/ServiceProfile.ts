/**
 * The settings of an annotation service. The defaults are safe with any service that follows the contract. Some
 * services do not honor idempotency keys. A task that may have arrived is then sent again only if a person asks for it.
 */
import { Context, Duration, Effect, Layer, Option, type Redacted, Result, Schema, Struct } from "effect"
import * as FieldPath from "../io/FieldPath.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { didYouMean } from "../io/NearestName.ts"
import { describeValue } from "../io/Values.ts"
import * as Authorization from "./Authorization.ts"
import * as ContractSettings from "./ContractSettings.ts"
import * as TaskMembers from "./TaskMembers.ts"

/** The largest item that a service accepts. A larger item is rejected when it is read. */
export interface ItemLimits {
  /** Maximum completions per prompt. */
  readonly maxCompletions: number
  /** Maximum length of a prompt in code points. */
  readonly maxPromptCharacters: number
  /** Maximum length of each completion in code points. */
  readonly maxCompletionCharacters: number
}

export const unlimited: ItemLimits = {
  maxCompletions: Infinity,
  maxPromptCharacters: Infinity,
  maxCompletionCharacters: Infinity,
}

/** The settings of an annotation service. See `defaults` for the default values. */
export interface ServiceSettings extends ItemLimits {
  /** The URL of the service, with its version segment: `https://host/v1`. */
  readonly baseUrl: string
  /** The organization token. For the scheme `Basic`, it is `USER:PASSWORD`. */
  readonly token: Redacted.Redacted<string>
  /** How requests carry the token: a scheme such as `Bearer`, or a header such as `X-Api-Key:` or `X-Auth: Key`. */
  readonly authorization: string
  /** The name under which a ledger knows the service. A ledger belongs to one service. Default: the base URL. */
  readonly identity: string
  /** Whether to accept a ledger with another `identity`. The ledger then gets the `identity` of these settings. */
  readonly moved: boolean
  /**
   * How the service treats a second request that has the `Idempotency-Key` of an earlier request.
   *
   * - `"honored"`: the service returns the earlier task. A retry is safe after a crash or a lost answer.
   * - `"ignored"`: the service may create a second task. After a crash or a lost answer, the first task may exist. The
   *   request is then not sent again automatically, and the task has the state `in_doubt`.
   * - `"declared"`: `"honored"` if the service's OpenAPI document declares the header, otherwise `"ignored"`. Only
   *   `Pipeline.layer`, `Worker.run`, and commands that send or poll tasks read this document. They do not read the
   *   document for a job with its own `client`. If the document was not read, the setting counts as `"ignored"`.
   */
  readonly idempotencyKey: "honored" | "ignored" | "declared"
  /**
   * The fields among `group`, `votes`, and `voters` that the service accepts in a request to create a task.
   * `"declared"`: the fields that the service's OpenAPI document declares. `idempotencyKey` says when prefstream reads
   * this document. If prefstream does not read the document, no such field is sent.
   */
  readonly taskMembers: TaskMembers.TaskMembers | "declared"
  /**
   * How long the service remembers an idempotency key (`Duration.infinity`: forever). If a request to create a
   * task gets no answer, the request is repeated only within this time. Later, the task is in the state `in_doubt`,
   * because the service could create it a second time.
   */
  readonly idempotencyKeyLifetime: Duration.Input
  /** Method and path that create a task, such as `PUT /tasks/{key}` with the idempotency key. Default `POST /tasks`. */
  readonly createRequest: string
  /** Method and path of a poll: `GET /tasks/{task_id}`. */
  readonly pollRequest: string
  /** Further members of each task's request, such as a language or a priority. */
  readonly requestExtra: { readonly [member: string]: Schema.Json }
  /** Paths of members in the answer to a poll, if they differ from the contract's. Defaults: `resultPlaces`. */
  readonly resultPaths: ContractSettings.ResultPaths
  /**
   * How results name the chosen completion. `index`: a number from 0. `index-1`: a number from 1. `letter`: A is the
   * first completion. `text`: the completion's text. `left,right`: the label of each completion, in request order.
   */
  readonly choice: string
  /** Paths of the task id in the answer to `createRequest`, such as `data.id`. The first path to an id counts. */
  readonly taskIdPaths: ReadonlyArray<string>
  /**
   * Path of the expert's kind, such as `annotator.role`. The path starts at each vote in `annotations.votes`. If a vote
   * has no kind, the path starts at `annotations`. A vote of unknown kind has the highest price of the allowed kinds.
   */
  readonly kindPath: string
  /** Statuses of a task that has results. */
  readonly completedStatuses: ReadonlyArray<string>
  /** Statuses of a task that will never complete. */
  readonly failedStatuses: ReadonlyArray<string>
  /** Statuses of an unfinished task. A status in none of these three lists counts as open, and is logged once. */
  readonly openStatuses: ReadonlyArray<string>
  /** Maximum number of requests in flight. The client lowers it while the service answers 429 or 503. */
  readonly concurrency: number
  /** Maximum number of requests in any second. The client lowers it while the service answers 429 or 503. */
  readonly requestsPerSecond: number
  /** Timeout of one request, including the body of its answer. */
  readonly requestTimeout: Duration.Input
  /** Maximum size of one answer, after decompression. Default 256 MiB. */
  readonly maxAnswerBytes: number
  /** Maximum number of retries after a failure that does not show whether the service carried out the request. */
  readonly retries: number
  /** Number of consecutive failed requests after which the service counts as down. */
  readonly downAfter: number
  /** Maximum time that a run waits while the service is down or asks clients to wait. */
  readonly patience: Duration.Input
  /** Minimum and maximum time between two polls of a task. The time grows with the task's age. */
  readonly pollInterval: { readonly min: Duration.Input; readonly max: Duration.Input }
  /** Paths of the task ids in webhook deliveries. The receiver's settings say how deliveries are signed. */
  readonly webhook: WebhookProfile
}

/** How the service's webhooks name tasks. The contract does not define this. */
export interface WebhookProfile {
  /**
   * Paths of task ids in a payload, such as `data.task_ids`. `[*]` means each element of an array: `data.tasks[*].id`.
   * The ids at all paths count. A payload without any id concerns every outstanding task.
   */
  readonly taskIdPaths: ReadonlyArray<string>
}

/** The default settings. */
export const defaults: Omit<ServiceSettings, "baseUrl" | "identity" | "token"> = {
  moved: false,
  authorization: "Bearer",
  createRequest: "POST /tasks",
  pollRequest: "GET /tasks/{task_id}",
  requestExtra: {},
  resultPaths: {},
  choice: "index",
  idempotencyKey: "declared",
  idempotencyKeyLifetime: "24 hours",
  taskMembers: "declared",
  ...unlimited,
  taskIdPaths: ["task_id", "id", "task.task_id", "task.id", "data.task_id", "data.id"],
  kindPath: "kind",
  completedStatuses: ["completed"],
  failedStatuses: ["failed", "cancelled", "canceled", "rejected", "expired"],
  openStatuses: [
    "created",
    "submitted",
    "accepted",
    "pending",
    "queued",
    "scheduled",
    "open",
    "assigned",
    "in_progress",
    "in_review",
    "processing",
    "running",
  ],
  concurrency: 8,
  requestsPerSecond: 10,
  requestTimeout: "60 seconds",
  maxAnswerBytes: 256 * 1024 * 1024,
  retries: 6,
  downAfter: 3,
  patience: "15 minutes",
  pollInterval: { min: "2 seconds", max: "5 minutes" },
  webhook: { taskIdPaths: ["data.task_ids", "data.task_id", "task_ids", "task_id"] },
}

/** A setting of the service is invalid. */
export class ServiceSettingsError extends Schema.TaggedError<ServiceSettingsError>()("ServiceSettingsError", {
  /** The name of the setting, with dots for nested settings: `pollInterval.min`. */
  setting: Schema.String,
  /** A description of the allowed values. */
  expected: Schema.String,
  /** The invalid value as text. For `baseUrl`, the text does not contain the value, which may hold a secret. */
  found: Schema.String,
}) {
  override get message() {
    return `invalid service setting ${this.setting}: expected ${this.expected}, found ${this.found}`
  }
}

export const baseUrlForm = "http://… or https://…, without user, password, query, or fragment"

/** Messages show the base URL, so it must not contain a password. */
export const isBaseUrl = (text: string): boolean =>
  /^https?:\/\/[^/@?#\s]+(\/[^@?#\s]*)?$/i.test(text) && URL.canParse(text)

const isTime =
  (minMillis: number, maxMillis = Infinity) =>
  (value: Duration.Input): boolean =>
    !Number.isNaN(value) &&
    Option.exists(Option.map(Duration.fromInput(value), Duration.toMillis), (ms) => ms >= minMillis && ms <= maxMillis)

/** A poll interval is at most one year, because the time of the next poll must be a valid date. */
const isPollInterval = isTime(1, Duration.toMillis("365 days"))

const names: ReadonlyArray<string> = ["baseUrl", "token", "identity", ...Struct.keys(defaults)]

export const unknownIn = (settings: object, names: ReadonlyArray<string>) => {
  const setting = Object.keys(settings).find((name) => !names.includes(name))
  if (setting === undefined) return undefined
  return { setting, expected: `the name of a service setting${didYouMean(setting, names)}`, found: "an unknown name" }
}

const problemOf = (settings: ServiceSettings): ServiceSettingsError | undefined => {
  const { choice, createRequest, patience, pollInterval, pollRequest, requestTimeout, requestsPerSecond } = settings
  const reservedMember = ContractSettings.contractMembers.find((member) => Object.hasOwn(settings.requestExtra, member))
  const badPath = Object.values(settings.resultPaths).find(
    (path) => path !== undefined && Result.isFailure(FieldPath.parse(path)),
  )
  const { max, min } = pollInterval
  const count = (name: "concurrency" | "retries" | "downAfter" | "maxAnswerBytes" | keyof ItemLimits, min: number) => {
    const value = settings[name]
    const mayBeInfinite = name in unlimited
    const expected = `a whole number of at least ${min}${mayBeInfinite ? ", or Infinity" : ""}`
    const isRight = (Number.isInteger(value) && value >= min) || (mayBeInfinite && value === Infinity)
    return [name, isRight, expected, value] as const
  }
  const rules: ReadonlyArray<readonly [setting: string, isRight: boolean, expected: string, value: unknown]> = [
    // A base URL may contain a password. The error message therefore says "another form" and does not show the URL.
    ["baseUrl", isBaseUrl(settings.baseUrl), baseUrlForm, "another form"],
    ["authorization", Authorization.isValid(settings.authorization), Authorization.form, settings.authorization],
    ["createRequest", ContractSettings.isCreate(createRequest), ContractSettings.createForm, createRequest],
    ["pollRequest", ContractSettings.isPoll(pollRequest), ContractSettings.pollForm, pollRequest],
    [
      "requestExtra",
      reservedMember === undefined,
      `members other than ${ContractSettings.contractMembers.join(", ")}`,
      reservedMember,
    ],
    ["resultPaths", badPath === undefined, "field paths", badPath],
    ["choice", ContractSettings.choiceOf(choice) !== undefined, ContractSettings.choiceForm, choice],
    count("concurrency", 1),
    [
      "requestsPerSecond",
      Number.isFinite(requestsPerSecond) && requestsPerSecond > 0,
      "a number above 0",
      requestsPerSecond,
    ],
    ["taskMembers", TaskMembers.isSetting(settings.taskMembers), TaskMembers.form, settings.taskMembers],
    count("maxCompletions", 2),
    count("maxPromptCharacters", 1),
    count("maxCompletionCharacters", 1),
    ["kindPath", Result.isSuccess(FieldPath.parse(settings.kindPath)), "a field path", settings.kindPath],
    count("retries", 0),
    count("downAfter", 1),
    count("maxAnswerBytes", 1),
    ["requestTimeout", isTime(1)(requestTimeout), "a duration of at least 1 millisecond", requestTimeout],
    ["patience", isTime(0)(patience), "a duration", patience],
    [
      "idempotencyKeyLifetime",
      isTime(0)(settings.idempotencyKeyLifetime),
      "a duration",
      settings.idempotencyKeyLifetime,
    ],
    ["pollInterval.min", isPollInterval(min), "a duration from 1 millisecond to 1 year", min],
    ["pollInterval.max", isPollInterval(max), "a duration from 1 millisecond to 1 year", max],
  ]
  const wrong = rules.find(([, isRight]) => !isRight)
  if (wrong !== undefined) {
    const [setting, , expected, value] = wrong
    return new ServiceSettingsError({
      setting,
      expected,
      found: setting === "baseUrl" || Duration.isDuration(value) ? String(value) : describeValue(value),
    })
  }
  return Duration.isGreaterThan(Duration.fromInputUnsafe(min), Duration.fromInputUnsafe(max))
    ? new ServiceSettingsError({
        setting: "pollInterval",
        expected: "`min` to be at most `max`",
        found: [min, max].map((time) => Duration.format(Duration.fromInputUnsafe(time))).join(" and "),
      })
    : undefined
}

const kinds: Kinds.Kinds = {
  ...Kinds.all(Kinds.anyText, "baseUrl identity authorization createRequest pollRequest choice kindPath"),
  ...Kinds.all(Kinds.texts, "completedStatuses failedStatuses openStatuses taskIdPaths"),
  ...Kinds.all(Kinds.object, "requestExtra pollInterval webhook"),
  resultPaths: Kinds.recordOf("an object with field paths", Kinds.anyText),
  taskMembers: [TaskMembers.form, (value) => value === "declared" || Kinds.object[1](value)],
  token: Kinds.redacted,
  moved: Kinds.flag,
}

/** The annotation service that `AnnotationClient` uses. */
export class ServiceProfile extends Context.Service<ServiceProfile, ServiceSettings>()(
  "prefstream/api/ServiceProfile",
) {
  /** Provides the settings of a service, with `defaults` for missing ones. Fails if a setting is invalid. */
  static readonly layer = (
    settings: Pick<ServiceSettings, "baseUrl" | "token"> & Partial<ServiceSettings>,
  ): Layer.Layer<ServiceProfile, ServiceSettingsError> => {
    const wrong = Kinds.wrongIn(settings, kinds, ["baseUrl", "token"], "settings") ?? unknownIn(settings, names)
    if (wrong !== undefined) return Layer.effect(ServiceProfile, Effect.fail(new ServiceSettingsError(wrong)))
    const baseUrl = settings.baseUrl.replace(/\/+$/, "")
    const profile = { identity: baseUrl, ...defaults, ...settings, baseUrl }
    const problem = problemOf(profile)
    return Layer.effect(ServiceProfile, problem === undefined ? Effect.succeed(profile) : Effect.fail(problem))
  }
}
