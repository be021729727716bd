/** Rows with members or types that the first 10 MB of their file would not have, which `datasets` cannot read then. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import * as Conversation from "../../src/domain/Conversation.ts"
import type { Message } from "../../src/domain/Message.ts"
import { pair } from "../support/pairs.ts"
import { replaceFile, test, written } from "./support.ts"

const readAtOnce = 10 * 1024 * 1024

/** The members of a value that are not null, by their paths, and what members the objects at a path have. */
const shownBy = (value: unknown, path = ""): ReadonlyArray<string> => {
  if (value === null) return []
  if (Array.isArray(value)) return [`${path} list`, ...value.flatMap((part) => shownBy(part, `${path}[]`))]
  if (typeof value !== "object") return [`${path} ${typeof value}`]
  const members = Object.entries(value)
  return members.flatMap(([name, member]) => [`${path}.${name}`, ...shownBy(member, `${path}.${name}`)])
}

/** What rows show that the first 10 MB do not. */
const lateIn = (texts: ReadonlyArray<string>) => {
  const lines = texts.flatMap((text) => text.split("\n").filter((line) => line !== ""))
  const shown = new Set<string>()
  const late = new Set<string>()
  let bytes = 0
  for (const line of lines) {
    const isFirst = bytes < readAtOnce
    bytes += Buffer.byteLength(line) + 1
    for (const one of shownBy(JSON.parse(line))) {
      if (isFirst) shown.add(one)
      else if (!shown.has(one)) late.add(one)
    }
  }
  assert.isAbove(bytes, readAtOnce)
  return [...late]
}

const long = "x".repeat(500_000)

const plain = (i: number) =>
  pair(i, {
    chosen: `${i} ${long}`,
    rejected: `${long} ${i}`,
    rationale: null,
    metadata: null,
    edited: null,
    aspects: null,
    flags: null,
    strength: null,
    all_bad: null,
  })

const calls: readonly [Message] = [
  {
    role: "assistant",
    content: "",
    tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"city":"Paris"}' } }],
  },
]
const called: ReadonlyArray<Message> = [...calls, { role: "tool", content: "20", name: "f", tool_call_id: "c1" }]

const tools = '[{"type":"function","function":{"name":"f","parameters":{}}}]'

/** A pair with what none of the others has. */
const late = pair(1000, {
  prompt: [{ role: "user", content: "Weather?" }, ...called, { role: "user", content: "And now?" }],
  chosen: Conversation.render(calls),
  chosen_messages: calls,
  tools,
  rationale: "Because",
  metadata: '{"a":1}',
  edited: "[tool call f]\n{}",
  all_bad: false,
})
const later = pair(1001, {
  chosen: "No",
  rejected: Conversation.render(calls),
  rejected_messages: calls,
  tools,
  strength: 2,
})

const conversationalFormats = [
  "trl-conversational",
  "trl-unpaired-conversational",
  "nemo-rl",
  "openai-preference",
] as const

const withTools = { conversational: true, tools: true }

const itemsIn = (texts: ReadonlyArray<string>) =>
  texts.map((text) =>
    text
      .trimEnd()
      .split("\n")
      .map((line): string => JSON.parse(line).item_id),
  )

describe("a row with what the first 10 MB would not show", () => {
  const pairs = [...Array.from({ length: 11 }, (_, i) => plain(i)), late, later, plain(21)]

  test("is at the start of each file of JSON Lines, and verify finds nothing", function* () {
    const { directory, info, read } = yield* written(pairs, { ...withTools, formats: conversationalFormats })
    const files = info.files.filter(({ path }) => path.endsWith(".jsonl"))
    assert.strictEqual(files.length, 1 + conversationalFormats.length)
    for (const { path, rows } of files) {
      const text = yield* read(path)
      assert.deepStrictEqual(lateIn([text]), [], path)
      assert.strictEqual(text.split("\n").length - 1, rows, path)
    }
    const [items] = itemsIn([yield* read("jsonl/train-00000-of-00001.jsonl")])
    assert.deepStrictEqual(items!.slice(0, 3), ["item-1000", "item-1001", "item-0"])
    assert.deepStrictEqual(items!.toSorted(), pairs.map(({ item_id }) => item_id).toSorted())
    assert.deepStrictEqual((yield* Dataset.verify(directory)).findings, [])
  })

  test("is in the first of several shards, whose rows stay where they are in Parquet", function* () {
    const { directory, info, read } = yield* written(pairs, { ...withTools, shardBytes: 4_000_000 })
    const under = (folder: string) => info.files.filter(({ path }) => path.startsWith(folder))
    const texts = yield* Effect.forEach(under("jsonl/"), ({ path }) => read(path))
    assert.isAbove(texts.length, 2)
    assert.deepStrictEqual(lateIn(texts), [])
    const rows = itemsIn(texts)
    assert.deepStrictEqual(
      under("jsonl/").map(({ rows }) => rows),
      rows.map(({ length }) => length),
    )
    assert.strictEqual(rows[0]![0], "item-1000")
    assert.deepStrictEqual(
      under("data/").map(({ rows }) => rows),
      under("jsonl/").map(({ rows: all }, i) => all! + (i === 0 ? -2 : i === under("jsonl/").length - 1 ? 2 : 0)),
    )
    assert.deepStrictEqual((yield* Dataset.verify(directory)).findings, [])
  })

  test("is found by verify, where a file does not start with it", function* () {
    const { directory, read } = yield* written(pairs, { ...withTools, formats: ["trl-conversational"] })
    const path = "formats/trl-conversational/train.jsonl"
    const [first, ...others] = (yield* read(path)).trimEnd().split("\n")
    replaceFile(directory, path, [...others, first, ""].join("\n"))
    assert.deepStrictEqual((yield* Dataset.verify(directory)).findings.map(Dataset.formatFinding), [
      `${path}:14: prompt: expected only types and members that occur in the first 10 MB of the file (\`load_dataset\` infers all types from this part), found a type or object member that first occurs later`,
    ])
  })

  test("stays where it is in a small file", function* () {
    const { read } = yield* written([pair(1, { prompt: "2024-01-31" }), late, pair(2)], withTools)
    assert.deepStrictEqual(itemsIn([yield* read("jsonl/train-00000-of-00001.jsonl")]), [
      ["item-1", "item-1000", "item-2"],
    ])
  })
})
