/** The group of a campaign's tasks: who gets one, which, and that no task's request ever changes. */
import { rmSync } from "node:fs"
import { basename } from "node:path"
import { assert, describe } from "@effect/vitest"
import { Redacted } from "effect"
import { call, start, token } from "../service/support.ts"
import { cli, ends, quick, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const items = (count: number) =>
  Array.from({ length: count }, (_, i) => JSON.stringify({ prompt: `prompt ${i}`, completions: ["a", "b"] }))

const declaring = (...members: ReadonlyArray<string>) => ({
  paths: {
    "/v1/tasks": {
      post: {
        requestBody: {
          content: {
            "application/json": {
              schema: { properties: Object.fromEntries(members.map((name) => [name, { type: "string" }])) },
            },
          },
        },
      },
    },
  },
})

const created =
  (status = 201) =>
  (request: ScriptedService.Received, before: ReadonlyArray<ScriptedService.Received>) =>
    ScriptedService.isPost(request)
      ? { status, body: status === 201 ? { task_id: `task_${before.length}` } : {} }
      : { status: 200, body: { task_id: request.path.split("/").at(-1), status: "pending" } }

const groupsAt = (service: ScriptedService.ScriptedService) =>
  service.received.filter(ScriptedService.isPost).map(({ body }): unknown => JSON.parse(body).group)

describe("a run without --group", () => {
  test("names the job folder with its parent, and the campaign, where the service declares groups", function* () {
    const folder = yield* temporaryDirectory
    const service = yield* ScriptedService.make(created(), {}, declaring("group"))
    yield* write(`${folder}/items.jsonl`, items(1))
    const submit = (...flags: ReadonlyArray<string>) =>
      cli(["submit", `${folder}/items.jsonl`, "--dir", `${folder}/week-48`, ...flags], to(service))
    yield* submit().pipe(ends(0))
    yield* submit("--guidelines", "other", "--new-campaign").pipe(ends(0))
    const job = `${basename(folder)}/week-48`
    assert.deepStrictEqual(groupsAt(service), [`${job}, campaign 1`, `${job}, campaign 2`])
  })

  test("sends exactly the contract's members to a service that declares nothing", function* () {
    const folder = yield* temporaryDirectory
    const service = yield* ScriptedService.make(created(), {})
    yield* write(`${folder}/items.jsonl`, items(1))
    yield* cli(
      [
        "submit",
        `${folder}/items.jsonl`,
        "--dir",
        `${folder}/job`,
        "--no-shuffle",
        "--guidelines",
        "g",
        "--votes",
        "2",
      ],
      to(service),
    ).pipe(ends(0))
    const body =
      '{"task_type":"rlhf_ranking","prompts":[{"prompt":"prompt 0","completions":["a","b"]}],"guidelines":"g"}'
    assert.deepStrictEqual(
      service.received.filter(ScriptedService.isPost).map((request) => request.body),
      [body, body],
    )
  })
})

test("--group is sent without a declaration, and a campaign keeps it, which a warning says", function* () {
  const folder = yield* temporaryDirectory
  const service = yield* ScriptedService.make(created())
  const submit = (group: string) =>
    cli(["submit", `${folder}/items.jsonl`, "--dir", `${folder}/job`, "--group", group], to(service))
  yield* write(`${folder}/items.jsonl`, items(1))
  yield* submit("first").pipe(ends(0))
  yield* write(`${folder}/items.jsonl`, items(2))
  const { stderr } = yield* submit("second").pipe(ends(0))
  assert.deepStrictEqual(groupsAt(service), ["first", "first"])
  assert.include(
    stderr,
    'the tasks of campaign 1 stay in the group "first": a change of --group takes effect in a new campaign',
  )
  assert.include((yield* submit(" ").pipe(ends(2))).stderr, "a text of 1 to 255 characters, not blank")
})

test("a request whose answer was lost is repeated byte for byte, though group and document have changed", function* () {
  const folder = yield* temporaryDirectory
  let document: unknown = declaring("group")
  let isLost = true
  const service = yield* ScriptedService.make(
    (request, before) => (isLost && ScriptedService.isPost(request) ? "reset" : created()(request, before)),
    {},
    () => ({ status: 200, body: document }),
  )
  const submit = (...flags: ReadonlyArray<string>) =>
    cli(
      ["submit", `${folder}/items.jsonl`, "--dir", `${folder}/job`, "--idempotency-key", "honored", ...flags],
      to(service),
    )
  yield* write(`${folder}/items.jsonl`, items(1))
  yield* submit("--patience", "0s")
  isLost = false
  document = {}
  yield* submit("--group", "other").pipe(ends(0))
  const posts = service.received.filter(ScriptedService.isPost)
  assert.isAbove(posts.length, 1)
  assert.deepStrictEqual(new Set(posts.map(({ body }) => body)).size, 1)
  assert.deepStrictEqual(new Set(posts.map(({ headers }) => headers["idempotency-key"])).size, 1)
  assert.strictEqual(groupsAt(service)[0], `${basename(folder)}/job, campaign 1`)
})

test("the built-in service lists a job's tasks under its group, and the halves of a split task keep it", function* () {
  const folder = yield* temporaryDirectory
  const base = yield* start({ database: `${folder}/service.db`, experts: ["first"] })
  yield* write(`${folder}/items.jsonl`, items(3))
  const run = yield* cli(
    ["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...quick],
    to({ baseUrl: `${base}/v1`, token: Redacted.value(token) }),
  )
  assert.strictEqual(run.status, 0, run.stderr)
  const { text } = yield* call(
    "GET",
    `${base}/v1/votes?group=${encodeURIComponent(`${basename(folder)}/job, campaign 1`)}`,
  )
  assert.strictEqual(text.trim().split("\n").length, 3)

  const tooLarge = yield* ScriptedService.make(
    (request, before) =>
      ScriptedService.isPost(request) && JSON.parse(request.body).prompts.length > 1
        ? { status: 413 }
        : created()(request, before),
    {},
    declaring("group"),
  )
  yield* cli(["submit", `${folder}/items.jsonl`, "--dir", `${folder}/halves`], to(tooLarge)).pipe(ends(0))
  assert.deepStrictEqual([...new Set(groupsAt(tooLarge))], [`${basename(folder)}/halves, campaign 1`])
})

test("a lost ledger names the group of a later campaign, with which a new ledger sends the same keys", function* () {
  const folder = yield* temporaryDirectory
  const service = yield* ScriptedService.make(created(), {}, declaring("group"))
  yield* write(`${folder}/items.jsonl`, items(1))
  const submit = (...flags: ReadonlyArray<string>) =>
    cli(["submit", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...flags], to(service))
  yield* submit().pipe(ends(0))
  const second = ["--guidelines", "other"]
  yield* submit(...second, "--new-campaign").pipe(ends(0))
  rmSync(`${folder}/job/ledger.db`)
  const group = `${basename(folder)}/job, campaign 2`
  const { stderr } = yield* submit(...second).pipe(ends(1))
  assert.include(stderr, `--new-ledger. Then also set --group '${group}', the group of the last run's tasks`)
  yield* submit(...second, "--new-ledger", "--group", group).pipe(ends(0))
  const [, before, after] = service.received.filter(ScriptedService.isPost)
  assert.deepStrictEqual(
    [after!.headers["idempotency-key"], after!.body],
    [before!.headers["idempotency-key"], before!.body],
  )
})
