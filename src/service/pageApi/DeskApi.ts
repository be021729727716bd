/**
 * The part of `DashboardApi` for managers: search, decisions, void votes, and the pages of experts and groups.
 *
 * Guarantees: lists are newest first, by the position of their items, so that pages do not shift.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { formats } from "../../domain/VoteRow.ts"
import { maxVotes } from "../../api/AnnotationApi.ts"
import { error, IntFromQuery, Millis, OperatorSession, page } from "./OperatorSession.ts"

/** `waiting`: without a vote. `open`: misses votes. `disputed`: has them all, they differ, and nobody has decided. */
export const itemStates = ["waiting", "open", "done", "disputed", "decided", "withdrawn", "cancelled"] as const
export const ItemState = Schema.Literals(itemStates)
export type ItemState = typeof ItemState.Type

export const Decision = Schema.Struct({
  choice: Schema.Int,
  rationale: Schema.String,
  /** Name of the operator. */
  by: Schema.String,
  at: Millis,
})
export type Decision = typeof Decision.Type

/** Of a prompt that nobody is to judge. */
export const Withdrawal = Schema.Struct({ reason: Schema.String, by: Schema.String, at: Millis })

/** An item with those that are equal to it: of the same prompt and completions under the same guidelines, in the same group. Those of cancelled tasks are apart. */
export const ItemSummary = Schema.Struct({
  /** Of the newest of them that matches, as the members up to the prompt; the state, too, if it was decided, disputed, or withdrawn. */
  item_no: Schema.Int,
  task_id: Schema.String,
  group_id: Schema.String,
  /** Zero-based place in the task. */
  index: Schema.Int,
  /** The beginning of the prompt. */
  prompt: Schema.String,
  state: ItemState,
  /** Of all of them. */
  votes: Schema.Int,
  votes_required: Schema.Int,
  flagged: Schema.Boolean,
  /** The other ones of them, the newest first, up to 25. */
  equal: Schema.Array(Schema.Struct({ task_id: Schema.String, index: Schema.Int })),
  /** Null unless they have all their votes, several. */
  agreement: Schema.NullOr(Schema.Finite),
  decision: Schema.NullOr(Decision),
})
export type ItemSummary = typeof ItemSummary.Type

const Text = Schema.String.check(Schema.isMaxLength(200))
const filters = {
  /** Part of the beginning of the prompt; letters of ASCII match in either case. */
  text: Schema.optionalKey(Text),
  group: Schema.optionalKey(Text),
  task: Schema.optionalKey(Text),
  state: Schema.optionalKey(ItemState),
  /** The id of an expert who voted. */
  expert: Schema.optionalKey(Text),
  flagged: Schema.optionalKey(Schema.Literal("true")),
  /** Agreement of at most this many percent. */
  max_agreement: Schema.optionalKey(IntFromQuery),
}

const items = HttpApiEndpoint.get("items", "/items", {
  query: { ...page, ...filters },
  success: Schema.Struct({ items: Schema.Array(ItemSummary), next: Schema.NullOr(Schema.Int) }),
  error,
})

/** The media types of a vote table. */
export const tableTypes = { jsonl: "application/x-ndjson", csv: "text/csv" } as const
export const VoteTable = HttpApiSchema.StreamUint8Array({ contentType: [tableTypes.jsonl, tableTypes.csv] })

/** The valid votes on the items that match, as `prefstream export-votes` writes them. With an expert: that expert's votes only. */
const exportVotes = HttpApiEndpoint.get("exportVotes", "/votes", {
  query: { ...filters, format: Schema.Literals(formats), raw: Schema.optionalKey(Schema.Literal("true")) },
  success: VoteTable,
  error,
})

const itemParams = { task_id: Schema.String, index: IntFromQuery }
/** The lead's judgment is the item's result. Conflict: the task is cancelled, the prompt withdrawn, or an expert is judging it. */
const decide = HttpApiEndpoint.put("decide", "/tasks/:task_id/items/:index/decision", {
  params: itemParams,
  payload: Schema.Struct({
    choice: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
    rationale: Schema.String.check(Schema.isMaxLength(10_000)),
  }),
  success: HttpApiSchema.NoContent,
  error,
})
const withdrawDecision = HttpApiEndpoint.delete("withdrawDecision", "/tasks/:task_id/items/:index/decision", {
  params: itemParams,
  success: HttpApiSchema.NoContent,
  error,
})

