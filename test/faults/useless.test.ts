/** A few answers of no use between client and service cost time, and nothing else. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const page: ScriptedService.Answer = { status: 200, headers: { "content-type": "text/html" }, body: "<p>Sign in</p>" }
const empty: ScriptedService.Answer = { status: 200, body: {} }
const broken: ScriptedService.Answer = { status: 500, body: { title: "broken" } }

/** What stands between client and service; it answers by itself first, as often as there are answers, for each method. */
const behind = (answers: Record<string, ReadonlyArray<ScriptedService.Answer>>) =>
  ScriptedService.make((request, before) => {
    const asked = before.filter(({ method }) => method === request.method).length
    const passed = before.filter(
      ({ method }, i) =>
        before.slice(0, i).filter((earlier) => earlier.method === method).length >= (answers[method]?.length ?? 0),
    )
    return answers[request.method]?.[asked] ?? ScriptedService.obliging(request, passed)
  })

const runOf = Effect.fnUntraced(function* (
  answers: Record<string, ReadonlyArray<ScriptedService.Answer>>,
  flags: ReadonlyArray<string> = [],
) {
  const job = yield* temporaryDirectory
  yield* write(`${job}/items.jsonl`, itemLines(1))
  const service = yield* behind(answers)
  const said = yield* cli(["run", `${job}/items.jsonl`, "--dir", job, "--json", ...quick, ...flags], to(service))
  return { said, posts: service.received.filter(({ method }) => method === "POST") }
})

const half: ScriptedService.Answer = { status: 201, body: '{"task_id": "task' }

describe("answers of no use", () => {
  for (const [name, answer] of [
    ["a page", page],
    ["half of the JSON", half],
  ] as const) {
    test(`${name} in answer to a creation: sent again under its key, where keys are honored`, function* () {
      const { posts, said } = yield* runOf({ POST: [answer] }, ["--idempotency-key", "honored"])
      assert.strictEqual(said.status, 0, said.stderr)
      assert.strictEqual(reportOf(said).tasks.completed.tasks, 1)
      assert.lengthOf(posts, 2)
      assert.strictEqual(posts[0]!.headers["idempotency-key"], posts[1]!.headers["idempotency-key"])
    })

    test(`${name} in answer to a creation: held in doubt, where keys may be ignored`, function* () {
      const { posts, said } = yield* runOf({ POST: [answer] })
      assert.strictEqual(said.status, 4, said.stderr)
      assert.lengthOf(posts, 1)
    })
  }

  test("looks that failed otherwise do not make one of them the last", function* () {
    const { said } = yield* runOf({ GET: [broken, broken, empty, empty, broken] })
    assert.strictEqual(said.status, 0, said.stderr)
    assert.strictEqual(reportOf(said).tasks.completed.tasks, 1)
  })

  test("three about one task set it aside", function* () {
    const { said } = yield* runOf({ GET: [empty, broken, empty, empty] })
    assert.strictEqual(said.status, 1, said.stderr)
    assert.strictEqual(reportOf(said).tasks.invalid.tasks, 1)
  })
})
