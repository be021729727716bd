/**
 * For any input: every record is counted once, every item is sent once for each vote, and a run that
 * was broken off anywhere and started again sends what an undisturbed run sends.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, type Layer, Option, Result, Stream } from "effect"
import fc from "fast-check"
import { content, type SourceItem } from "../../src/domain/PromptItem.ts"
import type { Reject } from "../../src/domain/Reject.ts"
import type { TaskRequest } from "../../src/domain/Task.ts"
import type { BatchLimits } from "../../src/task/plan/Batch.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { submit } from "../../src/task/Submit.ts"
import { stepRecords } from "../../src/task/Plan.ts"
import { seeded } from "../pair/stats/support.ts"
import { cases } from "../support/cases.ts"
import { inProcess, platform, temporaryDirectory } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { batchItem, nothing, reject } from "./support.ts"

type Record = Result.Result<SourceItem, Reject>

/** A record of the input: refused by the source, or an item of few, so that some repeat and some ids conflict. */
interface Draw {
  readonly rejected: boolean
  readonly item: number
  readonly variant: number
  readonly withId: boolean
  readonly swapped: boolean
}

const recordOf = ({ item, rejected, swapped, variant, withId }: Draw, i: number): Record =>
  rejected
    ? Result.fail(reject(i + 1))
    : Result.succeed({
        item: {
          ...(withId && { id: `id-${item}` }),
          prompt: `prompt ${item}`,
          completions: swapped ? ["second", `first ${variant}`] : [`first ${variant}`, "second"],
        },
        origin: { file: "memory", line: i + 1 },
      })

/** What the documentation promises, in as few words as possible. */
const expectedOf = (records: ReadonlyArray<Record>) => {
  const contents = new Map<string, string>()
  let duplicates = 0
  let reordered = 0
  let rejected = 0
  for (const record of records) {
    if (Result.isFailure(record)) {
      rejected++
      continue
    }
    const { item } = batchItem(record.success)
    const json = content(item)
    const identity = item.id ?? JSON.stringify([item.prompt, item.completions.toSorted()])
    const before = contents.get(identity)
    if (before === undefined) contents.set(identity, json)
    else if (before === json) duplicates++
    else if (item.id !== undefined) rejected++
    else {
      duplicates++
      reordered++
    }
  }
  return { read: records.length, duplicates, reordered, rejected, items: [...contents.values()] }
}

const inputs = fc
  .record({
    seed: fc.nat(),
    // Of one step of reading, or of several.
    length: fc.oneof(fc.nat(20), fc.nat(3 * stepRecords)),
    items: fc.integer({ min: 1, max: 3_000 }),
    rejects: fc.constantFrom(0, 0.05, 0.9),
    conflicts: fc.constantFrom(0, 0.1),
    ids: fc.constantFrom(0, 0.5, 1),
    swaps: fc.constantFrom(0, 0.1),
  })
  .map(({ conflicts, ids, items, length, rejects, seed, swaps }) => {
    // Not drawn item by item, so that long inputs shrink to short ones quickly.
    const next = seeded(seed)
    return Array.from({ length }, (_, i) =>
      recordOf(
        {
          rejected: next() < rejects,
          item: Math.floor(next() * items),
          variant: next() < conflicts ? 1 : 0,
          withId: next() < ids,
          swapped: next() < swaps,
        },
        i,
      ),
    )
  })

const limits: fc.Arbitrary<BatchLimits> = fc.record({
  maxPrompts: fc.integer({ min: 20, max: 400 }),
  maxBytes: fc.constantFrom(2_000, 10_000, 1_000_000),
})

/** Sizes of the arrays in which the records come, again and again. */
const portions = fc.array(fc.constantFrom(1, 7, 100, 1_500), { minLength: 1, maxLength: 5 })

const arriving = (records: ReadonlyArray<Record>, portions: ReadonlyArray<number>): Stream.Stream<Record> => {
  const arrays: Array<ReadonlyArray<Record>> = []
  for (let at = 0, i = 0; at < records.length; i++) {
    const end = at + portions[i % portions.length]!
    arrays.push(records.slice(at, end))
    at = end
  }
  return Stream.fromArrays(...arrays)
}

/** When a run is broken off: after some records or some requests, and then some turns of the event loop. */
const breaks = fc.record({
  on: fc.constantFrom("record" as const, "request" as const),
  after: fc.double({ min: 0, max: 1, noNaN: true }),
  turns: fc.nat(12),
})

type Break = typeof breaks extends fc.Arbitrary<infer A> ? A : never

/** How the items are put to the experts. */
const asked = fc
  .record({
    votes: fc.constantFrom(1, 1, 2, 3),
    shuffleSeed: fc.constantFrom(undefined, 7, false as const),
    gold: fc.option(fc.record({ items: fc.integer({ min: 1, max: 30 }), rate: fc.constantFrom(0.02, 0.3, 0.5) }), {
      nil: undefined,
    }),
  })
  .map(({ gold, ...more }) => ({
    ...more,
    gold: gold && {
      ...gold,
      items: Array.from({ length: gold.items }, (_, i) => ({
        prompt: `gold ${i}`,
        completions: ["right", "wrong", `neither ${i}`],
        gold: { best_completion_index: 0 },
      })),
    },
  }))

