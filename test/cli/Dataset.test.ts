/** What the command line can ask of a dataset: filters, thresholds, splits, formats; and what it says of it. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import type { QualityReport } from "../../src/domain/QualityReport.ts"
import { cli, ends, folderWithItems, qualityOf, quick, readJson, reportOf, to, write } from "../support/cli.ts"
import { jsonl } from "../support/datasetReaders.ts"
import { copiesOf, temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const words = ["amber", "basalt", "cedar", "dune", "ember", "fjord", "grove", "harbour", "island", "juniper"]

/** Prompts that do not resemble each other; completions of different lengths. */
const items = Array.from({ length: 40 }, (_, i) => ({
  id: `item-${i}`,
  prompt: `Describe the ${words[i % 10]} of case ${i * 7919} and ${words[(i * 3 + 1) % 10]} ${words[(i >> 2) % 10]}`,
  completions: [`short ${i}`, `somewhat longer ${i}`, `the longest of the three ${i}`],
  metadata: { user: `user-${i % 8}`, all: "same", ...(i < 4 && { few: `few-${i}` }) },
}))

/** The items, judged by the embedded service: the longest is best. */
const judged = copiesOf(
  Effect.fnUntraced(function* (directory: string) {
    yield* write(`${directory}/items.jsonl`, items)
    yield* cli(["run", `${directory}/items.jsonl`, "--dir", directory, "--expert", "longest", ...quick]).pipe(ends(0))
  }),
)

const rowsOf = (directory: string, split: string) =>
  Effect.promise(() => jsonl(`${directory}/dataset/jsonl/${split}-00000-of-00001.jsonl`))

test("the pair at the end of a run is shown with the beginnings of its texts, however long they are", function* () {
  const directory = yield* temporaryDirectory
  const long = (word: string) => Array.from({ length: 3_000 }, (_, i) => `${word} ${i}`).join("\n")
  const item = { prompt: long("prompt"), completions: [long("better"), "worse"], metadata: { notes: long("note") } }
  yield* write(`${directory}/items.jsonl`, [item])
  const args = ["run", `${directory}/items.jsonl`, "--dir", directory, "--expert", "longest", ...quick]
  const said = yield* cli(args).pipe(ends(0))
  assert.match(said.stdout, /^ {2}prompt {5}prompt 0 prompt 1 .*…$/m)
  assert.match(said.stdout, /^ {2}chosen {5}better 0 better 1 .*…$/m)
  assert.match(said.stdout, /^ {2}rejected {3}worse$/m)
  assert.isBelow(said.stdout.length, 2_500)
})

test("a --threshold that is exceeded leaves the dataset as it was, ends with 6, and tells why", function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* judged
  const manifest = `${directory}/dataset/manifest.json`
  const before = yield* fs.readFileString(manifest)
  const args = ["export", "--dir", directory, "--threshold", "longer-chosen=0.9", "--split", "test=0.5"]
  const said = yield* cli(args).pipe(ends(6, /longer-chosen is 1 \(threshold: at most 0\.9\)/))
  assert.include(said.stderr, `${directory}/refused/report.html`)
  assert.match(said.stdout, /A threshold is exceeded, and the dataset was not written\./)
  assert.strictEqual(yield* fs.readFileString(manifest), before)
  const report = yield* readJson<QualityReport>(`${directory}/refused/report.json`)
  const check = report.checks.find(({ check }) => check === "longer-chosen")
  assert.deepInclude(check, { value: 1, threshold: 0.9, passed: false, count: 40, of: 40 })

  yield* cli(["export", "--dir", directory, "--threshold", "longer-chosen=1"]).pipe(ends(0))
  assert.isFalse(yield* fs.exists(`${directory}/refused`))
  const unmeasured = ["export", "--dir", directory, "--threshold", "kappa=0.3"]
  yield* cli(unmeasured).pipe(ends(6, /no data for kappa \(threshold: at least 0\.3\)/))
})

