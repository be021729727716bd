/** The part of `DashboardApi` about qualification. Judgments of gold items decide whether a person may work. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorSession } from "./OperatorSession.ts"
import { maxLength, maxQualificationItems } from "./PageConstants.ts"

const Percent = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))

export const QualificationSettings = Schema.Struct({
  /** The number of gold items that a new person judges first. 0 means that new people need not qualify. */
  items: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxQualificationItems })),
  min_percent: Percent,
  /** Pauses people if less than this percentage of their latest answers to gold items is right. Null pauses nobody. */
  pause_percent: Schema.NullOr(Percent),
  guidelines: Schema.String.check(Schema.isMaxLength(maxLength.qualificationGuidelines)),
})
export type QualificationSettings = typeof QualificationSettings.Type

/**
 * A `working` person gets work. A `qualifying` person judges qualification items first. People in other states get no
 * work: `unavailable` because the gold file has too few items, `failed` because too few answers to qualification items
 * were right, and `paused` because too few answers to the latest gold items were right.
 */
export const Standing = Schema.Struct({
  state: Schema.Literals(["working", "qualifying", "unavailable", "failed", "paused"]),
  right: Schema.Int,
  /** Number of judged gold items from which `state` was computed. */
  judged: Schema.Int,
})
export type Standing = typeof Standing.Type

export const Qualification = Schema.Struct({
  /** Null if nobody must qualify (`items` is 0) and nobody is paused (`pause_percent` is null). */
  settings: Schema.NullOr(QualificationSettings),
  /** The number of distinct items in the gold file, at most 1,000. Null if the service has no gold file. */
  available: Schema.NullOr(Schema.Int),
  standings: Schema.Array(Schema.Struct({ expert_id: Schema.String, ...Standing.fields })),
})
export type Qualification = typeof Qualification.Type

const get = HttpApiEndpoint.get("get", "/qualification", { success: Qualification })
/** Fails with `Conflict` if the gold file has too few items, or if the settings contradict each other. */
const set = HttpApiEndpoint.put("set", "/qualification", { payload: QualificationSettings, success: Qualification })

const params = { expert_id: Schema.String }
const admit = HttpApiEndpoint.post("admit", "/experts/:expert_id/admit", { params })
/** Makes the person qualify again. Fails with `Conflict` if the settings require no qualification items. */
const requalify = HttpApiEndpoint.post("requalify", "/experts/:expert_id/requalify", { params })

export class DashboardQualification extends HttpApiGroup.make("qualification")
  .add(get, set, admit, requalify)
  .middleware(OperatorSession) {}
