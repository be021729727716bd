/**
 * How often votes are right where the answer is known.
 *
 * Guarantees: a vote is right where the text that it chose is the text of the right answer, which may stand
 * there twice. The interval is Wilson's, of 95%.
 */
import type { JudgedItem } from "../../domain/JudgedItem.ts"
import type { GoldReport } from "../../domain/QualityReport.ts"
import type { Consensus } from "../Consensus.ts"
import type { ItemVote } from "../ItemVotes.ts"
import { textOf } from "../ItemVotes.ts"
import * as BinomialTest from "../stats/BinomialTest.ts"

const wrongShown = 10

/** Whether a vote is right; none where the answer is not known. */
export const isRight = ({ completions, gold }: JudgedItem, { choice }: Pick<ItemVote, "choice">): boolean | undefined =>
  gold === undefined ? undefined : completions[choice] === completions[gold.best_completion_index]

export const make = () => {
  let mixedIn = 0
  let inInput = 0
  let votes = 0
  let right = 0
  const wrong: Array<GoldReport["wrong"][number]> = []
  return {
    add: (item: JudgedItem, consensus: Consensus): void => {
      if (item.gold === undefined) return
      if (item.isCheck) mixedIn++
      else inInput++
      votes += consensus.votes.length
      right += consensus.votes.filter((vote) => isRight(item, vote) === true).length
      const choice = consensus.judgment.bestCompletionIndex
      if (wrong.length < wrongShown && isRight(item, { choice }) === false) {
        wrong.push({
          item_id: item.itemId,
          prompt: item.prompt,
          expected: item.completions[item.gold.best_completion_index]!,
          chosen: item.completions[choice]!,
          rationale: textOf(consensus.judgment.annotations.rationale),
        })
      }
    },
    finish: (): GoldReport => {
      const interval = BinomialTest.wilsonInterval(right, votes)
      return {
        mixed_in: mixedIn,
        in_input: inInput,
        votes,
        right,
        accuracy: votes === 0 ? null : right / votes,
        low: interval?.low ?? null,
        high: interval?.high ?? null,
        wrong,
      }
    },
  }
}
