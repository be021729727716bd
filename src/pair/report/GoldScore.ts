/**
 * Accuracy of votes on items with a known answer.
 *
 * Guarantees: a vote is right if its text is that of the answer. Votes with several at the top don't count. The
 * interval is the 95% Wilson score interval.
 */
import type { JudgedItem } from "../../domain/JudgedItem.ts"
import type { GoldReport } from "../../domain/QualityReport.ts"
import type { Consensus } from "../votes/Consensus.ts"
import { isDecided, type ItemVote, textOf } from "../votes/ItemVotes.ts"
import * as BinomialTest from "../stats/BinomialTest.ts"

const maxWrong = 10

/** Whether a choice is right; none where the answer is not known. */
const isRightChoice = ({ completions, gold }: JudgedItem, choice: number): boolean | undefined =>
  gold === undefined ? undefined : completions[choice] === completions[gold.best_completion_index]

/** Whether a vote is right; none where the answer is not known, or the vote prefers several alike. */
export const isRight = (item: JudgedItem, vote: ItemVote): boolean | undefined =>
  isDecided(vote) ? isRightChoice(item, vote.choice) : undefined

export const make = () => {
  let mixedIn = 0
  let inInput = 0
  const all = { votes: 0, right: 0 }
  const kinds = new Map<string | null, { votes: number; right: number }>()
  const wrong: Array<GoldReport["wrong"][number]> = []
  return {
    add: (item: JudgedItem, consensus: Consensus): void => {
      if (item.gold === undefined) return
      if (item.isCheck) mixedIn++
      else inInput++
      for (const vote of consensus.votes) {
        const said = isRight(item, vote)
        if (said === undefined) continue
        const { kind: name = null } = vote
        const kind = kinds.get(name) ?? { votes: 0, right: 0 }
        kinds.set(name, kind)
        for (const counts of [all, kind]) {
          counts.votes++
          if (said) counts.right++
        }
      }
      const choice = consensus.judgment.bestCompletionIndex
      if (wrong.length < maxWrong && isRightChoice(item, choice) === false) {
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
      const { right, votes } = all
      const interval = BinomialTest.wilsonInterval(right, votes)
      return {
        mixed_in: mixedIn,
        in_input: inInput,
        votes,
        right,
        kinds: [...kinds]
          .map(([kind, counts]) => ({ kind, ...counts }))
          .toSorted((a, b) => b.votes - a.votes || ((a.kind ?? "") < (b.kind ?? "") ? -1 : 1)),
        accuracy: votes === 0 ? null : right / votes,
        low: interval?.low ?? null,
        high: interval?.high ?? null,
        wrong,
      }
    },
  }
}
