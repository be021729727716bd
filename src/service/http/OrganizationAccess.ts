/**
 * Which organization tokens are accepted, and how many requests each may make: one set of limits for all routes.
 *
 * Guarantees: the token given to the layer (of the embedded service, or `PREFSTREAM_TOKEN`) is compared by its hash, as
 * stored ones are, so that timing reveals nothing. A token's requests are counted together, whichever route asks.
 */
import { Context, Effect, Layer, type Option, Redacted } from "effect"
import { type AcceptedToken, Tokens } from "../account/Tokens.ts"
import * as Secrets from "../account/Secrets.ts"
import * as RateLimit from "./RateLimit.ts"

export interface OrganizationAccessOptions {
  /** Accepted beside those that are stored. */
  readonly token?: Redacted.Redacted<string> | undefined
  /** Per token. Default: none. */
  readonly rateLimit?: RateLimit.RateLimit | undefined
}

const unlimited: RateLimit.Allowance = { headers: {}, retryAfterSeconds: undefined }

const make = Effect.fnUntraced(function* (options: OrganizationAccessOptions) {
  const tokens = yield* Tokens
  const given = options.token === undefined ? undefined : Secrets.hash(Redacted.value(options.token))
  const take =
    options.rateLimit === undefined ? () => Effect.succeed(unlimited) : yield* RateLimit.make(options.rateLimit)

  /** Whose token it is; none where it is not accepted. */
  const accept = (token: string): Effect.Effect<Option.Option<AcceptedToken>> => {
    if (token === "") return Effect.succeedNone
    const hash = Secrets.hash(token)
    return hash === given ? Effect.succeedSome({ tokenId: "given", organization: "default" }) : tokens.accept(hash)
  }

  return {
    accept,
    /** Takes one request out of the token's rate limit. A refused request takes nothing. */
    take,
    /** Whether a token was given to the layer. */
    hasGiven: given !== undefined,
  }
})

export class OrganizationAccess extends Context.Service<OrganizationAccess, Effect.Success<ReturnType<typeof make>>>()(
  "prefstream/service/OrganizationAccess",
) {
  static readonly layer = (options: OrganizationAccessOptions) => Layer.effect(OrganizationAccess, make(options))
}
