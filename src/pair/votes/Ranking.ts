/** Reads the ranking in a judgment. Completions with equal texts are ranked as one completion. */
import { Option, Schema } from "effect"
import type { Judgment } from "../../domain/Judgment.ts"
import { firstOfText } from "../../domain/CompletionTexts.ts"
import { rankTexts } from "../../domain/Tally.ts"
import { Ranking } from "../../domain/Ranking.ts"

const asRanking = Schema.decodeUnknownOption(Ranking)

/** Equal texts get the same index: `bestCompletionIndex` if it has this text, otherwise the first index. */
export const representatives = ({ bestCompletionIndex, completions }: Judgment): ReadonlyArray<number> => {
  const first = firstOfText(completions)
  return first.map((index) => (index === first[bestCompletionIndex] ? bestCompletionIndex : index))
}

/** Groups of indices, best first. None if the ranking is invalid, or the best completion is not at the top. */
export const rankingOf = (judgment: Judgment): Option.Option<Ranking> =>
  asRanking(judgment.annotations["ranking"]).pipe(
    Option.filter((groups) => {
      const indices = groups.flat()
      return new Set(indices).size === indices.length && indices.every((index) => index < judgment.completions.length)
    }),
    Option.map((groups) => rankTexts(groups, representatives(judgment))),
    Option.filter(([top]) => top?.includes(judgment.bestCompletionIndex) === true),
  )
