/**
 * The failures of requests to the service. Each has a reason that tells callers what to do. The reason never depends on
 * the text of a message. `maybeDone` is false only if the service certainly did not carry out the request.
 */
import { DateTime, Duration, type Effect, identity, Option, Schema } from "effect"
import { HttpClientError, type HttpClientResponse } from "effect/http"
import * as HttpFailure from "../../io/HttpFailure.ts"
import { depthProblem } from "../../io/JsonProblem.ts"
import { causeMessage, excerpt } from "../../io/Values.ts"
import * as RateLimit from "../../api/RateLimit.ts"
import type { ServiceSettings } from "../../api/ServiceProfile.ts"
import { statusText } from "../../node/StatusText.ts"

/** Maximum length of a response's excerpt in an error, in UTF-16 code units. */
export const maxDetailCharacters = 300

/** Epoch milliseconds as a UTC time, rounded to a second. */
export const instant = (millis: number): string =>
  DateTime.formatIso(DateTime.makeUnsafe(Math.round(millis / 1000) * 1000)).replace(".000Z", "Z")

const answered = { status: Schema.Int, detail: Schema.String }

/** The token is missing or wrong, or lacks permission. All requests with it will fail. */
export class AccessDenied extends Schema.TaggedClass<AccessDenied>()("AccessDenied", answered) {}

/** The service, or a proxy in front of it, refuses every request. This request created nothing. */
export class ServiceBlocked extends Schema.TaggedClass<ServiceBlocked>()("ServiceBlocked", answered) {}

/** The service refused the first tasks of a run and accepted none. Status and detail are from the last refusal. */
export class TasksRefused extends Schema.TaggedClass<TasksRefused>()("TasksRefused", {
  /** Number of refused tasks. The run ends when this number reaches 20. */
  tasks: Schema.Int,
  ...answered,
}) {}

/** There is no annotation service at this address. */
export class NoSuchService extends Schema.TaggedClass<NoSuchService>()("NoSuchService", {
  /** The response, or the reason why the request cannot be sent, on one line. */
  detail: Schema.String,
}) {}

/** The service refuses this request permanently. */
export class Refused extends Schema.TaggedClass<Refused>()("Refused", answered) {}

/** The request is too large. The service may accept a request with fewer items. */
export class TooLarge extends Schema.TaggedClass<TooLarge>()("TooLarge", {
  /** The reason that the service gave, on one line of at most 300 characters. */
  detail: Schema.String,
}) {}

/** The service does not know this task. */
export class TaskUnknown extends Schema.TaggedClass<TaskUnknown>()("TaskUnknown", answered) {}

/** The service did not answer, or asked the client to retry later. */
export class Unavailable extends Schema.TaggedClass<Unavailable>()("Unavailable", {
  /** Absent if there was no connection or no response in time. */
  status: Schema.optionalKey(Schema.Int),
  /** The reason that the service gave, or the connection's error code, on one line. */
  detail: Schema.String,
  /** Milliseconds for which the service asked the client to wait. */
  retryAfter: Schema.optionalKey(Schema.Finite),
  /** Whether the service may have carried out the request. */
  maybeDone: Schema.Boolean,
}) {}

/** The service has been down for longer than a run waits. */
export class Down extends Schema.TaggedClass<Down>()("Down", {
  /** Start of the downtime, in epoch milliseconds. */
  since: Schema.Finite,
  /** Maximum time that a run waits: `ServiceSettings.patience`. */
  patience: Schema.DurationFromMillis,
  /** The last failure, on one line. */
  detail: Schema.String,
}) {}

/** The service answered 2xx, but the response is unusable. */
export class UnusableAnswer extends Schema.TaggedClass<UnusableAnswer>()("UnusableAnswer", {
  /** The problem, on one line. */
  detail: Schema.String,
  /** Whether the response is not plain JSON. Another server, such as a proxy, may then have sent the response. */
  isForeign: Schema.optionalKey(Schema.Boolean),
  /** An excerpt of the response. */
  found: Schema.optionalKey(Schema.String),
}) {}

