/**
 * The stages by themselves: each is a stream or takes one, so anything may go
 * between them. Here only short prompts are sent, and only pairs with a rationale
 * are kept.
 *
 *     npx node pipelines/stages.ts
 */
import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Result, Stream } from "effect"
import { AnnotationService, Dataset, Pairs, Pipeline, Source, Tasks } from "prefstream"

const directory = "stages"

const items = Source.files("data/sample.jsonl").records.pipe(
  Stream.filter((record) => Result.isFailure(record) || record.success.item.prompt.length < 200),
)

const program = Effect.gen(function* () {
  yield* Tasks.submit(items, { guidelines: "Prefer the completion that is correct." })
  yield* Tasks.collect()

  const pairs = Tasks.judgments().pipe(
    Stream.flatMap((judgment) => Stream.fromIterable(Pairs.bestAgainstRest(judgment))),
    Stream.filter((pair) => pair.rationale !== null),
  )
  const { directory: written, rows } = yield* Stream.run(pairs, Dataset.write({ directory: `${directory}/dataset` }))
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
