/** The part of `DashboardApi` about the audit log: what operators did. For admins. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { error, Millis, MinRole, OperatorSession, page } from "./OperatorSession.ts"

export const AuditEntry = Schema.Struct({
  at: Millis,
  /** Null: who starts the service. */
  operator_no: Schema.NullOr(Schema.Int),
  /** The operator's name at that time. */
  actor: Schema.String,
  /** Such as `task.cancel`. */
  action: Schema.String,
  /** The id or name of what it was done to. */
  subject: Schema.String,
  details: Schema.Record(Schema.String, Schema.Unknown),
})
export type AuditEntry = typeof AuditEntry.Type

const filter = { actor: Schema.optionalKey(Schema.String), action: Schema.optionalKey(Schema.String) }

export const AuditPage = Schema.Struct({
  entries: Schema.Array(AuditEntry),
  next: Schema.NullOr(Schema.Int),
  /** What can be filtered by. */
  actors: Schema.Array(Schema.String),
  actions: Schema.Array(Schema.String),
})
export type AuditPage = typeof AuditPage.Type

const list = HttpApiEndpoint.get("list", "/audit", { query: { ...page, ...filter }, success: AuditPage, error })
/** All entries, oldest first, one JSON object per line. */
const exported = HttpApiEndpoint.get("export", "/audit/export", {
  query: filter,
  success: HttpApiSchema.StreamNdjson({ schema: AuditEntry }),
  error,
})

export class DashboardAudit extends HttpApiGroup.make("audit")
  .add(list, exported)
  .annotateEndpoints(MinRole, "admin")
  .middleware(OperatorSession) {}
