/**
 * Pairs of a judgment's completions as rows of the dataset: what all strategies share.
 *
 * Guarantees: pure; pairs stand in the order in which they are named. Completions that are
 * blank, or have the same text, make no pair, and two texts make one. The pairs of an item share a weight of 1, since
 * they are not independent: as single examples, pairs of one prompt overfit (Ouyang et al.,
 * 2022, "Training language models to follow instructions with human feedback", 3.5).
 */
import { Option, Schema } from "effect"
import { flagsIn } from "../domain/Flag.ts"
import type { Judgment } from "../domain/Judgment.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { firstOfText, rankTexts } from "../domain/Tally.ts"
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

/** For each completion, the one that stands for its text: the best one, or else the first. */
const representatives = ({ bestCompletionIndex, completions }: Judgment): ReadonlyArray<number> => {
  const first = firstOfText(completions)
  return first.map((index) => (index === first[bestCompletionIndex] ? bestCompletionIndex : index))
}

/**
 * The experts' ranking as groups of indices, best first, one for each text, which stands where the best completion
 * that has it was ranked; none where the service gives none, or one that does not fit: an index twice, or of no
 * completion, or the best one not at the top.
 */
export const rankingOf = (judgment: Judgment): Option.Option<Ranking> =>
  asRanking(judgment.annotations["ranking"]).pipe(
    Option.filter((groups) => {
      const indices = groups.flat()
      return (
        new Set(indices).size === indices.length &&
        indices.every((index) => index < judgment.completions.length) &&
        groups[0]?.includes(judgment.bestCompletionIndex) === true
      )
    }),
    Option.map((groups) => rankTexts(groups, representatives(judgment))),
  )

/** The indices that the best one is better than, one for each text: all but those that are ranked beside it. */
export const restOf = (judgment: Judgment): ReadonlyArray<number> => {
  const top: ReadonlyArray<number> = Option.getOrElse(rankingOf(judgment), (): Ranking => [])[0] ?? []
  return [...new Set(representatives(judgment))].filter(
    (index) => index !== judgment.bestCompletionIndex && !top.includes(index),
  )
}

/** Whether two completions can be a pair. */
export const differ = ({ completions }: Judgment, [chosen, rejected]: IndexPair): boolean => {
  const [a, b] = [completions[chosen]!, completions[rejected]!]
  return a !== b && a.trim() !== "" && b.trim() !== ""
}

/** The rows of those pairs that differ, each two texts once. A blank rationale counts as none. */
export const make = (judgment: Judgment, indices: ReadonlyArray<IndexPair>): ReadonlyArray<PreferencePair> => {
  const { annotations, completions, itemId, metadata, models, prompt, taskId } = judgment
  const rationale = annotations.rationale?.trim() === "" ? null : (annotations.rationale ?? null)
  const flags = flagsIn(annotations)
  const flagsText = flags.length === 0 ? null : JSON.stringify(flags)
  const metadataText = metadata === undefined ? null : JSON.stringify(metadata)
  const first = firstOfText(completions)
  const seen = new Set<string>()
  const pairs = indices.filter((pair) => {
    const texts = pair.map((index) => first[index]).join()
    return differ(judgment, pair) && !seen.has(texts) && seen.add(texts)
  })
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
    flags: flagsText,
    metadata: metadataText,
  }))
}
