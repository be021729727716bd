/** Checks organization tokens by their hashes. Each token has one rate limit for all routes together. */
import { Context, Effect, Layer, type Option, Redacted } from "effect"
import { type AcceptedToken, Tokens } from "../account/Tokens.ts"
import * as Secrets from "../account/Secrets.ts"
import * as RateLimit from "./RateLimit.ts"

export interface OrganizationAccessOptions {
  readonly token?: Redacted.Redacted<string> | undefined
  readonly rateLimit?: RateLimit.RateLimit | undefined
}

const unlimited: RateLimit.Allowance = { headers: {}, retryAfterSeconds: undefined }

const make = Effect.fnUntraced(function* (options: OrganizationAccessOptions) {
  const tokens = yield* Tokens
  const startupTokenHash = options.token === undefined ? undefined : Secrets.hash(Redacted.value(options.token))
  const take =
    options.rateLimit === undefined ? () => Effect.succeed(unlimited) : yield* RateLimit.make(options.rateLimit)

  const accept = (token: string): Effect.Effect<Option.Option<AcceptedToken>> => {
    if (token === "") return Effect.succeedNone
    const hash = Secrets.hash(token)
    return hash === startupTokenHash
      ? Effect.succeedSome({ tokenId: "given", organization: "default" })
      : tokens.accept(hash)
  }

  return {
    accept,
    take,
    hasStartupToken: startupTokenHash !== undefined,
  }
})

export class OrganizationAccess extends Context.Service<OrganizationAccess, Effect.Success<ReturnType<typeof make>>>()(
  "prefstream/service/OrganizationAccess",
) {
  static readonly layer = (options: OrganizationAccessOptions) => Layer.effect(OrganizationAccess, make(options))
}
