/**
 * Evaluates a reward model by the pairs of a dataset (`pair/evaluation`), and makes items of those on which it disagrees
 * with the experts.
 *
 * Guarantees: reads only the dataset, whose digests are checked, and the scores. The same dataset and scores give the
 * same numbers.
 */
import { Effect, type FileSystem, Option, type Path, Stream } from "effect"
import type { Evaluation } from "../domain/Evaluation.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import type { Split } from "../domain/Split.ts"
import * as Read from "../dataset/Read.ts"
import * as FieldPath from "../io/FieldPath.ts"
import { count } from "../io/Values.ts"
import * as Scored from "../pair/evaluation/Evaluation.ts"
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
}

/** Fails with `ScoresInvalid` if no pair has scores. */
export const evaluate = Effect.fn("Pipeline.evaluate")(function* (directory: string, options: EvaluateOptions) {
  const { by, disagreements, scores, split } = options
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
  const evaluation = yield* Scored.of(scored, {
    disagreements,
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
  // With a split, scores of the other splits have no pair, either.
  return ids.length === 0 || split !== undefined ? evaluation : { ...evaluation, unmatched }
})

/**
 * The items of the disagreements, most different scores first, as records that `run` reads. An item has the completions
 * of its pairs. Items with tool calls are left out, because their pairs do not have all messages.
 */
export const disputedItems: (
  directory: string,
  evaluation: Pick<Evaluation, "disagreements">,
) => Effect.Effect<
  ReadonlyArray<object>,
  Effect.Error<ReturnType<typeof Read.manifest>>,
  FileSystem.FileSystem | Path.Path
> = Effect.fn("Pipeline.disputedItems")(function* (directory, { disagreements }) {
  const places = new Map<string, number>()
  for (const { item_id } of disagreements) if (!places.has(item_id)) places.set(item_id, places.size)
  const pairsOf = new Map<string, Array<PreferencePair>>()
  yield* Stream.runForEach(Read.read(directory), (pair) =>
    Effect.sync(() => {
      if (places.has(pair.item_id)) pairsOf.set(pair.item_id, [...(pairsOf.get(pair.item_id) ?? []), pair])
    }),
  )
  return [...places.keys()].flatMap((id) => Option.toArray(itemOf(pairsOf.get(id) ?? [])))
})

const itemOf = (pairs: ReadonlyArray<PreferencePair>): Option.Option<object> => {
  const [first] = pairs
  if (first === undefined || first.tools !== undefined) return Option.none()
  const sides = new Map<number, readonly [completion: string, model: string | null]>()
  for (const pair of pairs) {
    sides.set(pair.chosen_index, [pair.chosen, pair.chosen_model])
    sides.set(pair.rejected_index, [pair.rejected, pair.rejected_model])
  }
  const completions = [...sides].toSorted(([a], [b]) => a - b).map(([, side]) => side)
  const models = completions.map(([, model]) => model)
  return Option.some({
    id: first.item_id,
    prompt: first.prompt,
    completions: completions.map(([completion]) => completion),
    ...(models.every((model) => model !== null) && { models }),
    ...(first.metadata !== null && { metadata: JSON.parse(first.metadata) as unknown }),
  })
}
