/** Evaluates a reward model on the pairs of a dataset (`pair/evaluation`). Checks the digests of the dataset. */
import { Effect, FileSystem, Option, Stream } from "effect"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import type { Split } from "../domain/Split.ts"
import * as Read from "../dataset/Read.ts"
import * as FieldPath from "../io/FieldPath.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { count } from "../io/Values.ts"
import * as Scored from "../pair/evaluation/Evaluation.ts"
import * as ScoreEndpoint from "./evaluation/ScoreEndpoint.ts"
import * as ScoreFile from "./evaluation/ScoreFile.ts"
import * as DatasetPlace from "./DatasetPlace.ts"
import { fieldOf, GroupsInvalid } from "./Leaderboard.ts"
import * as ScratchFile from "../node/ScratchFile.ts"

/** The scores, and the pairs to compare them with. */
export interface EvaluateOptions extends Pick<Scored.EvaluationOptions, "disagreements"> {
  /** A file with scores (see `ScoreFile`), or an endpoint that gives them. */
  readonly scores: string | ScoreEndpoint.ScoreEndpoint
  /** The split to read. Default: all splits. */
  readonly split?: Split | undefined
  /** A field of the items' metadata, or a path such as `source.name`. The evaluation has a slice for each value. */
  readonly by?: string | undefined
  /** A file to write, with the items on which model and experts disagree, except items with tools. Default: no file. */
  readonly disputed?: string | undefined
}

const itemOf = ([first, ...others]: ReadonlyArray<PreferencePair>): Option.Option<object> => {
  if (first === undefined || first.tools !== undefined) return Option.none()
  const sides = new Map<number, readonly [completion: string, model: string | null]>()
  for (const pair of [first, ...others]) {
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

/**
 * Writes the items as records that `run` reads, the greatest difference first. Leaves out items with tools: their
 * messages can contain tool calls, and a dataset does not store such messages. Memory: 16 bytes per item.
 */
const disputedItems = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const scratch = yield* ScratchFile.temporary()
  const differences: Array<number> = []
  const ends: Array<number> = [0]
  return {
    add: (pairs: ReadonlyArray<PreferencePair>, difference: number) =>
      ScratchFile.attempt(() => {
        const item = itemOf(pairs)
        if (Option.isNone(item)) return
        const bytes = Buffer.from(`${JSON.stringify(item.value)}\n`)
        ends.push(scratch.append(bytes) + bytes.length)
        differences.push(difference)
      }),
    write: Effect.suspend(() => {
      const order = Uint32Array.from(differences.keys()).toSorted((a, b) => differences[b]! - differences[a]! || a - b)
      return Stream.fromIterable(order).pipe(
        Stream.mapEffect((i) => ScratchFile.attempt(() => scratch.read(ends[i]!, ends[i + 1]! - ends[i]!))),
        Stream.run(fs.sink(file)),
      )
    }),
  }
})

const kinds: Kinds.Kinds = {
  scores: ["the path of a file, or an endpoint", (value) => Kinds.text[1](value) || ScoreEndpoint.isEndpoint(value)],
  ...Kinds.all(Kinds.text, "split by disputed"),
}

/**
 * Evaluates scores on a dataset. `place` is the dataset's folder, its manifest, or the job's folder. Fails with
 * `ScoresInvalid` if no pair has scores. Fails with `GroupsInvalid` if no item has the field `by`.
 */
export const evaluate = Effect.fn("Pipeline.evaluate")(function* (place: string, options: EvaluateOptions) {
  yield* Kinds.check(options, kinds, ["scores"])
  const { by, disagreements, disputed, scores, split } = options
  const path = yield* fieldOf(by)
  const { directory } = yield* DatasetPlace.locate(place)
  const { splits } = yield* Read.manifest(directory)
  const pairs = Read.read(directory, { split })
  if (path !== undefined) {
    const hasField = ({ metadata }: PreferencePair) =>
      metadata !== null && FieldPath.textAt(path, JSON.parse(metadata)) !== null
    const first = yield* Stream.runHead(Stream.filter(pairs, hasField))
    const problem = "expected a field of the items' metadata, but no item has this field"
    if (Option.isNone(first)) return yield* new GroupsInvalid({ by: path.text, problem })
  }
  const file =
    typeof scores === "string"
      ? yield* ScoreFile.read(
          scores,
          splits.filter((each) => split === undefined || each.split === split),
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
  const items = disputed === undefined ? undefined : yield* disputedItems(disputed)
  const evaluation = yield* Scored.of(scored, {
    disagreements,
    onDisputed: items?.add,
    by: path && { field: path.text, groupOf: (metadata) => FieldPath.textAt(path, metadata) },
  })
  const ids = file?.unmatched() ?? []
  const unmatched = { items: ids.length, first: ids.slice(0, 5) }
  if (evaluation.pairs === 0 && evaluation.unscored > 0) {
    const other = ids.length === 0 ? "" : `, found ${count(ids.length, "item")}, such as ${unmatched.first.join(", ")}`
    const problem = `the scores match no pair of the dataset: expected records with the item_id and completion indices of its pairs${other}`
    return yield* new ScoreFile.ScoresInvalid({
      place: typeof scores === "string" ? scores : ScoreEndpoint.placeOf(scores.url),
      problem,
    })
  }
  if (items !== undefined) yield* items.write
  // If `split` is set, items of other splits may have scores. Therefore, the evaluation does not list unmatched items.
  return ids.length === 0 || split !== undefined ? evaluation : { ...evaluation, unmatched }
}, Effect.scoped)
