/** The part of `DashboardApi` about the qualification of people: what they judge first, and who is paused. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { error, OperatorSession } from "./OperatorSession.ts"
import { maxLength, maxQualificationItems } from "./PageConstants.ts"

const Percent = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))

export const QualificationSettings = Schema.Struct({
  /** Gold items that a new person judges before anything else; 0: none. */
  items: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxQualificationItems })),
  /** Share of them that must be right, to get work. */
  min_percent: Percent,
  /** A person whose share of right judgments, of the latest 20 gold items, is lower gets no more work; null: nobody. */
  pause_percent: Schema.NullOr(Percent),
  /** Shown with the qualification items; may be empty. */
  guidelines: Schema.String.check(Schema.isMaxLength(maxLength.qualificationGuidelines)),
})
export type QualificationSettings = typeof QualificationSettings.Type

/**
 * `working`: gets work. `qualifying`: is judging the qualification items. `unavailable`: the gold file has no more items
 * for that. `failed`: too few of them were right. `paused`: too few of the latest gold items were right.
 */
export const Standing = Schema.Struct({
  state: Schema.Literals(["working", "qualifying", "unavailable", "failed", "paused"]),
  /** Of the gold items that the state depends on: how many were right, of how many judged. */
  right: Schema.Int,
  judged: Schema.Int,
})
export type Standing = typeof Standing.Type

export const Qualification = Schema.Struct({
  /** Null where nothing is required. */
  settings: Schema.NullOr(QualificationSettings),
  /** Distinct items of the gold file, up to 1,000; null where the service was started without one. */
  available: Schema.NullOr(Schema.Int),
  /** Of people, if there are settings. */
  standings: Schema.Array(Schema.Struct({ expert_id: Schema.String, ...Standing.fields })),
})
export type Qualification = typeof Qualification.Type

const get = HttpApiEndpoint.get("get", "/qualification", { success: Qualification, error })
/** Conflict: the gold file has too few items. */
const set = HttpApiEndpoint.put("set", "/qualification", {
  payload: QualificationSettings,
  success: Qualification,
  error,
})

const params = { expert_id: Schema.String }
/** The person gets work, whatever he or she judged before. */
const admit = HttpApiEndpoint.post("admit", "/experts/:expert_id/admit", {
  params,
  success: HttpApiSchema.NoContent,
  error,
})
/** The person judges the qualification items again, other ones first. Conflict: none are required. */
const requalify = HttpApiEndpoint.post("requalify", "/experts/:expert_id/requalify", {
  params,
  success: HttpApiSchema.NoContent,
  error,
})

export class DashboardQualification extends HttpApiGroup.make("qualification")
  .add(get, set, admit, requalify)
  .middleware(OperatorSession) {}
