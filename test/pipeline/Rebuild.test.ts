/** `verify --from-votes`: a dataset whose rows come back from its vote table, for jobs of different settings. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { cli, ends, importVotes, quick, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { sample } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const panel = ["--votes", "3", "--expert", "first", "--expert", "longest", "--expert", "random"]

const jobs: { readonly [name: string]: ReadonlyArray<string> } = {
  "one vote per item": ["--expert", "longest"],
  "three votes, ties kept, trainer formats with a margin": [...panel, "--ties", "keep", "--format", "trl", "--format", "verl", "--margin"],
  "weighted votes, near-duplicates left out, splits, gold items": [
    ...panel,
    "--aggregate", "dawid-skene", "--drop", "near-duplicates", "--split", "test=0.2", "--pairs", "best-against-one",
    "--pair-seed", "5", "--gold", sample, "--gold-rate", "0.2", "--conversational",
  ],
  "names, a minimum of agreement": [...panel, "--min-agreement", "0.6", "--expert-names", "--no-shuffle"],
} // prettier-ignore

/** The sample without ids, a near-duplicate of every fourth item, and items with two equal completions. */
const withNearDuplicates = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const records = (yield* fs.readFileString(sample)).trimEnd().split("\n")
  const lines = records.flatMap((text, i) => {
    const { id: _, ...record } = JSON.parse(text)
    return [record, ...(i % 4 === 0 ? [{ ...record, prompt: `${record.prompt} Please.` }] : [])]
  })
  const equals = Array.from({ length: 12 }, (_, i) => ({ prompt: `${i * 7919}?`, completions: ["no", "yes", "yes"] }))
  yield* write(`${folder}/items.jsonl`, [...lines, ...equals])
  return `${folder}/items.jsonl`
})

const votesOf = Effect.fnUntraced(function* (folder: string, ...flags: ReadonlyArray<string>) {
  const { stdout } = yield* cli(["export-votes", "--dir", `${folder}/job`, ...flags]).pipe(ends(0))
  yield* write(`${folder}/votes`, [stdout.trimEnd()])
  return `${folder}/votes`
})

