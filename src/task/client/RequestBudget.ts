/** Requests that several processes may send together; by default, each process has only limits of its own. */
import { Context, type Effect, Option } from "effect"

export interface RequestBudget {
  /** How many of so many concurrent requests this process may send. */
  readonly atOnce: (together: number) => number
  /** Takes up to so many requests. */
  readonly take: (wanted: number) => Effect.Effect<{
    /** How many may be sent now. */
    readonly granted: number
    /** How often the rate of all had been halved. */
    readonly cuts: number
    /** For how many milliseconds none may. */
    readonly pause: number
    /** In how many milliseconds there may be more. */
    readonly next: number
  }>
  /** The service asked for a pause of so many milliseconds. */
  readonly pause: (millis: number) => Effect.Effect<void>
  /** The service answered 429 or 503 to a request that was granted when the rate had been halved so often. */
  readonly slow: (cuts: number) => Effect.Effect<void>
  /** The service answered a request as expected. */
  readonly answered: Effect.Effect<void>
}

export const RequestBudget = Context.Reference<Option.Option<RequestBudget>>("prefstream/task/RequestBudget", {
  defaultValue: Option.none,
})
