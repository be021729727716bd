/**
 * The annotation service as its client sees it: create a task, look at a task.
 *
 * Guarantees: base URL, token, rate limit, time limit and retries are set here and
 * nowhere else. A request is sent again only where that can't create a second task:
 * where the service honours idempotency keys, or where it certainly did not take
 * the request. `Retry-After` is honoured; retries are bounded. Every failure is an
 * `AnnotationClientError` whose reason says what may be done about it.
 *
 * What the contract does not show is read by the `ServiceProfile`.
 */
import { Context, Duration, Effect, Layer, Option, Redacted, Result, Schedule, Schema } from "effect"
import { Headers, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { RateLimiter } from "effect/persistence"
import { AnnotationApi, OrganizationToken } from "../api/AnnotationApi.ts"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import { TaskRequest } from "../domain/Task.ts"

/** 401 or 403: the token is missing, wrong or not allowed. Nothing else will succeed either. */
export class AccessDenied extends Schema.TaggedClass<AccessDenied>()("AccessDenied", {
  status: Schema.Int,
  detail: Schema.String,
}) {}

/** There is no annotation service at this address: the whole setting is wrong. */
export class NoSuchService extends Schema.TaggedClass<NoSuchService>()("NoSuchService", {
  detail: Schema.String,
}) {}

/** The service refuses this request for good (400, 422 and the like). */
export class Refused extends Schema.TaggedClass<Refused>()("Refused", {
  status: Schema.Int,
  detail: Schema.String,
}) {}

/** 413: the request is too large; half of it may pass. */
export class TooLarge extends Schema.TaggedClass<TooLarge>()("TooLarge", { detail: Schema.String }) {}

/** 404 or 410: the service does not know this task, or not any more. */
export class TaskUnknown extends Schema.TaggedClass<TaskUnknown>()("TaskUnknown", {
  status: Schema.Int,
  detail: Schema.String,
}) {}

/** No answer, or one that says: later. */
export class Unavailable extends Schema.TaggedClass<Unavailable>()("Unavailable", {
  status: Schema.optionalKey(Schema.Int),
  detail: Schema.String,
  /** Milliseconds that the service asked to wait. */
  retryAfter: Schema.optionalKey(Schema.Finite),
  /** Whether the request may have been carried out all the same. */
  maybeDone: Schema.Boolean,
}) {}

/** The service answered with success, in a form that can't be used. */
export class UnusableAnswer extends Schema.TaggedClass<UnusableAnswer>()("UnusableAnswer", {
  detail: Schema.String,
}) {}

export class AnnotationClientError extends Schema.TaggedError<AnnotationClientError>()("AnnotationClientError", {
  baseUrl: Schema.String,
  reason: Schema.Union([AccessDenied, NoSuchService, Refused, TooLarge, TaskUnknown, Unavailable, UnusableAnswer]),
}) {
  get isRetryable(): boolean {
    return this.reason._tag === "Unavailable"
  }
  override get message(): string {
    const { reason } = this
    switch (reason._tag) {
      case "AccessDenied":
        return `${this.baseUrl} refuses the token (${reason.status}): ${reason.detail.replace(/\.$/, "")}. Set a valid one in PREFSTREAM_TOKEN.`
      case "NoSuchService":
        return `no annotation service at ${this.baseUrl}: ${reason.detail}`
      case "Refused":
        return `refused (${reason.status}): ${reason.detail}`
      case "TaskUnknown":
        return `the service does not know the task (${reason.status}): ${reason.detail}`
      case "Unavailable":
        return `${this.baseUrl} is unavailable${reason.status === undefined ? "" : ` (${reason.status})`}: ${reason.detail}`
      default:
        return reason.detail
    }
  }
}

/** A task as `GET /tasks/{task_id}` shows it. */
export type TaskView =
  | { readonly _tag: "Open"; readonly status: string }
  | { readonly _tag: "Completed"; readonly body: string }
  | { readonly _tag: "Failed"; readonly status: string }

const longestRetryAfter = Duration.hours(1)

/**
 * Backs off from half a second to half a minute with jitter, and no less than the service
 * asks for. The waits can be interrupted, also where the requests between them can't be.
 */
const retrySchedule = (times: number, worthwhile: (failure: AnnotationClientError) => boolean) =>
  Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("30 seconds")]).pipe(
    Schedule.jittered,
    Schedule.setInputType<AnnotationClientError>(),
    Schedule.upTo({ times }),
    Schedule.while(({ input }) => worthwhile(input)),
    // The wait itself, hence after all that may end the retries.
    Schedule.modifyDelay(({ input, duration }) =>
      Effect.as(
        Effect.interruptible(
          Effect.sleep(
            input.reason._tag === "Unavailable"
              ? Duration.max(duration, Duration.millis(input.reason.retryAfter ?? 0))
              : duration,
          ),
        ),
        Duration.zero,
      ),
    ),
  )

const StatusMember = Schema.fromJsonString(Schema.Struct({ status: Schema.String }))

