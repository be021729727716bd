/** The part of `DashboardApi` about items. New items do not shift the pages of a list. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { formats } from "../../domain/VoteRow.ts"
import { IntFromQuery, Millis, OperatorSession, page } from "./OperatorSession.ts"
import { itemStates, maxLength } from "./PageConstants.ts"

export const ItemState = Schema.Literals(itemStates)
export type ItemState = typeof ItemState.Type

export const Decision = Schema.Struct({ choice: Schema.Int, rationale: Schema.String, by: Schema.String, at: Millis })
export type Decision = typeof Decision.Type

export const Withdrawal = Schema.Struct({ reason: Schema.String, by: Schema.String, at: Millis })

/** One entry for all equal items: same prompt, completions, guidelines, and group. Canceled items stay separate. */
export const ItemSummary = Schema.Struct({
  /** The members from `item_no` to `prompt` describe the newest of the equal items that match the filter. */
  item_no: Schema.Int,
  task_id: Schema.String,
  group_id: Schema.String,
  index: Schema.Int,
  prompt: Schema.String,
  /** `waiting` (no votes), `open` (some votes), and `done` (all votes) are decided by all equal items together. */
  state: ItemState,
  /** `votes` and `votes_required` are sums over all equal items. `flagged`: whether one of these items is flagged. */
  votes: Schema.Int,
  votes_required: Schema.Int,
  flagged: Schema.Boolean,
  /** Other items that are equal to this one, newest first, at most 25. */
  equal: Schema.Array(Schema.Struct({ task_id: Schema.String, index: Schema.Int })),
  /** Agreement of the votes on all equal items. Null if votes are still needed, or if there is at most one vote. */
  agreement: Schema.NullOr(Schema.Finite),
  decision: Schema.NullOr(Decision),
})
export type ItemSummary = typeof ItemSummary.Type

const Text = Schema.String.check(Schema.isMaxLength(maxLength.filter))
const filter = {
  /** Text to find in the first 500 characters of the prompt. The case of ASCII letters does not matter. */
  text: Schema.optionalKey(Text),
  group: Schema.optionalKey(Text),
  task: Schema.optionalKey(Text),
  state: Schema.optionalKey(ItemState),
  expert: Schema.optionalKey(Text),
  flagged: Schema.optionalKey(Schema.Literal("true")),
  /** The maximum agreement of an item's votes, in percent. Unanimous items and unfinished items never match. */
  max_agreement: Schema.optionalKey(IntFromQuery),
}

export const ItemQuery = Schema.Struct({ ...page, ...filter })
export type ItemQuery = typeof ItemQuery.Type

const items = HttpApiEndpoint.get("items", "/items", {
  query: ItemQuery,
  success: Schema.Struct({
    items: Schema.Array(ItemSummary),
    next: Schema.NullOr(Schema.Int),
    /** The number of items in state `disputed` that match the other filters. Counts at most 1,000. */
    disagreements: Schema.Int,
  }),
})

export const tableTypes = { jsonl: "application/x-ndjson", csv: "text/csv" } as const
export const VoteTable = HttpApiSchema.StreamUint8Array({ contentType: [tableTypes.jsonl, tableTypes.csv] })

/** Exports votes in the format of `prefstream export-votes`. If `expert` is set, exports only that expert's votes. */
const exportVotes = HttpApiEndpoint.get("exportVotes", "/votes", {
  query: { ...filter, format: Schema.Literals(formats), raw: Schema.optionalKey(Schema.Literal("true")) },
  success: VoteTable,
})

const itemParams = { task_id: Schema.String, index: IntFromQuery }
/**
 * Fails with `Conflict` if the task is canceled, the prompt is withdrawn, or an expert is judging the prompt. If
 * `undecided` is true, also fails if a lead has already decided.
 */
const decide = HttpApiEndpoint.put("decide", "/tasks/:task_id/items/:index/decision", {
  params: itemParams,
  payload: Schema.Struct({
    choice: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
    rationale: Schema.String.check(Schema.isMaxLength(maxLength.decision)),
    undecided: Schema.optionalKey(Schema.Boolean),
  }),
})
/** Fails with `Conflict` if there is no decision. If `mine` is set, only the signed-in operator's decision counts. */
const withdrawDecision = HttpApiEndpoint.delete("withdrawDecision", "/tasks/:task_id/items/:index/decision", {
  params: itemParams,
  query: { mine: Schema.optionalKey(Schema.Literal("true")) },
})

/** Fails with `Conflict` after a cancellation, decision, or withdrawal, or while an automatic expert is judging. */
const withdrawPrompt = HttpApiEndpoint.put("withdrawPrompt", "/tasks/:task_id/items/:index/withdrawal", {
  params: itemParams,
  payload: Schema.Struct({ reason: Schema.String.check(Schema.isMaxLength(maxLength.reason)) }),
})
/** Undoes `withdrawPrompt`. If the prompt still needs votes, a completed task is opened again. */
const restorePrompt = HttpApiEndpoint.delete("restorePrompt", "/tasks/:task_id/items/:index/withdrawal", {
  params: itemParams,
})

export class DashboardItems extends HttpApiGroup.make("items")
  .add(items, exportVotes, decide, withdrawDecision, withdrawPrompt, restorePrompt)
  .middleware(OperatorSession) {}
