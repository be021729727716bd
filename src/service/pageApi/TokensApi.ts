/** The part of `DashboardApi` about the tokens of the client organization. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Millis, MinRole, Name, OperatorSession, Rotation } from "./OperatorSession.ts"

export const TokenSummary = Schema.Struct({
  token_id: Schema.String,
  name: Schema.String,
  hint: Schema.String,
  created_at: Millis,
  last_used_at: Schema.NullOr(Millis),
  /** The time at which a rotated token expires. Null if the token was not rotated. */
  expires_at: Schema.NullOr(Millis),
  revoked_at: Schema.NullOr(Millis),
})
export type TokenSummary = typeof TokenSummary.Type
const NewToken = Schema.Struct({ token: Schema.String, summary: TokenSummary })
export type NewToken = typeof NewToken.Type

const tokenParams = { token_id: Schema.String }
const listTokens = HttpApiEndpoint.get("list", "/tokens", {
  success: Schema.Struct({
    tokens: Schema.Array(TokenSummary),
    hasStartupToken: Schema.Boolean,
  }),
})
const createToken = HttpApiEndpoint.post("create", "/tokens", {
  payload: Schema.Struct({ name: Name }),
  success: NewToken,
})
/** Replaces a token by a new one with the same name. The old token is accepted for another `keep_hours` hours. */
const rotateToken = HttpApiEndpoint.post("rotate", "/tokens/:token_id/rotate", {
  params: tokenParams,
  payload: Rotation,
  success: NewToken,
})
const revokeToken = HttpApiEndpoint.post("revoke", "/tokens/:token_id/revoke", { params: tokenParams })

export class DashboardTokens extends HttpApiGroup.make("tokens")
  .add(listTokens, createToken, rotateToken, revokeToken)
  .annotateEndpoints(MinRole, "admin")
  .middleware(OperatorSession) {}
