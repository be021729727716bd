/**
 * One preference pair for each completion that was not preferred: the best against
 * each of the rest.
 *
 * Guarantees: pure; the pairs of a judgment stand in the order of its completions; a
 * completion whose text equals the best one's makes no pair.
 */
import type { Judgment } from "../domain/Judgment.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"

/** At most `completions.length - 1` pairs. */
export const bestAgainstRest = (judgment: Judgment): ReadonlyArray<PreferencePair> => {
  const { annotations, bestCompletionIndex, completions, itemId, metadata, prompt, taskId } = judgment
  const chosen = completions[bestCompletionIndex]!
  const metadataText = metadata === undefined ? null : JSON.stringify(metadata)
  return completions.flatMap((rejected, rejectedIndex) =>
    rejected === chosen
      ? []
      : [
          {
            prompt,
            chosen,
            rejected,
            rationale: annotations.rationale?.toWellFormed() ?? null,
            item_id: itemId,
            task_id: taskId,
            chosen_index: bestCompletionIndex,
            rejected_index: rejectedIndex,
            metadata: metadataText,
          },
        ],
  )
}
