/** Services near the contract: what differs is said by flags or `prefstream.yaml`, and `doctor --try-task` shows what is read. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { tryTask } from "../../src/cli/commands/TryTask.ts"
import { cliIn, ends, folderWithItems, quick, reportOf, write } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import * as VirtualTime from "../support/virtualTime.ts"

interface Body {
  readonly task_type: string
  readonly prompts: ReadonlyArray<{ readonly prompt: string; readonly completions: ReadonlyArray<string> }>
  readonly lang?: string
}

/** Judges the longer completion best. Its choices have the form of `tell`, and its results any order and no prompt. */
const near = (tell: (index: number, completions: ReadonlyArray<string>) => unknown, withPrompt = false) => {
  const tasks: Array<Body> = []
  return ScriptedService.make(({ body, headers, method, path }) => {
    if (headers["x-api-key"] !== "secret-token") return { status: 401, body: {} }
    if (method === "PUT" && path.startsWith("/v1/batches/")) {
      return { status: 200, body: { batch: { ref: tasks.push(JSON.parse(body) as Body) } } }
    }
    const task = tasks[Number(/^\/v1\/batches\/(\d+)\/state$/.exec(path)?.[1]) - 1]
    if (task === undefined) return { status: 404, body: { title: "no such task" } }
    const items = task.prompts.map(({ completions, prompt }) => {
      const best = completions.reduce((at, text, i) => (text.length > completions[at]!.length ? i : at), 0)
      return { ...(withPrompt && { input: { text: prompt } }), pick: tell(best, completions), why: "longer" }
    })
    return { status: 200, body: { state: "DONE", data: { items: withPrompt ? items.toReversed() : items } } }
  })
}

const settings = (paths = "") => [
  "authorization: 'X-Api-Key:'",
  "create-request: PUT /batches/{key}",
  "poll-request: GET /batches/{task_id}/state",
  "request-extra: extra.json",
  "completed-status: [DONE]",
  `result-path: [task_id=batch.ref, status=state, results=data.items, choice=pick, annotations=why${paths}]`,
]

const itemLines = Array.from({ length: 6 }, (_, i) => ({
  prompt: `p${i}`,
  completions: [`short${i}`, `much longer ${i}`, `s${i}`],
}))

const at = Effect.fnUntraced(function* (service: ScriptedService.ScriptedService, lines = settings()) {
  const folder = yield* folderWithItems(itemLines)
  yield* write(`${folder}/extra.json`, ['{"lang":"de","meta":{"a":[1]}}'])
  yield* write(`${folder}/prefstream.yaml`, lines)
  const env = { PREFSTREAM_BASE_URL: service.baseUrl, PREFSTREAM_TOKEN: service.token }
  const run = (...args: ReadonlyArray<string>) => cliIn(folder, args, env)
  return { folder, run }
})

const runArgs = ["run", "items.jsonl", "--dir", "job", "--json", "--batch-size", "4", ...quick]

