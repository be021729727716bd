/** `--votes N`: one task that asks for N votes, or N tasks, and the same from there on. */
import { readFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { start, token } from "../service/support.ts"
import { cli, ends, folderWithItems, printed, quick, reportOf, to, votesOf } from "../support/cli.ts"
import { datasetHashes } from "../support/hashes.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

interface Vote {
  readonly expert: string
  readonly choice: number
  readonly order: ReadonlyArray<number>
  readonly [member: string]: unknown
}

interface Prompt {
  readonly prompt: string
  readonly completions: ReadonlyArray<string>
}

interface Created {
  readonly task_id: string
  readonly prompts: ReadonlyArray<Prompt>
  readonly results: ReadonlyArray<{ readonly annotations: { readonly votes: ReadonlyArray<Vote> } }>
}

const items = Array.from({ length: 4 }, (_, i) => ({
  id: `item-${i}`,
  prompt: `prompt ${i}`,
  completions: [`a much longer answer ${i}`, `b ${i}`, `another one ${i}`],
  models: ["one", "two", "three"],
}))

/** A proxy in front of the built-in service that keeps what it was sent and what it answered. */
const recording = (base: string) => {
  const tasks = new Map<string, { prompts: ReadonlyArray<Prompt>; results?: Created["results"] }>()
  return {
    tasks,
    answer: async ({ body, headers, method, path }: ScriptedService.Received): Promise<ScriptedService.Answer> => {
      const answer = await fetch(base + path, {
        method,
        headers: {
          authorization: String(headers.authorization),
          "content-type": "application/json",
          "idempotency-key": String(headers["idempotency-key"]),
        },
        ...(method === "POST" && { body }),
      })
      const json = await answer.json()
      if (method === "POST") tasks.set(json.task_id, { prompts: JSON.parse(body).prompts })
      else if (json.status === "completed")
        tasks.set(json.task_id, { ...tasks.get(json.task_id)!, results: json.results })
      return { status: answer.status, body: json }
    },
  }
}

/** A service whose tasks have one vote per prompt: the votes that were given before, one in each task. */
const separate = (earlier: ReadonlyArray<Created>) => {
  const tasks = new Map<string, { prompts: ReadonlyArray<Prompt>; vote: number }>()
  const asked = new Map<string, number>()
  const voteOn = ({ completions, prompt }: Prompt, n: number) => {
    const task = earlier.find(({ prompts }) => prompts.some((other) => other.prompt === prompt))!
    const at = task.prompts.findIndex((other) => other.prompt === prompt)
    const indexOf = (index: number) => completions.indexOf(task.prompts[at]!.completions[index]!)
    const vote = task.results[at]!.annotations.votes[n]!
    const moved = { ...vote, choice: indexOf(vote.choice), order: vote.order.map(indexOf) }
    return {
      prompt,
      best_completion_index: moved.choice,
      annotations: { rationale: vote["rationale"] ?? "", votes: [moved] },
    }
  }
  return (request: ScriptedService.Received): ScriptedService.Answer => {
    if (ScriptedService.isPost(request)) {
      const { prompts } = JSON.parse(request.body) as { prompts: ReadonlyArray<Prompt> }
      const n = asked.get(prompts[0]!.prompt) ?? 0
      asked.set(prompts[0]!.prompt, n + 1)
      const first = earlier.find((task) => task.prompts[0]!.prompt === prompts[0]!.prompt)!
      // A dataset names the first task of each item.
      const task_id = n === 0 ? first.task_id : `${first.task_id}-${n}`
      tasks.set(task_id, { prompts, vote: n })
      return { status: 201, body: { task_id } }
    }
    const task_id = request.path.split("/").at(-1)!
    const { prompts, vote } = tasks.get(task_id)!
    return {
      status: 200,
      body: { task_id, status: "completed", results: prompts.map((prompt) => voteOn(prompt, vote)) },
    }
  }
}

const documentOf = async (base: string) => ({
  status: 200,
  body: await (await fetch(`${base}/v1/openapi.json`)).json(),
})

describe("--votes 3", () => {
  test("gives the same dataset and votes from one task that asks for three, and from three tasks", function* () {
    const folder = yield* folderWithItems(items)
    const base = yield* start({ experts: ["first", "longest", "shortest"] })
    const { body } = yield* Effect.promise(() => documentOf(base))
    const { answer, tasks } = recording(base)
    const one = yield* ScriptedService.make(answer, {}, body)
    const flags = "--votes 3 --batch-size 3 --price 0.5 --format trl --expert-names --pairs best-against-rest --json"
    const run = (name: string, baseUrl: string, secret: string) =>
      cli(
        ["run", `${folder}/items.jsonl`, "--dir", `${folder}/${name}/job`, ...flags.split(" "), ...quick],
        to({ baseUrl, token: secret }),
      ).pipe(ends(0))
    const together = reportOf(yield* run("together", one.baseUrl, Redacted.value(token)))
    const several = yield* ScriptedService.make(
      separate([...tasks].map(([task_id, task]) => ({ task_id, ...task }) as Created)),
    )
    const apart = reportOf(yield* run("apart", several.baseUrl, several.token))
    assert.deepStrictEqual([tasks.size, ScriptedService.posts(several).length], [2, 6])
    for (const { votes } of bodiesOf(one)) assert.strictEqual(votes, 3)
    const datasetOf = (name: string) => `${folder}/${name}/job/dataset`
    assert.deepStrictEqual(datasetHashes(datasetOf("together")), datasetHashes(datasetOf("apart")))
    // Which service it was, and how long a task took, are the only differences.
    const textOf = (name: string, file: string) =>
      readFileSync(`${datasetOf(name)}/${file}`, "utf8").replaceAll(one.baseUrl, several.baseUrl)
    assert.strictEqual(textOf("together", "README.md"), textOf("apart", "README.md"))
    const report = (name: string) => ({ ...JSON.parse(textOf(name, "report.json")), turnaround: null })
    assert.deepStrictEqual(report("together"), report("apart"))
    assert.deepStrictEqual(together.spending, apart.spending)
    assert.deepStrictEqual([together.tasks.completed.items, apart.tasks.completed.items], [12, 12])
    const votesIn = (name: string) =>
      Effect.map(votesOf(`${folder}/${name}/job`), (rows) =>
        rows.map((row) => ({ ...row, task_id: null, judged_at: null })),
      )
    const votes = yield* votesIn("together")
    assert.deepStrictEqual(votes, yield* votesIn("apart"))
    assert.deepStrictEqual(
      votes.slice(0, 3).map(({ expert, vote }) => [vote, expert]),
      [
        [1, "first"],
        [2, "longest"],
        [3, "shortest"],
      ],
    )
    for (const name of ["together", "apart"]) {
      yield* cli(["ledger", "check", "--dir", `${folder}/${name}/job`]).pipe(ends(0))
    }
  })
})

const declaring = (maximum: number, type = "integer") => ({
  paths: {
    "/v1/tasks": {
      post: {
        requestBody: {
          content: { "application/json": { schema: { properties: { votes: { type, maximum } } } } },
        },
      },
    },
  },
})

const bodiesOf = (service: ScriptedService.ScriptedService) =>
  ScriptedService.posts(service).map(
    ({ body }) => JSON.parse(body) as { prompts: ReadonlyArray<Prompt>; votes?: number },
  )

/** What is sent of four items: prompts and votes of each task. */
const submitted = Effect.fnUntraced(function* (
  flags: ReadonlyArray<string>,
  maximum: number,
  maxPrompts = 4,
  status = 0,
) {
  const folder = yield* folderWithItems(items)
  const service = yield* ScriptedService.make(
    (request, before) => {
      if (!ScriptedService.isPost(request)) return ScriptedService.pending(request)
      const isTooLarge = JSON.parse(request.body).prompts.length > maxPrompts
      return isTooLarge ? { status: 413 } : { status: 201, body: { task_id: `task_${before.length}` } }
    },
    {},
    declaring(maximum),
  )
  const args = ["submit", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...flags]
  const said = yield* cli(args, to(service)).pipe(ends(status))
  yield* cli(["ledger", "check", "--dir", `${folder}/job`]).pipe(ends(0))
  return { tasks: bodiesOf(service).map(({ prompts, votes }) => [prompts.length, votes]), said, folder, service }
})

describe("a task", () => {
  for (const [what, flags, maximum, tasks] of [
    ["no votes without --votes, so that the service's default applies", [], 25, [[4, undefined]]],
    ["one vote with --votes 1", ["--votes", "1"], 25, [[4, 1]]],
    ["one vote where the service takes fewer than are wanted", ["--votes", "3"], 2, [1, 2, 3].map(() => [4, 1])],
  ] as const) {
    test(`asks for ${what}`, function* () {
      assert.deepStrictEqual<unknown>((yield* submitted(flags, maximum)).tasks, tasks)
    })
  }

  test("costs as many votes as it asks for: a budget is as exact as with a task for each vote", function* () {
    const flags = ["--votes", "3", "--price", "0.5", "--budget", "4.6", "--batch-size", "2"]
    const { folder, said, service, tasks } = yield* submitted(flags, 3, 4, 8)
    assert.sameDeepMembers(tasks, [
      [2, 3],
      [1, 3],
    ])
    assert.match(said.stdout + said.stderr, /9 votes/)
    const preview = ["submit", `${folder}/items.jsonl`, "--dir", `${folder}/other`, ...flags, "--dry-run"]
    const { new_votes, requests } = yield* printed(preview, to(service))
    assert.deepStrictEqual([new_votes, requests], [9, 2])
  })

  test("that is split keeps the votes that it asks for", function* () {
    const { tasks } = yield* submitted(["--votes", "3"], 3, 2)
    assert.deepStrictEqual(
      tasks,
      [4, 2, 2].map((prompts) => [prompts, 3]),
    )
  })
})

test("serve --votes is the default alone: a job's --votes is not multiplied by it, and further votes are single ones", function* () {
  const folder = yield* folderWithItems(items)
  const base = yield* start({ experts: ["first", "longest", "shortest", "last"], votes: 4 })
  const { body } = yield* Effect.promise(() => documentOf(base))
  const { answer } = recording(base)
  const service = yield* ScriptedService.make(answer, {}, body)
  const run = Effect.fnUntraced(function* (name: string, ...votes: ReadonlyArray<string>) {
    const before = bodiesOf(service).length
    const said = yield* cli(
      ["run", `${folder}/items.jsonl`, "--dir", `${folder}/${name}`, ...votes, "--json", ...quick],
      to({ baseUrl: service.baseUrl, token: Redacted.value(token) }),
    )
    assert.include([0, 4], said.status, said.stderr)
    const rows = yield* votesOf(`${folder}/${name}`)
    yield* cli(["ledger", "check", "--dir", `${folder}/${name}`]).pipe(ends(0))
    return {
      asked: bodiesOf(service)
        .slice(before)
        .map(({ votes }) => votes),
      votes: rows.length,
      experts: new Set(rows.map(({ expert, item_id }) => `${item_id} ${expert}`)).size,
    }
  })
  assert.deepStrictEqual(yield* run("default"), { asked: [undefined], votes: 16, experts: 16 })
  assert.deepStrictEqual(yield* run("two", "--votes", "2"), { asked: [2], votes: 8, experts: 8 })
  const { asked, votes } = yield* run("more", "--votes", "2..3")
  assert.deepStrictEqual([asked[0], new Set(asked.slice(1))], [2, new Set([1])])
  assert.isAbove(votes, 8)
  assert.isAtMost(votes, 12)
})

describe("a document that cannot be read", () => {
  const served = Effect.fnUntraced(function* (
    answers: ReadonlyArray<ScriptedService.Answer>,
    ...flags: ReadonlyArray<string>
  ) {
    const folder = yield* folderWithItems(items)
    let reads = 0
    const service = yield* ScriptedService.make(
      (request, before) =>
        ScriptedService.isPost(request)
          ? { status: 201, body: { task_id: `task_${before.length}` } }
          : ScriptedService.pending(request),
      {},
      () => answers[Math.min(reads++, answers.length - 1)],
    )
    const said = yield* cli(["submit", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...flags], to(service))
    return { said, votes: bodiesOf(service).map(({ votes }) => votes) }
  })
  const votes = ["--votes", "3"]
  const unreadable = [{ status: 500 }, "reset", { status: 503, headers: { "retry-after": "3600" } }] as const

  test("ends a run with --votes before it sends a task, because a service may give several votes to each", function* () {
    for (const answer of unreadable) {
      const { said, votes: sent } = yield* served([answer], ...votes, "--patience", "0s")
      assert.deepStrictEqual([said.status, sent], [1, []], said.stderr)
      assert.match(said.stderr, /openapi\.json could not be read \((500|no answer|503)\), so it is unknown/)
      assert.include(said.stderr, "more votes than requested.")
    }
  })

  test("is read again until it says how many votes a task can ask for", function* () {
    const { said, votes: sent } = yield* served(
      ["reset", { status: 500 }, { status: 200, body: declaring(25) }],
      ...votes,
    )
    assert.deepStrictEqual([said.status, sent], [0, [3]], said.stderr)
  })

  test("matters neither without --votes, which a warning says, nor where each request names its votes", function* () {
    const without = yield* served([{ status: 500 }])
    assert.deepStrictEqual(without.votes, [undefined], without.said.stderr)
    assert.match(without.said.stderr, /could not be read \(500\), so .+ New tasks are sent without "group"/)
    const folder = yield* folderWithItems(['{"votes":1}'])
    const named = yield* served([{ status: 500 }], ...votes, "--request-extra", `${folder}/items.jsonl`)
    assert.deepStrictEqual(named.votes, [1, 1, 1], named.said.stderr)
  })

  test("differs from none, and from one whose members are of another type: each vote has its own task", function* () {
    const document = declaring(25, "string")
    for (const answer of [{ status: 404 }, { status: 200, body: document }]) {
      const { votes: sent } = yield* served([answer], ...votes)
      assert.deepStrictEqual(sent, [undefined, undefined, undefined])
    }
  })
})

describe("a result of a task that asked for several votes", () => {
  const exported = Effect.fnUntraced(function* (annotations: object, choice: number, votes: number) {
    const folder = yield* folderWithItems(items)
    const judging = ScriptedService.judging(() => ({ best_completion_index: choice, annotations }))
    const service = yield* ScriptedService.make(judging, {}, declaring(25))
    const flags = ["--votes", String(votes), "--no-shuffle", "--ties", "keep", "--json", ...quick]
    const said = yield* cli(["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...flags], to(service))
    return { said, example: reportOf(said).example! }
  })
  const rationale = ""

  test("that lists no votes counts as one, which a warning says with the numbers", function* () {
    const { said } = yield* exported({ rationale }, 0, 3)
    assert.match(said.stderr, /4 results have fewer votes than requested.*: 8 votes are missing/)
  })

  test("keeps the service's choice if its votes tie", function* () {
    const vote = (expert: string, choice: number) => ({ expert, choice, kind: "person" })
    const votes = [vote("one", 0), vote("two", 1)]
    const { example, said } = yield* exported({ rationale, votes }, 1, 2)
    assert.strictEqual(example.chosen, "b 0", said.stderr)
  })
})
