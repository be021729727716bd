/**
 * Middleware of all routes: host check, limits, problem details, security headers.
 *
 * Guarantees: a service on loopback answers to loopback names only (see `ServiceAddress`); bodies and times are bounded;
 * failures are problem details; each response has the security headers.
 */
import { type Duration, Effect, type Types } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, type HttpServerResponse } from "effect/http"
import { Forbidden, MalformedRequest } from "../../api/Problems.ts"
import * as NodeServer from "../../node/HttpServer.ts"
import * as Metrics from "../../telemetry/Metrics.ts"
import * as ProblemResponses from "./ProblemResponses.ts"
import { ServiceAddress } from "./ServiceAddress.ts"
import * as SecurityHeaders from "./SecurityHeaders.ts"

/** Of what the pages send: 20,000 characters and a ranking at most. */
const pageBodyBytes = 256 * 1024
/** With an edited completion. */
const itemBodyBytes = 1024 * 1024

export const defaultTimeout: Duration.Input = "1 minute"

export interface GuardOptions {
  /** Of a body that is sent to the contract's endpoints. */
  readonly bodyBytes: number
  /** For a request to arrive and to be answered. A minute by default. */
  readonly timeout?: Duration.Input | undefined
}

const hostless = Effect.orDie(
  HttpServerRespondable.toResponse(new MalformedRequest({ detail: "The request has no Host header." })),
)

export const layer = (options: GuardOptions) => {
  const withProblems = ProblemResponses.withProblems({
    bodyBytes: ({ url }) =>
      url.startsWith("/v1/")
        ? options.bodyBytes
        : url.startsWith("/annotate/api/items/")
          ? itemBodyBytes
          : pageBodyBytes,
    timeout: options.timeout ?? defaultTimeout,
  })
  return HttpRouter.middleware(
    Effect.gen(function* () {
      const { answersTo, origin } = yield* ServiceAddress
      const misdirected = (host: string | undefined) =>
        HttpServerRespondable.toResponse(
          new Forbidden({
            detail: `This service does not answer to the name ${host}. It is reached at ${origin}; behind a proxy, start it with --public-url.`,
          }),
        )
      return (handled: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          if (NodeServer.lacksHost(request)) return SecurityHeaders.add(yield* hostless)
          const { host } = request.headers
          return SecurityHeaders.add(yield* answersTo(host) ? withProblems(handled) : Effect.orDie(misdirected(host)))
        }).pipe(Metrics.timeAnswer)
    }),
    { global: true },
  )
}
