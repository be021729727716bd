/**
 * Implements the part of `DashboardApi` about the tokens of the client organization.
 *
 * Guarantees: a token is only in the response to the request that created it.
 */
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Tokens } from "../account/Tokens.ts"
import { OrganizationAccess } from "../http/OrganizationAccess.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { Conflict, NotFound } from "../pageApi/WebProblems.ts"

const tokenEnds = {
  NoSuchToken: () => new NotFound({ detail: "There is no such token." }),
  SqlError: Effect.die,
}

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "tokens",
  Effect.fnUntraced(function* (handlers) {
    const tokens = yield* Tokens
    const { hasGiven: given } = yield* OrganizationAccess
    return handlers.handleAll({
      list: () => Effect.map(Effect.orDie(tokens.list), (tokens) => ({ tokens, given })),
      create: Effect.fnUntraced(function* ({ payload: { name } }) {
        const { summary, token } = yield* Effect.orDie(tokens.create(name))
        return { token: Redacted.value(token), summary }
      }),
      rotate: Effect.fnUntraced(function* ({ params: { token_id }, payload: { keep_hours } }) {
        const { summary, token } = yield* tokens.rotate(token_id, keep_hours).pipe(
          Effect.catchTags({
            ...tokenEnds,
            TokenEnded: () => new Conflict({ detail: "The token is no longer accepted. Create a new one." }),
          }),
        )
        return { token: Redacted.value(token), summary }
      }),
      revoke: Effect.fnUntraced(function* ({ params: { token_id } }) {
        yield* tokens.revoke(token_id).pipe(Effect.catchTags(tokenEnds))
      }),
    })
  }),
)
