/** The part of `DashboardApi` about the order of the queue: priority, experts and pauses of groups of tasks. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Days } from "./ExpertsApi.ts"
import { error, IntFromQuery, Millis, OperatorSession } from "./OperatorSession.ts"
import { priorities } from "./PageConstants.ts"

export const Priority = Schema.Literals(priorities)
export type Priority = typeof Priority.Type

export const GroupSummary = Schema.Struct({
  /** Of a task without a group, its own id. */
  group_id: Schema.String,
  priority: Priority,
  /** Whether nobody gets any of it at present. */
  paused: Schema.Boolean,
  /** Experts that alone judge it; null: all. */
  assigned: Schema.NullOr(Schema.Array(Schema.Struct({ expert_id: Schema.String, name: Schema.String }))),
  /** Tasks that are open, and what they have and need. */
  tasks: Schema.Int,
  votes: Schema.Int,
  votes_needed: Schema.Int,
  /** Of the oldest open task. */
  created_at: Millis,
})
export type GroupSummary = typeof GroupSummary.Type

const Queue = Schema.Struct({
  /** Groups with open tasks, in the order of the queue, up to 200. */
  groups: Schema.Array(GroupSummary),
  /** Open tasks without a group: those that have settings, and 50 others, the oldest first. `prompt`: the beginning of the first one. */
  tasks: Schema.Array(Schema.Struct({ ...GroupSummary.fields, prompt: Schema.String })),
  /** The `after` of the further tasks, if there are any. */
  next: Schema.NullOr(Schema.Int),
})
export type Queue = typeof Queue.Type

const list = HttpApiEndpoint.get("list", "/groups", {
  query: {
    /** Leads to further tasks without a group. */
    after: Schema.optionalKey(IntFromQuery),
  },
  success: Queue,
  error,
})
/** Not found: no task is in the group, or there is no such expert. */
const set = HttpApiEndpoint.put("set", "/groups", {
  payload: Schema.Struct({
    group_id: Schema.String,
    priority: Priority,
    /** Ids; null: all. */
    experts: Schema.NullOr(Schema.NonEmptyArray(Schema.String)),
  }),
  success: HttpApiSchema.NoContent,
  error,
})

/** Of a group, or of a task without one, by its id. Not found: no task is in the group. */
const pause = HttpApiEndpoint.put("pause", "/groups/:group_id/paused", {
  params: { group_id: Schema.String },
  payload: Schema.Struct({ paused: Schema.Boolean }),
  success: HttpApiSchema.NoContent,
  error,
})

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

const group = HttpApiEndpoint.get("group", "/groups/:group_id", {
  params: { group_id: Schema.String },
  success: GroupDetail,
  error,
})

export class DashboardGroups extends HttpApiGroup.make("groups")
  .add(list, set, pause, group)
  .middleware(OperatorSession) {}
