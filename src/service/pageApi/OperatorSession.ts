/** Shared parts of `DashboardApi`. An endpoint without `MinRole` needs the role `viewer` for GET, else `manager`. */
import { Context, Option, Schema } from "effect"
import { type HttpApiEndpoint, HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { BodyTooLarge, Forbidden, MalformedRequest, ServiceFailure } from "../../api/Problems.ts"
import { maxKeepHours, maxLength, minPasswordLength, roles } from "./PageConstants.ts"
import { Conflict, NotFound, NotSignedIn, TooManyAttempts } from "./WebProblems.ts"

export const Role = Schema.Literals(roles)
export type Role = typeof Role.Type

export class MinRole extends Context.Service<MinRole, Role>()("prefstream/service/MinRole") {}

export const minRoleOf = ({ annotations, method }: Pick<HttpApiEndpoint.Top, "annotations" | "method">): Role =>
  Option.getOrElse(Context.getOption(annotations, MinRole), () => (method === "GET" ? "viewer" : "manager"))

export interface Operator {
  readonly operator_no: number
  readonly name: string
  readonly role: Role
}

export class SignedInOperator extends Context.Service<SignedInOperator, Operator>()(
  "prefstream/service/SignedInOperator",
) {}

export const error = [
  BodyTooLarge,
  Conflict,
  Forbidden,
  MalformedRequest,
  NotFound,
  NotSignedIn,
  ServiceFailure,
  TooManyAttempts,
] as const

/** Requires the operator's session cookie: HttpOnly, SameSite=Strict, random, and stored only as a hash. */
export class OperatorSession extends HttpApiMiddleware.Service<OperatorSession, { provides: SignedInOperator }>()(
  "prefstream/service/OperatorSession",
  {
    security: { cookie: HttpApiSecurity.apiKey({ key: "prefstream_operator", in: "cookie" }) },
    error,
  },
) {}

export const Millis = Schema.Int
export const Name = Schema.String.check(
  Schema.isTrimmed(),
  Schema.isBetweenLength(1, maxLength.name),
  // The pattern also excludes lone surrogates, which the database would change.
  Schema.isPattern(/^(?=.*[^\p{Cf}\s])[^\p{Cs}\p{Cc}\p{Zl}\p{Zp}]*$/u, {
    expected: "well-formed text on one line, with a visible character",
  }),
)
export const Password = Schema.String.check(Schema.isBetweenLength(minPasswordLength, maxLength.password))
export const IntFromQuery = Schema.Int.pipe(Schema.encodeTo(Schema.FiniteFromString))
export const page = { before: Schema.optionalKey(IntFromQuery), limit: Schema.optionalKey(IntFromQuery) }

/** How long a replaced secret stays valid, in hours. 0 makes it invalid immediately. */
export const Rotation = Schema.Struct({
  keep_hours: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: maxKeepHours })),
})
