import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import { type Split, splits } from "../../src/domain/Split.ts"
import * as readers from "../support/datasetReaders.ts"
import { pair } from "../support/pairs.ts"
import { column, columns } from "../support/columns.ts"
import { test, written } from "./support.ts"

/** Pairs of items with 1, 2, 3, 1, 2, 3 … pairs, some of them longer than others. */
const pairsOf = (items: number): ReadonlyArray<PreferencePair> =>
  Array.from({ length: items }, (_, item) =>
    Array.from({ length: (item % 3) + 1 }, (_, i) =>
      pair(item, { rejected_index: i, chosen: `${i} `.repeat((item * 7) % 40) }),
    ),
  ).flat()

const splitOf = ({ item_id }: PreferencePair): Split =>
  item_id.endsWith("7") ? "test" : item_id.endsWith("3") ? "validation" : "train"

/** The rows of each shard of a split, in the order of the names. */
const shardsOf = ({ directory, files }: Dataset.DatasetInfo, prefix: string) =>
  Effect.promise(() =>
    Promise.all(
      files
        .filter(({ path }) => path.startsWith(prefix))
        .map(({ path }) => path)
        .toSorted()
        .map((path) =>
          path.endsWith(".parquet")
            ? readers.hyparquet(`${directory}/${path}`)
            : (readers.jsonl(`${directory}/${path}`) as Promise<ReadonlyArray<object>>),
        ),
    ),
  )

describe("splits and shards", () => {
  test("hold each pair once, in order, and no item in two of them", function* () {
    const pairs = pairsOf(200)
    const { info } = yield* written(pairs, { splitOf, shardBytes: 2_000 })
    for (const split of splits) {
      const expected = pairs.filter((pair) => splitOf(pair) === split)
      const parquet = yield* shardsOf(info, `data/${split}-`)
      const jsonl = yield* shardsOf(info, `jsonl/${split}-`)
      assert.isAbove(parquet.length, 2)
      assert.deepStrictEqual(jsonl, parquet)
      assert.deepStrictEqual<unknown>(parquet.flat(), expected)
      const items = parquet.map((rows) => new Set(rows.map((row) => (row as PreferencePair).item_id)))
      const distinct = new Set(expected.map(({ item_id }) => item_id))
      assert.strictEqual(
        items.reduce((sum, { size }) => sum + size, 0),
        distinct.size,
      )
      assert.strictEqual(info.splits.find((summary) => summary.split === split)?.rows, expected.length)
    }
  })

  test("are named with their number and their total, from 00000 on", function* () {
    const { info } = yield* written(pairsOf(60), { splitOf, shardBytes: 1 })
    const names = info.files.map(({ path }) => path).filter((path) => path.startsWith("data/test-"))
    // Items 7, 17, 27, 37, 47 and 57, a shard for each.
    assert.deepStrictEqual(
      names,
      [0, 1, 2, 3, 4, 5].map((i) => `data/test-0000${i}-of-00006.parquet`),
    )
  })

  test("end with the item that reaches the limit", function* () {
    const pairs = pairsOf(100)
    const { info: whole } = yield* written(pairs)
    assert.strictEqual(whole.files.filter(({ path }) => path.startsWith("data/")).length, 1)
    const shardBytes = Math.ceil(whole.splits[0]!.bytes / 4)
    const { info } = yield* written(pairs, { shardBytes })
    const shards = yield* shardsOf(info, "data/train-")
    assert.strictEqual(shards.length, 4)
    // Each but the last, were it a dataset of its own, has the limit's size; without its last item it has not.
    for (const rows of shards.slice(0, -1) as ReadonlyArray<ReadonlyArray<PreferencePair>>) {
      const size = (rows: ReadonlyArray<PreferencePair>) =>
        Effect.map(written(rows), ({ info }) => info.splits[0]!.bytes)
      assert.isAtLeast(yield* size(rows), shardBytes)
      assert.isBelow(yield* size(rows.filter(({ item_id }) => item_id !== rows.at(-1)!.item_id)), shardBytes)
    }
  })

  test("are the same bytes, however the pairs arrive", function* () {
    const options = { splitOf, shardBytes: 3_000, formats: ["trl", "trl-unpaired", "verl"] } as const
    const pairs = pairsOf(150)
    const one = yield* written(pairs, options)
    const two = yield* written(Stream.rechunk(Stream.fromIterable(pairs), 7), {
      ...options,
      splitOf: (pair) => Effect.yieldNow.pipe(Effect.as(splitOf(pair))),
    })
    assert.deepStrictEqual(two.info.files, one.info.files)
  })

  test("without pairs have no file", function* () {
    const { info } = yield* written([pair(7)], { splitOf, formats: ["trl"] })
    assert.deepStrictEqual(column(info.files, "path"), [
      "data/test-00000-of-00001.parquet",
      "jsonl/test-00000-of-00001.jsonl",
      "formats/trl/test.jsonl",
      "README.md",
    ])
    assert.deepStrictEqual(columns(info.splits, "split", "rows"), [["test", 1]])
  })

  test("fail with the error of whoever assigns them, and leave nothing", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const splitOf = () => Effect.fail("no split")
    const write = Stream.run(Stream.make(pair(0)), Dataset.write({ directory: `${folder}/dataset`, splitOf }))
    assert.strictEqual(yield* Effect.flip(write), "no split")
    assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
  })
})
