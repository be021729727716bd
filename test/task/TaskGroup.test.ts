/** The group of a campaign's tasks: who gets one, which, and that no task's request ever changes. */
import { rmSync } from "node:fs"
import { basename } from "node:path"
import { assert, describe } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { call, start, token } from "../service/support.ts"
import { cli, ends, folderWithItems, quick, to, write } from "../support/cli.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const items = (count: number) =>
  Array.from({ length: count }, (_, i) => JSON.stringify({ prompt: `prompt ${i}`, completions: ["a", "b"] }))

const declaringGroups = ScriptedService.declaring({ group: { type: "string" } })

const groupsAt = (service: ScriptedService.ScriptedService) =>
  ScriptedService.posts(service).map(({ body }): unknown => JSON.parse(body).group)

/** Submits so many items from a folder, with the job in another folder in it, to a service. */
const submitting = Effect.fnUntraced(function* (service: ScriptedService.ScriptedService, count = 1) {
  const folder = yield* folderWithItems(items(count))
  const submit = (job: string, ...flags: ReadonlyArray<string>) =>
    cli(["submit", `${folder}/items.jsonl`, "--dir", `${folder}/${job}`, ...flags], to(service))
  return {
    folder,
    submit,
    group: (job: string, campaign: number) => `${basename(folder)}/${job}, campaign ${campaign}`,
  }
})

describe("a run without --group", () => {
  test("names the job folder with its parent, and the campaign, where the service declares groups", function* () {
    const service = yield* ScriptedService.make(ScriptedService.obliging, {}, declaringGroups)
    const { group, submit } = yield* submitting(service)
    yield* submit("week-48").pipe(ends(0))
    yield* submit("week-48", "--guidelines", "other", "--new-campaign").pipe(ends(0))
    assert.deepStrictEqual(groupsAt(service), [group("week-48", 1), group("week-48", 2)])
  })

  test("sends exactly the contract's members to a service that declares nothing", function* () {
    const service = yield* ScriptedService.make(ScriptedService.obliging, {})
    const { submit } = yield* submitting(service)
    yield* submit("job", "--no-shuffle", "--guidelines", "g", "--votes", "2").pipe(ends(0))
    const body =
      '{"task_type":"rlhf_ranking","prompts":[{"prompt":"prompt 0","completions":["a","b"]}],"guidelines":"g"}'
    assert.deepStrictEqual(
      ScriptedService.posts(service).map((request) => request.body),
      [body, body],
    )
  })
})

test("--group is sent without a declaration, and a campaign keeps it, which a warning says", function* () {
  const service = yield* ScriptedService.make(ScriptedService.obliging)
  const { folder, submit } = yield* submitting(service)
  yield* submit("job", "--group", "first").pipe(ends(0))
  yield* write(`${folder}/items.jsonl`, items(2))
  const { stderr } = yield* submit("job", "--group", "second").pipe(ends(0))
  assert.deepStrictEqual(groupsAt(service), ["first", "first"])
  assert.include(
    stderr,
    'the tasks of campaign 1 stay in the group "first": a change of --group takes effect in a new campaign',
  )
  assert.include(
    (yield* submit("job", "--group", " ").pipe(ends(2))).stderr,
    "a text of 1 to 255 characters, not blank",
  )
})

test("a request whose answer was lost is repeated byte for byte, though group and document have changed", function* () {
  let document: unknown = declaringGroups
  let isLost = true
  const service = yield* ScriptedService.except(
    (request) => isLost && ScriptedService.isPost(request) && "reset",
    {},
    () => ({ status: 200, body: document }),
  )
  const { group, submit } = yield* submitting(service)
  yield* submit("job", "--idempotency-key", "honored", "--patience", "0s")
  isLost = false
  document = {}
  yield* submit("job", "--idempotency-key", "honored", "--group", "other").pipe(ends(0))
  const posts = ScriptedService.posts(service)
  assert.isAbove(posts.length, 1)
  assert.strictEqual(new Set(posts.map(({ body }) => body)).size, 1)
  assert.strictEqual(new Set(posts.map(({ headers }) => headers["idempotency-key"])).size, 1)
  assert.strictEqual(groupsAt(service)[0], group("job", 1))
})

test("the built-in service lists a job's tasks under its group", function* () {
  const folder = yield* folderWithItems(items(3))
  const base = yield* start({ database: `${folder}/service.db`, experts: ["first"] })
  const service = { baseUrl: `${base}/v1`, token: Redacted.value(token) }
  yield* cli(["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...quick], to(service)).pipe(ends(0))
  const group = encodeURIComponent(`${basename(folder)}/job, campaign 1`)
  const { text } = yield* call("GET", `${base}/v1/votes?group=${group}`)
  assert.strictEqual(text.trim().split("\n").length, 3)
})

test("the halves of a split task keep its group", function* () {
  const tooLarge = yield* ScriptedService.except(
    (request) => ScriptedService.isPost(request) && JSON.parse(request.body).prompts.length > 1 && { status: 413 },
    {},
    declaringGroups,
  )
  const { group, submit } = yield* submitting(tooLarge, 3)
  yield* submit("halves").pipe(ends(0))
  assert.deepStrictEqual([...new Set(groupsAt(tooLarge))], [group("halves", 1)])
})

test("a lost ledger names the group of a later campaign, with which a new ledger sends the same keys", function* () {
  const service = yield* ScriptedService.make(ScriptedService.obliging, {}, declaringGroups)
  const { folder, group, submit } = yield* submitting(service)
  yield* submit("job").pipe(ends(0))
  const second = ["--guidelines", "other"]
  yield* submit("job", ...second, "--new-campaign").pipe(ends(0))
  rmSync(`${folder}/job/ledger.db`)
  const { stderr } = yield* submit("job", ...second).pipe(ends(1))
  const flag = `--group '${group("job", 2)}'`
  assert.include(
    stderr,
    `--new-ledger. With a new ledger, keep all other settings, and set ${flag}, which is the group of the last run's tasks`,
  )
  yield* submit("job", ...second, "--new-ledger", "--group", group("job", 2)).pipe(ends(0))
  const [, before, after] = service.received
    .filter(ScriptedService.isPost)
    .map(({ body, headers }) => [headers["idempotency-key"], body])
  assert.deepStrictEqual(after, before)
})
