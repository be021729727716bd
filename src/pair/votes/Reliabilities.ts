/**
 * Estimates experts' reliabilities (`stats/DawidSkene`) from items that have several votes or a known answer. Votes
 * without a name count as votes of one expert. Ties do not count. If judges vote as a jury (`Jury`), a judge's
 * reliability is derived from the reliability of the juries. Memory: at most 8 bytes per vote, and 12 bytes per item.
 */
import { Effect, Option, Stream } from "effect"
import type { JudgedItem } from "../../domain/Judgment.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import { countDifferent, firstOfText } from "../../domain/CompletionTexts.ts"
import { isDecided, type ItemVote, votesOf } from "./ItemVotes.ts"
import type { Aggregation } from "./Consensus.ts"
import * as Jury from "./Jury.ts"
import * as DawidSkene from "../stats/DawidSkene.ts"

/** Estimated reliabilities of experts. */
export interface Reliabilities {
  /**
   * Probability that a vote of the expert is right, above 0 and below 1. The estimate needs an item that has several
   * votes or a known answer. Null if the expert voted on no such item.
   */
  readonly of: (expert: string | null) => number | null
  /** The probability that each completion is the best; 0 for a repeated text. The sum is 1. */
  readonly probabilitiesOf: (item: JudgedItem, votes?: ReadonlyArray<ItemVote>) => ReadonlyArray<number>
}

/** Options of an estimate. */
export interface ReliabilityOptions {
  /** Whether judges' votes on an item count as one vote. Judges often make the same error. Default: false. */
  readonly jury?: boolean | undefined
}

interface JudgeTally {
  readonly parties: number
  votes: number
  forChoice: number
  others: number
}

export const make = ({ jury = false }: ReliabilityOptions = {}) => {
  const numbers = new Map<string | null, number>()
  const judges = new Map<string | null, Map<string | null, JudgeTally>>()
  const model = DawidSkene.make()
  const numberOf = (expert: string | null): number => {
    const number = numbers.get(expert) ?? numbers.size
    numbers.set(expert, number)
    return number
  }
  const tallyJudges = (votes: ReadonlyArray<ItemVote>, texts: number, jury: ReadonlyArray<Jury.CountedVote>) => {
    for (const vote of votes) {
      if (!Jury.isJudge(vote) || !isDecided(vote)) continue
      const tallies = judges.get(vote.expert) ?? new Map<string | null, JudgeTally>()
      judges.set(vote.expert, tallies)
      const own = jury.filter(({ choice }) => choice === vote.choice)
      for (const { expert } of own.length > 0 ? own : jury) {
        const tally = tallies.get(expert) ?? { parties: jury.length, votes: 0, forChoice: 0, others: 0 }
        tallies.set(expert, tally)
        tally.votes += own.length > 0 ? 1 : 1 / jury.length
        if (own.length > 0) tally.forChoice++
        else tally.others += 1 / (texts - 1) / jury.length
      }
    }
  }

  return {
    add: ({ completions, gold }: Pick<JudgedItem, "completions" | "gold">, votes: ReadonlyArray<ItemVote>): void => {
      const counted = Jury.counted(votes, jury)
      const texts = countDifferent(completions)
      const ofJury = counted.filter((vote) => vote.jury !== undefined)
      tallyJudges(votes, texts, ofJury)
      if (counted.length - Math.max(0, ofJury.length - 1) < 2 && gold === undefined) return
      model.add(
        texts,
        counted.map(({ choice, expert, jury }) => [numberOf(expert), choice, jury?.parties]),
        gold === undefined ? undefined : firstOfText(completions)[gold.best_completion_index],
      )
    },
    fit: (): Reliabilities => {
      const { reliability, shared } = model.fit()
      const estimateOf = (expert: string | null): number | null => {
        const number = numbers.get(expert)
        return number === undefined || shared[number] === 0 ? null : (reliability[number] ?? null)
      }
      const ofCounted = (expert: string | null, parties?: number) =>
        estimateOf(expert) ?? (jury ? DawidSkene.priorOf(parties) : null)
      const ofJudge = (tallies: ReadonlyMap<string | null, JudgeTally>): number => {
        let [right, all] = [0, 0]
        for (const [name, { forChoice, others, parties, votes }] of tallies) {
          const r = estimateOf(name) ?? DawidSkene.priorOf(parties)
          right += r * forChoice + (1 - r) * others
          all += votes
        }
        return right / all
      }
      return {
        of: (expert) => {
          const tallies = judges.get(expert)
          return tallies === undefined ? estimateOf(expert) : ofJudge(tallies)
        },
        probabilitiesOf: (item, votes = votesOf(item)) =>
          posterior(item.completions, votes, Jury.counted(votes, jury), ofCounted),
      }
    },
  }
}

const posterior = (
  completions: ReadonlyArray<string>,
  votes: ReadonlyArray<ItemVote>,
  counted: ReadonlyArray<Jury.CountedVote>,
  reliabilityOf: (expert: string | null, parties?: number) => number | null,
): ReadonlyArray<number> => {
  const voted = new Set(votes.filter(isDecided).map(({ choice }) => choice))
  const texts = new Set(firstOfText(completions))
  return DawidSkene.posterior(
    Array.from(completions.keys(), (index) => voted.has(index) || (voted.size === 0 && texts.has(index))),
    counted.flatMap(({ choice, expert, jury }) => {
      const r = reliabilityOf(expert, jury?.parties)
      return r === null ? [] : [[r, choice, jury?.parties] as const]
    }),
    texts.size,
  )
}

/** Estimates the reliabilities from a stream of items. */
export const of = Effect.fnUntraced(function* <E, R>(
  items: Stream.Stream<JudgedItem, E, R>,
  options: ReliabilityOptions = {},
) {
  yield* Kinds.checkStream(items, options, { jury: Kinds.flag })
  const gathered = make(options)
  yield* Stream.runForEach(items, (item) => Effect.sync(() => gathered.add(item, votesOf(item))))
  return gathered.fit()
})

export const forAggregation = <E, R>(aggregation: Aggregation, items: Stream.Stream<JudgedItem, E, R>) =>
  aggregation === "majority"
    ? Effect.succeed(Option.none<Reliabilities>())
    : Effect.asSome(of(items, { jury: aggregation === "jury" }))
