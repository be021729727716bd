/** Request limits that several processes share. Without a budget, each process has its own limits. */
import { Context, type Effect, Option } from "effect"

export interface RequestBudget {
  /** Returns how many requests this process may have in flight, if all processes together may have `together`. */
  readonly atOnce: (together: number) => number
  /** Reserves up to `wanted` time slots for one request each. */
  readonly take: (wanted: number) => Effect.Effect<{
    readonly count: number
    /** Milliseconds until the first reserved slot. */
    readonly first: number
    /** Milliseconds between two slots. */
    readonly spacing: number
    /** Milliseconds for which no request may be sent. */
    readonly pause: number
    readonly halvings: number
  }>
  readonly sent: () => void
  readonly pause: (millis: number) => Effect.Effect<void>
  readonly halveRate: (halvings: number) => Effect.Effect<void>
  readonly answered: Effect.Effect<void>
}

export const RequestBudget = Context.Reference<Option.Option<RequestBudget>>("prefstream/task/RequestBudget", {
  defaultValue: Option.none,
})
