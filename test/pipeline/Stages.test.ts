/** A program that puts the stages together itself: what it learns of a night in which nothing came out. */
import { assert } from "@effect/vitest"
import { Effect, FileSystem, Layer, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import * as Pairs from "../../src/pair/Pairs.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import { type Expert, layerEmbedded } from "../../src/service/AnnotationService.ts"
import * as Source from "../../src/source/Source.ts"
import * as Tasks from "../../src/task/Tasks.ts"
import { platform, temporaryDirectory, test } from "../support/job.ts"

/** One prefers the first completion; the other never votes, so the service cancels its tasks. */
const first: Expert.Expert = {
  name: "first-one",
  judge: () => Effect.succeedSome({ best_completion_index: 0, rationale: "the first" }),
}
const silent: Expert.Expert = { name: "silent", judge: () => Effect.succeedNone }

const source = Source.make(
  Array.from({ length: 12 }, (_, n) => ({ prompt: `Prompt ${n}`, completions: [`a${n}`, `b${n}`] })),
  { name: "prompts", layout: "items" },
)

const night = (directory: string, expert: Expert.Expert, options: Partial<Dataset.Options>) =>
  Effect.gen(function* () {
    const submitted = yield* Tasks.submit(source.records)
    const collected = yield* Tasks.collect()
    const dataset = yield* Tasks.judgments().pipe(
      Stream.flatMap((judgment) => Stream.fromIterable(Pairs.bestAgainstRest(judgment))),
      Stream.run(Dataset.write({ ...options, directory: `${directory}/../dataset` })),
      Effect.map(({ rows }) => rows),
      Effect.catchTag("DatasetError", ({ reason }) => Effect.succeed(reason._tag)),
    )
    return { submitted, collected, dataset }
  }).pipe(
    Effect.provide(
      Pipeline.layer({
        directory,
        service: layerEmbedded({ database: `${directory}/service.db`, experts: [expert] }),
      }).pipe(Layer.provideMerge(platform)),
    ),
  )

test("a program of stages is told what happened, and keeps the dataset of a good night after a bad one, unless it asks for an empty one", function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* temporaryDirectory
  const rowsOf = Effect.map(
    fs.readFileString(`${folder}/dataset/manifest.json`),
    (text) => (JSON.parse(text) as { rows: number }).rows,
  )

  const good = yield* night(`${folder}/monday`, first, {})
  assert.deepInclude(good.submitted, { run: 1, campaign: 1, read: 12, new: 12, known: 0, rejected: 0 })
  assert.strictEqual(good.collected.tasks.completed.items, 12)
  assert.strictEqual(yield* rowsOf, 12)

  const bad = yield* night(`${folder}/tuesday`, silent, {})
  assert.strictEqual(bad.submitted.new, 12)
  assert.deepStrictEqual([bad.collected.tasks.failed.items, bad.collected.tasks.completed.items], [12, 0])
  assert.strictEqual(bad.dataset, "NoPairs")
  assert.strictEqual(yield* rowsOf, 12, "of the good night")

  const asked = yield* night(`${folder}/wednesday`, silent, { allowEmpty: true })
  assert.strictEqual(asked.dataset, 0)
  assert.strictEqual(yield* rowsOf, 0)
})
