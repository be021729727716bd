/** The part of `DashboardApi` about experts: invitations, their figures, and votes declared void. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { error, IntFromQuery, Millis, Name, OperatorSession } from "./OperatorSession.ts"
import { maxLength } from "./PageConstants.ts"

export const ExpertSummary = Schema.Struct({
  expert_id: Schema.String,
  name: Schema.String,
  kind: Schema.Literals(["person", "automatic"]),
  active: Schema.Boolean,
  /** Whether the invitation was accepted. */
  joined: Schema.Boolean,
  created_at: Millis,
  last_seen_at: Schema.NullOr(Millis),
  judged: Schema.Int,
  /** Of the items of which the others' votes have a majority: how many the expert judged like it. */
  majority: Schema.Struct({ agreed: Schema.Int, of: Schema.Int }),
  /** Of the gold items: how many the expert judged right. */
  gold: Schema.Struct({ right: Schema.Int, of: Schema.Int }),
})
export type ExpertSummary = typeof ExpertSummary.Type

const expertParams = { expert_id: Schema.String }
const NewInvitation = Schema.Struct({
  expert: ExpertSummary,
  /** Path and code of the link, from the service's root on; it can be used once, for 7 days. */
  invitation: Schema.String,
})
export type NewInvitation = typeof NewInvitation.Type
const listExperts = HttpApiEndpoint.get("list", "/experts", {
  success: Schema.Struct({ experts: Schema.Array(ExpertSummary) }),
  error,
})
/** Conflict: an expert has this name already. */
const invite = HttpApiEndpoint.post("invite", "/experts", {
  payload: Schema.Struct({ name: Name }),
  success: NewInvitation,
  error,
})
/** A new link for an expert who lost the old one, or works on another device. Older links stop working; sessions go on. */
const inviteAgain = HttpApiEndpoint.post("inviteAgain", "/experts/:expert_id/invite", {
  params: expertParams,
  success: NewInvitation,
  error,
})
/** An expert who is not active is signed out, loses his or her invitation, and what he or she holds returns to the queue. Votes stay. */
const setActive = HttpApiEndpoint.put("setActive", "/experts/:expert_id/active", {
  params: expertParams,
  payload: Schema.Struct({ active: Schema.Boolean }),
  success: ExpertSummary,
  error,
})

export const Voiding = Schema.Struct({
  voiding_id: Schema.Int,
  reason: Schema.String,
  by: Schema.String,
  at: Millis,
  /** Votes that are void by it at present. */
  votes: Schema.Int,
  undone_by: Schema.NullOr(Schema.String),
  undone_at: Schema.NullOr(Millis),
})
export type Voiding = typeof Voiding.Type

/** Votes on one day (UTC), by the day's first millisecond. */
export const Days = Schema.Array(Schema.Struct({ day: Millis, votes: Schema.Int }))

export const ExpertDetail = Schema.Struct({
  expert_id: Schema.String,
  name: Schema.String,
  kind: Schema.Literals(["person", "automatic"]),
  active: Schema.Boolean,
  judged: Schema.Int,
  majority: Schema.Struct({ agreed: Schema.Int, of: Schema.Int }),
  gold: Schema.Struct({ right: Schema.Int, of: Schema.Int }),
  /** The last 14 days with votes, newest first. */
  days: Days,
  /** Of the latest votes, up to 2,000. */
  latest: Schema.Struct({
    votes: Schema.Int,
    median_seconds: Schema.NullOr(Schema.Finite),
    /** By the number of completions: how often the choice was shown at each place. */
    places: Schema.Array(Schema.Struct({ completions: Schema.Int, chosen: Schema.Array(Schema.Int) })),
  }),
  voidings: Schema.Array(Voiding),
})
export type ExpertDetail = typeof ExpertDetail.Type

const expert = HttpApiEndpoint.get("expert", "/experts/:expert_id", {
  params: expertParams,
  success: ExpertDetail,
  error,
})

export const Voided = Schema.Struct({
  voiding_id: Schema.Int,
  votes: Schema.Int,
  tasks: Schema.Int,
  /** Tasks that were completed, and miss votes now. */
  reopened: Schema.Int,
})
export type Voided = typeof Voided.Type

/** All valid votes of the expert so far. Conflict: there are none. */
const voidVotes = HttpApiEndpoint.post("voidVotes", "/experts/:expert_id/void", {
  params: expertParams,
  payload: Schema.Struct({ reason: Schema.String.check(Schema.isMaxLength(maxLength.reason)) }),
  success: Voided,
  error,
})
/** Votes that were replaced meanwhile stay void. Conflict: none is void by it. */
const restoreVotes = HttpApiEndpoint.post("restoreVotes", "/voidings/:voiding_id/undo", {
  params: { voiding_id: IntFromQuery },
  success: Voided,
  error,
})

export class DashboardExperts extends HttpApiGroup.make("experts")
  .add(listExperts, invite, inviteAgain, setActive, expert, voidVotes, restoreVotes)
  .middleware(OperatorSession) {}
