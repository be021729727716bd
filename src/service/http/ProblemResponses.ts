/** Turns every failure of a request into problem details. The cause of a defect is logged, not sent. */
import { ByteSize, Cause, type Duration, Effect, Fiber, Schema, type Types } from "effect"
import {
  HttpIncomingMessage,
  HttpServerError,
  HttpServerRequest,
  HttpServerRespondable,
  HttpServerResponse,
  ProblemDetails,
} from "effect/http"
import { HttpApiError } from "effect/http-api"
import * as Problems from "../../api/Problems.ts"
import * as SchemaIssues from "../../io/SchemaIssues.ts"
import * as NodeServer from "../../node/HttpServer.ts"
import * as FullDisk from "../database/FullDisk.ts"

const malformed = (error: HttpApiError.HttpApiSchemaError) => {
  const errors = SchemaIssues.problems(error.cause.issue).map(({ path, message }) => ({
    path: path.map((key) => (typeof key === "number" ? key : String(key))),
    message,
  }))
  const detail = errors.map(({ path, message }) => `${path.join(".")}: ${message}`.replace(/^: /, ""))[0]
  return new Problems.MalformedRequest({ detail: detail ?? error.message, errors })
}

const toProblem = (error: unknown, request: HttpServerRequest.HttpServerRequest, bodyBytes: number) => {
  if (HttpApiError.HttpApiSchemaError.is(error)) {
    return error.kind === "Body" || error.kind === "ResponseHeaders" ? undefined : malformed(error)
  }
  if (!HttpServerError.isHttpServerError(error)) return undefined
  switch (error.reason._tag) {
    case "RouteNotFound":
      return new Problems.EndpointNotFound({
        detail: `There is no endpoint ${request.method} ${request.url.replace(/\?.*/s, "")}.`,
      })
    case "RequestParseError":
      return error.reason.reason === "BodyTooLarge"
        ? new Problems.BodyTooLarge({ detail: `The body must be at most ${bodyBytes} bytes.`, limit_bytes: bodyBytes })
        : new Problems.MalformedRequest({ detail: "The body could not be read." })
    default:
      return undefined
  }
}

const tooSlow = (request: HttpServerRequest.HttpServerRequest) =>
  NodeServer.isComplete(request)
    ? HttpServerRespondable.toResponse(
        new Problems.ServiceTooSlow({ detail: "The service did not answer in time. Try again later." }),
      )
    : Effect.map(
        HttpServerRespondable.toResponse(
          new Problems.RequestTimedOut({ detail: "The request did not arrive in time." }),
        ),
        HttpServerResponse.setHeader("connection", "close"),
      )

const text = <A, I>(schema: Schema.Codec<A, I>, problem: A) => JSON.stringify(Schema.encodeSync(schema)(problem))

const problemsByServerStatus: { readonly [status in NodeServer.ServerStatus]: string } = {
  400: text(Problems.MalformedRequest, new Problems.MalformedRequest({ detail: "This is not a valid HTTP request." })),
  408: text(Problems.RequestTimedOut, new Problems.RequestTimedOut({ detail: "The request did not arrive in time." })),
  413: text(Problems.BodyTooLarge, new Problems.BodyTooLarge({ detail: "The body's chunk extensions are too large." })),
  417: text(
    Problems.ExpectationFailed,
    new Problems.ExpectationFailed({ detail: "The Expect header may only be 100-continue." }),
  ),
  431: text(
    Problems.HeadersTooLarge,
    new Problems.HeadersTooLarge({ detail: "Send headers of at most 16 kB in total." }),
  ),
  503: text(
    Problems.ServiceUnavailable,
    new Problems.ServiceUnavailable({ detail: "The service is starting or stopping. Try again in a second." }),
  ),
}

export const fromServerStatus = (status: NodeServer.ServerStatus): string => problemsByServerStatus[status]

/** Limits the body and the duration of a request. After a timeout, writes that have started are still completed. */
export const withProblems = (options: {
  readonly bodyBytes: (request: HttpServerRequest.HttpServerRequest) => number
  readonly timeout: Duration.Input
}) =>
  Effect.fnUntraced(function* (handled: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const bodyBytes = options.bodyBytes(request)
    // After a timeout, the handler is not interrupted. While the body arrives, an interruption of the handler would
    // close the connection, and the client would not get the response about the timeout.
    const fiber = yield* handled.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bodyBytes)),
      Effect.forkScoped({ startImmediately: true }),
    )
    const inTime = Fiber.join(fiber).pipe(
      Effect.timeoutOrElse({ duration: options.timeout, orElse: () => tooSlow(request) }),
      Effect.interruptible,
    )
    const response = yield* (fiber.pollUnsafe() ?? inTime).pipe(
      Effect.catchCause((cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
        const error = Cause.squash(cause)
        const problem = toProblem(error, request, bodyBytes)
        if (problem !== undefined) return HttpServerRespondable.toResponse(problem)
        if (FullDisk.wasLogged(error)) {
          const detail = "The service has no space left on its disk. Try again later."
          return Effect.map(
            HttpServerRespondable.toResponse(new Problems.ServiceUnavailable({ detail })),
            HttpServerResponse.setHeader("retry-after", "60"),
          )
        }
        return Effect.andThen(
          Effect.logError(`${request.method} ${request.url} failed`, cause),
          HttpServerRespondable.toResponse(new Problems.ServiceFailure()),
        )
      }),
    )
    if (response.status === 401 && request.url.startsWith("/v1/")) {
      return HttpServerResponse.setHeader(response, "www-authenticate", "Bearer")
    }
    if (response.status === 415 && response.headers["content-type"] !== ProblemDetails.contentType) {
      const contentType = request.headers["content-type"]
      const detail = `Send the body as application/json, not as ${contentType ?? "an unknown type"}.`
      return yield* HttpServerRespondable.toResponse(new Problems.UnsupportedMediaType({ detail }))
    }
    return response
  })
