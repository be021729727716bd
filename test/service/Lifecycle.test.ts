/** A manager's work on a service with a pipeline and people: withdrawn prompts, and the table of votes. */
import { assert } from "@effect/vitest"
import { Effect, FileSystem, Redacted, Schema } from "effect"
import { VoteRowSchema } from "../../src/domain/VoteRow.ts"
import type * as ServiceLayers from "../../src/service/ServiceLayers.ts"
import { cli, ends, qualityOf, reportOf, write } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { liveOver } from "../support/effectTest.ts"
import { temporaryDirectory } from "../support/job.ts"
import { build, call, platform, task, token } from "./support.ts"
import { type Browser } from "./web/http.ts"
import { cheap, joined, signedIn } from "./web/support.ts"

const test = liveOver(platform)

/** The whole service, an operator, and a folder for jobs. */
const started = Effect.fnUntraced(function* (options: Partial<ServiceLayers.ServiceOptions> = {}) {
  const folder = yield* temporaryDirectory
  const { base, services } = yield* cheap(build({ database: `${folder}/service.db`, undoGrace: 0, ...options }))
  const operator = yield* signedIn({ base, services }, { name: "Lea" })
  const job = ["--dir", `${folder}/job`]
  const env = { PREFSTREAM_BASE_URL: `${base}/v1`, PREFSTREAM_TOKEN: Redacted.value(token) }
  const prefstream = (...args: ReadonlyArray<string>) => cli([...args, ...job], env)
  return { base, folder, operator, prefstream, services }
})

/** Judges the next item: the completion that begins so. Its prompt; undefined where there is none. */
const judgeNext = Effect.fnUntraced(function* (expert: Browser, beginsWith: string) {
  const { json } = yield* expert.ask("POST", "/annotate/api/next")
  if (json.item === null) return undefined
  const best = json.item.completions.findIndex((text: string) => text.startsWith(beginsWith))
  const vote = { best, ranking: null, rationale: "", seconds: 1 }
  const given = yield* expert.ask("POST", `/annotate/api/items/${json.item.item_id}/vote`, vote)
  assert.strictEqual(given.status, 200, given.text)
  return String(json.item.prompt)
})

const create = Effect.fnUntraced(function* (base: string, body: object) {
  const { json } = yield* call("POST", `${base}/v1/tasks`, { body })
  return String(json.task_id)
})

const decodeRow = Schema.decodeUnknownSync(Schema.fromJsonString(VoteRowSchema))
const rowsOf = (text: string) =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => decodeRow(line))

test("a withdrawn prompt is no judgment for the pipeline: counted, in no pair, and not sent again", function* () {
  const { base, folder, operator, prefstream } = yield* started()
  const completions = (id: string) => [`The ${id} one.`, "Another one."]
  const items = ["red", "green", "blue"].map((id) => ({ id, prompt: `Which is ${id}?`, completions: completions(id) }))
  yield* write(`${folder}/items.jsonl`, items)
  yield* prefstream("submit", `${folder}/items.jsonl`).pipe(ends(0))
  const ann = yield* joined(base, operator, "Ann")
  yield* judgeNext(ann, "The")
  yield* judgeNext(ann, "The")
  const { json: listed } = yield* operator.ask("GET", "/dashboard/api/tasks")
  const taskId: string = listed.tasks[0].task_id
  const withdrawal = (index: number) => `/dashboard/api/tasks/${taskId}/items/${index}/withdrawal`
  assert.strictEqual((yield* operator.ask("PUT", withdrawal(2), { reason: "Blurred." })).status, 204)

  const { json: answer } = yield* call("GET", `${base}/v1/tasks/${taskId}`)
  assert.strictEqual(answer.status, "completed")
  assert.deepInclude(answer.results[2], { prompt: "Which is blue?", best_completion_index: null })
  assert.deepInclude(answer.results[2].annotations, { rationale: "Blurred." })

  const chosen = Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
    yield* prefstream("collect", "--once", ...flags).pipe(ends(0))
    yield* prefstream("export").pipe(ends(0))
    return (yield* pairsOf(`${folder}/job`)).map(({ chosen }) => chosen)
  })
  assert.deepStrictEqual(yield* chosen(), ["The red one.", "The green one."])
  const [, , judged, kept] = (yield* qualityOf(`${folder}/job`)).funnel
  assert.deepInclude(judged, { step: "judged", count: 2, lost: [{ reason: "withdrawn", count: 1 }] })
  assert.deepInclude(kept, { step: "kept", count: 2, lost: [] })
  yield* prefstream("ledger", "check").pipe(ends(0))
  const again = yield* prefstream("run", `${folder}/items.jsonl`).pipe(ends(0))
  assert.match(again.stdout + again.stderr, /withdrawn/)
  assert.lengthOf((yield* operator.ask("GET", "/dashboard/api/tasks")).json.tasks, 1)
  const votes = yield* prefstream("export-votes")
  assert.lengthOf(rowsOf(votes.stdout), 2)

  // Undone, it is judged after all.
  assert.strictEqual((yield* operator.ask("DELETE", withdrawal(2))).status, 204)
  assert.strictEqual(yield* judgeNext(ann, "The"), "Which is blue?")
  assert.deepStrictEqual(yield* chosen("--recheck-completed"), ["The red one.", "The green one.", "The blue one."])

  // With none left, nothing breaks, and the dataset that is there stays.
  for (const index of [0, 1, 2]) yield* operator.ask("PUT", withdrawal(index), { reason: "" })
  yield* prefstream("collect", "--once", "--recheck-completed")
  assert.match((yield* prefstream("export")).stderr, /is kept/)
  assert.deepInclude(reportOf(yield* prefstream("status", "--json")), { status: "done" })
})

