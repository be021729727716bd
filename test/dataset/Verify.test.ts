import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import * as Dataset from "../../src/dataset/Dataset.ts"
import { formatNames } from "../../src/dataset/format/TrainerFormats.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import type { Split } from "../../src/domain/Split.ts"
import { errorsIn } from "../support/datasetReaders.ts"
import { difficultPairs, pair } from "../support/pairs.ts"
import { column } from "../support/columns.ts"
import { replaceFile, test, written } from "./support.ts"

const splitOf = ({ item_id }: PreferencePair): Split =>
  item_id.endsWith("7") ? "test" : item_id.endsWith("3") ? "validation" : "train"

const pairs = Array.from({ length: 100 }, (_, i) => pair(i))

const dataset = (options: Omit<Dataset.Options, "directory"> = {}, source = pairs) =>
  Effect.map(written(source, { splitOf, allowEmpty: true, ...options }), ({ directory }) => directory)

/** Changes a file's text, and the manifest, too, so that size and SHA-256 agree; or only the file with `write`. */
const change = (directory: string, file: string, edit: (text: string) => string, write = replaceFile) => {
  const before = readFileSync(`${directory}/${file}`, "utf8")
  assert.notStrictEqual(edit(before), before)
  write(directory, file, edit(before))
}

const writeAlone: typeof replaceFile = (directory, file, content) => writeFileSync(`${directory}/${file}`, content)

const lines = (directory: string) =>
  Effect.map(Dataset.verify(directory), ({ findings }) => findings.map(Dataset.formatFinding))

