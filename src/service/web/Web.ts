/** Routes of the pages. `csrf` checks all API requests. People join and sign in without a session. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts } from "../account/Accounts.ts"
import { AnnotateApi } from "../pageApi/AnnotateApi.ts"
import * as AnnotateHandlers from "./AnnotateHandlers.ts"
import * as AuditHandlers from "./AuditHandlers.ts"
import * as DashboardHandlers from "./DashboardHandlers.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { OneTimeCodes } from "../account/OneTimeCodes.ts"
import { Operators } from "../account/Operators.ts"
import * as Pages from "./Pages.ts"
import * as SignInGuard from "./SignInGuard.ts"
import * as SessionHandlers from "./SessionHandlers.ts"
import { Sessions } from "../account/Sessions.ts"
import { type Headers, HttpRouter, HttpServerRequest, HttpServerRespondable } from "effect/http"
import { Forbidden } from "../../api/Problems.ts"
import { ServiceAddress } from "../http/ServiceAddress.ts"

export const accounts = Layer.merge(Accounts.layer, Operators.layer).pipe(
  Layer.provideMerge(Layer.merge(OneTimeCodes.layer, Sessions.layer)),
)

const csrfRefusal = (
  method: string,
  headers: Headers.Headers,
  isOwnOrigin: ServiceAddress["Service"]["isOwnOrigin"],
): string | undefined => {
  const { host, origin } = headers
  const site = headers["sec-fetch-site"]
  if (method === "GET" || method === "HEAD") {
    return site === undefined || site === "same-origin" || site === "none"
      ? undefined
      : "Other sites are not allowed to read this."
  }
  const marked = headers["x-prefstream"] !== undefined
  if (!marked && !/^application\/json\b/i.test(headers["content-type"] ?? "")) {
    return "Send JSON, or the header x-prefstream: 1."
  }
  if (site !== undefined && site !== "same-origin") return "The request comes from another site."
  if (origin !== undefined) {
    return isOwnOrigin(origin, host)
      ? undefined
      : `The request comes from ${origin}, which is not this service's address. If the service is behind a proxy, start it with --public-url.`
  }
  return site === "same-origin" || marked
    ? undefined
    : "The request has neither the header Origin nor x-prefstream: 1. Send one of these headers."
}

/**
 * Refuses requests that pages of other sites send. A request that changes anything needs a JSON body or the header
 * `x-prefstream`, which forms on other sites cannot send. If the request has an `Origin`, it must be the service's. A
 * request without `Origin` needs `Sec-Fetch-Site: same-origin` or `x-prefstream`. A cookie is never enough.
 */
const csrf = HttpRouter.middleware(
  Effect.gen(function* () {
    const { isOwnOrigin } = yield* ServiceAddress
    return (handled) =>
      Effect.gen(function* () {
        const { headers, method } = yield* HttpServerRequest.HttpServerRequest
        const detail = csrfRefusal(method, headers, isOwnOrigin)
        return detail === undefined
          ? yield* handled
          : yield* HttpServerRespondable.toResponse(new Forbidden({ detail }))
      })
  }),
)

const handlers = Layer.mergeAll(
  AnnotateHandlers.layer,
  AuditHandlers.layer,
  DashboardHandlers.layer,
  SessionHandlers.layer,
)

export const layer = Layer.merge(
  Pages.layer,
  Layer.merge(HttpApiBuilder.layer(AnnotateApi), HttpApiBuilder.layer(DashboardApi)).pipe(
    Layer.provide(csrf.layer),
    Layer.provide(handlers),
    Layer.provide(SignInGuard.layer),
  ),
)
