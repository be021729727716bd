/** The part of `DashboardApi` about the order of the queue: priority, experts and pauses of groups of tasks. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { error, Millis, OperatorSession } from "./OperatorSession.ts"

/** The first to be judged first. */
export const priorities = ["urgent", "high", "normal", "low"] as const
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

/** Groups with open tasks in the order of the queue, up to 200; of tasks without a group, those with settings. */
const list = HttpApiEndpoint.get("list", "/groups", {
  success: Schema.Struct({ groups: Schema.Array(GroupSummary) }),
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
  success: Schema.Struct({ groups: Schema.Array(GroupSummary) }),
  error,
})

/** Of a group, or of a task without one, by its id. Not found: no task is in the group. */
const pause = HttpApiEndpoint.put("pause", "/groups/:group_id/paused", {
  params: { group_id: Schema.String },
  payload: Schema.Struct({ paused: Schema.Boolean }),
  success: HttpApiSchema.NoContent,
  error,
})

export class DashboardGroups extends HttpApiGroup.make("groups").add(list, set, pause).middleware(OperatorSession) {}