const make = Effect.gen(function* () {
  const profile = yield* ServiceProfile
  const client = yield* HttpApiClient.make(AnnotationApi, { baseUrl: profile.baseUrl })
  const limiter = yield* RateLimiter.RateLimiter
  const turn = Effect.interruptible(
    RateLimiter.sleep(limiter, {
      key: "annotation-service",
      window: "1 second",
      limit: profile.requestsPerSecond,
      algorithm: "token-bucket",
    }),
  ).pipe(Effect.orDie)
  const lookAgain = retrySchedule(profile.retries, mayRetry)
  const createAgain = retrySchedule(
    profile.retries,
    (failure) => mayRetry(failure) && (profile.idempotencyKey === "honoured" || !maybeDone(failure)),
  )
  let down = false
  /** Says once that the service does not answer, while it doesn't. */
  const sayOnce = (failure: AnnotationClientError) => {
    if (down || !mayRetry(failure)) return Effect.void
    down = true
    return Effect.logWarning(`${failure.message}; trying again`)
  }

  const error = (reason: AnnotationClientError["reason"]) =>
    new AnnotationClientError({ baseUrl: profile.baseUrl, reason })

  const secret = Redacted.value(profile.token)
  /** A service may repeat the token in its answer; what is quoted from one shows no part of it. */
  const quotable = (text: string): string => (secret === "" ? text : text.replaceAll(secret, "<token>"))

  /** Carries out one request; success is the text of a 2xx answer. */
  const attempt = <E>(
    request: Effect.Effect<HttpClientResponse.HttpClientResponse, E>,
    onNotFound: "service" | "task",
  ) =>
    request.pipe(
      Effect.flatMap((response) =>
        response.text.pipe(
          Effect.orElseSucceed(() => undefined),
          Effect.map((text) => ({ response, text })),
        ),
      ),
      Effect.timeout(profile.requestTimeout),
      Effect.mapError((cause) => error(noAnswer(cause))),
      Effect.flatMap(({ response, text }) => {
        if (response.status >= 200 && response.status < 300) {
          return text === undefined
            ? Effect.fail(error(new Unavailable({ detail: "the answer broke off", maybeDone: true })))
            : Effect.succeed(text)
        }
        return Effect.flatMap(retryAfterOf(response), (retryAfter) =>
          Effect.fail(error(refusal(response, quotable(text ?? ""), onNotFound, retryAfter))),
        )
      }),
      Effect.tapError(sayOnce),
      Effect.tap(() => {
        down = false
        return Effect.void
      }),
    )

  /**
   * Creates a task, and gives its id. `beforeSending` is run when the first request's turn
   * has come, just before it is sent; if it fails, nothing is.
   */
  const create = Effect.fn("AnnotationClient.create")(function* <E = never>(
    body: string,
    idempotencyKey: string,
    beforeSending: Effect.Effect<unknown, E> = Effect.void,
  ): Effect.fn.Return<string, AnnotationClientError | E> {
    const payload = yield* decodeRequest(body).pipe(Effect.orDie)
    const sent = attempt(
      client.tasks.create({ payload, headers: { "idempotency-key": idempotencyKey }, responseMode: "response-only" }),
      "service",
    )
    yield* turn
    yield* beforeSending
    let first = true
    const next = Effect.suspend(() => {
      if (!first) return Effect.andThen(turn, sent)
      first = false
      return sent
    })
    const text = yield* Effect.retry(next, createAgain)
    const taskId = Option.flatMap(parseJson(text), (json) => taskIdIn(json, profile.taskIdPaths))
    return Option.isSome(taskId)
      ? taskId.value
      : yield* error(
          new UnusableAnswer({
            detail: `the service took the task, but its answer has no task id at any of ${profile.taskIdPaths.join(", ")}: ${excerpt(quotable(text))}`,
          }),
        )
  })

  const look = Effect.fn("AnnotationClient.look")(function* (
    taskId: string,
  ): Effect.fn.Return<TaskView, AnnotationClientError> {
    const asked = Effect.andThen(
      turn,
      attempt(client.tasks.get({ params: { task_id: taskId }, responseMode: "response-only" }), "task"),
    )
    const text = yield* Effect.retry(asked, lookAgain)
    const decoded = Schema.decodeUnknownOption(StatusMember)(text)
    if (Option.isNone(decoded)) {
      return yield* error(
        new UnusableAnswer({ detail: `expected a JSON object with a status, found ${excerpt(quotable(text))}` }),
      )
    }
    const { status } = decoded.value
    if (profile.completedStatuses.includes(status)) return { _tag: "Completed", body: text }
    if (profile.failedStatuses.includes(status)) return { _tag: "Failed", status }
    return { _tag: "Open", status }
  })

  return { create, look }
})

const decodeRequest = Schema.decodeUnknownEffect(Schema.fromJsonString(TaskRequest))

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const mayRetry = (failure: AnnotationClientError): boolean =>
  failure.reason._tag === "Unavailable" && (failure.reason.retryAfter ?? 0) <= Duration.toMillis(longestRetryAfter)