test("the table of votes has the organization's votes by group and expert, in both formats, and is imported again", function* () {
  const { base, folder, operator } = yield* started({ experts: ["longest", "first"], votes: 2 })
  const fs = yield* FileSystem.FileSystem
  const guidelines = "---\nrubric: { strength: true, flags: [unsafe], aspects: [clarity] }\n---\nJudge."
  const nasty = 'one, "two"\r\nthree 🙂 '
  yield* create(base, {
    ...task([
      ["Which?", "a", "bbb"],
      [nasty, `${nasty}x`, " y "],
    ]),
    group: "g1",
  })
  yield* create(base, { ...task([["Who?", "me", "you all"]]), guidelines, votes: 3, metadata: { run: 1 } })
  const ann = yield* joined(base, operator, "Ann")
  const { json: work } = yield* ann
    .ask("POST", "/annotate/api/next")
    .pipe(Effect.repeat({ until: ({ json }) => json.item !== null && json.item.rubric.flags.length > 0 }))
  const aspects = { clarity: [3, null] }
  const assessment = { strength: 2, all_bad: false, flags: ["unsafe"], edited: null, aspects }
  const vote = { best: 0, ranking: [[0], [1]], rationale: "Kind, and short.", seconds: 1, assessment }
  const given = yield* ann.ask("POST", `/annotate/api/items/${work.item.item_id}/vote`, vote)
  assert.strictEqual(given.status, 200, given.text)
  const found = yield* operator
    .ask("GET", "/dashboard/api/items?flagged=true")
    .pipe(Effect.repeat({ until: ({ json }) => json.items[0]?.votes === 3 }))
  // A mark of a rubric is found as a flag is.
  assert.lengthOf(found.json.items, 1)
  assert.deepInclude(found.json.items[0], { prompt: "Who?", flagged: true })

  const table = (query: string) => call("GET", `${base}/v1/votes${query}`)
  yield* table("").pipe(Effect.repeat({ until: ({ text }) => text.split("\n").length === 8 }))
  // A lead decides one item, and withdraws another, which has no record then.
  const led = yield* create(base, {
    ...task([
      ["Why?", "so", "thus"],
      ["No?", "a", "b"],
    ]),
    votes: 3,
  })
  yield* table("").pipe(Effect.repeat({ until: ({ text }) => text.split("\n").length === 12 }))
  const ofItem = (index: number) => `/dashboard/api/tasks/${led}/items/${index}`
  yield* operator.ask("PUT", `${ofItem(0)}/decision`, { choice: 1, rationale: "I say so." })
  yield* operator.ask("PUT", `${ofItem(1)}/withdrawal`, { reason: "" })
  const all = yield* table("")
  assert.strictEqual(all.headers["content-type"], "application/x-ndjson")
  const rows = rowsOf(all.text)
  const votesOf = (prompt: string, votes: number) => Array.from({ length: votes }, (_, i) => [prompt, i + 1])
  assert.deepStrictEqual(
    rows.map(({ prompt, vote }) => [prompt, vote]),
    [...votesOf("Which?", 2), ...votesOf(nasty, 2), ...votesOf("Who?", 3), ...votesOf("Why?", 2)],
  )
  assert.deepInclude(rows.at(-1)?.decision, { chosen_index: 1, rationale: "I say so.", by: "Lea" })
  assert.lengthOf(rowsOf((yield* table("?group=g1")).text), 4)
  assert.lengthOf(rowsOf((yield* table("?group=none")).text), 0)
  const [own] = rowsOf((yield* table(`?expert=${ann.expertId}`)).text)
  assert.deepInclude(own, { expert: ann.expertId, kind: "person", strength: 2, rationale: "Kind, and short." })
  assert.deepStrictEqual(own?.flags, [{ expert: ann.expertId, kind: "unsafe" }])
  const csv = yield* table("?format=csv")
  assert.match(csv.headers["content-type"]!, /^text\/csv/)
  assert.match(csv.text, /^item_id,prompt,completions,/)
  assert.strictEqual((yield* table("?format=csv&raw=true")).status, 200)
  assert.strictEqual((yield* table("?format=xml")).status, 400)

  // The dashboard's is the same.
  const shown = yield* operator.ask("GET", "/dashboard/api/votes?format=jsonl")
  assert.strictEqual(shown.text, all.text)
  assert.include(shown.headers["content-disposition"], "votes.jsonl")
  const ofAnn = yield* operator.ask("GET", `/dashboard/api/votes?format=csv&expert=${ann.expertId}`)
  assert.lengthOf(ofAnn.text.trimEnd().split("\n"), 2)

  for (const [format, text] of [
    ["jsonl", all.text],
    ["csv", csv.text],
  ] as const) {
    yield* fs.writeFileString(`${folder}/votes.${format}`, text)
    const job = ["--dir", `${folder}/${format}`]
    const imported = yield* cli(["import", `${folder}/votes.${format}`, ...job, "--json"]).pipe(ends(0))
    assert.deepInclude(reportOf(imported), { read: 9, imported: 9, rejected: 0, items: 4 } as never)
    const back = yield* cli(["export-votes", ...job])
    const kept = ({ item_id: _id, metadata: _metadata, task_id: _task, ...row }: typeof VoteRowSchema.Type) => row
    assert.deepStrictEqual(rowsOf(back.stdout).map(kept), rows.map(kept), format)
  }

  const unknown = yield* call("GET", `${base}/v1/votes`, { headers: { authorization: "Bearer pst_none" } })
  assert.strictEqual(unknown.status, 401)
  const posted = yield* call("POST", `${base}/v1/votes`, { body: {} })
  assert.deepStrictEqual([posted.status, posted.headers["allow"]], [405, "GET, HEAD"])
})
