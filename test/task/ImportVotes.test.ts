/** In which steps an import writes what it reads. */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Result, Stream } from "effect"
import type { ImportedVote } from "../../src/domain/Vote.ts"
import type { VoteRecord } from "../../src/domain/VotedItem.ts"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as ImportVotes from "../../src/task/ImportVotes.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import * as Results from "../../src/task/Results.ts"
import { test } from "../support/job.ts"
import { reject } from "./support.ts"

const record = (id: string, expert: string, text = "x"): VoteRecord =>
  Result.succeed({
    item: { id, prompt: `${id} ${text}`, completions: ["a", "b"] },
    origin: { file: "votes.jsonl", line: 1 },
    votes: [{ expert, choice: 0 } satisfies ImportedVote],
  })

/** The votes of three experts on each of `n` items, one item after the other. */
const together = (n: number, text?: string) =>
  Array.from({ length: n }, (_, i) => ["ann", "bob", "cy"].map((expert) => record(`q${i}`, expert, text))).flat()

const ledgerInMemory = Ledger.layer().pipe(Layer.provideMerge(SqliteClient.layer({ filename: ":memory:" })))

/** What an import writes in each step, and the votes that the ledger has afterwards, by item. */
const written = Effect.fnUntraced(function* (records: ReadonlyArray<VoteRecord>) {
  const ledger = yield* Ledger
  const steps: Array<{ readonly read: number; readonly new: number; readonly changed: number }> = []
  let before = 0
  const recordImport: typeof ledger.recordImport = (run, step) => {
    steps.push({ read: step.counts.read - before, new: step.tasks.length, changed: step.changed.length })
    before = step.counts.read
    return ledger.recordImport(run, step)
  }
  const counts = yield* ImportVotes.importVotes(Stream.fromArray(records)).pipe(
    Effect.provideService(Ledger, { ...ledger, recordImport }),
  )
  const items = yield* Stream.runCollect(Results.items())
  const votes = items.map(({ judgments }) => judgments.flatMap(({ annotations }) => annotations["votes"]).length)
  const sum = (of: "read" | "new" | "changed") => steps.reduce((sum, step) => sum + step[of], 0)
  assert.strictEqual(sum("read"), records.length)
  return {
    counts,
    votes,
    largest: Math.max(...steps.map(({ read }) => read)),
    new: sum("new"),
    changed: sum("changed"),
  }
}, Effect.provide(ledgerInMemory))

describe("the steps of an import", () => {
  test("an input that fails: what came before it is kept, but not an item that may lack votes", function* () {
    const cutOff = together(3).slice(0, -1)
    for (const [records, options] of [
      [cutOff, {}],
      // A record that is cut off comes last.
      [[...cutOff, Result.fail(reject(1))], {}],
      [[Result.fail(reject(1)), ...cutOff], { maxRejects: 0 }],
    ] as const) {
      const failing = Stream.concat(Stream.fromArray(records), Stream.fail("the input"))
      const { error, items } = yield* Effect.gen(function* () {
        const error = yield* Effect.flip(ImportVotes.importVotes(failing, options))
        return { error, items: yield* Stream.runCollect(Results.items()) }
      }).pipe(Effect.provide(ledgerInMemory))
      assert.strictEqual(error, "the input")
      assert.deepStrictEqual(items.map(({ itemId }) => itemId).toSorted(), ["q0", "q1"])
    }
  })

  test("an item whose votes stand together is written once, wherever the steps end", function* () {
    const records = together(1_000)
    records.splice(1_500, 0, Result.fail(reject(1)))
    const { counts, largest, votes, ...steps } = yield* written(records)
    assert.deepInclude(counts, { read: 3_001, imported: 3_000, rejected: 1, items: 1_000, votes: 3_000 })
    assert.deepStrictEqual(steps, { new: 1_000, changed: 0 })
    assert.isAtMost(largest, 1_024)
    assert.isTrue(votes.every((count) => count === 3))
  })

  test("large records are written a few at a time", function* () {
    const { largest, votes, ...steps } = yield* written(together(6, "x".repeat(1_000_000)))
    assert.deepInclude(steps, { new: 6, changed: 0 })
    assert.strictEqual(largest, 3)
    assert.deepStrictEqual(votes, [3, 3, 3, 3, 3, 3])
  })

  test("an item may have more votes than a step", function* () {
    const many = Array.from({ length: 2_500 }, (_, i) => record("q", `expert ${i}`))
    const { counts, largest, votes } = yield* written([record("p", "ann"), ...many, record("r", "ann")])
    assert.deepInclude(counts, { read: 2_502, imported: 2_502, items: 3, votes: 2_502 })
    assert.deepStrictEqual(votes, [1, 2_500, 1])
    assert.isAtMost(largest, 1_024)
  })
})
