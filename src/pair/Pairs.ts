/**
 * Pairs of a judgment's completions as rows of the dataset: what all strategies share.
 *
 * Guarantees: pure; pairs stand in the order in which they are named. Completions that are
 * blank, or have the same text, make no pair. The pairs of an item share a weight of 1, since
 * they are not independent: as single examples, pairs of one prompt overfit (Ouyang et al.,
 * 2022, "Training language models to follow instructions with human feedback", 3.5).
 */
import { Option, Schema } from "effect"
import type { Judgment } from "../domain/Judgment.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { Ranking } from "../domain/Vote.ts"

/** How a judgment becomes pairs, which stand one after another in the dataset. */
export interface PairStrategy {
  (judgment: Judgment): ReadonlyArray<PreferencePair>
  /** What the manifest says of it, such as `{ strategy: "best-against-one", seed: 0 }`. */
  readonly settings?: StrategySettings
}

export interface StrategySettings {
  readonly strategy: string
  readonly [setting: string]: string | number | boolean
}

/** A strategy with what the manifest is to say of it. */
export const named = (
  settings: StrategySettings,
  strategy: (judgment: Judgment) => ReadonlyArray<PreferencePair>,
): PairStrategy => Object.assign((judgment: Judgment) => strategy(judgment), { settings })

/** What is known of a strategy: its name, where it says no more. */
export const settingsOf = (strategy: PairStrategy): StrategySettings =>
  strategy.settings ?? { strategy: strategy.name === "" ? "custom" : strategy.name }

/** Zero-based indices of the completions. */
export type IndexPair = readonly [chosen: number, rejected: number]

const asRanking = Schema.decodeUnknownOption(Ranking)

/**
 * The experts' ranking as groups of indices, best first; none where the service gives none, or
 * one that does not fit: an index twice, or of no completion, or the best one not at the top.
 */
export const rankingOf = ({ annotations, bestCompletionIndex, completions }: Judgment): Option.Option<Ranking> =>
  Option.filter(asRanking(annotations["ranking"]), (groups) => {
    const indices = groups.flat()
    return (
      new Set(indices).size === indices.length &&
      indices.every((index) => index < completions.length) &&
      groups[0]?.includes(bestCompletionIndex) === true
    )
  })

/** The indices that the best one is better than: all but those that are ranked beside it. */
export const restOf = (judgment: Judgment): ReadonlyArray<number> => {
  const top: ReadonlyArray<number> = Option.getOrElse(rankingOf(judgment), (): Ranking => [])[0] ?? []
  return judgment.completions.flatMap((_, index) =>
    index === judgment.bestCompletionIndex || top.includes(index) ? [] : [index],
  )
}

/** Whether two completions can be a pair. */
export const differ = ({ completions }: Judgment, [chosen, rejected]: IndexPair): boolean => {
  const [a, b] = [completions[chosen]!, completions[rejected]!]
  return a !== b && a.trim() !== "" && b.trim() !== ""
}

/** The rows of those pairs that differ. A blank rationale counts as none. */
export const make = (judgment: Judgment, indices: ReadonlyArray<IndexPair>): ReadonlyArray<PreferencePair> => {
  const { annotations, completions, itemId, metadata, models, prompt, taskId } = judgment
  const rationale = annotations.rationale?.trim() === "" ? null : (annotations.rationale ?? null)
  const metadataText = metadata === undefined ? null : JSON.stringify(metadata)
  const pairs = indices.filter((pair) => differ(judgment, pair))
  return pairs.map(([chosen, rejected]) => ({
    prompt,
    chosen: completions[chosen]!,
    rejected: completions[rejected]!,
    rationale,
    item_id: itemId,
    task_id: taskId,
    chosen_index: chosen,
    rejected_index: rejected,
    chosen_model: models?.[chosen] ?? null,
    rejected_model: models?.[rejected] ?? null,
    weight: 1 / pairs.length,
    votes: 1,
    agreement: null,
    vote_margin: null,
    metadata: metadataText,
  }))
}
