/**
 * Counts how often the completion shown at each position was chosen. A binomial test shows whether experts prefer one
 * half of the positions. Each item counts once, for the half with more votes.
 */
import { Array as Arr } from "effect"
import type { Position } from "../../domain/QualityReport.ts"
import type { ItemVote } from "../votes/ItemVotes.ts"
import * as BinomialTest from "../stats/BinomialTest.ts"

export const make = () => {
  const byCompletions = new Map<number, Array<number>>()
  let firstHalf = 0
  let secondHalf = 0
  let votesWithPosition = 0
  return {
    add: (votes: ReadonlyArray<ItemVote>, completions: number): void => {
      let balance = 0
      for (const { position } of votes) {
        if (position === null) continue
        votesWithPosition++
        let chosen = byCompletions.get(completions)
        if (chosen === undefined) byCompletions.set(completions, (chosen = Arr.makeBy(completions, () => 0)))
        chosen[position]!++
        balance += Math.sign(completions - 1 - 2 * position)
      }
      if (balance > 0) firstHalf++
      if (balance < 0) secondHalf++
    },
    finish: (): Position => ({
      by_completions: [...byCompletions]
        .toSorted(([a], [b]) => a - b)
        .map(([completions, chosen]) => ({ completions, chosen })),
      first_half: firstHalf,
      second_half: secondHalf,
      p_value: firstHalf + secondHalf === 0 ? null : BinomialTest.twoSided(firstHalf, firstHalf + secondHalf, 0.5),
      known: votesWithPosition,
    }),
  }
}
