/** The part of `DashboardApi` about experts: invitations, statistics, and voiding of votes. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { IntFromQuery, Millis, Name, OperatorSession } from "./OperatorSession.ts"
import { maxLength } from "./PageConstants.ts"

export const ExpertSummary = Schema.Struct({
  expert_id: Schema.String,
  name: Schema.String,
  kind: Schema.Literals(["person", "judge", "automatic"]),
  active: Schema.Boolean,
  /** Whether the expert accepted the invitation. Always true for an automatic expert. */
  joined: Schema.Boolean,
  created_at: Millis,
  last_seen_at: Schema.NullOr(Millis),
  judged: Schema.Int,
  /** `of`: votes on items where the other experts have a single favorite. `agreed`: the votes for this favorite. */
  majority: Schema.Struct({ agreed: Schema.Int, of: Schema.Int }),
  gold: Schema.Struct({ right: Schema.Int, of: Schema.Int }),
})
export type ExpertSummary = typeof ExpertSummary.Type

const expertParams = { expert_id: Schema.String }
const NewInvitation = Schema.Struct({
  expert: ExpertSummary,
  /** The link, relative to the service's root. It works once, and expires after `linkHours.invitation` hours. */
  invitation: Schema.String,
})
export type NewInvitation = typeof NewInvitation.Type
export const ExpertQuery = Schema.Struct({ kind: Schema.optionalKey(ExpertSummary.fields.kind) })
export type ExpertQuery = typeof ExpertQuery.Type

const listExperts = HttpApiEndpoint.get("list", "/experts", {
  query: ExpertQuery,
  success: Schema.Struct({ experts: Schema.Array(ExpertSummary) }),
})
const invite = HttpApiEndpoint.post("invite", "/experts", {
  payload: Schema.Struct({ name: Name }),
  success: NewInvitation,
})
/** Invites all people in the list (`splitNames`). If one name is refused, invites nobody and fails with `Conflict`. */
const inviteAll = HttpApiEndpoint.post("inviteAll", "/experts/invitations", {
  payload: Schema.Struct({ names: Schema.String.check(Schema.isMaxLength(maxLength.names)) }),
  success: Schema.Struct({ invitations: Schema.Array(NewInvitation) }),
})
/** Renames a person. Fails with `Conflict` if another expert has the name, or if the expert is automatic. */
const rename = HttpApiEndpoint.put("rename", "/experts/:expert_id/name", {
  params: expertParams,
  payload: Schema.Struct({ name: Name }),
  success: ExpertSummary,
})
/** Makes a new invitation link. The expert's older links stop working, but the expert's sessions continue. */
const inviteAgain = HttpApiEndpoint.post("inviteAgain", "/experts/:expert_id/invite", {
  params: expertParams,
  success: NewInvitation,
})
/** Deactivation ends sessions, revokes the invitation, and returns held items to the queue. Votes still count. */
const setActive = HttpApiEndpoint.put("setActive", "/experts/:expert_id/active", {
  params: expertParams,
  payload: Schema.Struct({ active: Schema.Boolean }),
  success: ExpertSummary,
})

export const Voiding = Schema.Struct({
  voiding_id: Schema.Int,
  reason: Schema.String,
  by: Schema.String,
  at: Millis,
  votes: Schema.Int,
  undone_by: Schema.NullOr(Schema.String),
  undone_at: Schema.NullOr(Millis),
})
export type Voiding = typeof Voiding.Type

/** The number of votes per day (UTC). `day` is the first millisecond of the day. */
export const Days = Schema.Array(Schema.Struct({ day: Millis, votes: Schema.Int }))

export const ExpertDetail = Schema.Struct({
  ...ExpertSummary.fields,
  /** The last 14 days on which the expert voted, newest first. */
  days: Days,
  /** Statistics of the latest votes, at most 2,000. */
  latest: Schema.Struct({
    votes: Schema.Int,
    median_seconds: Schema.NullOr(Schema.Finite),
    /** `chosen` lists, for each position on the page, how often the expert chose the completion shown there. */
    places: Schema.Array(Schema.Struct({ completions: Schema.Int, chosen: Schema.Array(Schema.Int) })),
  }),
  voidings: Schema.Array(Voiding),
})
export type ExpertDetail = typeof ExpertDetail.Type

const expert = HttpApiEndpoint.get("expert", "/experts/:expert_id", { params: expertParams, success: ExpertDetail })

export const Voided = Schema.Struct({
  voiding_id: Schema.Int,
  votes: Schema.Int,
  tasks: Schema.Int,
  /** The number of completed tasks that were opened again because votes are missing. */
  reopened: Schema.Int,
})
export type Voided = typeof Voided.Type

const voidVotes = HttpApiEndpoint.post("voidVotes", "/experts/:expert_id/void", {
  params: expertParams,
  payload: Schema.Struct({ reason: Schema.String.check(Schema.isMaxLength(maxLength.reason)) }),
  success: Voided,
})
/**
 * Undoes one call of `voidVotes`. A vote stays void if another expert has voted instead, or is judging the item. Fails
 * with `Conflict` if all the votes are already restored.
 */
const restoreVotes = HttpApiEndpoint.post("restoreVotes", "/voidings/:voiding_id/undo", {
  params: { voiding_id: IntFromQuery },
  success: Voided,
})

export class DashboardExperts extends HttpApiGroup.make("experts")
  .add(listExperts, invite, inviteAll, rename, inviteAgain, setActive, expert, voidVotes, restoreVotes)
  .middleware(OperatorSession) {}
