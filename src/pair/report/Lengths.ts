/**
 * Lengths in Unicode code points, and whether the longer completion is chosen. In `share_longer` and Cohen's d, each
 * of an item's n pairs has the weight 1/n. In the distributions, each pair counts fully, and an item's prompt once.
 */
import { charactersAt } from "../../domain/CompletionTexts.ts"
import * as Conversation from "../../domain/Conversation.ts"
import * as PairBytes from "../../domain/PairBytes.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { Length } from "../../domain/QualityReport.ts"
import { charactersOf } from "../../domain/Text.ts"
import * as Distribution from "../stats/Distribution.ts"
import * as Moments from "../stats/Moments.ts"

const lengthsOf = (
  pair: PreferencePair,
  completions: ReadonlyArray<string>,
): readonly [chosen: number, rejected: number] =>
  PairBytes.of(pair) === undefined
    ? [charactersOf(pair.chosen), charactersOf(pair.rejected)]
    : [charactersAt(completions, pair.chosen_index), charactersAt(completions, pair.rejected_index)]

export const make = () => {
  const prompts = Distribution.make()
  const chosen = Distribution.make()
  const rejected = Distribution.make()
  const differences = Distribution.make()
  const chosenMoments = Moments.make()
  const rejectedMoments = Moments.make()
  let longer = 0
  let equal = 0
  let shorter = 0
  return {
    add: (pairs: ReadonlyArray<PreferencePair>, completions: ReadonlyArray<string>): void => {
      const [first] = pairs
      if (first === undefined) return
      prompts.add(Conversation.contents(first.prompt).reduce((sum, text) => sum + charactersOf(text), 0))
      const weight = 1 / pairs.length
      for (const pair of pairs) {
        const [a, b] = lengthsOf(pair, completions)
        chosen.add(a)
        rejected.add(b)
        differences.add(a - b)
        chosenMoments.add(a, weight)
        rejectedMoments.add(b, weight)
        if (a > b) longer += weight
        else if (a < b) shorter += weight
        else equal += weight
      }
    },
    finish: (): Length => ({
      longer_chosen: longer,
      equal,
      shorter_chosen: shorter,
      share_longer: longer + shorter === 0 ? null : longer / (longer + shorter),
      cohens_d: Moments.cohensD(chosenMoments, rejectedMoments),
      difference: differences.distribution(),
      prompt: prompts.distribution(),
      chosen: chosen.distribution(),
      rejected: rejected.distribution(),
    }),
  }
}
