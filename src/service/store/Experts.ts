/**
 * Who judges: people who were invited, and automatic experts.
 *
 * Guarantees: what was counted (judged, agreed with the majority, right on gold items) is
 * kept with the votes, in the same commit; listing reads no vote.
 */
import { Context, type Effect, type Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"

export interface ExpertRow {
  /** `expert_…` for a person, the name for an automatic expert. */
  readonly expertId: string
  readonly name: string
  readonly kind: "person" | "automatic"
  readonly active: boolean
  readonly createdAt: number
  readonly lastSeenAt: number | null
  readonly judged: number
  readonly agreed: number
  /** Of how many items with several votes. */
  readonly compared: number
  readonly goldRight: number
  readonly goldJudged: number
}

export class Experts extends Context.Service<
  Experts,
  {
    /** A person. */
    readonly create: (name: string) => Effect.Effect<ExpertRow, SqlError>
    /** An automatic expert, made where it is not there. */
    readonly ensure: (name: string) => Effect.Effect<ExpertRow, SqlError>
    readonly list: Effect.Effect<ReadonlyArray<ExpertRow>, SqlError>
    readonly find: (expertId: string) => Effect.Effect<Option.Option<ExpertRow>, SqlError>
    /** None where there is no such expert. What one who is not active holds returns to the queue. */
    readonly setActive: (expertId: string, active: boolean) => Effect.Effect<Option.Option<ExpertRow>, SqlError>
    /** Remembers that the expert was here; written once a minute at the most. */
    readonly touch: (expertId: string) => Effect.Effect<void, SqlError>
  }
>()("prefstream/service/Experts") {}
