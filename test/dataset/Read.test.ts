/** Datasets read back: the pairs that were written, and what is wrong with files that others changed. */
import { appendFileSync, existsSync, writeFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import * as Conversation from "../../src/domain/Conversation.ts"
import type { Message } from "../../src/domain/Message.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import { parquetWriteBuffer } from "hyparquet-writer"
import { temporaryDirectory } from "../support/job.ts"
import { difficultPairs, pair } from "../support/pairs.ts"
import { replaceFile, test, written } from "./support.ts"

const call: Message = {
  role: "assistant",
  content: "",
  tool_calls: [{ type: "function", function: { name: "add", arguments: '{"a":1,"b":20000000000000000001}' } }],
}

const conversation: NonNullable<PreferencePair["chosen_messages"]> = [
  call,
  { role: "tool", content: "3", name: "add" },
  { role: "assistant", content: "It is 3." },
]

const conversations = [
  pair(1, { prompt: [{ role: "user", content: "Hello" }] }),
  pair(2, {
    prompt: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "1 + 2?" },
    ],
    chosen: Conversation.render(conversation),
    chosen_messages: conversation,
    tools: '[{"type":"function"}]',
  }),
]

const dataOf = ({ files }: Dataset.Written) => files.filter(({ path }) => path.startsWith("data/"))

describe("Dataset.read", () => {
  for (const [what, pairs, options] of [
    ["texts that formats are known to spoil", difficultPairs, {}],
    ["conversations with tool calls", conversations, { conversational: true, tools: true }],
    [
      "several splits",
      [...difficultPairs, pair(30)],
      { splitOf: ({ votes }: PreferencePair) => (votes > 1 ? "test" : "train") },
    ],
  ] as const) {
    test(`${what}: gives the pairs that were written, which are the same files again`, function* () {
      const { directory, info } = yield* written(pairs, options)
      const read = yield* Stream.runCollect(Dataset.read(directory))
      assert.sameDeepMembers([...read], [...pairs])
      assert.deepStrictEqual(dataOf((yield* written(read, options)).info), dataOf(info))
    })
  }

  test("reads one split, shard after shard, and knows no other", function* () {
    const all = Array.from({ length: 40 }, (_, i) => pair(i))
    const splitOf = ({ item_id }: PreferencePair) => (item_id.endsWith("0") ? "test" : "train")
    const { directory: folder, info } = yield* written(all, { splitOf, shardBytes: 2_000 })
    assert.isAbove(dataOf(info).length, 3)
    const test = yield* Stream.runCollect(Dataset.read(folder, { split: "test" }))
    assert.deepStrictEqual(
      [...test],
      all.filter((pair) => splitOf(pair) === "test"),
    )
    const failure = yield* Effect.flip(Stream.runDrain(Dataset.read(folder, { split: "validation" })))
    assert.strictEqual(failure.message, `${folder}: expected a split validation, found train, test`)
    assert.strictEqual((yield* Dataset.manifest(folder)).rows, 40)
  })

  test("refuses a folder without a manifest, and one of another version", function* () {
    const folder = yield* temporaryDirectory
    const problem = Effect.map(Effect.flip(Dataset.manifest(folder)), ({ message }) => message)
    assert.match(yield* problem, /manifest\.json: expected a dataset manifest, found no readable file$/)
    writeFileSync(`${folder}/manifest.json`, "{}")
    assert.match(yield* problem, /found invalid content: /)
    const text = yield* (yield* written([pair(1)])).read("manifest.json")
    writeFileSync(`${folder}/manifest.json`, text.replace('"version": 1', '"version": 2'))
    assert.match(yield* problem, /found a manifest of version 2, which this version of prefstream cannot read$/)
  })

  test("a damaged file gives no pair, and a row that is no pair is named", function* () {
    const { directory: folder, info } = yield* written([pair(1)])
    const { path, sha256 } = info.files.find((file) => file.path.startsWith("data/"))!
    const file = `${folder}/${path}`
    const failing = Effect.map(Effect.flip(Stream.runDrain(Dataset.read(folder))), (failure) => failure)
    const replace = (bytes: Uint8Array) => replaceFile(folder, path, bytes)
    appendFileSync(file, "!")
    const damaged = yield* failing
    assert.match(
      damaged.message,
      new RegExp(`^${file}: expected the SHA-256 ${sha256} of the manifest, found [0-9a-f]{64}$`),
    )
    replace(Buffer.from("PAR1"))
    assert.match((yield* failing).message, /: expected a Parquet file, found /)
    const columnData = [{ name: "prompt", data: ["Why?", null], type: "STRING" as const, nullable: true }]
    replace(new Uint8Array(parquetWriteBuffer({ columnData })))
    const reason = yield* failing
    assert.strictEqual(reason.row, 1)
    assert.match(reason.message, /, row 1: expected a preference pair, found chosen: expected a string, found nothing/)

    // A dataset of a version that knew none of the columns with null.
    const full = pair(0, { rationale: null, strength: null, edited: null, metadata: null })
    const older = Object.entries(full).filter(([, value]) => value !== null)
    const fileOf = (columns: typeof older) => {
      const columnData = columns.map(([name, value]) => {
        return { name, data: [value], type: typeof value === "string" ? ("STRING" as const) : ("INT32" as const) }
      })
      return new Uint8Array(parquetWriteBuffer({ columnData }))
    }
    replace(fileOf(older))
    assert.deepStrictEqual([...(yield* Stream.runCollect(Dataset.read(folder)))], [full])
    replace(fileOf(older.filter(([name]) => name !== "votes")))
    assert.match((yield* failing).message, /, row 1: expected a preference pair, found votes: expected /)
  })

  test("values that no type check has seen are refused before anything is written", function* () {
    const cases: ReadonlyArray<readonly [options: object, message: RegExp]> = [
      [{ shardBytes: -1 }, /shardBytes: expected at least 1, found -1\.$/],
      [{ shardBytes: Number.NaN }, /found NaN\.$/],
      [
        { formats: ["trll"] },
        /formats: expected one of .*, or a custom format, found "trll" \(did you mean trl\?\)\.$/,
      ],
      [{ formats: [{ name: "own" }] }, /formats: expected one of .*, found an object/],
    ]
    for (const [options, message] of cases) {
      assert.match((yield* Effect.flip(written([pair(1)], options))).message, message)
    }
    for (const [members, message] of [
      [{ rejected: undefined }, "pairs[1].rejected: expected a text, found nothing."],
      [{ chosen: 5 }, "pairs[1].chosen: expected a text, found 5."],
      [{ prompt: { role: "user" } }, "pairs[1].prompt: expected a text, found an object."],
    ] as const) {
      const directory = `${yield* temporaryDirectory}/dataset`
      const pairs = Stream.make(pair(1), pair(2, members as never))
      const { reason } = yield* Effect.flip(Stream.run(pairs, Dataset.write({ directory })))
      assert.deepStrictEqual(
        [reason._tag, reason.message],
        ["OptionInvalid", `The dataset cannot be written: ${message}`],
      )
      assert.isFalse(existsSync(directory))
    }
  })
})
