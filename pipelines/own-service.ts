/**
 * An annotation service that speaks another protocol, and a trainer that reads another format: the program provides an
 * `AnnotationClient` in place of `Tasks.AnnotationClient.layer`, and passes its `TrainerFormat` to `Dataset.write`.
 *
 *     npx node pipelines/own-service.ts
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted, Result, Schema, Stream } from "effect"
import { Dataset, Pairs, Source, TaskRequest, Tasks, TrainerFormats } from "prefstream"

/** Prefers the shortest completion, immediately. A real client sends `body`, and maps failures to `AnnotationClientError`. */
const client = Layer.sync(Tasks.AnnotationClient, () => {
  const results = new Map<string, string>()
  return Tasks.AnnotationClient.of({
    create: Effect.fnUntraced(function* (body: Uint8Array, idempotencyKey: string, sending) {
      // The ledger records the task as being sent; a task that may have been taken is never sent again by itself.
      if (sending !== undefined) yield* sending.claim
      const json = new TextDecoder().decode(body)
      const { prompts } = yield* Effect.orDie(Schema.decodeEffect(Schema.fromJsonString(TaskRequest))(json))
      const result = prompts.map(({ completions, prompt }) => ({
        prompt,
        best_completion_index: completions.indexOf(completions.toSorted((a, b) => a.length - b.length)[0]!),
      }))
      results.set(idempotencyKey, JSON.stringify({ task_id: idempotencyKey, status: "completed", results: result }))
      return idempotencyKey
    }),
    poll: (taskId) => Effect.succeed({ _tag: "Completed", body: results.get(taskId) ?? "" }),
  })
})

/** The profile says what the service honors; this one has no address. */
const profile = Tasks.ServiceProfile.layer({ baseUrl: "http://localhost/", token: Redacted.make("none") })

const ledger = Tasks.LedgerLocation.layer({ _tag: "File", path: "own-service.db", job: "default" })

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
  yield* Tasks.submit(Source.files("data/sample.jsonl").records)
  yield* Tasks.collect()
  const pairs = Tasks.judgments().pipe(Stream.map(Pairs.bestAgainstRest), Stream.flatMap(Stream.fromIterable))
  const { rows } = yield* Stream.run(pairs, Dataset.write({ directory: "own-service", formats: [format] }))
  yield* Console.log(`${rows} pairs in own-service/formats/own/train.jsonl`)
})

program.pipe(
  Effect.provide(Layer.mergeAll(ledger, client, profile).pipe(Layer.provideMerge(NodeServices.layer))),
  NodeRuntime.runMain,
)
