import { assert, describe } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { start, token } from "../service/support.ts"
import { cli, ends, folderWithItems, quick, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

test("items that are longer than the service takes are rejected before anything is sent, with their places; characters are code points", function* () {
  const folder = yield* temporaryDirectory
  const file = `${folder}/items.jsonl`
  const item = (prompt: string, ...completions: ReadonlyArray<string>) => ({ prompt, completions })
  yield* write(file, [
    item("😀".repeat(20), "a", "b"),
    item("p".repeat(21), "a", "b"),
    item("three", "a", "😀".repeat(10), "c".repeat(11)),
    item("four", "a", "b"),
    item("five", "a", "b", "c", "d"),
  ])
  const base = yield* start({
    database: `${folder}/service.db`,
    experts: ["first"],
    limits: { promptCharacters: 20, completionCharacters: 10, completionsPerPrompt: 3 },
  })
  const env = to({ baseUrl: `${base}/v1`, token: Redacted.value(token) })
  const said = yield* cli(["inspect", file], env)
  assert.match(said.stdout, /5 = 2 items \+ 0 duplicates \+ 3 rejected/)
  assert.match(
    said.stdout,
    /1 too_many_completions, first .*:5: completions: expected at most 3 \(the service's limit\), found 4/,
  )
  assert.match(
    said.stdout,
    /2 too_long, first .*:2: prompt: expected at most 20 characters \(the service's limit\), found 21/,
  )
  const checked = yield* cli(["validate", file], env).pipe(ends(5))
  assert.match(checked.stdout, /:3: completions\[2\]: expected at most 10 characters \(the service's limit\), found 11/)
  const run = yield* cli(["run", file, "--dir", `${folder}/job`, "--json", ...quick], env)
  const { rejects, submitted, tasks } = reportOf(run)
  assert.deepStrictEqual(
    [submitted, tasks.refused.tasks, rejects?.map(({ code, count }) => [code, count])],
    [
      2,
      0,
      [
        ["too_long", 2],
        ["too_many_completions", 1],
      ],
    ],
  )
})

describe("Idempotency-Key", () => {
  const declaring = (parameters: unknown) => ({ paths: { "/v1/tasks": { post: { parameters } } } })
  const header = { name: "Idempotency-Key", in: "header", schema: { type: "string" } }

  /** A run whose first request is taken, and not answered. */
  const runOf = Effect.fnUntraced(function* (document: unknown, ...flags: ReadonlyArray<string>) {
    const folder = yield* folderWithItems(2)
    const service = yield* ScriptedService.make(
      (request, before) =>
        request.method === "POST" && before.length === 0
          ? "reset"
          : ScriptedService.obliging(
              request,
              before.filter(({ method }, i) => i > 0 || method === "GET"),
            ),
      {},
      document,
    )
    const said = yield* cli(
      ["submit", `${folder}/items.jsonl`, "--dir", `${folder}/job`, "--json", ...flags],
      to(service),
    )
    return { said, tasks: reportOf(said).tasks, posts: service.received.filter(ScriptedService.isPost) }
  })

  test("is honored by a service that declares it, which only --log-level debug says; otherwise not, unless a flag says so", function* () {
    for (const document of [declaring([header]), { paths: { "/tasks": { parameters: [header], post: {} } } }]) {
      assert.notMatch((yield* runOf(document)).said.stderr, /Idempotency-Key/)
      const { posts, said, tasks } = yield* runOf(document, "--log-level", "debug")
      assert.deepStrictEqual([tasks.submitted.tasks, tasks.in_doubt.tasks], [1, 0], said.stderr)
      assert.lengthOf(posts, 2)
      assert.match(said.stderr, /openapi\.json declares Idempotency-Key/)
    }
    const cookie = { ...header, in: "cookie" }
    for (const [document, ...flags] of [
      [undefined],
      [declaring([cookie])],
      [declaring("none")],
      [declaring([header]), "--idempotency-key", "ignored"],
    ] as const) {
      const { posts, said, tasks } = yield* runOf(document, ...flags)
      assert.deepStrictEqual([tasks.submitted.tasks, tasks.in_doubt.tasks], [0, 1], said.stderr)
      assert.lengthOf(posts, 1)
      assert.notMatch(said.stderr, /declares Idempotency-Key/)
    }
  })

  test("is honored by a service whose document comes after 429, and requests keep the rate after it", function* () {
    const times: Array<number> = []
    const busy = ({ at }: ScriptedService.Received) =>
      times.push(at) < 2 ? { status: 429, headers: { "retry-after": "0" } } : { status: 200, body: declaring([header]) }
    const { posts, tasks } = yield* runOf(busy, "--requests-per-second", "2")
    assert.deepStrictEqual([tasks.submitted.tasks, tasks.in_doubt.tasks], [1, 0])
    assert.lengthOf(times, 2)
    assert.isAtLeast(posts[0]!.at - times[1]!, 490)
  })

  test("is not honored by a service whose document cannot be read, which is said", function* () {
    for (const [answer, found] of [
      [{ status: 500 }, "500"],
      ["reset", "no answer"],
      [{ status: 503, headers: { "retry-after": "3600" } }, "503"],
    ] as const) {
      const { posts, said, tasks } = yield* runOf(() => answer)
      assert.deepStrictEqual([tasks.submitted.tasks, tasks.in_doubt.tasks], [0, 1], said.stderr)
      assert.lengthOf(posts, 1)
      assert.include(
        said.stderr,
        `openapi.json could not be read (${found}), so it is unknown whether the service honors Idempotency-Key`,
      )
      assert.include(said.stderr, "--idempotency-key honored")
    }
  })

  test("is honored by prefstream's own service", function* () {
    const folder = yield* folderWithItems(2)
    const base = yield* start({ database: `${folder}/service.db`, experts: ["first"] })
    const env = to({ baseUrl: `${base}/v1`, token: Redacted.value(token) })
    const debug = ["--log-level", "debug"]
    const said = yield* cli(["submit", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...debug], env)
    assert.match(said.stderr, /openapi\.json declares Idempotency-Key/)
    yield* cli(["collect", "--dir", `${folder}/job`, ...quick, ...debug], env).pipe(
      ends(0, /openapi\.json declares Idempotency-Key/),
    )
  })
})