const maybeDone = (failure: AnnotationClientError): boolean =>
  failure.reason._tag === "Unavailable" && failure.reason.maybeDone

/** What a refused or failed answer means, by its status alone. */
const refusal = (
  response: HttpClientResponse.HttpClientResponse,
  text: string,
  onNotFound: "service" | "task",
  retryAfter: number | undefined,
): AnnotationClientError["reason"] => {
  const { status } = response
  const detail = problemDetail(text)
  if (status === 401 || status === 403) return new AccessDenied({ status, detail })
  if (status === 413) return new TooLarge({ detail })
  if ((status === 404 || status === 410) && onNotFound === "task") return new TaskUnknown({ status, detail })
  if (status < 400 || status === 404 || status === 405 || status === 410) {
    return new NoSuchService({ detail: `${response.request.method} answers ${status}: ${detail}` })
  }
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    return new Unavailable({
      status,
      detail,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      maybeDone: status !== 429 && status !== 503 && status !== 425,
    })
  }
  return new Refused({ status, detail })
}

/** Causes that say that no connection was made, or no secure one: nothing was sent. */
const notConnected = new Set([
  "ERR_INVALID_URL",
  "EPROTO",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
])

const noAnswer = (failure: unknown): AnnotationClientError["reason"] => {
  if (HttpClientError.isHttpClientError(failure) && failure.reason._tag === "InvalidUrlError") {
    return new NoSuchService({ detail: failure.message })
  }
  const codes = causes(failure).flatMap((cause) =>
    "code" in cause && typeof cause.code === "string" ? [cause.code] : [],
  )
  return new Unavailable({
    detail: codes[0] ?? (failure instanceof Error ? failure.message : String(failure)),
    maybeDone: !codes.some(
      (code) => notConnected.has(code) || /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED)/.test(code),
    ),
  })
}

/** An error and what it was caused by, innermost last. */
const causes = (failure: unknown): ReadonlyArray<object> => {
  const chain: Array<object> = []
  for (let at = failure; typeof at === "object" && at !== null && !chain.includes(at);) {
    chain.push(at)
    if ("errors" in at && Array.isArray(at.errors))
      chain.push(...at.errors.filter((inner) => typeof inner === "object"))
    at = "cause" in at ? at.cause : "reason" in at ? at.reason : undefined
  }
  return chain
}

const retryAfterOf = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const header = response.headers["retry-after"]
  if (header === undefined) return undefined
  const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  return Result.match(Headers.parseRetryAfter(header), {
    onFailure: () => undefined,
    onSuccess: (retryAfter) => Duration.toMillis(Headers.retryAfterDelay(retryAfter, now)),
  })
})

const Problem = Schema.Struct({
  title: Schema.optionalKey(Schema.String),
  detail: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.Unknown),
  errors: Schema.optionalKey(Schema.Unknown),
})

/** The reason that an error's body gives: RFC 9457 members, or what other services use, or its beginning. */
const problemDetail = (text: string): string =>
  Option.match(Schema.decodeUnknownOption(Schema.fromJsonString(Problem))(text), {
    onNone: () => (text.trim() === "" ? "no reason given" : excerpt(text)),
    onSome: (problem) => {
      const words = problem.detail ?? problem.message ?? problem.title
      const places = problem.errors ?? problem.error
      return (
        [
          words,
          places === undefined ? undefined : excerpt(typeof places === "string" ? places : JSON.stringify(places)),
        ]
          .filter((part) => part !== undefined)
          .join(": ") || excerpt(text)
      )
    },
  })

const excerpt = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length <= 300 ? line : `${line.slice(0, 300)}…`
}

/** The first of the paths that leads to a non-empty string, or to a number, as text. */
const taskIdIn = (json: unknown, paths: ReadonlyArray<string>): Option.Option<string> => {
  for (const path of paths) {
    const found = path
      .split(".")
      .reduce<unknown>(
        (at, member) =>
          typeof at === "object" && at !== null && Object.hasOwn(at, member) ? Reflect.get(at, member) : undefined,
        json,
      )
    if (typeof found === "string" && found !== "") return Option.some(found)
    if (typeof found === "number" && Number.isSafeInteger(found)) return Option.some(String(found))
  }
  return Option.none()
}

export class AnnotationClient extends Context.Service<AnnotationClient, Effect.Success<typeof make>>()(
  "prefstream/task/AnnotationClient",
) {
  /** Speaks to the service of the `ServiceProfile` over the `HttpClient`. */
  static readonly layer = Layer.effect(AnnotationClient, make).pipe(
    Layer.provide(
      HttpApiMiddleware.layerClient(
        OrganizationToken,
        Effect.map(
          ServiceProfile,
          ({ token }) =>
            ({ next, request }) =>
              next(HttpClientRequest.bearerToken(request, token)),
        ),
      ),
    ),
    Layer.provide(RateLimiter.layer),
    Layer.provide(RateLimiter.layerStoreMemory),
  )
}
