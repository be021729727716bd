/**
 * The part of `DashboardApi` about people's qualification: the items that they judge first, and the pause of people.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorSession } from "./OperatorSession.ts"
import { maxLength, maxQualificationItems } from "./PageConstants.ts"

const Percent = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))

export const QualificationSettings = Schema.Struct({
  /** The number of gold items that a new person judges before anything else. 0 means none. */
  items: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxQualificationItems })),
  /** The share of these items that the person must judge right to get work, in percent. */
  min_percent: Percent,
  /**
   * A person gets no more work below this percentage of right judgments among the latest 20 gold items. Null: no pause.
   */
  pause_percent: Schema.NullOr(Percent),
  guidelines: Schema.String.check(Schema.isMaxLength(maxLength.qualificationGuidelines)),
})
export type QualificationSettings = typeof QualificationSettings.Type

/**
 * `working`: the person gets work. `qualifying`: the person is judging qualification items. `unavailable`: the gold
 * file has no more items for that. `failed`: too few of them were right. `paused`: too few of the latest gold items
 * were right.
 */
export const Standing = Schema.Struct({
  state: Schema.Literals(["working", "qualifying", "unavailable", "failed", "paused"]),
  /** `judged` counts the gold items that the state depends on. `right` counts those judged right. */
  right: Schema.Int,
  judged: Schema.Int,
})
export type Standing = typeof Standing.Type

export const Qualification = Schema.Struct({
  /** Null if nothing is required. */
  settings: Schema.NullOr(QualificationSettings),
  /**
   * The number of distinct items of the gold file, at most 1,000. Null if the service was started without a gold file.
   */
  available: Schema.NullOr(Schema.Int),
  /** The standings of all people; empty without settings. */
  standings: Schema.Array(Schema.Struct({ expert_id: Schema.String, ...Standing.fields })),
})
export type Qualification = typeof Qualification.Type

const get = HttpApiEndpoint.get("get", "/qualification", { success: Qualification })
/** Conflict: the gold file has too few items, or the settings contradict each other. */
const set = HttpApiEndpoint.put("set", "/qualification", { payload: QualificationSettings, success: Qualification })

const params = { expert_id: Schema.String }
/** Lets the person work, whatever the person judged before. */
const admit = HttpApiEndpoint.post("admit", "/experts/:expert_id/admit", { params })
/** Makes the person judge qualification items again, starting with new ones. Conflict: none are required. */
const requalify = HttpApiEndpoint.post("requalify", "/experts/:expert_id/requalify", { params })

export class DashboardQualification extends HttpApiGroup.make("qualification")
  .add(get, set, admit, requalify)
  .middleware(OperatorSession) {}
