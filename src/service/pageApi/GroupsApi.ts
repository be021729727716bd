/** The part of `DashboardApi` about the order of the queue: priorities, experts, and pauses of groups. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Days } from "./ExpertsApi.ts"
import { IntFromQuery, Millis, OperatorSession } from "./OperatorSession.ts"
import { priorities } from "./PageConstants.ts"

export const Priority = Schema.Literals(priorities)
export type Priority = typeof Priority.Type

export const GroupSummary = Schema.Struct({
  /** The group's id, or the id of a task that has no group. */
  group_id: Schema.String,
  priority: Priority,
  paused: Schema.Boolean,
  /** The only experts who may judge the group. Null if all experts may. */
  assigned: Schema.NullOr(Schema.Array(Schema.Struct({ expert_id: Schema.String, name: Schema.String }))),
  /** The number of open tasks. In total, they need `votes_needed` votes. So far, experts have given `votes` of them. */
  tasks: Schema.Int,
  votes: Schema.Int,
  votes_needed: Schema.Int,
  /** The number of items that need votes of more people, because all active people have already seen equal items. */
  waiting: Schema.Int,
  /** The number of items that need votes of language models, although the service has no model left that can vote. */
  waiting_for_judges: Schema.Int,
  created_at: Millis,
})
export type GroupSummary = typeof GroupSummary.Type

const Queue = Schema.Struct({
  /** Groups with open tasks, in queue order, at most 200. */
  groups: Schema.Array(GroupSummary),
  /** Open tasks without a group: 50 per page. The first page also has all paused, prioritized, and assigned tasks. */
  tasks: Schema.Array(Schema.Struct({ ...GroupSummary.fields, prompt: Schema.String })),
  /** Pass this value as `after` to get the next page of tasks. Null on the last page. */
  next: Schema.NullOr(Schema.Int),
})
export type Queue = typeof Queue.Type

export const GroupQuery = Schema.Struct({ after: Schema.optionalKey(IntFromQuery) })
export type GroupQuery = typeof GroupQuery.Type

const list = HttpApiEndpoint.get("list", "/groups", { query: GroupQuery, success: Queue })
const set = HttpApiEndpoint.put("set", "/groups", {
  payload: Schema.Struct({
    group_id: Schema.String,
    priority: Priority,
    experts: Schema.NullOr(Schema.NonEmptyArray(Schema.String)),
  }),
})

const pause = HttpApiEndpoint.put("pause", "/groups/:group_id/paused", {
  params: { group_id: Schema.String },
  payload: Schema.Struct({ paused: Schema.Boolean }),
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
  /**
   * The experts who voted on the group, most votes first. On completed items, a vote counts in `compared` if the other
   * experts' votes have a single winner. The vote also counts in `agreed` if it is for this winner.
   */
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
})

export class DashboardGroups extends HttpApiGroup.make("groups")
  .add(list, set, pause, group)
  .middleware(OperatorSession) {}
