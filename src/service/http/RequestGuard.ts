/** Middleware for all routes: host check (see `ServiceAddress`), limits, problem details, security headers. */
import { type Duration, Effect, type Types } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, type HttpServerResponse } from "effect/http"
import { Forbidden, MalformedRequest } from "../../api/Problems.ts"
import * as NodeServer from "../../node/HttpServer.ts"
import * as Metrics from "../../telemetry/Metrics.ts"
import { maxLength } from "../pageApi/PageConstants.ts"
import * as ProblemResponses from "./ProblemResponses.ts"
import { ServiceAddress } from "./ServiceAddress.ts"
import * as SecurityHeaders from "./SecurityHeaders.ts"

const pageBodyBytes = 256 * 1024
/** Larger limits for long texts. `maxLength` counts UTF-16 code units, and each of them takes at most 3 bytes. */
const pageBodyLimits: ReadonlyArray<readonly [url: RegExp, bytes: number]> = [
  [/^\/annotate\/api\/items\//, 1024 * 1024],
  [/^\/dashboard\/api\/tasks\/.*\/guidelines$/, 3 * maxLength.guidelines + pageBodyBytes],
]

export const defaultTimeout: Duration.Input = "1 minute"

export interface GuardOptions {
  readonly bodyBytes: number
  /** The time limit for receiving a request and answering it. Default 1 minute. */
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
        : (pageBodyLimits.find(([pattern]) => pattern.test(url))?.[1] ?? pageBodyBytes),
    timeout: options.timeout ?? defaultTimeout,
  })
  return HttpRouter.middleware(
    Effect.gen(function* () {
      const { answersTo, origin } = yield* ServiceAddress
      const misdirected = (host: string | undefined) =>
        HttpServerRespondable.toResponse(
          new Forbidden({
            detail: `This service does not answer requests to ${host}. Use ${origin}. If the service is behind a proxy, start it with --public-url.`,
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
