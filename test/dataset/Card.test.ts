import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { matchesGlob } from "node:path"
import { parse } from "yaml"
import type * as Dataset from "../../src/dataset/Dataset.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import * as Conversation from "../../src/domain/Conversation.ts"
import type { Split } from "../../src/domain/Split.ts"
import * as readers from "../support/datasetReaders.ts"
import { pair } from "../support/pairs.ts"
import { column } from "../support/columns.ts"
import { test, written } from "./support.ts"

const splitOf = ({ item_id }: PreferencePair): Split => (item_id.endsWith("7") ? "test" : "train")

const pairs = Array.from({ length: 100 }, (_, i) => pair(i))

const facts: Dataset.DatasetFacts = {
  name: 'Answers: "best" & #1',
  description: "Answers of two models.",
  license: "cc-by-4.0",
  languages: ["en", "no"],
  tags: ["helpfulness"],
  inputs: [{ file: "a|b.jsonl", records: 1234, bytes: 5, sha256: "ab".repeat(32) }],
  service: { name: "Annotators Ltd", url: "https://annotators.example/v1" },
  guidelines: "Prefer what is true.\nThen what is short.",
  settings: { strategy: "best-against-rest", votes: 3 },
  counts: { read: 1234, judged: 1200 },
  methods: [{ title: "Votes", text: "Three experts judged each item." }],
}

const cardOf = Effect.fnUntraced(function* (options: Omit<Dataset.Options, "directory">) {
  const { info, read } = yield* written(pairs, options)
  const [, yaml = "", prose = ""] = /^---\n(.*?)\n---\n(.*)$/s.exec(yield* read("README.md")) ?? []
  return { info, front: parse(yaml), prose, manifest: JSON.parse(yield* read("manifest.json")) }
})