describe("verify", () => {
  test("finds nothing in what was written, in either shape, with every format and several shards", function* () {
    // hh can't hold a side that is white space alone, as it is between its markers.
    const plain = [...pairs, ...difficultPairs.filter(({ rejected }) => rejected.trim() !== "")]
    for (const conversational of [false, true]) {
      const directory = yield* dataset({ conversational, shardBytes: 3_000, formats: formatNames, margin: true }, plain)
      const { files, rows } = yield* Dataset.verify(directory)
      assert.deepStrictEqual(yield* errorsIn(directory), [])
      assert.isAbove(rows, 110)
      assert.isAbove(files, formatNames.length)
    }
    assert.deepStrictEqual(yield* lines(yield* dataset({}, [])), [])
  })

  test("finds a flipped bit in any kind of file", function* () {
    const fs = yield* FileSystem.FileSystem
    for (const file of [
      "data/train-00000-of-00001.parquet",
      "jsonl/test-00000-of-00001.jsonl",
      "formats/trl/train.jsonl",
      "README.md",
    ]) {
      const directory = yield* dataset({ formats: ["trl"] })
      const bytes = yield* fs.readFile(`${directory}/${file}`)
      bytes[Math.floor(bytes.length / 2)]! ^= 1
      yield* fs.writeFile(`${directory}/${file}`, bytes)
      const found = yield* lines(directory)
      assert.strictEqual(found.length, 1)
      assert.match(found[0]!, new RegExp(`^${file}: expected SHA-256 [0-9a-f]{64}, found [0-9a-f]{64}$`))
    }
  })

  test("finds a file that is shorter, missing, or strange", function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* dataset()
    change(directory, "README.md", (text) => text.slice(0, -1), writeAlone)
    yield* fs.remove(`${directory}/jsonl/train-00000-of-00001.jsonl`)
    yield* fs.writeFileString(`${directory}/data/train-00001-of-00001.parquet`, "")
    const found = yield* lines(directory)
    assert.strictEqual(found.length, 3)
    assert.include(found[0], "data/train-00001-of-00001.parquet: expected a file that the manifest lists")
    assert.match(found[1]!, /^jsonl\/train-00000-of-00001\.jsonl: expected a file of \d+ bytes, found no readable file/)
    assert.match(found[2]!, /^README\.md: expected \d+ bytes, found \d+$/)
  })

  const train = "jsonl/train-00000-of-00001.jsonl"
  const testFile = "jsonl/test-00000-of-00001.jsonl"

  test.each<readonly [what: string, file: string, (text: string) => string, findings: ReadonlyArray<RegExp>]>([
    [
      "a row that was changed, with its checksum",
      train,
      (text) => text.replace("The better answer to 2", "The worst answer to 2"),
      [/^F:3: chosen: expected the value in Parquet, "The better answer to 2", found "The worst answer to 2"$/],
    ],
    [
      "rows that are only in one of Parquet and JSON Lines",
      testFile,
      (text) => text.slice(text.indexOf("\n") + 1),
      [
        /^F: expected 10 lines, found 9/,
        /^F:1: prompt: expected the value in Parquet, "Prompt 7", found "Prompt 17"/,
        ...Array.from({ length: 8 }, () => /^F:\d/),
      ],
    ],
    [
      "a line at the start of JSON Lines, where others may stand first, that Parquet has nowhere",
      testFile,
      (text) => `${text.split("\n")[0]!.replace("Prompt 7", "Forged")}\n${text}`,
      [
        /^F: expected 10 lines, found 11$/,
        /^F: expected a line that matches a row in the Parquet files, found .*Forged/,
      ],
    ],
    [
      "what a trainer would stumble over",
      "formats/trl/train.jsonl",
      (text) => text.replace('"prompt":"Prompt 1"', '"messages":"Prompt 1"'),
      [/^F:2: /, /^F:2: /],
    ],
    [
      "the first places of a file, and how many others there are",
      train,
      (text) => text.replaceAll("better", "best"),
      [...Array.from({ length: 20 }, () => /^F:\d/), /found 60 more/],
    ],
  ])("finds %s", function* ([, file, edit, expected]) {
    const directory = yield* dataset({ formats: ["trl"] })
    change(directory, file, edit)
    const found = yield* lines(directory)
    assert.strictEqual(found.length, expected.length, found.join("\n"))
    for (const [i, line] of found.entries()) assert.match(line.replace(file, "F"), expected[i]!)
  })

  test("finds Parquet with other columns, or none that can be read", function* () {
    const directory = yield* dataset()
    const other = yield* dataset({ conversational: true })
    const file = "data/test-00000-of-00001.parquet"
    replaceFile(directory, file, readFileSync(`${other}/${file}`))
    const found = yield* lines(directory)
    assert.isTrue(found.some((line) => line.startsWith(`${file}: schema: expected`)))
    assert.isTrue(found.some((line) => line.startsWith(`${file}: huggingface: expected`)))

    replaceFile(directory, file, "not Parquet at all")
    const [unreadable] = yield* lines(directory)
    assert.include(unreadable, `${file}: expected rows that can be read`)
  })

  test("finds a prompt in two splits", function* () {
    const same = [...pairs, pair(107, { prompt: "Prompt 12" })]
    for (const conversational of [false, true]) {
      const found = yield* lines(yield* dataset({ conversational }, same))
      assert.strictEqual(found.length, 1)
      assert.include(
        found[0],
        "data/train-00000-of-00001.parquet:11: prompt: expected a prompt that is in no other split",
      )
      assert.include(found[0], "found a prompt that is also in test: ")
      assert.include(found[0], "Prompt 12")
    }
  })

  test("warns once of completions that a trainer cuts, and of thoughts that templates remove, with their number", function* () {
    const cut = [1, 2, 4].map((i) => pair(i, { chosen: "Yes", rejected: "Yet" }))
    const thinking = [5, 6].map((i) => pair(i, { chosen: "<think>Hm.</think>Two", rejected: "No" }))
    const directory = yield* dataset({ formats: ["trl-implicit", "trl-conversational"] }, [...thinking, ...cut])
    const { findings } = yield* Dataset.verify(directory)
    assert.deepStrictEqual(column(findings, "severity"), ["warning", "warning"])
    assert.deepStrictEqual(findings.map(Dataset.formatFinding), [
      `formats/trl-implicit/train.jsonl:3: chosen: expected completions that differ in their first character (TRL's DPO and KTO trainers move a shared beginning to the prompt), found completions that begin with the same text: TRL would shorten "Yes" to "s" (the first of 3 rows with this problem)`,
      'formats/trl-conversational/train.jsonl:1: chosen[0].content: expected an answer without </think> (many chat templates remove all text up to </think>), found "<think>Hm.</think>Two" (the first of 2 rows with this problem)',
    ])
  })

  test("finds numbers in card and manifest that are not those of the files", function* () {
    const directory = yield* dataset()
    change(directory, "README.md", (text) => text.replace("num_examples: 80", "num_examples: 81"))
    change(directory, "manifest.json", (text) => text.replace(/"rows": ?100,/, '"rows":101,'), writeAlone)
    const found = yield* lines(directory)
    assert.strictEqual(found.length, 2)
    assert.include(found[0], "manifest.json: splits: expected 101 rows in total, found 100")
    assert.include(found[1], "README.md: dataset_info.splits: expected")
  })

  test("finds counts of the report that do not add up, or are not those of the manifest", function* () {
    const funnelOf = (waiting: number, pairs: number) => [
      { step: "read", count: 70, lost: [] },
      { step: "submitted", count: 60, lost: [{ reason: "duplicate", count: 10 }] },
      { step: "judged", count: 55, lost: [{ reason: "waiting", count: waiting }] },
      { step: "pairs", count: pairs, lost: [] },
    ]
    const withFunnel = (waiting: number, pairs: number, judged: number) =>
      dataset({
        finalize: () =>
          Effect.succeed({
            attachments: [
              {
                path: "report.json",
                content: JSON.stringify({ format: "prefstream-report", funnel: funnelOf(waiting, pairs) }),
              },
            ],
          }),
        facts: { counts: { read: 70, submitted: 60, judged, pairs } },
      })
    assert.deepStrictEqual(yield* lines(yield* withFunnel(5, 100, 55)), [])
    assert.deepStrictEqual(yield* lines(yield* withFunnel(29, 101, 60)), [
      "report.json: funnel.judged: expected 31 (submitted 60 minus 29 lost), found 55",
      "manifest.json: counts.judged: expected 55 (as in report.json), found 60",
      "report.json: funnel.pairs: expected 100 (as in the manifest), found 101",
    ])
  })
})
