/**
 * The accuracy of votes on items with a known answer. A vote is right if its choice has the same text as the known
 * answer. Votes with several completions at the top do not count.
 */
import type { JudgedItem } from "../../domain/Judgment.ts"
import type { GoldReport } from "../../domain/QualityReport.ts"
import type { Consensus } from "../votes/Consensus.ts"
import { allVotesOf, isDecided, type ItemVote, textOf } from "../votes/ItemVotes.ts"
import * as Interval from "../../domain/Interval.ts"

const maxWrong = 10

const kindsByResult = ({ judgments }: JudgedItem): ReadonlyArray<ReadonlySet<string | null>> =>
  judgments.map((judgment) => new Set(allVotesOf({ judgments: [judgment] }).map(({ kind = null }) => kind)))

const isRightChoice = ({ completions, gold }: JudgedItem, choice: number): boolean | undefined =>
  gold === undefined ? undefined : completions[choice] === completions[gold.best_completion_index]

/** Whether a vote is right. Undefined if no answer is known, or if the vote has several completions at the top. */
export const isRight = (item: JudgedItem, vote: ItemVote): boolean | undefined =>
  isDecided(vote) ? isRightChoice(item, vote.choice) : undefined

export const make = () => {
  let mixedIn = 0
  let inInput = 0
  const none = { results: 0, votes: 0, right: 0 }
  const all = { ...none }
  const kinds = new Map<string | null, typeof all>()
  let wrongItems = 0
  const wrong: Array<GoldReport["wrong"][number]> = []
  const kindOf = (name: string | null) => {
    const kind = kinds.get(name) ?? { ...none }
    kinds.set(name, kind)
    return kind
  }
  return {
    add: (item: JudgedItem, consensus: Consensus, hasChoice: boolean): void => {
      if (item.gold === undefined) return
      if (item.isCheck) mixedIn++
      else inInput++
      all.results += item.judgments.length
      for (const names of kindsByResult(item)) for (const name of names) kindOf(name).results++
      for (const vote of consensus.votes) {
        const right = isRight(item, vote)
        if (right === undefined) continue
        for (const counts of [all, kindOf(vote.kind ?? null)]) {
          counts.votes++
          if (right) counts.right++
        }
      }
      const choice = consensus.judgment.bestCompletionIndex
      if (hasChoice && isRightChoice(item, choice) === false && wrongItems++ < maxWrong) {
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
      const interval = Interval.wilsonInterval(right, votes)
      return {
        mixed_in: mixedIn,
        in_input: inInput,
        results: all.results,
        votes,
        right,
        kinds: [...kinds]
          .map(([kind, counts]) => ({ kind, ...counts }))
          .toSorted((a, b) => b.votes - a.votes || ((a.kind ?? "") < (b.kind ?? "") ? -1 : 1)),
        accuracy: votes === 0 ? null : right / votes,
        low: interval?.low ?? null,
        high: interval?.high ?? null,
        wrong_items: wrongItems,
        wrong,
      }
    },
  }
}
