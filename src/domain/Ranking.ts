/** Experts' rankings of completions: groups, best first. */
import { Schema } from "effect"

export const Index = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const rankingText =
  "All completions as groups of indices, best first: in `[[2],[0,1]]`, 2 is best, and 0 and 1 are equally good."

export const Ranking = Schema.Array(Schema.NonEmptyArray(Index))
export type Ranking = typeof Ranking.Type
