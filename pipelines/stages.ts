/**
 * Uses the stages one by one. Each stage is a stream or takes a stream, so a program can insert its own steps. This
 * program sends only short prompts, makes pairs by a custom strategy, keeps only pairs with a rationale, and writes a
 * custom trainer format.
 *
 *     npx node pipelines/stages.ts
 */
import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Result, Schema, Stream } from "effect"
import { AnnotationService, Dataset, Pairs, Pipeline, Source, Tasks, TrainerFormats } from "prefstream"

const directory = "stages"

const items = Source.files("data/sample.jsonl").records.pipe(
  Stream.filter((record) => Result.isFailure(record) || record.success.item.prompt.length < 200),
)

/** Pairs the best completion with the longest of the others. The manifest records the first argument. */
const bestAgainstLongest = Pairs.strategy({ strategy: "best-against-longest" }, (judgment) =>
  Pairs.bestAgainstRest(judgment)
    .toSorted((a, b) => b.rejected.length - a.rejected.length)
    .slice(0, 1)
    .map((pair) => ({ ...pair, weight: 1 })),
)

/** One object per pair: `{"input": …, "outputs": [better, worse]}`. */
const format: TrainerFormats.TrainerFormat = {
  name: "own",
  description: "a trainer of our own: input, and outputs from best to worst",
  container: "jsonl",
  features: () => ({ input: "string", outputs: { list: "string" } }),
  encoder: TrainerFormats.rowPerPair(({ chosen, prompt, rejected }) =>
    typeof prompt === "string"
      ? Result.succeed({ input: prompt, outputs: [chosen, rejected] })
      : TrainerFormats.refuse("prompt", "text", "a conversation"),
  ),
  row: Schema.Struct({ input: Schema.String, outputs: Schema.Tuple([Schema.String, Schema.String]) }),
}

const program = Effect.gen(function* () {
  yield* Tasks.submit(items, { guidelines: "Prefer the completion that is correct." })
  const { tasks } = yield* Tasks.collect()
  if (tasks.failed.tasks > 0) yield* Console.error(`${tasks.failed.tasks} tasks have no result`)

  const pairs = Tasks.judgments().pipe(
    Stream.flatMap((judgment) => Stream.fromIterable(bestAgainstLongest(judgment))),
    Stream.filter((pair) => pair.rationale !== null),
  )
  // Without pairs, this fails with a `DatasetError` whose reason is `NoPairs`, and keeps the dataset of an earlier run.
  const { directory: written, rows } = yield* Stream.run(
    pairs,
    Dataset.write({ directory: `${directory}/dataset`, formats: [format] }),
  )
  yield* Console.log(`${rows} pairs in ${written}`)
})

const service = AnnotationService.layerEmbedded({
  database: `${directory}/service.db`,
  experts: ["gold:data/sample.jsonl"],
})

const platform = Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)

program.pipe(
  Effect.provide(Pipeline.layer({ directory, service }).pipe(Layer.provideMerge(platform))),
  NodeRuntime.runMain,
)
