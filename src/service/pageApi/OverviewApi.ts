/**
 * The part of `DashboardApi` about the state of all work. The report may be five seconds old. `low` and `high` are the
 * bounds of a 95% interval (`domain/Interval`). They are null if there are too few observations.
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
/** `compared`: votes on items where the other experts have a single favorite. `agreed`: the votes for this favorite. */
const agreement = { agreed: Schema.Int, compared: Schema.Int, low: Bound, high: Bound }

export const stuckKinds = ["held", "deferred", "unassignable", "paused", "outage", "doubt", "webhook"] as const

export const StuckWork = Schema.Struct({
  /**
   * Why the work is stuck:
   * - `held`: an expert got the item longer ago than the hold time and still holds it.
   * - `deferred`: items of the task need votes, but all active people have seen their content.
   * - `unassignable`: an item needs more votes than the active experts may still give.
   * - `paused`: a manager paused the group or the task.
   * - `outage`: an automatic expert fails. The service asks it again at `at`.
   * - `doubt`: it is unknown whether a model's endpoint has created a batch.
   * - `webhook`: deliveries fail, or the service has disabled the webhook.
   */
  kind: Schema.Literals(stuckKinds),
  /** The id of the task, group, or expert whose work is stuck. Empty if `kind` is `webhook`. */
  id: Schema.String,
  /** The position of the item in the task. Null if `id` is not a task's id. */
  index: Schema.NullOr(Schema.Int),
  /** If `kind` is `held` or `outage`, the expert's name. If `kind` is `doubt`, the batch's name. Otherwise empty. */
  name: Schema.String,
  at: Schema.NullOr(Millis),
})
export type StuckWork = typeof StuckWork.Type

export const OverviewReport = Schema.Struct({
  total: Schema.Struct(progress),
  /** The groups with open tasks, oldest first, at most 20. */
  groups: Schema.Array(Schema.Struct({ group_id: Schema.String, ...progress })),
  /** The number of open disagreements. Counts at most 1,000. */
  disagreements: Schema.Int,
  /** Votes on each of the last 30 days (UTC), oldest first. */
  days: Schema.Array(Schema.Struct({ day: Millis, people: Schema.Int, automatic: Schema.Int })),
  /** The last 12 weeks, oldest first, except weeks without compared votes. `week` is the start of a Monday (UTC). */
  weeks: Schema.Array(Schema.Struct({ week: Millis, ...agreement })),
  /** The 50 experts with the most votes in the last 28 days. `seconds` covers a person's latest 100 votes. */
  experts: Schema.Array(
    Schema.Struct({
      expert_id: Schema.String,
      name: Schema.String,
      votes: Schema.Int,
      ...agreement,
      seconds: Schema.NullOr(Schema.Struct({ median: Schema.Finite, low: Bound, high: Bound })),
    }),
  ),
  /** Each judge's paid requests, from the file with the answers. `cost` is an exact decimal, or null without prices. */
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