/** A request to the service failed. `reason` is one of the errors above. */
export class AnnotationClientError extends Schema.TaggedError<AnnotationClientError>()("AnnotationClientError", {
  /** Address of the service, as in `ServiceSettings`. */
  baseUrl: Schema.String,
  /** The `_tag` of the reason is the kind of failure. */
  reason: Schema.Union([
    AccessDenied,
    ServiceBlocked,
    TasksRefused,
    NoSuchService,
    Refused,
    TooLarge,
    TaskUnknown,
    Unavailable,
    Down,
    UnusableAnswer,
  ]),
}) {
  /** Whether the same request may succeed later: `Unavailable` or `Down`. */
  get isRetryable(): boolean {
    return this.reason._tag === "Unavailable" || this.reason._tag === "Down"
  }
  override get message(): string {
    const { reason } = this
    switch (reason._tag) {
      case "AccessDenied":
        return `${this.baseUrl} refuses the token (${reason.status}): ${sentence(reason.detail)}. Set a valid \`token\`.`
      case "ServiceBlocked":
        return `${this.baseUrl} refuses every request (${statusText(reason.status)}): ${sentence(reason.detail)}. No task is lost: resolve the cause with the service, then run the job again.`
      case "TasksRefused":
        return `${this.baseUrl} refused the first ${reason.tasks} requests of this run and created no task. Last answer (${statusText(reason.status)}): ${sentence(reason.detail)}. Fix the cause, then run the job with \`resubmit: ["refused"]\`, which sends the refused and the remaining tasks.`
      case "NoSuchService":
        return `no annotation service found at ${this.baseUrl}: ${reason.detail}`
      case "Refused":
        return `refused (${reason.status}): ${reason.detail}`
      case "TaskUnknown":
        return `the service does not know the task (${reason.status}): ${reason.detail}`
      case "Unavailable":
        return `${this.baseUrl} is unavailable${reason.status === undefined ? "" : ` (${reason.status})`}: ${reason.detail}`
      case "Down":
        return `${this.baseUrl} has been down since ${instant(reason.since)}, longer than a run waits (${Duration.format(reason.patience)}): ${sentence(reason.detail)}. Nothing is lost: run the job again.`
      case "TooLarge":
      case "UnusableAnswer":
        return reason.detail
    }
  }
}

const sentence = (detail: string): string => detail.replace(/\.$/, "")

/** Whether the failed request may have had an effect at the service, such as a new task. */
export const maybeDone = ({ reason }: AnnotationClientError): boolean =>
  reason._tag === "Unavailable" ? reason.maybeDone : reason._tag === "UnusableAnswer" && reason.isForeign === true

/** For requests without effects, such as a `GET`. If no response arrived, sets `maybeDone` to false. */
export const withoutDoubt = (failure: AnnotationClientError): AnnotationClientError => {
  const { baseUrl, reason } = failure
  // A failure with a status stays unchanged: it may concern only this task, and `maybeDone: false` would stop the run.
  if (reason._tag !== "Unavailable" || reason.status !== undefined) return failure
  return new AnnotationClientError({ baseUrl, reason: new Unavailable({ detail: reason.detail, maybeDone: false }) })
}

/** Whether the service asks for more time than a run waits. */
export const asksTooMuch = ({ reason }: AnnotationClientError, patience: Duration.Duration): boolean =>
  reason._tag === "Unavailable" && (reason.retryAfter ?? 0) > Duration.toMillis(patience)

const endsAll: ReadonlyArray<AnnotationClientError["reason"]["_tag"]> = [
  "Down",
  "AccessDenied",
  "ServiceBlocked",
  "TasksRefused",
  "NoSuchService",
]

/** Whether polls of other tasks would also fail. */
export const endsPolling = (failure: AnnotationClientError, patience: Duration.Duration): boolean =>
  endsAll.includes(failure.reason._tag) || asksTooMuch(failure, patience)

