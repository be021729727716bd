/**
 * Estimates how reliable experts are, and computes the weights of votes. The estimate uses votes on the same items and
 * on items with a known answer (`stats/DawidSkene`). A known answer affects only the reliabilities. The choice on its
 * own item comes from the weighted votes.
 *
 * Guarantees: the same items in the same order give the same numbers. All votes without a name are treated as those of
 * one expert. Votes with several completions at the top do not count. Memory: 8 bytes per vote, and 12 per item with
 * several votes or a known answer.
 */
import { Effect, Stream } from "effect"
import type { JudgedItem } from "../../domain/Judgment.ts"
import { countDifferent, firstOfText } from "../../domain/CompletionTexts.ts"
import { isDecided, type ItemVote, votesOf } from "./ItemVotes.ts"
import * as DawidSkene from "../stats/DawidSkene.ts"

/** Estimated reliabilities of experts. */
export interface Reliabilities {
  /**
   * Probability that a vote of the expert is right, above 0 and below 1. Null if the expert has no vote on an item with
   * several votes or with a known answer.
   */
  readonly of: (expert: string | null) => number | null
  /**
   * For each completion, the probability that it is the best, or 0 for a repeated text. The probabilities add up to 1.
   */
  readonly probabilitiesOf: (item: JudgedItem, votes?: ReadonlyArray<ItemVote>) => ReadonlyArray<number>
}

export const make = () => {
  const numbers = new Map<string | null, number>()
  const model = DawidSkene.make()
  const numberOf = (expert: string | null): number => {
    const number = numbers.get(expert) ?? numbers.size
    numbers.set(expert, number)
    return number
  }
  return {
    /** Adds the votes on an item. Items with one vote are ignored, unless their answer is known. */
    add: ({ completions, gold }: Pick<JudgedItem, "completions" | "gold">, votes: ReadonlyArray<ItemVote>): void => {
      const decided = votes.filter(isDecided)
      if (decided.length < 2 && gold === undefined) return
      model.add(
        countDifferent(completions),
        decided.map(({ choice, expert }) => [numberOf(expert), choice]),
        gold === undefined ? undefined : firstOfText(completions)[gold.best_completion_index],
      )
    },
    fit: (): Reliabilities => {
      const { reliability, shared } = model.fit()
      const of = (expert: string | null): number | null => {
        const number = numbers.get(expert)
        return number === undefined || shared[number] === 0 ? null : (reliability[number] ?? null)
      }
      return { of, probabilitiesOf: (item, votes = votesOf(item)) => posterior(item.completions, votes, of) }
    },
  }
}

/**
 * Returns the probability that each completion is the best. A vote is right with the probability of the expert's
 * reliability. A wrong vote is equally likely for each other completion. If any completion has votes, completions
 * without votes have the probability 0, even if the experts are unreliable.
 */
const posterior = (
  completions: ReadonlyArray<string>,
  votes: ReadonlyArray<ItemVote>,
  reliabilityOf: (expert: string | null) => number | null,
): ReadonlyArray<number> => {
  const decided = votes.filter(isDecided)
  const voted = new Set(decided.map(({ choice }) => choice))
  const texts = new Set(firstOfText(completions))
  return DawidSkene.posterior(
    Array.from(completions.keys(), (index) => voted.has(index) || (voted.size === 0 && texts.has(index))),
    decided.flatMap(({ choice, expert }) => {
      const r = reliabilityOf(expert)
      return r === null ? [] : [[r, choice] as const]
    }),
    texts.size,
  )
}

/** Estimates the reliabilities from a stream of items. */
export const of = Effect.fnUntraced(function* <E, R>(items: Stream.Stream<JudgedItem, E, R>) {
  const gathered = make()
  yield* Stream.runForEach(items, (item) => Effect.sync(() => gathered.add(item, votesOf(item))))
  return gathered.fit()
})