describe("a service near the contract", () => {
  for (const [choice, tell, withPrompt] of [
    ["index", (best: number) => best, true],
    ["index-1", (best: number) => best + 1, false],
    ["letter", (best: number) => "abc"[best], false],
    ["text", (best: number, completions: ReadonlyArray<string>) => completions[best], false],
    ["one,two,three", (best: number) => ["one", "two", "three"][best], true],
  ] as const) {
    test(`is used by settings alone, with choices as ${choice}`, function* () {
      const service = yield* near(tell, withPrompt)
      const { folder, run } = yield* at(
        service,
        withPrompt ? settings(", prompt=input.text") : [...settings(), "task-type: pairwise"],
      )
      const report = reportOf(yield* run(...runArgs, "--choice", choice).pipe(ends(0)))
      assert.deepStrictEqual([report.submitted, report.dataset?.rows, report.tasks.completed.tasks], [6, 12, 2])
      for (const { chosen, rationale } of yield* pairsOf(`${folder}/job`)) {
        assert.match(chosen, /^much longer/)
        assert.strictEqual(rationale, "longer")
      }
      for (const { body } of service.received.filter(({ method }) => method === "PUT")) {
        const { lang, task_type } = JSON.parse(body) as Body
        assert.deepStrictEqual([lang, task_type], ["de", withPrompt ? "rlhf_ranking" : "pairwise"])
      }
    })
  }

  test("keeps a result whose choice has another form, and says where and why", function* () {
    const service = yield* near((best) => best)
    const { run } = yield* at(service)
    const said = yield* run(...runArgs, "--choice", "letter").pipe(ends(1))
    assert.strictEqual(reportOf(said).tasks.invalid.tasks, 2)
    assert.include(said.stdout, "data.items[0].pick: expected a letter (A is the first completion), found 1")
  })

  test("is tried by doctor through a rate limit, and a task that cannot be polled is named", function* () {
    let requests = 0
    const service = yield* ScriptedService.make(({ body, method, path }) => {
      if (path.endsWith("prefstream-doctor")) return { status: 404, body: {} }
      if (++requests % 2 === 1) return { status: 429 }
      if (method === "GET") return { status: 403, body: { title: "not yours" } }
      assert.strictEqual((JSON.parse(body) as Body).task_type, "pairwise")
      return { status: 201, body: { task_id: "task_7" } }
    })
    const { run } = yield* at(service, ["task-type: pairwise"])
    const said = yield* run("doctor", "--try-task", "new", "--json").pipe(ends(1))
    const found: ReadonlyArray<{ name: string; state: string; message: string }> = JSON.parse(said.stdout)
    const [settings, task] = ["settings", "task"].map((name) => found.find((finding) => finding.name === name))
    assert.strictEqual(settings?.state, "ok")
    assert.match(task?.message ?? "", /^task id task_7: .*403.*not yours/)
    assert.lengthOf(
      service.received.filter(({ method }) => method === "POST"),
      2,
    )
  })

  test("is tried with one task by doctor, which shows what it reads, and only if asked to", function* () {
    const service = yield* near((best) => best + 1)
    const { run } = yield* at(service)
    const posts = () => service.received.filter(({ method }) => method === "PUT").length
    const first = yield* run("doctor", "--choice", "index-1").pipe(ends(0))
    assert.match(first.stdout, /service +ok +.*accepts the token/)
    assert.notMatch(first.stdout, /^task/m)
    assert.strictEqual(posts(), 0)
    const tried = yield* run("doctor", "--choice", "index-1", "--try-task", "new").pipe(ends(0))
    assert.match(tried.stdout, /task +ok +task id 1: completed: .*choice \(pick\) 0, annotations \(why\)/)
    assert.strictEqual(posts(), 1)
    const wrong = yield* run("doctor", "--choice", "text", "--try-task", "1").pipe(ends(1))
    assert.include(wrong.stdout, "data.items[0].pick: expected the text of a completion, found 1")
    assert.strictEqual(posts(), 1)
  })

  for (const [answer, state, message] of [
    [{ status: "failed" }, "failed", /^task id 7: status failed$/],
    [{ status: "completed" }, "failed", /cannot be used: results: expected results, found none$/],
    [
      { status: "completed", results: [{ prompt: "p", best_completion_index: 1 }] },
      "ok",
      /choice \(best_completion_index\) 1, annotations \(annotations\) "\{\}"$/,
    ],
    [{ status: "open" }, "warning", /status open: run prefstream doctor --try-task 7 once the task is completed$/],
  ] as const) {
    it.effect(`doctor polls a task for at most a minute, and tells ${JSON.stringify(answer)}: ${state}`, () =>
      Effect.gen(function* () {
        const time = yield* VirtualTime.make
        const { baseUrl } = yield* ScriptedService.make(() => ({ status: 200, body: { task_id: "7", ...answer } }))
        const lists = { resultPath: [], completedStatus: [], annotationPath: [] }
        const flags = { baseUrl, tryTask: "7", ...lists } as unknown as Parameters<typeof tryTask>[0]
        const token = ConfigProvider.layer(ConfigProvider.fromUnknown({ PREFSTREAM_TOKEN: "t" }))
        const trying = Effect.provide(tryTask(flags), [time.httpClient, NodeServices.layer, token])
        const [finding] = yield* time.run(trying)
        assert.strictEqual(finding!.state, state)
        assert.match(finding!.message, message)
        assert.isAtMost(time.now(), 70_000)
      }),
    )
  }

  for (const [args, message] of [
    [["--choice", "left"], /--choice.*index, index-1/s],
    [["--authorization", "a b c"], /--authorization.*Bearer/s],
    [["--create-request", "GET /x"], /--create-request.*POST or PUT/s],
    [["--poll-request", "GET /x"], /--poll-request.*\{task_id\}/s],
    [["--result-path", "best=x"], /--result-path.*choice/s],
    [["--request-extra", "items.jsonl"], /--request-extra .*items.jsonl: expected a JSON object without task_type/],
  ] as const) {
    test(`refuses ${args.join(" ")}, and says what is expected`, function* () {
      const { run } = yield* at(yield* near((best) => best))
      assert.match((yield* run(...runArgs, ...args).pipe(ends(2))).stderr, message)
    })
  }
})
