/**
 * Evaluates a reward model by the pairs of a dataset (`pair/evaluation`), and writes the items on which it disagrees with
 * the experts.
 *
 * Guarantees: reads only the dataset, whose digests are checked, and the scores. The same dataset and scores give the
 * same numbers.
 */
import { Effect, Stream } from "effect"
import type { Split } from "../domain/Split.ts"
import * as Read from "../dataset/Read.ts"
import * as FieldPath from "../io/FieldPath.ts"
import { count } from "../io/Values.ts"
import * as Scored from "../pair/evaluation/Evaluation.ts"
import * as DisputedItems from "./evaluation/DisputedItems.ts"
import * as ScoreEndpoint from "./evaluation/ScoreEndpoint.ts"
import * as ScoreFile from "./evaluation/ScoreFile.ts"
import { fieldOf } from "./Leaderboard.ts"

/** The scores, and the pairs to compare them with. */
export interface EvaluateOptions extends Pick<Scored.EvaluationOptions, "disagreements"> {
  /** A file with scores (see `ScoreFile`), or an endpoint that gives them. */
  readonly scores: string | ScoreEndpoint.ScoreEndpoint
  /** The split to read. Default: all splits. */
  readonly split?: Split | undefined
  /** A field of the items' metadata, or a path such as `source.name`, for slices. */
  readonly by?: string | undefined
  /**
   * A file for all items with a pair whose rejected completion has the higher score, greatest difference first, as
   * records that `run` reads. Default: none. Items with tools are left out (see `DisputedItems`).
   */
  readonly disputed?: string | undefined
}

/** Fails with `ScoresInvalid` if no pair has scores. */
export const evaluate = Effect.fn("Pipeline.evaluate")(function* (directory: string, options: EvaluateOptions) {
  const { by, disagreements, disputed, scores, split } = options
  const path = yield* fieldOf(by)
  const { rows, splits } = yield* Read.manifest(directory)
  const pairs = Read.read(directory, { split })
  const file =
    typeof scores === "string"
      ? yield* ScoreFile.read(
          scores,
          split === undefined ? rows : (splits.find((each) => each.split === split)?.rows ?? 0),
        )
      : undefined
  const scored =
    typeof scores === "string"
      ? Stream.map(pairs, (pair): Scored.ScoredPair => [pair, file?.scoresOf(pair)])
      : yield* Effect.map(ScoreEndpoint.make(scores), (scoresOf) =>
          pairs.pipe(
            Stream.groupAdjacentBy(({ item_id }) => item_id),
            Stream.mapEffect(
              ([, pairs]) =>
                Effect.map(scoresOf(pairs), (scores) => pairs.map((pair, i): Scored.ScoredPair => [pair, scores[i]])),
              { concurrency: scores.concurrency ?? 8 },
            ),
            Stream.flattenIterable,
          ),
        )
  const items = disputed === undefined ? undefined : yield* DisputedItems.make(disputed)
  const evaluation = yield* Scored.of(scored, {
    disagreements,
    onDisputed: items?.add,
    by: path && { field: path.text, groupOf: (metadata) => FieldPath.textAt(path, metadata) },
  })
  const ids = file?.unmatched() ?? []
  const unmatched = { items: ids.length, first: ids.slice(0, 5) }
  if (evaluation.pairs === 0 && evaluation.unscored > 0) {
    const other = ids.length === 0 ? "" : `, found ${count(ids.length, "item")}, such as ${unmatched.first.join(", ")}`
    const problem = `no pair of the dataset has scores: expected records with the item_ids and completion indices of its pairs${other}`
    return yield* new ScoreFile.ScoresInvalid({
      place: typeof scores === "string" ? scores : ScoreEndpoint.placeOf(scores.url),
      problem,
    })
  }
  if (items !== undefined) yield* items.write
  // With a split, scores of the other splits have no pair, either.
  return ids.length === 0 || split !== undefined ? evaluation : { ...evaluation, unmatched }
}, Effect.scoped)
