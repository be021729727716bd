/**
 * The part of `DashboardApi` about items: search, votes as a file, decisions.
 *
 * Guarantees: lists are newest first, by the position of their items, so that pages do not shift.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { formats } from "../../domain/VoteRow.ts"
import { error, IntFromQuery, Millis, OperatorSession, page } from "./OperatorSession.ts"
import { itemStates, maxLength } from "./PageConstants.ts"

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

const Text = Schema.String.check(Schema.isMaxLength(maxLength.filter))
const filter = {
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

export const ItemQuery = Schema.Struct({ ...page, ...filter })
export type ItemQuery = typeof ItemQuery.Type

const items = HttpApiEndpoint.get("items", "/items", {
  query: ItemQuery,
  success: Schema.Struct({ items: Schema.Array(ItemSummary), next: Schema.NullOr(Schema.Int) }),
  error,
})

/** The media types of a vote table. */
export const tableTypes = { jsonl: "application/x-ndjson", csv: "text/csv" } as const
export const VoteTable = HttpApiSchema.StreamUint8Array({ contentType: [tableTypes.jsonl, tableTypes.csv] })

/** The valid votes on the items that match, as `prefstream export-votes` writes them. With an expert: that expert's votes only. */
const exportVotes = HttpApiEndpoint.get("exportVotes", "/votes", {
  query: { ...filter, format: Schema.Literals(formats), raw: Schema.optionalKey(Schema.Literal("true")) },
  success: VoteTable,
  error,
})

const itemParams = { task_id: Schema.String, index: IntFromQuery }
/** The lead's judgment is the item's result. Conflict: the task is cancelled, the prompt withdrawn, or an expert is judging it. */
const decide = HttpApiEndpoint.put("decide", "/tasks/:task_id/items/:index/decision", {
  params: itemParams,
  payload: Schema.Struct({
    choice: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
    rationale: Schema.String.check(Schema.isMaxLength(maxLength.decision)),
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
  payload: Schema.Struct({ reason: Schema.String.check(Schema.isMaxLength(maxLength.reason)) }),
  success: HttpApiSchema.NoContent,
  error,
})
/** The reverse; a completed task whose prompt misses votes is open again. */
const restorePrompt = HttpApiEndpoint.delete("restorePrompt", "/tasks/:task_id/items/:index/withdrawal", {
  params: itemParams,
  success: HttpApiSchema.NoContent,
  error,
})

export class DashboardItems extends HttpApiGroup.make("items")
  .add(items, exportVotes, decide, withdrawDecision, withdrawPrompt, restorePrompt)
  .middleware(OperatorSession) {}
