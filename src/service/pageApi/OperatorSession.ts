/** What the groups of `DashboardApi` share: the operator's session, fields and errors. */
import { Context, Schema } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { BodyTooLarge, Forbidden, MalformedRequest, ServiceFailure } from "../../api/Problems.ts"
import { Conflict, NotFound, NotSignedIn, TooManyAttempts } from "./WebProblems.ts"

export class SignedInOperator extends Context.Service<SignedInOperator, { readonly name: string }>()(
  "prefstream/service/SignedInOperator",
) {}

/** The cookie is HttpOnly and SameSite=Strict; its value is random, and stored hashed. */
export class OperatorSession extends HttpApiMiddleware.Service<OperatorSession, { provides: SignedInOperator }>()(
  "prefstream/service/OperatorSession",
  {
    security: { cookie: HttpApiSecurity.apiKey({ key: "prefstream_operator", in: "cookie" }) },
    error: NotSignedIn,
  },
) {}

export const error = [
  BodyTooLarge,
  Conflict,
  Forbidden,
  MalformedRequest,
  NotFound,
  ServiceFailure,
  TooManyAttempts,
] as const
export const Millis = Schema.Int
export const IntFromQuery = Schema.Int.pipe(Schema.encodeTo(Schema.FiniteFromString))
export const page = { before: Schema.optionalKey(IntFromQuery), limit: Schema.optionalKey(IntFromQuery) }
