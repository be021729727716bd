/**
 * Which requests the pages' interfaces take: those of the service's own pages.
 *
 * Guarantees: a request that changes anything is carried out only if it names the service's own
 * origin as `Origin`; or, without one, comes by `Sec-Fetch-Site: same-origin` or carries
 * `x-prefstream`. And it is one that a form on another site can't send: JSON, or with
 * `x-prefstream`. A browser sets `Origin` and `Sec-Fetch-Site` itself, and asks before it sends
 * another site's JSON or header, to which this service does not consent. So cookies alone, which
 * are SameSite=Strict and still shared by all ports of a host, never suffice.
 */
import { Effect } from "effect"
import { type Headers, HttpRouter, HttpServerRequest, HttpServerRespondable } from "effect/http"
import { Forbidden } from "../../api/Problems.ts"
import { OwnAddress } from "../http/OwnAddress.ts"

/** Why the request is not taken; undefined where it is. */
const refusal = (
  method: string,
  headers: Headers.Headers,
  isOwnOrigin: OwnAddress["Service"]["isOwnOrigin"],
): string | undefined => {
  const { host, origin } = headers
  const site = headers["sec-fetch-site"]
  if (method === "GET" || method === "HEAD") {
    return site === undefined || site === "same-origin" || site === "none"
      ? undefined
      : "Another site may not read this."
  }
  const marked = headers["x-prefstream"] !== undefined
  if (!marked && !/^application\/json\b/i.test(headers["content-type"] ?? "")) {
    return "Send JSON, or the header x-prefstream: 1."
  }
  if (site !== undefined && site !== "same-origin") return "The request comes from another site."
  if (origin !== undefined) {
    return isOwnOrigin(origin, host)
      ? undefined
      : `The request comes from ${origin}, which is not where this service is reached. Behind a proxy, start it with --public-url.`
  }
  return site === "same-origin" || marked ? undefined : "The request does not say where it comes from."
}

/** For the routes of the pages' interfaces. */
export const middleware = HttpRouter.middleware(
  Effect.gen(function* () {
    const { isOwnOrigin } = yield* OwnAddress
    return (handled) =>
      Effect.gen(function* () {
        const { headers, method } = yield* HttpServerRequest.HttpServerRequest
        const detail = refusal(method, headers, isOwnOrigin)
        return detail === undefined
          ? yield* handled
          : yield* HttpServerRespondable.toResponse(new Forbidden({ detail }))
      })
  }),
)
