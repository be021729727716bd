/**
 * Merges two datasets, without duplicates and without pairs whose chosen completion is long. Each pair stays in its
 * split.
 *
 *     npx node pipelines/merge.ts ONE/dataset OTHER/dataset MERGED
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Stream } from "effect"
import { Dataset, type PreferencePair } from "prefstream"

const [one = "quickstart/dataset", other = "reannotate/dataset", directory = "merged"] = process.argv.slice(2)

const splitOf = new WeakMap<PreferencePair, Dataset.Split>()

const pairs = Stream.fromIterable([one, other]).pipe(
  Stream.mapEffect((from) =>
    Effect.map(Dataset.manifest(from), ({ splits }) => splits.map(({ split }) => ({ from, split }))),
  ),
  Stream.flattenIterable,
  Stream.flatMap(({ from, split }) =>
    Stream.tap(Dataset.read(from, { split }), (pair) => Effect.sync(() => splitOf.set(pair, split))),
  ),
)

const seen = new Set<string>()
const isNew = ({ chosen, prompt, rejected }: PreferencePair) => {
  const { size } = seen
  return seen.add(JSON.stringify([prompt, chosen, rejected])).size > size
}

const program = Effect.gen(function* () {
  const { rows } = yield* pairs.pipe(
    Stream.filter((pair) => pair.chosen.length < 2000 && isNew(pair)),
    Stream.run(Dataset.write({ directory, splitOf: (pair) => splitOf.get(pair) ?? "train", formats: ["trl"] })),
  )
  const { findings } = yield* Dataset.verify(directory)
  yield* Console.log(`${rows} pairs in ${directory}, ${findings.length} findings`)
})

program.pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
