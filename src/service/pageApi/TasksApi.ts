/** The part of `DashboardApi` about tasks, their prompts, and their guidelines. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { FlagKind } from "../../domain/Flag.ts"
import { Rubric } from "../../domain/Rubric.ts"
import { Ranking } from "../../domain/Ranking.ts"
import { Vote } from "../../domain/Vote.ts"
import { Decision, Withdrawal } from "./ItemsApi.ts"
import { IntFromQuery, Millis, OperatorSession, page } from "./OperatorSession.ts"
import { maxLength, maxVotes, taskStatuses } from "./PageConstants.ts"

export const TaskStatus = Schema.Literals(taskStatuses)

export const TaskSummary = Schema.Struct({
  task_id: Schema.String,
  /** The task's own id if it has no group. */
  group_id: Schema.String,
  status: TaskStatus,
  created_at: Millis,
  /** When the task will be completed: it has all its votes, but people can still undo them. Null in other states. */
  completes_at: Schema.NullOr(Millis),
  finished_at: Schema.NullOr(Millis),
  prompts: Schema.Int,
  prompts_done: Schema.Int,
  votes_per_prompt: Schema.Int,
  /** The number of additional votes that were requested when prompts were reopened. */
  extra_votes: Schema.Int,
  /** The number of votes that are no longer needed, because their prompts were decided or withdrawn. */
  votes_spared: Schema.Int,
  paused: Schema.Boolean,
  votes: Schema.Int,
  flagged: Schema.Int,
})
export type TaskSummary = typeof TaskSummary.Type

export const Overview = Schema.Struct({
  tasks: Schema.Struct({ pending: Schema.Int, in_progress: Schema.Int, completed: Schema.Int, cancelled: Schema.Int }),
  open_votes: Schema.Struct({ given: Schema.Int, needed: Schema.Int }),
})
export type Overview = typeof Overview.Type

export const TaskItem = Schema.Struct({
  index: Schema.Int,
  prompt: Schema.String,
  completions: Schema.Array(Schema.String),
  done: Schema.Boolean,
  extra_votes: Schema.Int,
  votes: Schema.Array(Schema.Struct({ ...Vote.fields, expert_name: Schema.String })),
  voided: Schema.Array(Schema.Struct({ ...Vote.fields, expert_name: Schema.String })),
  /** Votes as they were before their experts corrected them. */
  replaced: Schema.Array(Schema.Struct({ ...Vote.fields, expert_name: Schema.String })),
  decision: Schema.NullOr(Decision),
  /** Set if a lead withdrew the prompt. The task's result then has no judgment of this prompt. */
  withdrawal: Schema.NullOr(Withdrawal),
  held_by: Schema.Array(Schema.String),
  set_aside: Schema.Array(
    Schema.Struct({ expert_name: Schema.String, kind: Schema.Literals(["skip", "flag"]), reason: Schema.String }),
  ),
  flags: Schema.Array(Schema.Struct({ expert_name: Schema.String, kind: FlagKind, comment: Schema.String })),
  /** The combined result of the votes. Null if the item is not done, or has no votes. */
  result: Schema.NullOr(
    Schema.Struct({
      best_completion_index: Schema.Int,
      agreement: Schema.Finite,
      tie: Schema.Boolean,
      ranking: Schema.NullOr(Ranking),
      rationale: Schema.NullOr(Schema.String),
    }),
  ),
})
export type TaskItem = typeof TaskItem.Type

export const TaskDetail = Schema.Struct({
  task: TaskSummary,
  /** The newest version of the guidelines, without the rubric. */
  guidelines: Schema.NullOr(Schema.String),
  /** The rubric that the client sent. Null if the client sent none, or one that cannot be parsed. */
  rubric: Schema.NullOr(Rubric),
  guidelines_version: Schema.Int,
  /** The items from index `from` on. There are at most `limit` items, and never more than 20. */
  items: Schema.Array(TaskItem),
  from: Schema.Int,
  /** Zero-based positions of flagged prompts, ascending, at most 100. */
  flagged_at: Schema.Array(Schema.Int),
})
export type TaskDetail = typeof TaskDetail.Type

const overview = HttpApiEndpoint.get("overview", "/overview", { success: Overview })
export const TaskQuery = Schema.Struct({
  ...page,
  status: Schema.optionalKey(TaskStatus),
  text: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(maxLength.filter))),
})
export type TaskQuery = typeof TaskQuery.Type

const list = HttpApiEndpoint.get("list", "/tasks", {
  query: TaskQuery,
  success: Schema.Struct({ tasks: Schema.Array(TaskSummary), next: Schema.NullOr(Schema.Int) }),
})
const taskParams = { task_id: Schema.String }
const detail = HttpApiEndpoint.get("detail", "/tasks/:task_id", {
  params: taskParams,
  query: { from: Schema.optionalKey(IntFromQuery), limit: Schema.optionalKey(IntFromQuery) },
  success: TaskDetail,
})
const cancel = HttpApiEndpoint.post("cancel", "/tasks/:task_id/cancel", { params: taskParams })
/** Offers the item again to the experts who skipped or flagged it. Their flags stay. */
const returnItem = HttpApiEndpoint.post("returnItem", "/tasks/:task_id/items/:index/return", {
  params: { ...taskParams, index: IntFromQuery },
})

/**
 * Requests votes from experts who have not judged the prompts. Fails with `Conflict` if the task is canceled, nobody
 * has judged the task yet, or no prompt can be judged again.
 */
const reopen = HttpApiEndpoint.post("reopen", "/tasks/:task_id/reopen", {
  params: taskParams,
  payload: Schema.Struct({
    votes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxVotes })),
    /** Zero-based positions of prompts. Null reopens all prompts that no lead has decided or withdrawn. */
    prompts: Schema.NullOr(Schema.NonEmptyArray(Schema.Int)),
  }),
  success: Schema.Struct({ prompts: Schema.Int }),
})
/** Cancels the additional votes that no expert has begun. Fails with `Conflict` if there are no such votes. */
const endReopening = HttpApiEndpoint.delete("endReopening", "/tasks/:task_id/reopen", {
  params: taskParams,
  success: Schema.Struct({ prompts: Schema.Int }),
})

export const GuidelineHistory = Schema.Struct({
  has_rubric: Schema.Boolean,
  /** The versions, newest first. Version 1 is the text that the client sent. */
  versions: Schema.Array(
    Schema.Struct({
      version: Schema.Int,
      text: Schema.String,
      /** The name of the operator who wrote the version. Null if the client sent the version. */
      by: Schema.NullOr(Schema.String),
      at: Schema.NullOr(Millis),
    }),
  ),
})
export type GuidelineHistory = typeof GuidelineHistory.Type

const guidelines = HttpApiEndpoint.get("guidelines", "/tasks/:task_id/guidelines", {
  params: taskParams,
  success: GuidelineHistory,
})
/**
 * Changes all tasks with these guidelines. Fails with `Conflict` if `version` is not the newest version, or if the text
 * is unchanged.
 */
const editGuidelines = HttpApiEndpoint.put("editGuidelines", "/tasks/:task_id/guidelines", {
  params: taskParams,
  payload: Schema.Struct({
    text: Schema.String.check(Schema.isMaxLength(maxLength.guidelines)),
    version: Schema.Int,
  }),
  success: GuidelineHistory,
})

export class DashboardTasks extends HttpApiGroup.make("tasks")
  .add(overview, list, detail, cancel, returnItem, reopen, endReopening, guidelines, editGuidelines)
  .middleware(OperatorSession) {}
