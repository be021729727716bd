/** Who judged: names stay in the ledger; what a run, an export, or a push writes has pseudonyms. */
import { dirname } from "node:path"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as HubServer from "../dataset/HubServer.ts"
import { cli, ends, folderWithItems, quick, to } from "../support/cli.ts"
import { query } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const voters = ["Maria Okonkwo", "jürgen@example.org", "judge:tiny-model"]
const names = [...voters, "Lea Lead", "maria.private@example.org"]

/** Each item has three votes, a flag with a member of the service's own, and a lead's decision. */
const named = ScriptedService.judging(() => ({
  annotations: {
    rationale: "because",
    expert: voters[0],
    votes: voters.map((expert, i) => ({ expert, choice: i === 2 ? 1 : 0, order: [0, 1], seconds: 2 })),
    flags: [{ expert: voters[1], kind: "unclear_prompt", comment: "unclear", email: "maria.private@example.org" }],
    decision: { by: "Lea Lead", at: "2026-11-25T12:00:00Z" },
  },
}))

/** The texts of all files below a folder; those of Parquet files decoded. */
const textsIn = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const texts = new Map<string, string>()
  for (const path of yield* fs.readDirectory(folder, { recursive: true })) {
    const file = `${folder}/${path}`
    if ((yield* fs.stat(file)).type !== "File") continue
    const rows = path.endsWith(".parquet")
      ? yield* Effect.promise(() => query(`SELECT COLUMNS(*)::VARCHAR FROM read_parquet('${file}')`))
      : []
    texts.set(path, `${yield* fs.readFileString(file)}${rows.map((row) => JSON.stringify(row)).join("\n")}`)
  }
  return texts
})

/** The files in which each of the names is found. */
const found = (texts: ReadonlyMap<string, string>) =>
  [...texts].flatMap(([path, text]) => names.filter((name) => text.includes(name)).map((name) => `${path}: ${name}`))

const pseudonymsIn = (texts: ReadonlyMap<string, string>) =>
  new Set([...texts.values()].flatMap((text) => text.match(/expert-[0-9a-f]{12}/g) ?? []))

const formats = ["--format", "trl", "--format", "openrlhf-conversational"]

/** A job of which all items are judged. */
const job = Effect.gen(function* () {
  const folder = yield* folderWithItems(6)
  const service = yield* ScriptedService.make(named)
  yield* cli(["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...formats, ...quick], to(service)).pipe(
    ends(0),
  )
  return folder
})

describe("experts' names", () => {
  test("are in no file of a dataset, which has the same pseudonyms each time, also of a copy of the ledger", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* job
    const first = yield* textsIn(`${folder}/job/dataset`)
    assert.deepStrictEqual(found(first), [])
    assert.strictEqual(pseudonymsIn(first).size, 3, "of those who voted; one of them flagged, too")
    assert.include(first.get("data/train-00000-of-00001.parquet"), "expert-", "the scan reads Parquet")
    const { judges } = JSON.parse(first.get("manifest.json")!) as { judges: unknown }
    assert.deepStrictEqual<unknown>(judges, { people: 2, rules: [], gold_files: [], models: ["tiny-model"] })

    yield* cli(["export", "--dir", `${folder}/job`, ...formats]).pipe(ends(0))
    assert.deepStrictEqual(yield* textsIn(`${folder}/job/dataset`), first)
    yield* cli(["ledger", "backup", "--dir", `${folder}/job`, `${folder}/copy.db`]).pipe(ends(0))
    yield* fs.makeDirectory(`${folder}/copy`)
    yield* fs.rename(`${folder}/copy.db`, `${folder}/copy/ledger.db`)
    assert.strictEqual((yield* cli(["export", "--dir", `${folder}/copy`, ...formats])).status, 0)
    assert.deepStrictEqual(yield* textsIn(`${folder}/copy/dataset`), first)

    const other = yield* textsIn(`${yield* job}/job/dataset`)
    for (const pseudonym of pseudonymsIn(other)) assert.notInclude([...pseudonymsIn(first)], pseudonym)
  })

  test("are in none that a threshold refuses, and in the table of votes, which is for the team", function* () {
    const folder = yield* job
    yield* cli(["export", "--dir", `${folder}/job`, "--threshold", "flagged=0"]).pipe(ends(6))
    assert.deepStrictEqual(found(yield* textsIn(`${folder}/job/refused`)), [])
    const votes = yield* cli(["export-votes", "--dir", `${folder}/job`])
    for (const name of [...voters, "Lea Lead"]) assert.include(votes.stdout, name)
  })

  test("are pushed only with --expert-names, of the export and of the push", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* job
    const dataset = `${folder}/job/dataset`
    const server = yield* HubServer.make()
    const push = (...args: ReadonlyArray<string>) =>
      cli(["push", dataset, "--repo", "ada/preferences", "--public", ...args], {
        HF_ENDPOINT: server.url,
        HF_TOKEN: "hf_writer",
      })
    const pushed = Effect.gen(function* () {
      const copy = yield* temporaryDirectory
      for (const [path, bytes] of server.filesOf("ada/preferences")) {
        yield* fs.makeDirectory(dirname(`${copy}/${path}`), { recursive: true })
        yield* fs.writeFile(`${copy}/${path}`, bytes)
      }
      return yield* textsIn(copy)
    })

    assert.strictEqual((yield* push()).status, 0)
    const first = yield* pushed
    assert.strictEqual(pseudonymsIn(first).size, 3)
    assert.deepStrictEqual(found(first), [])

    yield* cli(["export", "--dir", `${folder}/job`, "--expert-names", ...formats]).pipe(ends(0))
    const texts = yield* textsIn(dataset)
    const places = found(texts)
    assert.includeMembers(places, ["report.json: Maria Okonkwo", "report.html: Maria Okonkwo"])
    assert.include(places, "data/train-00000-of-00001.parquet: jürgen@example.org")
    yield* push().pipe(ends(1, /contains names of experts, and was not pushed/))
    assert.deepStrictEqual(found(yield* pushed), [])
    assert.strictEqual((yield* push("--expert-names")).status, 0)
    assert.isNotEmpty(found(yield* pushed))
  })
})
