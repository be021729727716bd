/** Requests that several processes may send together; by default, each process has only limits of its own. */
import { Context, type Effect, Option } from "effect"

export interface RequestBudget {
  /** How many of so many concurrent requests this process may send. */
  readonly atOnce: (together: number) => number
  /** Takes up to so many slots of time, in each of which one request may be sent. */
  readonly take: (wanted: number) => Effect.Effect<{
    readonly count: number
    /** Milliseconds until the first of them. */
    readonly first: number
    /** Milliseconds between them. */
    readonly spacing: number
    /** For how many milliseconds there are none. */
    readonly pause: number
    /** How often the rate of all had been halved. */
    readonly cuts: number
  }>
  /** A request was sent. */
  readonly sent: () => void
  /** The service asked for a pause of so many milliseconds. */
  readonly pause: (millis: number) => Effect.Effect<void>
  /** The service answered 429 or 503 to a request whose slot was taken when the rate had been halved so often. */
  readonly slow: (cuts: number) => Effect.Effect<void>
  /** The service answered a request as expected. */
  readonly answered: Effect.Effect<void>
}

export const RequestBudget = Context.Reference<Option.Option<RequestBudget>>("prefstream/task/RequestBudget", {
  defaultValue: Option.none,
})
