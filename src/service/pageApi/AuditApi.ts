/** The part of `DashboardApi` about the audit log, which only admins may read. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Millis, MinRole, OperatorSession, page } from "./OperatorSession.ts"

export const AuditEntry = Schema.Struct({
  at: Millis,
  operator_no: Schema.NullOr(Schema.Int),
  actor: Schema.String,
  action: Schema.String,
  subject: Schema.String,
  details: Schema.Record(Schema.String, Schema.Unknown),
})
export type AuditEntry = typeof AuditEntry.Type

const filter = { actor: Schema.optionalKey(Schema.String), action: Schema.optionalKey(Schema.String) }

export const AuditPage = Schema.Struct({
  entries: Schema.Array(AuditEntry),
  next: Schema.NullOr(Schema.Int),
  actors: Schema.Array(Schema.String),
  actions: Schema.Array(Schema.String),
})
export type AuditPage = typeof AuditPage.Type

const list = HttpApiEndpoint.get("list", "/audit", { query: { ...page, ...filter }, success: AuditPage })
const exported = HttpApiEndpoint.get("export", "/audit/export", {
  query: filter,
  success: HttpApiSchema.StreamNdjson({ schema: AuditEntry }),
})

export class DashboardAudit extends HttpApiGroup.make("audit")
  .add(list, exported)
  .annotateEndpoints(MinRole, "admin")
  .middleware(OperatorSession) {}