describe("the card", () => {
  test("has front matter whose globs find each file of its split, and none else", function* () {
    const { front, info } = yield* cardOf({ splitOf, shardBytes: 2_000, formats: ["verl", "trl"] })
    const globs = front.configs.flatMap(
      (config: { config_name: string; data_files: ReadonlyArray<{ split: Split; path: string }> }) =>
        config.data_files.map(({ path, split }) => ({ config: config.config_name, split, path })),
    )
    const found = globs.map(({ config, path, split }: { config: string; path: string; split: string }) => ({
      config,
      split,
      files: info.files.filter((file) => matchesGlob(file.path, path)).map(({ path }) => path),
    }))
    const under = (prefix: string) => info.files.map(({ path }) => path).filter((path) => path.startsWith(prefix))
    assert.deepStrictEqual(found, [
      { config: "default", split: "train", files: under("data/train-") },
      { config: "default", split: "test", files: under("data/test-") },
      // All configurations of a folder are read as Parquet, since the first one is: JSON Lines can't be one.
      { config: "verl", split: "train", files: ["formats/verl/train.parquet"] },
      { config: "verl", split: "test", files: ["formats/verl/test.parquet"] },
    ])
    assert.isAbove(found[0].files.length, 1)
  })

  test("has the numbers of the files in dataset_info", function* () {
    const { front, info } = yield* cardOf({ splitOf, shardBytes: 2_000 })
    const { dataset_size, download_size, splits } = front.dataset_info
    assert.deepStrictEqual(
      splits.map((split: { name: string; num_examples: number }) => [split.name, split.num_examples]),
      [
        ["train", 90],
        ["test", 10],
      ],
    )
    const parquet = info.files.filter(({ path }) => path.endsWith(".parquet"))
    assert.strictEqual(
      download_size,
      parquet.reduce((sum, { bytes }) => sum + bytes, 0),
    )
    assert.strictEqual(
      dataset_size,
      splits.reduce((sum: number, { num_bytes }: { num_bytes: number }) => sum + num_bytes, 0),
    )
    assert.deepStrictEqual(front.size_categories, ["n<1K"])
  })

  test("names the columns' types as datasets 5 does, in either shape", function* () {
    const standard = yield* cardOf({})
    assert.deepStrictEqual(standard.front.dataset_info.features.slice(0, 2), [
      { name: "prompt", dtype: "string" },
      { name: "chosen", dtype: "string" },
    ])
    const { front } = yield* cardOf({ conversational: true })
    // Features(…)._to_yaml_list() of List({"role": Value("string"), "content": Value("string")})
    assert.deepStrictEqual(front.dataset_info.features[0], {
      name: "prompt",
      list: [
        { name: "role", dtype: "string" },
        { name: "content", dtype: "string" },
      ],
    })
    assert.deepStrictEqual(
      front.dataset_info.features.map(({ name }: { name: string }) => name),
      Object.keys(pair(0)),
    )
  })

  test("has a table of the columns, which the guide repeats", function* () {
    const rowsOf = (text: string) => /\| column +\| type.*\n\|.*\n((?:\|.*\n)+)/.exec(text)![1]
    const { prose } = yield* cardOf({ tools: true })
    const guide = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString("data/README.md"))
    assert.strictEqual(rowsOf(guide), rowsOf(prose))
  })

  test("tells the facts that are given, and the manifest records them", function* () {
    const { front, manifest, prose } = yield* cardOf({ facts })
    assert.deepInclude(front, { license: "cc-by-4.0", language: ["en", "no"], pretty_name: facts.name })
    assert.deepStrictEqual(front.tags, ["preference", "rlhf", "helpfulness"])
    for (const text of [
      `# ${facts.name}\n`,
      "Answers of two models.",
      "Annotators Ltd, https://annotators.example/v1",
      "> Prefer what is true.\n> Then what is short.",
      "### Votes\n\nThree experts judged each item.",
      "| read | 1,234 |",
      "| a\\|b.jsonl | 1,234 |",
      '| strategy | `"best-against-rest"` |',
    ]) {
      assert.include(prose, text)
    }
    const { counts, guidelines, inputs, service, settings } = facts
    assert.deepInclude(manifest, { counts, guidelines, inputs, service, settings })
  })

  test("has none of what is not known", function* () {
    const { front, manifest, prose } = yield* cardOf({})
    assert.notProperty(front, "license")
    assert.notProperty(front, "language")
    assert.notInclude(prose, "How the dataset was made")
    assert.notInclude(prose, "Left out")
    assert.notInclude(prose, "undefined")
    for (const member of ["inputs", "service", "settings", "counts"]) assert.notProperty(manifest, member)
  })

  test("tells what was left out, and links to what was attached once the pairs were written", function* () {
    const seen: Array<number> = []
    const { directory, info, read } = yield* written([pair(0), pair(1, { chosen: "\uD800" })], {
      finalize: ({ files, omitted, rows }) =>
        Effect.sync(() => {
          seen.push(rows, omitted.count)
          return {
            attachments: [
              { path: "report.html", content: "<!doctype html>" },
              { path: "report/numbers.bin", content: new Uint8Array([0, 255]) },
            ],
            facts: { description: `${files.length} files of pairs.` },
          }
        }),
    })
    assert.deepStrictEqual(seen, [1, 1])
    const card = yield* read("README.md")
    assert.include(card, "## Left out")
    assert.include(card, "[report.html](report.html)")
    assert.include(card, "2 files of pairs.")
    assert.deepStrictEqual([...readFileSync(`${directory}/report/numbers.bin`)], [0, 255])
    assert.includeMembers(column(info.files, "path"), ["report.html", "report/numbers.bin", "README.md"])
  })

  test("names no format without rows, and of others the splits that have some", function* () {
    // Only item 7, of the split test, has an edit, and no prompt is a transcript's.
    const prompt = [{ role: "system", content: "Be brief." }] as const
    const { read } = yield* written(
      Array.from({ length: 10 }, (_, i) =>
        pair(i, {
          prompt: [...prompt, { role: "user", content: `Prompt ${i}` }],
          ...(i !== 7 && { edited: null }),
        }),
      ),
      { splitOf, formats: ["hh", "trl-tpo", "trl", "verl", "llamafactory-alpaca"] },
    )
    const card = yield* read("README.md")
    const named = [...card.matchAll(/formats\/([\w-]+)/g)].map(([, name]) => name)
    // Left out, `hh` is named for its pairs.
    assert.deepStrictEqual(new Set(named), new Set(["verl", "trl-tpo", "trl", "llamafactory-alpaca", "hh"]))
    const [loading = ""] = card.split("## Left out")
    assert.notInclude(loading, "formats/hh")
    assert.include(loading, 'data_files="formats/trl-tpo/test.jsonl"')
    assert.include(loading, 'data_files="formats/trl/train.jsonl"')
    assert.notInclude(loading, "trl-conversational")
  })

  const python = spawnSync("python3", ["--version"]).status === 0

  test.skipIf(!python)(
    "has a snippet whose messages fit the conditions of chat templates (needs python3)",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const options = { conversational: true, tools: true, formats: ["trl-conversational"] } as const
      const { directory, read } = yield* written([called, pair(2)], options)
      const [, snippet = ""] = /```python\n(.*?)```/s.exec(yield* read("README.md")) ?? []
      const rows = yield* Effect.promise(() => readers.hyparquet(`${directory}/data/train-00000-of-00001.parquet`))
      yield* fs.writeFileString(`${folder}/datasets.py`, stub)
      const program = `${snippet}\n${conditions}`
      const { stderr, stdout } = spawnSync("python3", ["-c", program], {
        env: { ...process.env, PYTHONPATH: folder, ROWS: JSON.stringify(rows.map(whole)) },
        encoding: "utf8",
      })
      assert.strictEqual(stderr, "")
      const [first, second] = JSON.parse(stdout)
      assert.deepStrictEqual(first.chosen, [
        {
          role: "assistant",
          content: "",
          tool_calls: [{ type: "function", function: { name: "f", arguments: { city: null } }, id: "c1" }],
        },
      ])
      assert.deepStrictEqual(second.chosen, [{ role: "assistant", content: "The better answer to 2" }])
      assert.strictEqual(first.tools, called.tools)

      // The same holds of JSON Lines, without the snippet.
      for (const file of ["jsonl/train-00000-of-00001.jsonl", "formats/trl-conversational/train.jsonl"]) {
        const lines = yield* Effect.promise(() => readers.jsonl(`${directory}/${file}`))
        assert.deepStrictEqual<unknown>(lines[1]!.chosen, second.chosen)
        const messages = lines.flatMap(
          ({ chosen, prompt }) => [chosen, prompt] as unknown as ReadonlyArray<Array<object>>,
        )
        for (const message of messages.flat()) assert.notInclude<unknown>(Object.values(message), null)
      }
    },
  )
})