/** Whether the service may be down: a timeout, a lost connection, a server error, or another server's response. */
export const seemsDown = ({ reason }: AnnotationClientError): boolean =>
  reason._tag === "Unavailable"
    ? reason.status === undefined || ["timeout", "serverError"].includes(HttpFailure.kindOf(reason.status))
    : reason._tag === "UnusableAnswer" && reason.isForeign === true

export const refusal = (
  response: HttpClientResponse.HttpClientResponse,
  text: string,
  onNotFound: "service" | "task",
  retryAfter: number | undefined,
  idempotencyKey: ServiceSettings["idempotencyKey"],
): AnnotationClientError["reason"] => {
  const { status } = response
  const detail = problemDetail(text)
  const kind = HttpFailure.kindOf(status)
  switch (kind) {
    case "unauthorized":
      return new AccessDenied({ status, detail })
    case "blocked":
      return new ServiceBlocked({ status, detail })
    case "tooLarge":
      return new TooLarge({ detail })
    case "rejected":
      return new Refused({ status, detail })
    // If the service honors idempotency keys, it may still be processing an earlier attempt. A later retry may succeed.
    case "conflict":
      if (onNotFound === "task" || idempotencyKey === "honored") break
      return new Refused({ status, detail })
    case "notFound":
    case "wrongAddress":
      return kind === "notFound" && onNotFound === "task"
        ? new TaskUnknown({ status, detail })
        : new NoSuchService({ detail: `${response.request.method} answers ${status}: ${detail}` })
  }
  // A gateway may answer 503 although the service has created the task. After such a 503, a repeated request creates no
  // second task if the service honors idempotency keys.
  const isDeferred = status === 503 && retryAfter !== undefined && idempotencyKey === "honored"
  return new Unavailable({
    status,
    detail,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    maybeDone: kind !== "rateLimited" && kind !== "tooEarly" && !isDeferred,
  })
}

export const noAnswer = (
  failure: unknown,
  quotable: (text: string) => string = identity,
): AnnotationClientError["reason"] => {
  if (HttpClientError.isHttpClientError(failure) && failure.reason._tag === "InvalidUrlError") {
    return new NoSuchService({ detail: quotable(failure.message) })
  }
  const codes = HttpFailure.codesOf(HttpFailure.causes(failure))
  const unsendable = codes.find(HttpFailure.isUnsendable)
  if (unsendable !== undefined) return new NoSuchService({ detail: `the request cannot be sent (${unsendable})` })
  const [code] = codes
  const description = code && HttpFailure.descriptions[code]
  return new Unavailable({
    detail: description === undefined ? (code ?? quotable(causeMessage(failure))) : `${description} (${code})`,
    maybeDone: !codes.some(HttpFailure.isUnsent),
  })
}

/** Milliseconds that the header `Retry-After` asks to wait, at most 365 days. */
export const retryAfterOf = ({ headers }: HttpClientResponse.HttpClientResponse): Effect.Effect<number | undefined> =>
  RateLimit.retryAfter(headers["retry-after"], Duration.days(365))

const Problem = Schema.Struct({
  title: Schema.optionalKey(Schema.String),
  detail: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.Unknown),
  errors: Schema.optionalKey(Schema.Unknown),
})

/** The reason that a response gives, often in the format of RFC 9457. Default: the start of the body. */
const problemDetail = (body: string): string => {
  // The command line replaces option names in backticks with flags, but must not replace the service's words.
  const text = body.replaceAll("`", "'")
  const problem = Option.getOrUndefined(Schema.decodeUnknownOption(Schema.fromJsonString(Problem))(text))
  if (problem === undefined) return text.trim() === "" ? "no reason given" : excerpt(text, maxDetailCharacters)
  const places = problem.errors ?? problem.error
  const parts = [
    problem.detail ?? problem.message ?? problem.title,
    places === undefined || depthProblem(places, "") !== undefined
      ? undefined
      : excerpt(typeof places === "string" ? places : JSON.stringify(places), maxDetailCharacters),
  ]
  return parts.filter((part) => part !== undefined).join(": ") || excerpt(text, maxDetailCharacters)
}
