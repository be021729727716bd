/**
 * Strategies that turn a judgment into pairs. Blank or equal completions make no pair. The same two texts make at most
 * one pair. Each of an item's n pairs has the weight 1/n, because they are not independent (Ouyang et al., 2022,
 * "Training language models to follow instructions with human feedback", 3.5).
 */
import { Array as Arr, Option, Order } from "effect"
import * as Assessment from "../domain/Assessment.ts"
import { flagsIn } from "../domain/Flag.ts"
import type { Judgment } from "../domain/Judgment.ts"
import type { Prompt } from "../domain/Message.ts"
import * as PairBytes from "../domain/PairBytes.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { completionsOf } from "../domain/PromptItem.ts"
import { firstOfText, isBlankAt, of as bytesOf } from "../domain/CompletionTexts.ts"
import type { Ranking } from "../domain/Ranking.ts"
import * as Sha256 from "../node/Sha256.ts"
import { rankingOf, representatives } from "./votes/Ranking.ts"

/** Turns a judgment into its pairs. They are consecutive in the dataset. */
export interface PairStrategy {
  (judgment: Judgment): ReadonlyArray<PreferencePair>
  /** The settings in the manifest, such as `{ strategy: "best-against-one", seed: 0 }`. */
  readonly settings?: StrategySettings
}

/** The settings of a strategy in the manifest, as JSON. */
export interface StrategySettings {
  /** The strategy's name, such as `best-against-rest`; `custom` if the function has no name. */
  readonly strategy: string
  readonly [setting: string]: string | number | boolean
}

/** Makes a strategy with settings for the manifest. */
export const named = (
  settings: StrategySettings,
  strategy: (judgment: Judgment) => ReadonlyArray<PreferencePair>,
): PairStrategy => Object.assign((judgment: Judgment) => strategy(judgment), { settings })

const builtIn = new WeakSet<PairStrategy>()

const ownNamed: typeof named = (settings, strategy) => {
  const own = named(settings, strategy)
  builtIn.add(own)
  return own
}

/** A built-in strategy makes the same pairs from the same settings. A custom strategy may not: its code can change. */
export const isBuiltIn = (strategy: PairStrategy): boolean => builtIn.has(strategy)

export const settingsOf = (strategy: PairStrategy): StrategySettings =>
  strategy.settings ?? { strategy: strategy.name === "" ? "custom" : strategy.name }

export type IndexPair = readonly [chosen: number, rejected: number]

export const restOf = (judgment: Judgment): ReadonlyArray<number> => {
  const top: ReadonlyArray<number> = Option.getOrElse(rankingOf(judgment), (): Ranking => [])[0] ?? []
  return [...new Set(representatives(judgment))].filter(
    (index) => index !== judgment.bestCompletionIndex && !top.includes(index),
  )
}

export const differ =
  ({ completions }: Judgment, first = firstOfText(completions)) =>
  ([chosen, rejected]: IndexPair): boolean =>
    first[chosen] !== first[rejected] && !isBlankAt(completions, chosen) && !isBlankAt(completions, rejected)

export const make = (judgment: Judgment, indices: ReadonlyArray<IndexPair>): ReadonlyArray<PreferencePair> => {
  const { annotations, asMessages, bestCompletionIndex, completions, itemId, metadata, models, prompt, taskId, tools } =
    judgment
  const assessment = Assessment.read(annotations, bestCompletionIndex, completions.length)
  const rationale = annotations.rationale?.trim() === "" ? null : (annotations.rationale ?? null)
  const flags = flagsIn(annotations)
  const flagsText = flags.length === 0 ? null : JSON.stringify(flags)
  const metadataText = metadata === undefined ? null : JSON.stringify(metadata)
  const asRead = asMessages === undefined ? [] : completionsOf({ completions, as_messages: asMessages })
  const bytes = bytesOf(completions)
  const first = firstOfText(completions)
  const canPair = differ(judgment, first)
  const seen = new Set<string>()
  const pairs = indices.filter((pair) => {
    const texts = pair.map((index) => first[index]).join()
    return canPair(pair) && !seen.has(texts) && seen.add(texts)
  })
  return pairs.map(([chosen, rejected]) => {
    const others = {
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
      decided_votes: null,
      ...Assessment.toColumns(assessment, completions, bestCompletionIndex, [chosen, rejected]),
      flags: flagsText,
      metadata: metadataText,
    }
    if (bytes !== undefined && bytes.prompt.text === prompt && asMessages === undefined && tools === undefined) {
      const places = [bytes.prompt.place, bytes.places[chosen]!, bytes.places[rejected]!] as const
      return PairBytes.make({ body: bytes.body, places }, prompt, others)
    }
    return {
      prompt,
      chosen: completions[chosen]!,
      rejected: completions[rejected]!,
      ...others,
      ...messagesIn("chosen_messages", asRead[chosen]),
      ...messagesIn("rejected_messages", asRead[rejected]),
      ...(tools !== undefined && { tools }),
    }
  })
}

const messagesIn = (
  member: "chosen_messages" | "rejected_messages",
  completion: Prompt | undefined,
): Pick<PreferencePair, typeof member> =>
  completion === undefined || typeof completion === "string" ? {} : { [member]: completion }

/** Pairs the best completion with each completion that is ranked below it, in the order of the input. */
export const bestAgainstRest = ownNamed({ strategy: "best-against-rest" }, (judgment) =>
  make(
    judgment,
    restOf(judgment).map((rejected) => [judgment.bestCompletionIndex, rejected]),
  ),
)

/**
 * Pairs the best completion with one of the rest, drawn by `seed` (an integer), the item's id, and the texts. The draw
 * does not depend on other items, or on the order of the completions.
 */
export const bestAgainstOne = (seed = 0) =>
  ownNamed({ strategy: "best-against-one", seed }, (judgment) => {
    const { bestCompletionIndex, completions, itemId } = judgment
    const candidates = restOf(judgment)
      .map((rejected): IndexPair => [bestCompletionIndex, rejected])
      .filter(differ(judgment))
    const draw = ([, rejected]: IndexPair) => Sha256.hex(JSON.stringify([seed, itemId, completions[rejected]]))
    return Arr.isReadonlyArrayNonEmpty(candidates)
      ? make(judgment, [Arr.min(candidates, Order.mapInput(Order.String, draw))])
      : []
  })

/** Pairs each completion with all lower-ranked ones. Without a ranking, the best is paired with all others. */
export const fullRanking = ownNamed({ strategy: "full-ranking" }, (judgment) =>
  Option.match(rankingOf(judgment), {
    onNone: () => bestAgainstRest(judgment),
    onSome: (groups) =>
      make(
        judgment,
        groups.flatMap((better, i) => {
          const worse = groups.slice(i + 1).flat()
          return better.flatMap((chosen) => worse.map((rejected): IndexPair => [chosen, rejected]))
        }),
      ),
  }),
)

export const strategies = {
  "best-against-rest": () => bestAgainstRest,
  "best-against-one": bestAgainstOne,
  "full-ranking": () => fullRanking,
} as const satisfies { readonly [name: string]: (seed?: number) => PairStrategy }
