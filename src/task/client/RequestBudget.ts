/** Request limits that several processes share. By default, each process only has limits of its own. */
import { Context, type Effect, Option } from "effect"

export interface RequestBudget {
  /** Maximum concurrent requests of this process, given the maximum of all processes together. */
  readonly atOnce: (together: number) => number
  /** Takes up to `wanted` time slots. Each slot is for one request. */
  readonly take: (wanted: number) => Effect.Effect<{
    readonly count: number
    /** Milliseconds until the first slot. */
    readonly first: number
    /** Milliseconds between two slots. */
    readonly spacing: number
    /** Milliseconds during which there are no slots. */
    readonly pause: number
    /** How many times the shared rate had been halved. */
    readonly halvings: number
  }>
  readonly sent: () => void
  /** Records that the service asked for a pause of this many milliseconds. */
  readonly pause: (millis: number) => Effect.Effect<void>
  /** Records that the service answered 429 or 503. `halvings`: those before the slot of the refused request was taken. */
  readonly halveRate: (halvings: number) => Effect.Effect<void>
  readonly answered: Effect.Effect<void>
}

export const RequestBudget = Context.Reference<Option.Option<RequestBudget>>("prefstream/task/RequestBudget", {
  defaultValue: Option.none,
})
