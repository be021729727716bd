/** Authenticates requests by the organization's token before their bodies are read, and applies the token's limits. */
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpEffect, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { Organization, OrganizationToken } from "../../api/AnnotationApi.ts"
import { TooManyRequests, Unauthorized } from "../../api/Problems.ts"
import { OrganizationAccess } from "./OrganizationAccess.ts"
import * as ConcurrentBodies from "./ConcurrentBodies.ts"
import type { RequestLimits } from "./RequestLimits.ts"

const make = Effect.fnUntraced(function* (limits: RequestLimits) {
  const { accept, take } = yield* OrganizationAccess
  const admit = ConcurrentBodies.make(limits)

  return OrganizationToken.of({
    bearer: Effect.fnUntraced(function* (handled, { credential }) {
      const token = Redacted.value(credential)
      const accepted = yield* accept(token)
      if (Option.isNone(accepted)) {
        const detail =
          token === ""
            ? "Send the header Authorization: Bearer <ORGANIZATION_TOKEN>."
            : "The organization token is unknown, was revoked, or has expired."
        return yield* new Unauthorized({ detail })
      }
      const { organization: name, tokenId } = accepted.value
      const { headers, retryAfterSeconds } = yield* take(tokenId)
      yield* HttpEffect.appendPreResponseHandler((_request, response) =>
        Effect.succeed(HttpServerResponse.setHeaders(response, headers)),
      )
      if (retryAfterSeconds !== undefined) {
        const detail = `The token has reached its rate limit. Retry in ${retryAfterSeconds} s.`
        return yield* Effect.orDie(HttpServerRespondable.toResponse(new TooManyRequests({ detail })))
      }
      return yield* admit(tokenId, Effect.provideService(handled, Organization, { name }))
    }),
  })
})

export const layer = (limits: RequestLimits): Layer.Layer<OrganizationToken, never, OrganizationAccess> =>
  Layer.effect(OrganizationToken, make(limits))
