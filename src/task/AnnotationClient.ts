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
import { Context, Duration, Effect, Layer, Option, Redacted, Schedule, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { RateLimiter } from "effect/persistence"
import { AnnotationApi, OrganizationToken } from "../api/AnnotationApi.ts"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import { TaskRequestText } from "../domain/Task.ts"
import {
  AnnotationClientError,
  excerpt,
  maybeDone,
  mayRetry,
  noAnswer,
  refusal,
  retryAfterOf,
  Unavailable,
  UnusableAnswer,
} from "./AnnotationClientError.ts"
import * as TaskIds from "./TaskIds.ts"

/** A task as `GET /tasks/{task_id}` shows it. */
export type TaskView =
  | { readonly _tag: "Open"; readonly status: string }
  | { readonly _tag: "Completed"; readonly body: string }
  | { readonly _tag: "Failed"; readonly status: string }

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
    let doubtful = false
    const next = Effect.suspend(() => {
      if (!first) return Effect.andThen(turn, sent)
      first = false
      return sent
    }).pipe(
      // A refusal after a try that may have been taken says nothing of that first one.
      Effect.mapError((failure) =>
        doubtful && (failure.reason._tag === "Refused" || failure.reason._tag === "TooLarge")
          ? error(new UnusableAnswer({ detail: `an earlier try may have been taken; then: ${failure.message}` }))
          : failure,
      ),
      Effect.tapError((failure) =>
        Effect.sync(() => {
          doubtful = doubtful || maybeDone(failure)
        }),
      ),
    )
    const text = yield* Effect.retry(next, createAgain)
    const taskId = Option.flatMap(parseJson(text), (json) => TaskIds.one(json, profile.taskIdPaths))
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

const decodeRequest = Schema.decodeUnknownEffect(TaskRequestText)

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

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
