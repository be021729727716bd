/**
 * Sends one request and reads the complete response, in bounded time and memory. A status other than 2xx is an
 * `AnnotationClientError`. `Retry-After`, quotas, 429, and 503 update the throttle. No message contains the token.
 */
import { Cause, Clock, Duration, Effect, Redacted, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as Authorization from "../../api/Authorization.ts"
import { causeMessage } from "../../io/Values.ts"
import * as RateLimit from "../../api/RateLimit.ts"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import * as Metrics from "../../telemetry/Metrics.ts"
import {
  AnnotationClientError,
  noAnswer,
  refusal,
  retryAfterOf,
  Unavailable,
  UnusableAnswer,
} from "./AnnotationClientError.ts"
import * as ResponseBody from "./ResponseBody.ts"
import type * as Throttle from "./Throttle.ts"

/** A shorter token may occur in any text, so it is not removed from messages. */
const minSecretLength = 8

const maxSecrets = 256

/** Adds the token to a request. */
export type Authorize = (
  request: HttpClientRequest.HttpClientRequest,
  token: Redacted.Redacted<string>,
) => HttpClientRequest.HttpClientRequest | Effect.Effect<HttpClientRequest.HttpClientRequest, unknown>

const isClientError = Schema.is(AnnotationClientError)

export type Transport = Effect.Success<ReturnType<typeof make>>

export const make = Effect.fnUntraced(function* (throttle: Throttle.Throttle<AnnotationClientError>) {
  const profile = yield* ServiceProfile
  const timeLimit = Duration.fromInputUnsafe(profile.requestTimeout)

  const error = (reason: AnnotationClientError["reason"]) =>
    new AnnotationClientError({ baseUrl: profile.baseUrl, reason })

  const { origin } = new URL(profile.baseUrl)
  const token = Redacted.value(profile.token)
  const secrets = new Set<string>()
  const rememberSecret = (secret: string) => {
    if (secret.length < minSecretLength) return
    secrets.delete(secret)
    secrets.add(secret)
    if (secrets.size > maxSecrets) secrets.delete(secrets.values().next().value!)
  }
  const quotable = (text: string): string => {
    let shown = text
    for (const secret of [...(token.length < minSecretLength ? [] : [token]), ...secrets])
      shown = shown.replaceAll(secret, "<token>")
    return shown
  }

  const byProfile = Authorization.of(profile)

  const notAuthorized = (cause: unknown) =>
    isClientError(cause)
      ? cause
      : error(
          new Unavailable({
            detail: `the token could not be added to the request: ${quotable(causeMessage(cause))}`,
            maybeDone: false,
          }),
        )

  /** A request to another origin gets no token. */
  const authorize = Effect.fnUntraced(function* (
    request: HttpClientRequest.HttpClientRequest,
    add: Authorize = byProfile,
  ): Effect.fn.Return<HttpClientRequest.HttpClientRequest, AnnotationClientError> {
    // The request accepts no compression, because a compressed response could expand without bound.
    const plain = HttpClientRequest.setHeader(request, "accept-encoding", "identity")
    if (URL.parse(request.url)?.origin !== origin) return plain
    const added = add(plain, profile.token)
    const authorized = yield* Effect.isEffect(added) ? Effect.mapError(added, notAuthorized) : Effect.succeed(added)
    for (const [name, value] of Object.entries(authorized.headers)) {
      if (value === plain.headers[name]) continue
      rememberSecret(value)
      rememberSecret(value.slice(value.indexOf(" ") + 1))
    }
    return authorized
  })

  const unusable = (detail: string, isForeign = false, answerText?: string) =>
    error(new UnusableAnswer({ detail, isForeign, ...(answerText === undefined ? {} : { found: answerText }) }))

  const slowDown = Effect.fnUntraced(function* (failure: AnnotationClientError, permit: Throttle.Permit | undefined) {
    const { reason } = failure
    if (reason._tag !== "Unavailable") return
    const { retryAfter, status } = reason
    if (permit !== undefined && (status === 429 || status === 503)) yield* throttle.refused(permit, status)
    if (retryAfter !== undefined) yield* throttle.pause(retryAfter, failure)
  })

  const refused = (response: HttpClientResponse.HttpClientResponse, kind: Throttle.Kind, text: string) =>
    Effect.map(retryAfterOf(response), (retryAfter) =>
      error(
        refusal(response, quotable(text), kind === "poll" ? "task" : "service", retryAfter, profile.idempotencyKey),
      ),
    )

  const attempt = <A, E>(
    request: Effect.Effect<HttpClientResponse.HttpClientResponse, E>,
    kind: Throttle.Kind,
    read: (
      answer: ResponseBody.Answer,
      response: HttpClientResponse.HttpClientResponse,
    ) => Effect.Effect<A, AnnotationClientError>,
    permit?: Throttle.Permit,
  ): Effect.Effect<A, AnnotationClientError> =>
    (permit === undefined ? request : Effect.andThen(throttle.leaving(permit), request)).pipe(
      Effect.tap(() => (permit === undefined ? Effect.void : throttle.answered(permit))),
      Effect.flatMap((response) =>
        Effect.map(ResponseBody.read(response, profile.maxAnswerBytes), (answer) => ({ response, answer })),
      ),
      Effect.timeout(timeLimit),
      Metrics.timeRequest(kind),
      Effect.mapError((cause) =>
        error(
          Cause.isTimeoutError(cause)
            ? new Unavailable({ detail: `no complete answer within ${Duration.format(timeLimit)}`, maybeDone: true })
            : noAnswer(cause),
        ),
      ),
      Effect.flatMap(
        Effect.fnUntraced(function* ({ answer, response }) {
          const quotas = RateLimit.quotas(response.headers, yield* Clock.currentTimeMillis)
          if (permit !== undefined && quotas.length > 0) yield* throttle.quota(permit, quotas)
          if (response.status < 200 || response.status >= 300) {
            const failure = yield* refused(response, kind, answer.text)
            yield* slowDown(failure, permit)
            return yield* failure
          }
          if (permit !== undefined) throttle.accepted(permit)
          if (answer.problem === "broken off") {
            return yield* error(
              new Unavailable({ detail: "the connection ended before the answer was complete", maybeDone: true }),
            )
          }
          if (answer.problem !== undefined) return yield* unusable(answer.problem, answer.isForeign)
          return yield* read(answer, response)
        }),
      ),
    )

  const misread = (expected: string, answer: ResponseBody.Answer) => {
    const answerText = ResponseBody.describe(answer, quotable)
    return unusable(`${expected}, found ${answerText}`, !ResponseBody.isJson(answer), answerText)
  }

  return { attempt, authorize, error, misread, quotable, refused, slowDown, unusable }
})
