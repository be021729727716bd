/** The part of `DashboardApi` about qualification: gold items that people judge first, and pauses of people. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorSession } from "./OperatorSession.ts"
import { maxLength, maxQualificationItems } from "./PageConstants.ts"

const Percent = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))

export const QualificationSettings = Schema.Struct({
  /** The number of gold items that a new person judges before anything else. 0 means none. */
  items: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxQualificationItems })),
  min_percent: Percent,
  /** People with a lower percentage of right answers on their latest gold items (`countedGoldItems`) are paused. Null: nobody is. */
  pause_percent: Schema.NullOr(Percent),
  guidelines: Schema.String.check(Schema.isMaxLength(maxLength.qualificationGuidelines)),
})
export type QualificationSettings = typeof QualificationSettings.Type

/**
 * `working`: gets work. `qualifying`: judges qualification items first. `unavailable`: the gold file has too few items.
 * `failed`: too few qualification items right. `paused`: too few of the latest gold items right.
 */
export const Standing = Schema.Struct({
  state: Schema.Literals(["working", "qualifying", "unavailable", "failed", "paused"]),
  right: Schema.Int,
  /** Number of judged gold items from which `state` was computed. */
  judged: Schema.Int,
})
export type Standing = typeof Standing.Type

export const Qualification = Schema.Struct({
  /** Null if no qualification is required. */
  settings: Schema.NullOr(QualificationSettings),
  /** Distinct items of the gold file, at most 1,000. Null without a gold file. */
  available: Schema.NullOr(Schema.Int),
  standings: Schema.Array(Schema.Struct({ expert_id: Schema.String, ...Standing.fields })),
})
export type Qualification = typeof Qualification.Type

const get = HttpApiEndpoint.get("get", "/qualification", { success: Qualification })
/** Fails with `Conflict` if the gold file has too few items, or if the settings contradict each other. */
const set = HttpApiEndpoint.put("set", "/qualification", { payload: QualificationSettings, success: Qualification })

const params = { expert_id: Schema.String }
const admit = HttpApiEndpoint.post("admit", "/experts/:expert_id/admit", { params })
/** Starts with items that the person has not judged. Fails with `Conflict` if no qualification is required. */
const requalify = HttpApiEndpoint.post("requalify", "/experts/:expert_id/requalify", { params })

export class DashboardQualification extends HttpApiGroup.make("qualification")
  .add(get, set, admit, requalify)
  .middleware(OperatorSession) {}
