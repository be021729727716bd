/** Request limits that several processes share. Without a budget, each process has only its own limits. */
import { Context, type Effect, Option } from "effect"

export interface RequestBudget {
  /** Returns this process's share of `together`, the maximum number of concurrent requests of all processes. */
  readonly atOnce: (together: number) => number
  /** Reserves up to `wanted` time slots. Each slot is for one request. */
  readonly take: (wanted: number) => Effect.Effect<{
    readonly count: number
    /** Milliseconds until the first slot. */
    readonly first: number
    /** Milliseconds between two slots. */
    readonly spacing: number
    /** Milliseconds during which no request may be sent. */
    readonly pause: number
    /** Number of times that the shared rate has been halved. */
    readonly halvings: number
  }>
  readonly sent: () => void
  /** Records that the service asked for a pause of this many milliseconds. */
  readonly pause: (millis: number) => Effect.Effect<void>
  /** Halves the rate after a 429 or 503. `halvings` is the number that `take` returned before the refused request. */
  readonly halveRate: (halvings: number) => Effect.Effect<void>
  readonly answered: Effect.Effect<void>
}

export const RequestBudget = Context.Reference<Option.Option<RequestBudget>>("prefstream/task/RequestBudget", {
  defaultValue: Option.none,
})
