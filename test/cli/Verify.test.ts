import { createHash } from "node:crypto"
import { assert, describe } from "@effect/vitest"
import { FileSystem } from "effect"
import { cli, ends, importVotes, readJson } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { sample } from "../support/process.ts"

describe("prefstream verify", () => {
  test("ends with 0 for what a job wrote, and with 1 and a line for each finding where it was changed", function* () {
    const fs = yield* FileSystem.FileSystem
    const job = yield* temporaryDirectory
    yield* cli(["run", sample, "--dir", job, "--expert", `gold:${sample}`]).pipe(ends(0))

    yield* cli(["verify", job]).pipe(
      ends(2, new RegExp(`${job} is a job folder: to check its dataset, run prefstream verify ${job}/dataset$`, "m")),
    )
    const good = yield* cli(["verify", `${job}/dataset`]).pipe(ends(0))
    assert.match(good.stdout, /dataset has no errors: 144 pairs in \d+ files\.\n$/)

    const { counts, inputs, judges, settings } = yield* readJson(`${job}/dataset/manifest.json`)
    assert.deepStrictEqual(judges, { people: 0, rules: [], gold_files: [sample], models: [] })
    const bytes = yield* fs.readFile(sample)
    const sha256 = createHash("sha256").update(bytes).digest("hex")
    assert.deepStrictEqual(inputs, [{ file: sample, bytes: bytes.length, records: 72, sha256 }])
    assert.deepInclude(settings, { pairs: { strategy: "best-against-rest" }, aggregate: "majority" })
    assert.deepStrictEqual(counts, { read: 72, submitted: 72, judged: 72, kept: 72, pairs: 144 })
    const card = yield* fs.readFileString(`${job}/dataset/README.md`)
    assert.include(card, `Judged by the gold file \`${sample}\` at the embedded service.`)
    assert.include(card, `72 items were judged with 72 votes from the gold file \`${sample}\`.`)
    assert.include(card, `| ${sample} | 72 | `)

    yield* fs.remove(`${job}/dataset/README.md`)
    yield* fs.writeFileString(`${job}/dataset/notes\u001b.txt`, "mine")
    const bad = yield* cli(["verify", `${job}/dataset`]).pipe(ends(1))
    const lines = bad.stdout.trimEnd().split("\n")
    assert.strictEqual(lines.length, 2)
    assert.match(lines[0]!, /^notes\uFFFD\.txt: expected a file that the manifest lists/)
    assert.match(lines[1]!, /^README\.md: expected a file/)

    const json = yield* cli(["verify", `${job}/dataset`, "--json"]).pipe(ends(1))
    const { findings, rows } = JSON.parse(json.stdout)
    assert.strictEqual(rows, 144)
    assert.deepInclude(findings[1], { file: "README.md", row: null, field: null })
  })

  test("prints a warning of what a trainer cuts, and ends with 0", function* () {
    const job = yield* temporaryDirectory
    yield* importVotes(job, [{ prompt: "Is it?", completions: ["Yes", "Yet"], winner: "Yes", annotator: "a" }])
    yield* cli(["export", "--dir", job, "--format", "trl-implicit"])
    const { stdout } = yield* cli(["verify", `${job}/dataset`]).pipe(ends(0))
    assert.match(
      stdout,
      /^warning: formats\/trl-implicit\/train\.jsonl:1: chosen: .*TRL would shorten "Yes" to "s" \(the only row with this problem\)\n.* has no errors: 1 pair in/,
    )
  })

  test("ends with 1 where there is no dataset, and with 2 where there is no folder", function* () {
    const folder = yield* temporaryDirectory
    const none = yield* cli(["verify", folder]).pipe(ends(1))
    assert.match(none.stdout, /^manifest\.json: expected a dataset manifest/)
    assert.strictEqual((yield* cli(["verify", `${folder}/nowhere`])).status, 2)
  })
})
