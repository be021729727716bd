/** The part of `DashboardApi` about operators. It is for admins, except that operators change their own passwords. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { IntFromQuery, Millis, MinRole, Name, OperatorSession, Password, Role } from "./OperatorSession.ts"
import { maxLength } from "./PageConstants.ts"

export const Account = Schema.Struct({ name: Schema.String, role: Role })
export type Account = typeof Account.Type

export const OperatorSummary = Schema.Struct({
  operator_no: Schema.Int,
  name: Schema.String,
  role: Role,
  joined: Schema.Boolean,
  created_at: Millis,
  signed_in_at: Schema.NullOr(Millis),
})
export type OperatorSummary = typeof OperatorSummary.Type

export const OperatorLink = Schema.Struct({
  operator: OperatorSummary,
  /** The link, relative to the service's root. It works once, and expires after `linkHours["sign-in"]` hours. */
  link: Schema.String,
})
export type OperatorLink = typeof OperatorLink.Type

const params = { operator_no: IntFromQuery }

const list = HttpApiEndpoint.get("list", "/operators", {
  success: Schema.Struct({ operators: Schema.Array(OperatorSummary) }),
})
const add = HttpApiEndpoint.post("add", "/operators", {
  payload: Schema.Struct({ name: Name, role: Role }),
  success: OperatorLink,
})
/** Makes a link for setting a new password. Older links stop working. The old password works until a new one is set. */
const renew = HttpApiEndpoint.post("renew", "/operators/:operator_no/link", { params, success: OperatorLink })
const setRole = HttpApiEndpoint.put("setRole", "/operators/:operator_no/role", {
  params,
  payload: Schema.Struct({ role: Role }),
  success: OperatorSummary,
})
const remove = HttpApiEndpoint.delete("remove", "/operators/:operator_no", { params })

export class DashboardOperators extends HttpApiGroup.make("operators")
  .add(list, add, renew, setRole, remove)
  .annotateEndpoints(MinRole, "admin")
  .middleware(OperatorSession) {}

/** Changes the operator's own password and ends the other sessions. Fails with `Forbidden` if `current` is wrong. */
export const changePassword = HttpApiEndpoint.put("changePassword", "/password", {
  payload: Schema.Struct({ current: Schema.String.check(Schema.isMaxLength(maxLength.password)), password: Password }),
}).annotate(MinRole, "viewer")
