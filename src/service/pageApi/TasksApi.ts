/** The part of `DashboardApi` about tasks, their prompts, and their guidelines. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { FlagKind } from "../../domain/Flag.ts"
import { Rubric } from "../../domain/Rubric.ts"
import { Ranking } from "../../domain/Ranking.ts"
import { Vote } from "../../domain/Vote.ts"
import { Decision, Withdrawal } from "./ItemsApi.ts"
import { error, IntFromQuery, Millis, OperatorSession, page } from "./OperatorSession.ts"
import { maxLength, maxVotes, taskStatuses } from "./PageConstants.ts"

export const TaskStatus = Schema.Literals(taskStatuses)

export const TaskSummary = Schema.Struct({
  task_id: Schema.String,
  /** The task's own id where it has no group. */
  group_id: Schema.String,
  status: TaskStatus,
  created_at: Millis,
  /** Where it has all its votes and is in progress: until then votes can be taken back. */
  completes_at: Schema.NullOr(Millis),
  finished_at: Schema.NullOr(Millis),
  prompts: Schema.Int,
  /** Prompts that have all their votes. */
  prompts_done: Schema.Int,
  votes_per_prompt: Schema.Int,
  /** Asked for beyond these, when prompts were reopened. */
  extra_votes: Schema.Int,
  /** Not needed, as their prompts were decided or withdrawn. */
  votes_spared: Schema.Int,
  /** Whether its group is paused, or itself if it has none. */
  paused: Schema.Boolean,
  votes: Schema.Int,
  /** Prompts that somebody flagged, done or not. */
  flagged: Schema.Int,
})
export type TaskSummary = typeof TaskSummary.Type

export const Overview = Schema.Struct({
  tasks: Schema.Struct({ pending: Schema.Int, in_progress: Schema.Int, completed: Schema.Int, cancelled: Schema.Int }),
  /** Votes given and needed by the tasks that are open. */
  open_votes: Schema.Struct({ given: Schema.Int, needed: Schema.Int }),
})
export type Overview = typeof Overview.Type

export const TaskItem = Schema.Struct({
  /** Zero-based place in the task. */
  index: Schema.Int,
  prompt: Schema.String,
  completions: Schema.Array(Schema.String),
  done: Schema.Boolean,
  /** Asked for beyond those that the task asks for. */
  extra_votes: Schema.Int,
  votes: Schema.Array(Schema.Struct({ ...Vote.fields, expert_name: Schema.String })),
  /** Votes that count no longer. */
  voided: Schema.Array(Schema.Struct({ ...Vote.fields, expert_name: Schema.String })),
  /** A lead's judgment, which is the result. */
  decision: Schema.NullOr(Decision),
  /** Set where a lead withdrew the prompt: its result is that there is no judgment. */
  withdrawal: Schema.NullOr(Withdrawal),
  /** Experts who hold the item at present. */
  held_by: Schema.Array(Schema.String),
  /** Experts who leave it to others; the reason of a flag is among `flags`. */
  set_aside: Schema.Array(
    Schema.Struct({ expert_name: Schema.String, kind: Schema.Literals(["skip", "flag"]), reason: Schema.String }),
  ),
  /** What experts said is wrong with it; `comment` may be empty. */
  flags: Schema.Array(Schema.Struct({ expert_name: Schema.String, kind: FlagKind, comment: Schema.String })),
  /** Where the item is done. */
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
  /** The newest version, without the rubric. */
  guidelines: Schema.NullOr(Schema.String),
  /** As it was sent; null where there is none, or it can't be read. */
  rubric: Schema.NullOr(Rubric),
  guidelines_version: Schema.Int,
  /** From `from` on, up to 20. */
  items: Schema.Array(TaskItem),
  from: Schema.Int,
  /** Places (zero-based) of prompts that somebody flagged, in order, up to 100. */
  flagged_at: Schema.Array(Schema.Int),
})
export type TaskDetail = typeof TaskDetail.Type

const overview = HttpApiEndpoint.get("overview", "/overview", { success: Overview, error })
const list = HttpApiEndpoint.get("list", "/tasks", {
  query: {
    ...page,
    status: Schema.optionalKey(TaskStatus),
    /** Part of the id of the task or of its group. */
    text: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(maxLength.filter))),
  },
  success: Schema.Struct({ tasks: Schema.Array(TaskSummary), next: Schema.NullOr(Schema.Int) }),
  error,
})
const taskParams = { task_id: Schema.String }
const detail = HttpApiEndpoint.get("detail", "/tasks/:task_id", {
  params: taskParams,
  query: { from: Schema.optionalKey(IntFromQuery) },
  success: TaskDetail,
  error,
})
/** Conflict: the task is complete already. */
const cancel = HttpApiEndpoint.post("cancel", "/tasks/:task_id/cancel", {
  params: taskParams,
  success: HttpApiSchema.NoContent,
  error,
})
/** Forgets who set the item aside, so that all experts are asked again. What they flagged stays on record. */
const returnItem = HttpApiEndpoint.post("returnItem", "/tasks/:task_id/items/:index/return", {
  params: { ...taskParams, index: IntFromQuery },
  success: HttpApiSchema.NoContent,
  error,
})

/** More votes on the task's prompts, from experts who have not judged them. Conflict: nobody has judged any, or the task is cancelled. */
const reopen = HttpApiEndpoint.post("reopen", "/tasks/:task_id/reopen", {
  params: taskParams,
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
  params: taskParams,
  success: Schema.Struct({ prompts: Schema.Int }),
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

const guidelines = HttpApiEndpoint.get("guidelines", "/tasks/:task_id/guidelines", {
  params: taskParams,
  success: GuidelineHistory,
  error,
})
/** For all tasks that came with the same guidelines. Conflict: `version` is not the newest one, or nothing is changed. */
const editGuidelines = HttpApiEndpoint.put("editGuidelines", "/tasks/:task_id/guidelines", {
  params: taskParams,
  payload: Schema.Struct({
    text: Schema.String.check(Schema.isMaxLength(maxLength.guidelines)),
    /** The version that was edited. */
    version: Schema.Int,
  }),
  success: GuidelineHistory,
  error,
})

export class DashboardTasks extends HttpApiGroup.make("tasks")
  .add(overview, list, detail, cancel, returnItem, reopen, endReopening, guidelines, editGuidelines)
  .middleware(OperatorSession) {}