/** Nobody judges the prompt any more, and its result says so. Conflict: the task is cancelled, the prompt decided, or withdrawn already. */
const withdrawPrompt = HttpApiEndpoint.put("withdrawPrompt", "/tasks/:task_id/items/:index/withdrawal", {
  params: itemParams,
  payload: Schema.Struct({ reason: Schema.String.check(Schema.isMaxLength(1_000)) }),
  success: HttpApiSchema.NoContent,
  error,
})
/** The reverse; a completed task whose prompt misses votes is open again. */
const restorePrompt = HttpApiEndpoint.delete("restorePrompt", "/tasks/:task_id/items/:index/withdrawal", {
  params: itemParams,
  success: HttpApiSchema.NoContent,
  error,
})
/** Votes that can be asked for at once: pages import types only. */
export type MaxVotes = typeof maxVotes

/** More votes on the task's prompts, from experts who have not judged them. Conflict: nobody has judged any, or the task is cancelled. */
const reopen = HttpApiEndpoint.post("reopen", "/tasks/:task_id/reopen", {
  params: { task_id: Schema.String },
  payload: Schema.Struct({
    /** On each prompt. */
    votes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxVotes })),
    /** Zero-based places; null: all that nobody decided or withdrew. */
    prompts: Schema.NullOr(Schema.NonEmptyArray(Schema.Int)),
  }),
  success: Schema.Struct({ prompts: Schema.Int }),
  error,
})
/** Those of these votes that nobody is giving yet are not asked for any more. Conflict: there are none. */
const endReopening = HttpApiEndpoint.delete("endReopening", "/tasks/:task_id/reopen", {
  params: { task_id: Schema.String },
  success: Schema.Struct({ prompts: Schema.Int }),
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
const Days = Schema.Array(Schema.Struct({ day: Millis, votes: Schema.Int }))

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

export const GroupDetail = Schema.Struct({
  group_id: Schema.String,
  tasks: Schema.Struct({ open: Schema.Int, completed: Schema.Int, cancelled: Schema.Int }),
  prompts: Schema.Int,
  prompts_done: Schema.Int,
  votes: Schema.Int,
  votes_required: Schema.Int,
  disputed: Schema.Int,
  decided: Schema.Int,
  withdrawn: Schema.Int,
  paused: Schema.Boolean,
  flagged: Schema.Int,
  days: Days,
  /** Who voted, most votes first, with how many of the votes that can be compared agree with the others. */
  experts: Schema.Array(
    Schema.Struct({
      expert_id: Schema.String,
      name: Schema.String,
      votes: Schema.Int,
      agreed: Schema.Int,
      compared: Schema.Int,
      gold_right: Schema.Int,
      gold_judged: Schema.Int,
    }),
  ),
})
export type GroupDetail = typeof GroupDetail.Type

const expert = HttpApiEndpoint.get("expert", "/experts/:expert_id", {
  params: { expert_id: Schema.String },
  success: ExpertDetail,
  error,
})
const group = HttpApiEndpoint.get("group", "/groups/:group_id", {
  params: { group_id: Schema.String },
  success: GroupDetail,
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
  params: { expert_id: Schema.String },
  payload: Schema.Struct({ reason: Schema.String.check(Schema.isMaxLength(1_000)) }),
  success: Voided,
  error,
})
/** Votes that were replaced meanwhile stay void. Conflict: none is void by it. */
const restoreVotes = HttpApiEndpoint.post("restoreVotes", "/voidings/:voiding_id/undo", {
  params: { voiding_id: IntFromQuery },
  success: Voided,
  error,
})

export const GuidelineHistory = Schema.Struct({
  /** Whether the guidelines have a rubric, which stays as it was sent. */
  has_rubric: Schema.Boolean,
  /** Newest first; the last one is as the client sent it. */
  versions: Schema.Array(
    Schema.Struct({
      version: Schema.Int,
      /** Without the rubric. */
      text: Schema.String,
      /** Name of the operator. */
      by: Schema.NullOr(Schema.String),
      at: Schema.NullOr(Millis),
    }),
  ),
})
export type GuidelineHistory = typeof GuidelineHistory.Type

const taskParams = { task_id: Schema.String }
const guidelines = HttpApiEndpoint.get("guidelines", "/tasks/:task_id/guidelines", {
  params: taskParams,
  success: GuidelineHistory,
  error,
})
/** For all tasks that came with the same guidelines. Conflict: `version` is not the newest one, or nothing is changed. */
const editGuidelines = HttpApiEndpoint.put("editGuidelines", "/tasks/:task_id/guidelines", {
  params: taskParams,
  payload: Schema.Struct({
    text: Schema.String.check(Schema.isMaxLength(1_000_000)),
    /** The version that was edited. */
    version: Schema.Int,
  }),
  success: GuidelineHistory,
  error,
})

export class DashboardDesk extends HttpApiGroup.make("desk")
  .add(
    items,
    exportVotes,
    decide,
    withdrawDecision,
    withdrawPrompt,
    restorePrompt,
    reopen,
    endReopening,
    expert,
    group,
    voidVotes,
    restoreVotes,
    guidelines,
    editGuidelines,
  )
  .middleware(OperatorSession) {}
