/**
 * Estimates how reliable experts are, from their votes on the same items and on items with a known answer
 * (`stats/DawidSkene`), and computes the weights of votes. A known answer only affects the reliabilities; on its own
 * item, the weighted votes decide the choice.
 *
 * Guarantees: the same items in the same order give the same numbers. Votes without a name count as the votes of one
 * expert. Votes with several completions at the top do not count. Memory: 8 bytes per vote, and 12 per item with
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
  /** For each completion, the probability that it is the best, adding up to 1; 0 for a repeated text. */
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
 * The probability that each completion is the best. A vote is right with a probability that is the expert's
 * reliability; otherwise it is equally likely to be for each other completion. If any completion has votes, completions
 * without votes have the probability 0, however unreliable the experts are.
 */
const posterior = (
  completions: ReadonlyArray<string>,
  votes: ReadonlyArray<ItemVote>,
  reliabilityOf: (expert: string | null) => number | null,
): ReadonlyArray<number> => {
  const decided = votes.filter(isDecided)
  const voted = new Set(decided.map(({ choice }) => choice))
  const texts = new Set(firstOfText(completions))
  const scores = Array.from(completions.keys(), (index) =>
    voted.has(index) || (voted.size === 0 && texts.has(index)) ? 0 : -Infinity,
  )
  for (const { choice, expert } of decided) {
    const r = reliabilityOf(expert)
    if (r !== null) scores[choice]! += Math.log(r / (1 - r)) + Math.log(texts.size - 1)
  }
  const top = Math.max(...scores)
  const weights = scores.map((score) => Math.exp(score - top))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}

/** Estimates the reliabilities from a stream of items. */
export const of = Effect.fnUntraced(function* <E, R>(items: Stream.Stream<JudgedItem, E, R>) {
  const gathered = make()
  yield* Stream.runForEach(items, (item) => Effect.sync(() => gathered.add(item, votesOf(item))))
  return gathered.fit()
})
