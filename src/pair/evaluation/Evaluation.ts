/**
 * Compares the scores of a reward model with a dataset, in constant memory. An item's pairs must be consecutive.
 * - Accuracy is the share of pairs whose chosen completion has the higher score. Equal scores count as half.
 * - `votes`: how often a vote agrees with the scores, and how often two votes on a pair agree. Ties are left out.
 * - `calibration` compares the accuracy with the probability that the scores predict. This probability is the logistic
 *   function of the difference of the two scores (Bradley and Terry, 1952).
 * - `calibration.error` is the expected calibration error (Naeini, Cooper, and Hauskrecht, 2015).
 */
import { Effect, Stream } from "effect"
import type { AuditEstimate } from "../../domain/Audit.ts"
import type { Disagreement, Evaluation, EvaluationSlice } from "../../domain/Evaluation.ts"
import * as Interval from "../../domain/Interval.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import { charactersOf } from "../../domain/Text.ts"

export interface PairScores {
  readonly chosen: number
  readonly rejected: number
}

export type ScoredPair = readonly [pair: PreferencePair, scores: PairScores | undefined]

export interface EvaluationOptions<E = never, R = never> {
  readonly by?: { readonly field: string; readonly groupOf: (metadata: unknown) => string | null } | undefined
  readonly disagreements?: number | undefined
  /**
   * Called for each item that has a disputed pair. In a disputed pair, the rejected completion has the higher score.
   * `difference` is the maximum, over the item's disputed pairs, of the rejected score minus the chosen score.
   */
  readonly onDisputed?:
    | ((pairs: ReadonlyArray<PreferencePair>, difference: number) => Effect.Effect<void, E, R>)
    | undefined
}

export const defaultDisagreements = 100

/** Lengths are similar if the longer completion has at most 1.1 times as many characters as the shorter one. */
const similarLength = 1.1
const maxValues = 100
const bins = 5

const winOf = (a: number, b: number): number => (a > b ? 1 : a < b ? 0 : 0.5)

const estimate = (sum: number, items: number): AuditEstimate => ({
  items,
  value: sum / items,
  ...Interval.wilsonInterval(sum, items)!,
})

const makeMeans = () => {
  let [items, accuracy, longer] = [0, 0, 0]
  return {
    add: (wins: ReadonlyArray<readonly [accuracy: number, longer: number]>): void => {
      items++
      for (const win of wins) {
        accuracy += win[0] / wins.length
        longer += win[1] / wins.length
      }
    },
    items: () => items,
    finish: () => (items === 0 ? null : { accuracy: estimate(accuracy, items), longer: estimate(longer, items) }),
  }
}

const strengthOf = (strength: number | null): string => (strength === null ? "none" : String(Math.round(strength)))

const agreementOf = ({ agreement, votes }: PreferencePair): string =>
  votes < 2 || agreement === null
    ? "one vote"
    : agreement === 1
      ? "100%"
      : agreement >= 0.75
        ? "75% to 99%"
        : agreement >= 0.5
          ? "50% to 74%"
          : "below 50%"

const lengthOf = (chosen: number, rejected: number): string =>
  Math.max(chosen, rejected) <= similarLength * Math.min(chosen, rejected)
    ? "similar"
    : chosen > rejected
      ? "chosen is longer"
      : "chosen is shorter"

const modelsOf = ({ chosen_model, rejected_model }: PreferencePair): string | undefined =>
  chosen_model === null || rejected_model === null || chosen_model === rejected_model
    ? undefined
    : [chosen_model, rejected_model].toSorted().join(" / ")

const slicesOf = (pair: PreferencePair, lengths: readonly [number, number], by: EvaluationOptions["by"]) => {
  const slices: Array<readonly [by: string, value: string | null]> = [
    ["length", lengthOf(...lengths)],
    ["strength", strengthOf(pair.strength)],
    ["agreement", agreementOf(pair)],
  ]
  const models = modelsOf(pair)
  if (models !== undefined) slices.push(["models", models])
  if (by !== undefined)
    slices.push([`metadata.${by.field}`, by.groupOf(pair.metadata === null ? null : JSON.parse(pair.metadata))])
  return slices
}

const makeCalibration = () => {
  const sums = Array.from({ length: bins }, () => ({ pairs: 0, predicted: 0, observed: 0 }))
  let [pairs, loss] = [0, 0]
  return {
    add: ({ chosen, rejected }: PairScores): void => {
      const probability = 1 / (1 + Math.exp(-Math.abs(chosen - rejected)))
      const bin = sums[Math.min(bins - 1, Math.floor((probability - 0.5) * 2 * bins))]!
      bin.pairs++
      bin.predicted += probability
      bin.observed += winOf(chosen, rejected)
      pairs++
      // This form of log(1 + exp(−difference)) does not overflow.
      const difference = chosen - rejected
      loss += Math.max(-difference, 0) + Math.log1p(Math.exp(-Math.abs(difference)))
    },
    finish: (): Evaluation["calibration"] => {
      const error = sums.reduce((sum, { observed, predicted }) => sum + Math.abs(observed - predicted), 0)
      return {
        bins: sums.flatMap((bin, i) =>
          bin.pairs === 0
            ? []
            : [
                {
                  from: 0.5 + i / (2 * bins),
                  pairs: bin.pairs,
                  predicted: bin.predicted / bin.pairs,
                  observed: bin.observed / bin.pairs,
                },
              ],
        ),
        error: pairs === 0 ? null : error / pairs,
        log_loss: pairs === 0 ? null : loss / pairs,
      }
    },
  }
}