describe("verify --from-votes", () => {
  for (const [name, flags] of Object.entries(jobs)) {
    test(`rebuilds the bytes of every file with rows: ${name}`, function* () {
      const folder = yield* temporaryDirectory
      const items = yield* withNearDuplicates(folder)
      yield* cli(["run", items, "--dir", `${folder}/job`, "--quiet", ...flags]).pipe(ends(0))
      for (const format of ["jsonl", "csv"]) {
        const names = flags.includes("--expert-names") ? [] : ["--pseudonyms"]
        const votes = yield* votesOf(folder, "--as", format, ...names)
        const { stdout } = yield* cli(["verify", `${folder}/job/dataset`, "--from-votes", votes]).pipe(ends(0))
        assert.match(stdout, /Rebuilt \d+ files from \d+ votes: same rows as in the dataset\.\n$/)
        assert.notInclude(stdout, "warning")
      }
    })
  }

  test("rebuilds the bytes while planned items have no votes, and only these have tools", function* () {
    const folder = yield* temporaryDirectory
    const itemOf = (i: number) => ({
      item_id: `q${i}`, prompt: `question ${i} of ${i * 7919}`, completions: [`one ${i}`, `two ${i}`], metadata: { user: `u${i % 11}` },
    }) // prettier-ignore
    yield* importVotes(
      `${folder}/job`,
      Array.from({ length: 40 }, (_, i) => ({ ...itemOf(2 * i), expert: "ann", chosen_index: i % 2 })),
    )
    const tools = [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }]
    yield* write(
      `${folder}/waiting.jsonl`,
      Array.from({ length: 40 }, (_, i) => itemOf(2 * i + 1)).map(({ item_id: id, ...item }) => ({
        id,
        ...item,
        tools,
      })),
    )
    const service = yield* ScriptedService.except(
      (request) => !ScriptedService.isPost(request) && ScriptedService.pending(request),
    )
    yield* cli(["submit", `${folder}/waiting.jsonl`, "--dir", `${folder}/job`, ...quick], to(service)).pipe(ends(0))
    const votes = yield* votesOf(folder, "--pseudonyms")
    const dataset = `${folder}/job/dataset`
    for (const flags of [[], ["--split-by", "user"]]) {
      yield* cli(["export", "--dir", `${folder}/job`, "--split", "test=0.3", ...flags]).pipe(ends(3))
      const { stdout } = yield* cli(["verify", dataset, "--from-votes", votes]).pipe(ends(0))
      assert.match(stdout, /Rebuilt \d+ files from 40 votes: same rows as in the dataset\.\n$/)
      assert.include(stdout, "warning: manifest.json: expected votes on all 80 planned items")
    }
  })

  test("names the pairs that another table gives, and what cannot be rebuilt", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* temporaryDirectory
    const dataset = `${folder}/job/dataset`
    yield* cli(["run", sample, "--dir", `${folder}/job`, "--quiet", ...panel, "--ties", "keep"]).pipe(ends(0))
    const votes = yield* votesOf(folder, "--pseudonyms")
    const lines = (yield* fs.readFileString(votes)).split("\n")
    const { item_id } = JSON.parse(lines[0]!)
    yield* write(
      votes,
      lines.filter((text) => !text.includes(`"${item_id}"`)),
    )
    const other = yield* cli(["verify", dataset, "--from-votes", votes]).pipe(ends(1))
    assert.include(other.stdout, "data/train-00000-of-00001.parquet: expected the rebuilt file: ")
    assert.match(
      other.stdout,
      new RegExp(`after the rebuild, \\d+ pairs? (is|are) gone, for example in item ${item_id}`),
    )

    yield* cli(["verify", dataset, "--from-votes", `${folder}/job`]).pipe(
      ends(2, /--from-votes: expected a vote table, found a folder; prefstream export-votes --dir \S+job --pseudonyms/),
    )
    yield* write(votes, ["prompt,choice", "a,b"])
    const unreadable = yield* cli(["verify", dataset, "--from-votes", votes])
    assert.notStrictEqual(unreadable.status, 0)
    assert.include(unreadable.stderr, "votes")

    const manifest = yield* fs.readFileString(`${dataset}/manifest.json`)
    const all = manifest.replace('"campaign": 1', '"campaign": "all"')
    const own = manifest.replace('"strategy": "best-against-rest"', '"strategy": "mine"')
    for (const [text, why] of [
      [all, "expected one campaign"],
      [own, "expected a built-in pair strategy"],
    ] as const) {
      yield* fs.writeFileString(`${dataset}/manifest.json`, text)
      const { stderr } = yield* cli(["verify", dataset, "--from-votes", votes]).pipe(ends(2))
      assert.include(stderr, `manifest.json: ${why} (needed to rebuild the rows), found `)
    }
  })

  test("with pseudonyms, the table of votes that is published has no expert's name", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* temporaryDirectory
    const names = ["Ann Archer", "Bob Baker", "Cy Cooper"]
    const given = Array.from({ length: 12 }, (_, i) =>
      names.map((expert, n) => ({
        item_id: `q${i}`, prompt: `question ${i}`, completions: [`one ${i}`, `two ${i}`], expert, vote: n + 1,
        chosen_index: (i + n) % 2, task_id: `t${i}`, is_gold: false, rationale: `clear ${n}`,
        flags: [{ expert, kind: "unsafe" }], decision: i === 3 ? { chosen_index: 1, by: names[0], at: "2026-01-01T00:00:00Z" } : null,
      })),
    ).flat() // prettier-ignore
    yield* importVotes(`${folder}/job`, given)
    yield* cli(["export", "--dir", `${folder}/job`]).pipe(ends(0))
    const votes = yield* votesOf(folder, "--pseudonyms")
    yield* cli(["verify", `${folder}/job/dataset`, "--from-votes", votes]).pipe(ends(0))
    const text = yield* fs.readFileString(votes)
    for (const name of names) assert.notInclude(text, name)
  })
})
