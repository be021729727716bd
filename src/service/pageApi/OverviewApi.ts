/**
 * The part of `DashboardApi` about the state of all work. The report may be five seconds old. `low` and `high` are the
 * bounds of a 95% interval (`domain/Interval`), or null if there are too few observations.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Millis, OperatorSession } from "./OperatorSession.ts"

const progress = {
  /** Items and votes of all tasks that are not canceled. */
  items: Schema.Int,
  items_done: Schema.Int,
  votes: Schema.Int,
  votes_needed: Schema.Int,
}
const Bound = Schema.NullOr(Schema.Finite)
/** `agreed` counts those of the `compared` votes that agree with the majority of the other votes on the item. */
const agreement = { agreed: Schema.Int, compared: Schema.Int, low: Bound, high: Bound }

export const stuckKinds = ["held", "deferred", "unassignable", "paused", "outage", "doubt", "webhook"] as const

export const StuckWork = Schema.Struct({
  /**
   * `held`: for longer than the hold time. `deferred`: every active person has seen the content. `unassignable`: no
   * active expert may give a missing vote. `outage`: an expert fails, and is not asked before `at`. `doubt`: the
   * endpoint may have created a batch. `webhook`: deliveries fail, or it is disabled.
   */
  kind: Schema.Literals(stuckKinds),
  /** The id of the task, group, or expert. Empty for the webhook. */
  id: Schema.String,
  /** The position of the item in the task. Null if `id` is not a task's id. */
  index: Schema.NullOr(Schema.Int),
  /** For `held` and `outage`, the expert's name. For `doubt`, the batch's name. Otherwise empty. */
  name: Schema.String,
  at: Schema.NullOr(Millis),
})
export type StuckWork = typeof StuckWork.Type

export const OverviewReport = Schema.Struct({
  total: Schema.Struct(progress),
  /** Groups with open tasks, oldest first, at most 20. */
  groups: Schema.Array(Schema.Struct({ group_id: Schema.String, ...progress })),
  /** The number of open disagreements. Counts at most 1,000. */
  disagreements: Schema.Int,
  /** Votes on each of the last 30 days (UTC), oldest first. */
  days: Schema.Array(Schema.Struct({ day: Millis, people: Schema.Int, automatic: Schema.Int })),
  /** The last 12 weeks with compared votes, oldest first. `week` is the Monday (UTC). */
  weeks: Schema.Array(Schema.Struct({ week: Millis, ...agreement })),
  /** The 50 experts with the most votes in the last 28 days. `seconds`: median of a person's latest 100 votes. */
  experts: Schema.Array(
    Schema.Struct({
      expert_id: Schema.String,
      name: Schema.String,
      votes: Schema.Int,
      ...agreement,
      seconds: Schema.NullOr(Schema.Struct({ median: Schema.Finite, low: Bound, high: Bound })),
    }),
  ),
  /** All paid requests in the judges' file of answers. The cost is an exact decimal, or null without prices. */
  judges: Schema.Array(
    Schema.Struct({
      expert_id: Schema.String,
      name: Schema.String,
      votes: Schema.Int,
      requests: Schema.Int,
      prompt_tokens: Schema.Int,
      completion_tokens: Schema.Int,
      cost: Schema.NullOr(Schema.String),
    }),
  ),
  /** At most 20 entries of each kind. */
  stuck: Schema.Array(StuckWork),
})
export type OverviewReport = typeof OverviewReport.Type

const report = HttpApiEndpoint.get("report", "/overview/report", { success: OverviewReport })

export class DashboardOverview extends HttpApiGroup.make("overview").add(report).middleware(OperatorSession) {}