const call = {
  id: "c1",
  type: "function",
  function: { name: "f", arguments: '{"city":null}' },
} as const
const calls = [{ role: "assistant", content: "", tool_calls: [call] }] as const

const called = pair(1, {
  prompt: [{ role: "user", content: "Weather?" }],
  chosen: Conversation.render(calls),
  chosen_messages: calls,
  tools: '[{"type":"function","function":{"name":"f","parameters":{}}}]',
})

/** A row with null for what a message lacks, as `datasets` gives it; our reader leaves lists out that are null. */
const whole = (row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      Array.isArray(value)
        ? value.map((message: object) => ({ tool_calls: null, name: null, tool_call_id: null, ...message }))
        : value,
    ]),
  )

/** As much of `datasets` as the snippet needs: `with_transform` is given batches, as a dict of lists. */
const stub = `
import json, os

class Dataset(list):
    def with_transform(self, transform):
        batch = transform({name: [row[name] for row in self] for name in self[0]})
        return Dataset({name: batch[name][i] for name in batch} for i in range(len(self)))

def load_dataset(path, split):
    return Dataset(json.loads(os.environ["ROWS"]))
`

/**
 * What Llama 3.1, gpt-oss, DeepSeek V3, LFM 2.5 and Qwen 2.5 do with messages (trl/chat_templates of TRL 1.10), in
 * Python: all but the last ask whether a message has \`tool_calls\`, and then read it.
 */
const conditions = `
for row in dataset:
    for message in row["prompt"] + row["chosen"] + row["rejected"]:
        if "tool_calls" in message:
            assert len(message["tool_calls"]) == 1
            assert message["tool_calls"][0]["function"]["name"] == "f"
            for tool in message["tool_calls"]:
                assert isinstance(tool["function"]["arguments"], dict)
        if message.get("tool_calls"):
            json.dumps([call["function"]["arguments"] for call in message["tool_calls"]])
        assert "name" not in message or message["name"] + ""
print(json.dumps(dataset))
`