describe("--split-by", () => {
  const split = ["--split", "test=0.25", "--split-by"]

  test("puts all items of a user into one split, and says how many groups there are", function* () {
    const directory = yield* judged
    yield* cli(["export", "--dir", directory, ...split, "user"]).pipe(ends(0))
    const users = yield* Effect.forEach(["train", "test"], (split) =>
      Effect.map(rowsOf(directory, split), (rows) => rows.map(({ metadata }) => JSON.parse(String(metadata)).user)),
    )
    const [train, test] = users.map((of) => [...new Set<string>(of)])
    assert.lengthOf(test!, 2)
    assert.lengthOf([...new Set([...train!, ...test!])], 8)
    const { split_groups, split_shares, splits } = yield* qualityOf(directory)
    // Two pairs of each item.
    assert.deepStrictEqual(
      splits.map(({ items, pairs, split }) => [split, 2 * items, pairs]),
      ["train", "test"].map((split, i) => [split, users[i]!.length, users[i]!.length]),
    )
    assert.deepStrictEqual(split_groups, { field: "user", components: 8, largest: 5, ungrouped: 0, of: 40 })
    assert.deepStrictEqual(split_shares, { test: 0.25, train: 0.75 })
    const fs = yield* FileSystem.FileSystem
    assert.include(
      yield* fs.readFileString(`${directory}/dataset/README.md`),
      "All items with the same `user` are in one split",
    )
    yield* cli(["verify", `${directory}/dataset`]).pipe(ends(0))
  })

  test("counts items without the field, and warns of groups that are too large for the shares", function* () {
    const directory = yield* judged
    yield* cli(["export", "--dir", directory, ...split, "few"]).pipe(ends(0))
    const { split_groups } = yield* qualityOf(directory)
    assert.deepInclude(split_groups, { components: 40, largest: 1, ungrouped: 36 })
    const warning =
      /differ from the requested shares: train has 100% of the items, not 75%, test has 0% of the items, not 25%/
    yield* cli(["export", "--dir", directory, ...split, "all"]).pipe(ends(0, warning))
  })

  test("refuses a field that no item has, and --split-by without --split", function* () {
    const directory = yield* judged
    yield* cli(["export", "--dir", directory, ...split, "usr"]).pipe(
      ends(2, /--split-by: expected a field of the items' metadata, found usr; no item has this field/),
    )
    yield* cli(["export", "--dir", directory, "--split-by", "user"]).pipe(ends(2, /--split-by.*--split/))
  })
})

test("a dataset without any pair is not written, and the existing one stays; the report says what became of the items", function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* judged
  const manifest = `${directory}/dataset/manifest.json`
  const before = yield* fs.readFileString(manifest)
  for (const kept of [
    /the results gave no pairs: the existing dataset .* is kept/,
    /the results gave no pairs: no dataset was written\. See .*\/refused\/report\.html/,
  ]) {
    const said = yield* cli(["export", "--dir", directory, "--min-votes", "9"]).pipe(ends(7, kept))
    assert.match(said.stdout, /^Ended after .*: the results gave no pairs, and no dataset was written\.\n/)
    assert.match(said.stdout, /left out +40 items: 40 too few votes/)
    const { funnel } = yield* readJson<QualityReport>(`${directory}/refused/report.json`)
    const lost = [{ reason: "too_few_votes", count: 40 }]
    assert.deepStrictEqual(funnel.find(({ step }) => step === "kept")?.lost, lost)
    if (yield* fs.exists(manifest)) assert.strictEqual(yield* fs.readFileString(manifest), before)
    yield* fs.remove(`${directory}/dataset`, { recursive: true, force: true })
  }
  assert.isFalse(yield* fs.exists(`${directory}/dataset`))
})

test("an empty dataset takes the place of another one only with --allow-empty, with status 0, and can be verified", function* () {
  const directory = yield* judged
  const manifest = readJson(`${directory}/dataset/manifest.json`)
  assert.strictEqual((yield* manifest).rows, 80)
  yield* cli(["export", "--dir", directory, "--min-votes", "9", "--allow-empty", "--format", "trl"]).pipe(ends(0))
  assert.strictEqual((yield* manifest).rows, 0)
  assert.strictEqual((yield* cli(["verify", `${directory}/dataset`])).status, 0)
})

test("several judgments in one result that are not listed as votes give one warning, which names the member", function* () {
  for (const [place, more] of [
    ["annotations.labels", { annotations: { labels: [{ by: "ann" }, { by: "bob" }] } }],
    [undefined, { judgments: 2, annotations: { votes: [{ expert: "ann", choice: 0 }] } }],
  ] as const) {
    const folder = yield* folderWithItems(3)
    const service = to(yield* ScriptedService.make(ScriptedService.judging(() => more)))
    const said = yield* cli(["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...quick], service).pipe(ends(0))
    const warnings = said.stderr.split("\n").filter((line) => line.includes("several judgments"))
    assert.lengthOf(warnings, place === undefined ? 0 : 1)
    if (place !== undefined) assert.include(warnings[0], `in 3 results (first: item item-0), "${place}"`)
  }
})

describe("filters", () => {
  test("leave out what holds an evaluation prompt, and count it", function* () {
    const directory = yield* judged
    yield* write(`${directory}/evaluation.jsonl`, [
      { turns: [{ content: items[3]!.prompt.toUpperCase() }] },
      { turns: [{ content: "Something that none of the items has to do with at all" }] },
    ])
    const evaluation = [
      "--evaluation-prompts",
      `${directory}/evaluation.jsonl`,
      "--evaluation-path",
      "turns[0].content",
    ]
    const args = ["export", "--dir", directory, "--drop", "contamination", "--split", "test=0.3", ...evaluation]
    const said = yield* cli(args).pipe(ends(0))
    assert.match(said.stdout, /left out +1 item: 1 contamination/)
    assert.match(said.stdout, /train \d+, test \d+/)
    assert.include(said.stdout, `${directory}/dataset/report.html`)
    const { left_out } = reportOf(yield* cli([...args, "--json"]))
    assert.deepStrictEqual(left_out, [{ reason: "contamination", count: 1 }])
    const { checks, funnel } = yield* qualityOf(directory)
    assert.deepStrictEqual(funnel.find(({ step }) => step === "kept")?.lost, [{ reason: "contamination", count: 1 }])
    assert.deepInclude(
      checks.find(({ check }) => check === "contamination"),
      { value: 1 / 40, count: 1, dropped: true },
    )
    const rows = yield* Effect.forEach(["train", "test"], (split) => rowsOf(directory, split))
    assert.isFalse(rows.flat().some(({ item_id }) => item_id === "item-3"))
    yield* cli(["export", "--dir", directory, "--threshold", "contamination=0", ...evaluation]).pipe(ends(6))
  })

  test("name the line of an evaluation's file that can't be used", function* () {
    const directory = yield* judged
    yield* write(`${directory}/evaluation.jsonl`, [{ prompt: "p" }, { prompt: 3 }])
    yield* cli(["export", "--dir", directory, "--evaluation-prompts", `${directory}/evaluation.jsonl`]).pipe(
      ends(2, /evaluation\.jsonl:2: .*prompt: expected a string, found 3/),
    )
  })
})