const makeGreatest = (most: number) => {
  let greatest: Array<Disagreement> = []
  const shorten = () => (greatest = greatest.toSorted((a, b) => b.difference - a.difference).slice(0, most))
  return {
    add: (disagreement: Disagreement): void => {
      greatest.push(disagreement)
      if (greatest.length >= 2 * most + 1_000) shorten()
    },
    finish: (): ReadonlyArray<Disagreement> => shorten(),
  }
}

const makeVotes = () => {
  let [items, scores, people, unknown] = [0, 0, 0, 0]
  return {
    add: (pairs: ReadonlyArray<readonly [PreferencePair, PairScores]>): void => {
      unknown += pairs.filter(([{ decided_votes, votes }]) => votes > 1 && decided_votes === null).length
      const counted = pairs.flatMap(([{ decided_votes, vote_margin: margin, votes }, { chosen, rejected }]) =>
        margin === null || votes < 2 || decided_votes !== votes
          ? []
          : [
              {
                // Probability that two votes drawn from the pair's votes are for the same completion. A share of
                // `(1 + margin) / 2` of the votes is for the chosen completion.
                people: ((votes * (1 + margin * margin)) / 2 - 1) / (votes - 1),
                // Probability that a vote drawn from the pair's votes is for the completion with the higher score.
                scores: 0.5 + (winOf(chosen, rejected) - 0.5) * margin,
              },
            ],
      )
      if (counted.length === 0) return
      items++
      for (const each of counted) {
        people += each.people / counted.length
        scores += each.scores / counted.length
      }
    },
    finish: (): Evaluation["votes"] =>
      items === 0 ? null : { scores: estimate(scores, items), people: estimate(people, items) },
    unknown: () => unknown,
  }
}

export const of = Effect.fnUntraced(function* <E, R, E2 = never, R2 = never>(
  scored: Stream.Stream<ScoredPair, E, R>,
  { by, disagreements: most = defaultDisagreements, onDisputed }: EvaluationOptions<E2, R2> = {},
) {
  let [pairs, unscored, ties] = [0, 0, 0]
  const overall = makeMeans()
  const slices = new Map<string, Map<string | null, ReturnType<typeof makeMeans>>>()
  const calibration = makeCalibration()
  const votes = makeVotes()
  const greatest = makeGreatest(most)
  const disputed = { pairs: 0, items: 0, with_tools: 0 }

  const meansOf = (kind: string, value: string | null) => {
    const values = slices.get(kind) ?? new Map<string | null, ReturnType<typeof makeMeans>>()
    slices.set(kind, values)
    const key = values.has(value) || values.size < maxValues ? value : "(other)"
    const means = values.get(key) ?? makeMeans()
    values.set(key, means)
    return means
  }

  const addItem = (item: ReadonlyArray<ScoredPair>): number => {
    const all = item.flatMap(([pair, scores]) => (scores === undefined ? [] : [[pair, scores] as const]))
    unscored += item.length - all.length
    if (all.length === 0) return 0
    pairs += all.length
    let most = 0
    const wins: Array<readonly [number, number]> = []
    const winsOfSlice = new Map<ReturnType<typeof makeMeans>, Array<readonly [number, number]>>()
    for (const [pair, scores] of all) {
      const lengths = [charactersOf(pair.chosen), charactersOf(pair.rejected)] as const
      const win = [winOf(scores.chosen, scores.rejected), winOf(...lengths)] as const
      if (scores.chosen === scores.rejected) ties++
      wins.push(win)
      for (const [kind, value] of slicesOf(pair, lengths, by)) {
        const means = meansOf(kind, value)
        winsOfSlice.set(means, [...(winsOfSlice.get(means) ?? []), win])
      }
      calibration.add(scores)
      const { agreement, chosen_index, item_id, rejected_index } = pair
      const difference = scores.rejected - scores.chosen
      if (difference <= 0) continue
      greatest.add({ item_id, chosen_index, rejected_index, difference, agreement })
      disputed.pairs++
      most = Math.max(most, difference)
    }
    if (most > 0) disputed.items++
    if (most > 0 && item[0]![0].tools !== undefined) disputed.with_tools++
    overall.add(wins)
    votes.add(all)
    for (const [means, wins] of winsOfSlice) means.add(wins)
    return most
  }

  yield* scored.pipe(
    Stream.groupAdjacentBy(([{ item_id }]) => item_id),
    Stream.runForEach(([, item]) =>
      Effect.suspend(() => {
        const difference = addItem(item)
        const pairs = item.map(([pair]) => pair)
        return difference > 0 && onDisputed !== undefined ? onDisputed(pairs, difference) : Effect.void
      }),
    ),
  )

  const evaluation: Evaluation = {
    pairs,
    items: overall.items(),
    unscored,
    ties,
    overall: overall.finish(),
    votes: votes.finish(),
    ...(votes.unknown() > 0 && { unknown_ties: votes.unknown() }),
    slices: [...slices].flatMap(([by, values]) =>
      (values.size === 1 && !by.startsWith("metadata.") ? [] : [...values])
        .flatMap(([value, means]): ReadonlyArray<EvaluationSlice> => {
          const shares = means.finish()
          return shares === null ? [] : [{ by, value, ...shares }]
        })
        .toSorted((a, b) => b.accuracy.items - a.accuracy.items || (String(a.value) < String(b.value) ? -1 : 1)),
    ),
    calibration: calibration.finish(),
    disputed,
    disagreements: greatest.finish(),
  }
  return evaluation
})
