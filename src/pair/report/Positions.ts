/**
 * The position of the chosen completion in the order that the expert saw.
 *
 * Guarantees: positions are counted in votes, without those with several at the top or for a text that was shown twice.
 * Votes of one item prefer the same completion, and so are not independent: halves are counted in items, each once, in
 * the half that got more of its votes. Items with as many votes in either half are in neither, nor is the middle
 * position of an odd number. In random order both halves are equally likely; the p-value is of the exact two-sided
 * binomial test.
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
    /**
     * @param votes of one item
     * @param completions how many there are
     */
    add: (votes: ReadonlyArray<ItemVote>, completions: number): void => {
      let lead = 0
      for (const { position } of votes) {
        if (position === null) continue
        known++
        let chosen = byCompletions.get(completions)
        if (chosen === undefined) byCompletions.set(completions, (chosen = Arr.makeBy(completions, () => 0)))
        chosen[position]!++
        lead += Math.sign(completions - 1 - 2 * position)
      }
      if (lead > 0) firstHalf++
      if (lead < 0) secondHalf++
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
