/**
 * One preference pair for each completion that was not preferred: the best against
 * each of the rest.
 *
 * Guarantees: pure; the pairs of a judgment stand in the order of its completions; a
 * completion whose text equals the best one's makes no pair, nor one that the experts
 * ranked as equally good (`annotations.ranking`). A blank rationale counts as none.
 */
import { Option, Schema } from "effect"
import type { Judgment } from "../domain/Judgment.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { Ranking } from "../domain/Vote.ts"

const asRanking = Schema.decodeUnknownOption(Ranking)

/** The completions that are ranked together with the best one; none where the service gives no ranking. */
const equallyGood = ({ annotations, bestCompletionIndex }: Judgment): ReadonlyArray<number> =>
  Option.match(asRanking(annotations["ranking"]), {
    onNone: () => [],
    onSome: (groups) => groups.find((group) => group.includes(bestCompletionIndex)) ?? [],
  })

/** At most `completions.length - 1` pairs. */
export const bestAgainstRest = (judgment: Judgment): ReadonlyArray<PreferencePair> => {
  const { annotations, bestCompletionIndex, completions, itemId, metadata, prompt, taskId } = judgment
  const chosen = completions[bestCompletionIndex]!
  const equal = equallyGood(judgment)
  const rationale = annotations.rationale?.trim() === "" ? null : (annotations.rationale?.toWellFormed() ?? null)
  const metadataText = metadata === undefined ? null : JSON.stringify(metadata)
  return completions.flatMap((rejected, rejectedIndex) =>
    rejected === chosen || equal.includes(rejectedIndex)
      ? []
      : [
          {
            prompt,
            chosen,
            rejected,
            rationale,
            item_id: itemId,
            task_id: taskId,
            chosen_index: bestCompletionIndex,
            rejected_index: rejectedIndex,
            metadata: metadataText,
          },
        ],
  )
}