const isGold = (prompt: string): boolean => prompt.startsWith('{"prompt":"gold ')

type Asked = typeof asked extends fc.Arbitrary<infer A> ? A : never

/** A prompt of a task, whatever the order of its completions. */
const anyOrder = ({ completions, prompt }: TaskRequest["prompts"][number]): string =>
  JSON.stringify({ prompt, completions: completions.toSorted() })

const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

const taskOf = ({ body, headers }: ScriptedService.Received) => [String(headers["idempotency-key"]), body] as const

describe("submit", () => {
  for (const idempotencyKey of ["honored", "ignored"] as const) {
    const property = Effect.fnUntraced(function* (
      records: ReadonlyArray<Record>,
      batch: BatchLimits,
      portions: readonly [ReadonlyArray<number>, ReadonlyArray<number>],
      broken: Break,
      asked: Asked,
    ) {
      const expected = expectedOf(records)
      /** Submits in a process of its own, and gives the counts of the run. */
      const run = (input: Stream.Stream<Record>, directory: string, service: ScriptedService.ScriptedService) =>
        submit(input, { batch, ...asked }).pipe(
          Effect.andThen(Ledger.use((ledger) => ledger.lastRun)),
          Effect.map(Option.match({ onNone: () => nothing, onSome: ({ counts }) => counts })),
          Effect.tap((counts) =>
            Effect.sync(() => {
              const { duplicates, items, read, rejected, reordered } = expected
              const known = items.length - counts.new
              assert.deepStrictEqual(counts, { read, new: counts.new, known, duplicates, reordered, rejected })
              assert.strictEqual(read, counts.new + counts.known + counts.duplicates + counts.rejected)
            }),
          ),
          inProcess(directory, service.profile),
        )

      const quiet = yield* ScriptedService.make(ScriptedService.obliging, { idempotencyKey, concurrency: 1 })
      const counts = yield* run(arriving(records, portions[0]), yield* temporaryDirectory, quiet)
      assert.strictEqual(counts.known, 0)
      const undisturbed = quiet.received.map(taskOf)
      const sent = undisturbed.map(([, body]) => (JSON.parse(body) as TaskRequest).prompts.map(anyOrder))
      const batches = Array.from({ length: sent.length / asked.votes }, (_, i) =>
        sent.slice(i * asked.votes, (i + 1) * asked.votes),
      )
      for (const votes of batches) {
        assert.strictEqual(new Set(votes.map((prompts) => JSON.stringify(prompts))).size, 1)
        assert.isTrue(votes[0]!.some((prompt) => !isGold(prompt)))
      }
      // Batches overtake each other where prompts repeat or sizes differ.
      assert.deepStrictEqual(
        batches.flatMap(([prompts]) => prompts!.filter((prompt) => !isGold(prompt))).toSorted(),
        expected.items.map((json) => anyOrder(JSON.parse(json) as TaskRequest["prompts"][number])).toSorted(),
      )
      if (asked.gold === undefined) assert.isFalse(sent.flat().some(isGold))

      const directory = yield* temporaryDirectory
      const point = yield* Latch.make()
      const request = Math.floor(broken.after * undisturbed.length)
      const service = yield* ScriptedService.make(
        (received, before) => {
          if (broken.on === "request" && before.length === request) point.openUnsafe()
          return ScriptedService.obliging(received, before)
        },
        { idempotencyKey, concurrency: 4 },
      )
      const record = Math.floor(broken.after * records.length)
      let read = 0
      const input = Stream.mapArray(arriving(records, portions[0]), (array) => {
        read += array.length
        if (broken.on === "record" && read >= record) point.openUnsafe()
        return array
      })
      const first = yield* Effect.forkChild(run(input, directory, service))
      yield* Effect.raceFirst(point.await, Fiber.await(first))
      for (let i = 0; i < broken.turns; i++) yield* turn
      yield* Fiber.interrupt(first)

      yield* run(arriving(records, portions[1]), directory, service)
      assert.sameDeepMembers(service.received.map(taskOf), undisturbed)
      const again = yield* run(arriving(records, portions[0]), directory, service)
      assert.strictEqual(again.new, 0)
      assert.strictEqual(service.received.length, undisturbed.length)
    })

    it.live(
      `accounts for every record, and sends what is new once, wherever it is broken off (keys ${idempotencyKey})`,
      () =>
        Effect.gen(function* () {
          const context = yield* Effect.context<Layer.Success<typeof platform>>()
          const holds = fc.asyncProperty(inputs, limits, fc.tuple(portions, portions), breaks, asked, (...drawn) =>
            Effect.runPromiseWith(context)(Effect.scoped(property(...drawn))),
          )
          yield* Effect.promise(() => fc.assert(holds, { numRuns: cases(4, 15) }))
        }).pipe(Effect.provide(platform)),
    )
  }
})
