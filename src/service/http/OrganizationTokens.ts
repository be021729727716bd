/**
 * Authenticates requests by the organization's token, and applies its limits.
 *
 * Guarantees: tokens are in no response and no log; the token given to the layer (of the embedded service, or
 * `PREFSTREAM_TOKEN`) is compared by its hash, as stored ones are, so that timing reveals nothing. A request without a valid
 * token is refused before its body is read.
 */
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpEffect, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { Organization, OrganizationToken } from "../../api/AnnotationApi.ts"
import { TooManyRequests, Unauthorized } from "../../api/Problems.ts"
import * as RateLimit from "./RateLimit.ts"
import * as RequestBodies from "./RequestBodies.ts"
import type { TaskLimits } from "./TaskLimits.ts"
import * as Secrets from "../account/Secrets.ts"
import { type AcceptedToken, Tokens } from "../account/Tokens.ts"

export interface OrganizationTokensOptions {
  /** Accepted beside those that are stored. */
  readonly token?: Redacted.Redacted<string> | undefined
  /** Per token. Default: none. */
  readonly rateLimit?: RateLimit.RateLimit | undefined
  readonly limits: TaskLimits
}

const make = Effect.fnUntraced(function* (options: OrganizationTokensOptions) {
  const tokens = yield* Tokens
  const given = options.token === undefined ? undefined : Secrets.hash(Redacted.value(options.token))
  const take = options.rateLimit === undefined ? undefined : yield* RateLimit.make(options.rateLimit)

  const admit = RequestBodies.make(options.limits)

  const accept = (hash: string): Effect.Effect<Option.Option<AcceptedToken>> =>
    hash === given ? Effect.succeedSome({ tokenId: "given", organization: "default" }) : tokens.accept(hash)

  return OrganizationToken.of({
    bearer: Effect.fnUntraced(function* (handled, { credential }) {
      const token = Redacted.value(credential)
      const accepted = token === "" ? Option.none() : yield* accept(Secrets.hash(token))
      if (Option.isNone(accepted)) {
        const detail =
          token === ""
            ? "Send the header Authorization: Bearer <ORGANIZATION_TOKEN>."
            : "The organization token is not known here, was revoked, or has expired."
        return yield* new Unauthorized({ detail })
      }
      const { organization: name, tokenId } = accepted.value
      if (take !== undefined) {
        const { headers, retryAfterSeconds } = yield* take(tokenId)
        yield* HttpEffect.appendPreResponseHandler((_request, response) =>
          Effect.succeed(HttpServerResponse.setHeaders(response, headers)),
        )
        if (retryAfterSeconds !== undefined) {
          const detail = `The token has used up its requests. Come back in ${retryAfterSeconds} s.`
          return yield* Effect.orDie(HttpServerRespondable.toResponse(new TooManyRequests({ detail })))
        }
      }
      return yield* admit(tokenId, Effect.provideService(handled, Organization, { name }))
    }),
  })
})

export const layer = (options: OrganizationTokensOptions): Layer.Layer<OrganizationToken, never, Tokens> =>
  Layer.effect(OrganizationToken, make(options))
