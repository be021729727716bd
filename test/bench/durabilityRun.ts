/**
 * One side of durability.ts, in a process of its own:
 * `durabilityRun.ts ledger|memory|stream URL INPUT FOLDER PROMPTS`. A line of JSON on stdout.
 *
 * `ledger` is `Tasks.submit`, `Tasks.collect` and `Tasks.judgments`. `memory` is the same flow as an Effect program
 * without a ledger: source, batches, client, matching, pairs and dataset are the library's own; tasks and results are
 * kept in memory until all are there. `stream` keeps nothing, and writes each task's pairs as they come. None of them
 * checks pairs or reports on them.
 */
import { readFileSync } from "node:fs"
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { type Array as Arr, Effect, Latch, Layer, Redacted, Result, Stream } from "effect"
import { ServiceProfile } from "../../src/api/ServiceProfile.ts"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { Manifest } from "../../src/dataset/Manifest.ts"
import type { Judgment } from "../../src/domain/Judgment.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import { bestAgainstRest } from "../../src/pair/PairStrategy.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import * as Source from "../../src/source/Source.ts"
import * as Tasks from "../../src/task/Tasks.ts"
import { AnnotationClient, TaskClient } from "../../src/task/client/AnnotationClient.ts"
import * as Batch from "../../src/task/plan/Batch.ts"
import { identify, newTasks } from "../../src/task/plan/TaskRequests.ts"
import type { BatchItem } from "../../src/task/ledger/schema/Model.ts"
import { match } from "../../src/task/ledger/reads/ResultMatch.ts"

const [side = "", baseUrl = "", input = "", directory = "", prompts = ""] = process.argv.slice(2)
const limits = { maxPrompts: Number(prompts), maxBytes: 1024 * 1024 }
const concurrency = 64

const service = ServiceProfile.layer({
  baseUrl,
  token: Redacted.make("bench"),
  identity: "bench",
  concurrency,
  requestsPerSecond: 1_000_000,
  pollInterval: { min: "10 millis", max: "1 second" },
})

const source = Source.files(input)
const guidelines = "Prefer the completion that is correct."

const writtenFrom = <E, R>(judgments: Stream.Stream<ReadonlyArray<Judgment>, E, R>) =>
  judgments.pipe(
    Stream.map((judgments) => judgments.flatMap(bestAgainstRest)),
    Stream.filter((pairs): pairs is Arr.NonEmptyArray<PreferencePair> => pairs.length > 0),
    Stream.flattenArray,
    Stream.run(Dataset.write({ directory: `${directory}/dataset` })),
  )

const withLedger = Effect.gen(function* () {
  const submittingDone = yield* Latch.make()
  const submitting = Tasks.submit(source.records, { guidelines, batch: limits, shuffleSeed: false })
  yield* Effect.all([Effect.ensuring(submitting, submittingDone.open), Tasks.collect({ submittingDone })], {
    concurrency: 2,
  })
  return yield* writtenFrom(Stream.chunks(Tasks.judgments()))
}).pipe(Effect.provide(Pipeline.layer({ directory, service })))

const withoutLedger = Effect.gen(function* () {
  const client = yield* TaskClient
  const seen = new Set<string>()

  const tasks = source.records.pipe(
    Stream.mapAccumArray(
      () => Batch.make(limits),
      (batches, records) => {
        const fresh: Array<BatchItem> = []
        for (const record of records) {
          if (Result.isFailure(record)) throw new Error(record.failure.reason)
          const item = identify(record.success)
          if (seen.has(item.itemId)) continue
          seen.add(item.itemId)
          fresh.push(item)
        }
        return [batches, batches.add(fresh)]
      },
      { onHalt: (batches) => batches.end() },
    ),
  )

  const judge = Effect.fnUntraced(function* (items: Batch.Batch) {
    const { body, idempotencyKey } = newTasks(items, { guidelines, shuffleSeed: false })[0]!
    const taskId = yield* client.create(body, idempotencyKey)
    while (true) {
      yield* Effect.sleep("10 millis")
      const view = yield* client.poll(taskId, Effect.succeed(new Uint8Array()))
      if (view._tag === "Failed") return yield* Effect.die(view)
      if (view._tag === "Open") continue
      const details = items.map(({ item, itemId, origin }) => ({
        item_id: itemId,
        origin,
        ...(item.metadata === undefined ? {} : { metadata: item.metadata }),
      }))
      const prompts = items.map(({ item: { completions }, prompt }) => ({ prompt, completions }))
      const judgments = () =>
        Result.getOrThrow(match(taskId, { items: details, prompts }, view.body)).flatMap((outcome) =>
          "reason" in outcome ? [] : [outcome],
        )
      const found = judgments()
      // What is kept is what was sent and what the service answered, as the ledger does.
      return side === "memory" ? { body, judgments } : { judgments: () => found }
    }
  })

  const judged = Stream.mapEffect(tasks, judge, { concurrency })
  const kept = side === "memory" ? Stream.fromIterable(yield* Stream.runCollect(judged)) : judged
  return yield* writtenFrom(Stream.map(kept, ({ judgments }) => judgments()))
}).pipe(Effect.provide(AnnotationClient.layer.pipe(Layer.provide(service))))

const start = performance.now()
const before = process.cpuUsage()
const beforeMain = process.threadCpuUsage()
await Effect.runPromise(
  (side === "ledger" ? Effect.asVoid(withLedger) : Effect.asVoid(withoutLedger)).pipe(
    Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici]),
  ),
)
const seconds = (performance.now() - start) / 1000
const { system, user } = process.cpuUsage(before)
const main = process.threadCpuUsage(beforeMain)
// The pairs: card and report also tell of a ledger, and of times.
const { files } = JSON.parse(readFileSync(`${directory}/dataset/manifest.json`, "utf8")) as Manifest
const dataset = files
  .filter(({ path }) => /^(data|jsonl)/.test(path))
  .map(({ path, sha256 }) => `${path} ${sha256}`)
  .join(", ")
console.log(
  JSON.stringify({
    seconds,
    cpu: (system + user) / 1e6,
    main: (main.system + main.user) / 1e6,
    rss: process.resourceUsage().maxRSS / 1024,
    dataset,
  }),
)
