/**
 * The position of the chosen completion in the order that the expert saw.
 *
 * Guarantees: counts each vote once, without those with several at the top or for a text that was shown twice. In
 * random order both halves are equally likely; the p-value is of the exact two-sided binomial test. The middle position
 * of an odd number is in neither half.
 */
import { Array as Arr } from "effect"
import type { Position } from "../../domain/QualityReport.ts"
import type { ItemVote } from "../votes/ItemVotes.ts"
import * as BinomialTest from "../stats/BinomialTest.ts"

export const make = () => {
  const byCompletions = new Map<number, Array<number>>()
  let firstHalf = 0
  let secondHalf = 0
  let known = 0
  return {
    /** @param completions how many there are */
    add: ({ position }: ItemVote, completions: number): void => {
      if (position === null) return
      known++
      let chosen = byCompletions.get(completions)
      if (chosen === undefined) byCompletions.set(completions, (chosen = Arr.makeBy(completions, () => 0)))
      chosen[position]!++
      const mirrored = completions - 1 - position
      if (position < mirrored) firstHalf++
      if (position > mirrored) secondHalf++
    },
    finish: (): Position => ({
      by_completions: [...byCompletions]
        .toSorted(([a], [b]) => a - b)
        .map(([completions, chosen]) => ({ completions, chosen })),
      first_half: firstHalf,
      second_half: secondHalf,
      p_value: firstHalf + secondHalf === 0 ? null : BinomialTest.twoSided(firstHalf, firstHalf + secondHalf, 0.5),
      known,
    }),
  }
}
