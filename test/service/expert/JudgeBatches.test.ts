/** Judges that ask in batches: nothing is paid for twice, whatever the endpoint does, and each doubt is listed. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { HttpClient } from "effect/http"
import * as JudgeAnswers from "../../../src/service/expert/JudgeAnswers.ts"
import * as JudgeBatches from "../../../src/service/expert/JudgeBatches.ts"
import * as JudgePrompt from "../../../src/service/expert/JudgePrompt.ts"
import type { JudgeSettings } from "../../../src/service/expert/JudgeSettings.ts"
import * as BatchStub from "../../support/batchStub.ts"
import * as Logs from "../../support/logs.ts"
import { call, completed, platform, start, task, temporaryFile, votesOn } from "../support.ts"
import { liveOver } from "../../support/effectTest.ts"

const test = liveOver(platform)

const { quick } = BatchStub

const prompts = (n: number) =>
  task(Array.from({ length: n }, (_, i) => [`prompt ${i}`, `${i}`, `longer ${i}`] as const))

/** A service with these batches; the address to send tasks to. */
const serviceWith = Effect.fnUntraced(function* (
  stub: BatchStub.BatchStub,
  database: string,
  settings: JudgeSettings = {},
) {
  return yield* start({ database, experts: ["judge:m"], judge: { baseUrl: stub.baseUrl, batch: quick, ...settings } })
})

/** Asserts how many requests the first batch and the later ones have. */
const assertAsked = ({ batches: [first, ...others] }: BatchStub.BatchStub, ofFirst: number, ofOthers: number) => {
  assert.strictEqual(first!.lines.length, ofFirst)
  assert.strictEqual(
    others.reduce((sum, { lines }) => sum + lines.length, 0),
    ofOthers,
  )
}

/** Judges three prompts with a stub; returns the stub. */
const judgeWith = Effect.fnUntraced(function* (options: BatchStub.Options, settings: JudgeSettings = {}) {
  const stub = yield* BatchStub.make(options)
  const base = yield* serviceWith(stub, yield* temporaryFile("service.db"), settings)
  const votes = yield* votesOn(base, prompts(3))
  assert.deepStrictEqual(
    votes.map(({ choice }) => choice),
    [1, 1, 1],
  )
  stub.assertPaidOnce(6)
  return { stub, votes }
})

describe("a batch", () => {
  test("has the requests of many tasks in both orders, and costs half", function* () {
    const stub = yield* BatchStub.make()
    const settings = { prices: { m: { input: 1, output: 2 } }, batch: { ...quick, linger: "1 second" } } as const
    const base = yield* serviceWith(stub, yield* temporaryFile("service.db"), settings)
    const bodies = Array.from({ length: 40 }, (_, i) => task([[`prompt ${i}`, "short", "much longer"]]))
    const votes = yield* Effect.forEach(bodies, (body) => votesOn(base, body), { concurrency: "unbounded" })
    stub.assertPaidOnce(80)
    assert.isAtMost(stub.batches.length, 2)
    assert.notInclude(stub.steps, "ask")
    const [vote] = votes[0]!
    assert.deepStrictEqual(vote!.details!["usage"], {
      requests: 2,
      prompt_tokens: 200,
      completion_tokens: 20,
      // 200 at 0.5 and 20 at 1, per million.
      cost: "0.00012",
    })
  })

  test("that expires has its finished part recorded, and the rest goes into the next batch", function* () {
    const { stub } = yield* judgeWith({
      end: (_, nth) => (nth === 0 ? { status: "expired", answers: (_, index) => index % 2 === 0 } : {}),
    })
    assert.strictEqual(stub.batches[0]!.status, "expired")
    assertAsked(stub, 6, 3)
  })

  test("with failed and missing results is completed by the next", function* () {
    const { stub } = yield* judgeWith({
      end: (_, nth) =>
        nth === 0 ? { lineStatus: (_, index) => [500, 429, 200, 200, 200, 503][index]! } : { answers: () => true },
    })
    assertAsked(stub, 6, 3)
  })

  test("that is too large for the endpoint's queue is halved", function* () {
    const failure = { code: "token_limit_exceeded", message: "Enqueued token limit reached" }
    const { stub } = yield* judgeWith(
      { end: (_, nth) => (nth === 0 ? { status: "failed", failure } : {}) },
      { batch: { ...quick, maxRequests: 6 } },
    )
    assertAsked(stub, 6, 6)
    assert.isAtMost(Math.max(...stub.batches.slice(1).map(({ lines }) => lines.length)), 3)
  })

  test("goes on after a lost connection, 500, and 429 at upload, poll, and download", function* () {
    const faults: ReadonlyArray<BatchStub.Fault> = [
      "after",
      { status: 500, headers: { "retry-after": "0" } },
      { status: 429, headers: { "retry-after": "0" } },
    ]
    const { stub } = yield* judgeWith({
      fault: ({ nth, step }) => (["upload", "poll", "download"].includes(step) ? faults[nth] : undefined),
    })
    assert.strictEqual(stub.batches.length, 1)
    assert.deepStrictEqual((["upload", "create", "download"] as const).map(stub.times), [4, 1, 4])
  })

  test("is created again after 429, when Retry-After says so", function* () {
    const { stub } = yield* judgeWith({
      fault: ({ nth, step }) =>
        step === "create" && nth === 0 ? { status: 429, headers: { "retry-after": "0" } } : undefined,
    })
    assert.strictEqual(stub.batches.length, 1)
    assert.notInclude(stub.steps, "list")
  })
})

/** Until then, an operator says nothing: the batch is a doubt, and so it is after a restart. */
const doubtful = Effect.fnUntraced(function* (stub: BatchStub.BatchStub, searchedBy: BatchStub.Step) {
  const database = yield* temporaryFile("service.db")
  const logs = Logs.make()
  const times = () => stub.times(searchedBy)
  const attempts = (least: number) => Effect.repeat(Effect.sync(times), { until: (times) => times >= least })
  const inDoubt = () => logs.messages.filter((line) => line.includes("is in doubt"))
  const open = Effect.gen(function* () {
    const base = yield* serviceWith(stub, database)
    const { json } = yield* call("POST", `${base}/v1/tasks`, { body: prompts(3) })
    yield* attempts(4)
    assert.strictEqual((yield* call("GET", `${base}/v1/tasks/${json.task_id}`)).json.status, "in_progress")
    return json.task_id as string
  })
  const taskId = yield* logs.during(Effect.scoped(open))
  assert.strictEqual(inDoubt().length, 1)
  assert.match(inDoubt()[0]!, /Batch [0-9a-f]{24} of judge:m is in doubt.*--judge-batch-doubts send-again/)
  const batches = stub.batches.length
  const before = times()
  yield* logs.during(Effect.scoped(Effect.andThen(serviceWith(stub, database), attempts(before + 3))))
  assert.strictEqual(stub.batches.length, batches)
  const sentAgain = Effect.flatMap(serviceWith(stub, database, { batch: { ...quick, doubts: "send-again" } }), (base) =>
    completed(base, taskId),
  )
  return { inDoubt, logs, sentAgain: logs.during(sentAgain) }
})

describe("a creation without an answer", () => {
  test("is found by its name, and adopted", function* () {
    const { stub } = yield* judgeWith({
      fault: ({ nth, step }) => (step === "create" && nth === 0 ? "after" : undefined),
    })
    assert.strictEqual(stub.batches.length, 1)
    assert.include(stub.steps, "list")
  })

  for (const fault of ["before", { status: 500 }] as const) {
    test(`is a doubt if no such batch is listed (${JSON.stringify(fault)}); it is told, and not sent again unless an operator says so`, function* () {
      const stub = yield* BatchStub.make({
        fault: ({ nth, step }) => (step === "create" && nth === 0 ? fault : undefined),
      })
      const { inDoubt, sentAgain } = yield* doubtful(stub, "list")
      assert.strictEqual(inDoubt().length, 2, "the next start searches it again")
      assert.strictEqual(stub.batches.length, 0)
      assert.strictEqual(stub.times("create"), 1)
      yield* sentAgain
      stub.assertPaidOnce(6)
    })
  }

  test("is adopted by a later start, even if that sends no batches", function* () {
    const stub = yield* BatchStub.make({
      fault: ({ nth, step }) =>
        step === "list" ? { status: 404 } : step === "create" && nth === 0 ? "after" : undefined,
    })
    const database = yield* temporaryFile("service.db")
    const taskId = yield* Effect.scoped(
      Effect.gen(function* () {
        const base = yield* serviceWith(stub, database)
        const { json } = yield* call("POST", `${base}/v1/tasks`, { body: prompts(3) })
        yield* Effect.repeat(Effect.yieldNow, { until: () => stub.times("list") > 0 })
        return json.task_id as string
      }),
    )
    stub.set({})
    const base = yield* serviceWith(stub, database, { batch: false })
    yield* completed(base, taskId)
    stub.assertPaidOnce(6)
    assert.notInclude(stub.steps, "ask")
  })
})

test("a second run with the same file sends nothing", function* () {
  const stub = yield* BatchStub.make()
  const cache = yield* temporaryFile("answers.db")
  const run = Effect.gen(function* () {
    const base = yield* serviceWith(stub, yield* temporaryFile("service.db"), { cache })
    return yield* votesOn(base, prompts(3))
  }).pipe(Effect.scoped)
  const first = yield* run
  const steps = stub.steps.length
  const second = yield* run
  assert.strictEqual(stub.steps.length, steps)
  assert.deepStrictEqual(
    second.map(({ choice }) => choice),
    first.map(({ choice }) => choice),
  )
})

describe("a batch that the endpoint no longer has", () => {
  for (const [step, status] of [
    ["poll", 404],
    ["poll", 410],
    ["download", 404],
  ] as const) {
    test(`(${status} at ${step}) is a doubt that is told, and not sent again unless an operator says so`, function* () {
      const gone = { status, body: { error: { message: "No such thing" } } }
      const stub = yield* BatchStub.make({ fault: (at) => (at.step === step ? gone : undefined) })
      const { logs, sentAgain } = yield* doubtful(stub, step)
      stub.set({ fault: (at) => (at.step === step && stub.batches.length === 1 ? gone : undefined) })
      yield* sentAgain
      assertAsked(stub, 6, 6)
      const told = /Batch [0-9a-f]{24} of judge:m is given up.* sent again, and may be paid for twice/
      assert.match(logs.messages.join("\n"), told)
    })
  }

  test("continues if the endpoint has it after all", function* () {
    const { stub } = yield* judgeWith({
      fault: ({ nth, step }) => (step === "poll" && nth < 3 ? { status: 404, body: "" } : undefined),
    })
    assert.strictEqual(stub.batches.length, 1)
  })
})

test("results that cannot be read are told with file and line, and asked for at most 3 times, even after a restart", function* () {
  const isBad = (line: BatchStub.InputLine) => JSON.stringify(line.body).includes("prompt 1")
  const stub = yield* BatchStub.make({
    end: () => ({ written: (json, line) => (isBad(line) ? json.slice(0, -20) : json) }),
  })
  const database = yield* temporaryFile("service.db")
  const logs = Logs.make()
  const service = { database, experts: ["judge:m", "last"], judge: { baseUrl: stub.baseUrl, batch: quick } }
  const votes = yield* logs.during(Effect.scoped(Effect.flatMap(start(service), (base) => votesOn(base, prompts(3)))))
  assert.deepStrictEqual(
    votes.map(({ expert }) => expert),
    ["judge:m", "last", "judge:m"],
  )
  assert.isAtMost(Math.max(...stub.paid.values()), 3)
  assert.isNotEmpty(logs.messages.filter((line) => /2 lines of its file \S+ cannot be read\. .* line \d/.test(line)))
  yield* Effect.flatMap(start(service), (base) => votesOn(base, prompts(3)))
  assert.isAtMost(Math.max(...stub.paid.values()), 3)
})

describe("without a service", () => {
  const question = { prompt: "p", guidelines: undefined, template: JudgePrompt.defaultTemplate } as const
  const questionBody = JSON.stringify({
    model: "m",
    messages: JudgePrompt.ask({ ...question, completions: ["a", "b"] }, "key"),
  })
  const context = (stub: BatchStub.BatchStub) => ({ baseUrl: stub.baseUrl, model: "m" })

  test("a doubt that an operator settles is no longer listed", function* () {
    const stub = yield* BatchStub.make({
      fault: ({ nth, step }) =>
        step === "create" && nth === 0 ? "before" : step === "list" && nth < 3 ? { status: 500, body: "" } : undefined,
      end: () => ({ answers: () => false }),
    })
    const answers = yield* JudgeAnswers.open(yield* temporaryFile("answers.db"))
    const client = yield* HttpClient.HttpClient
    const doubtful = Effect.gen(function* () {
      const batches = yield* JudgeBatches.make(client, context(stub), answers, quick)
      yield* Effect.forkScoped(batches.ask("r", questionBody))
      yield* Effect.repeat(Effect.sync(batches.doubts), { until: (doubts) => doubts.length === 1 })
    })
    yield* Effect.scoped(doubtful)
    const batches = yield* JudgeBatches.make(client, context(stub), answers, { ...quick, doubts: "send-again" })
    yield* Effect.repeat(Effect.sync(batches.doubts), { until: (doubts) => doubts.length === 1 })
    yield* Effect.flip(batches.pending("r")!)
    assert.deepStrictEqual(batches.doubts(), [])
  })

  test("results that cannot be read count as requests when they are read, without tokens", function* () {
    const stub = yield* BatchStub.make({ end: () => ({ written: (json) => json.slice(0, -20) }) })
    const answers = yield* JudgeAnswers.open(yield* temporaryFile("answers.db"))
    const batches = yield* JudgeBatches.make(yield* HttpClient.HttpClient, context(stub), answers, quick)
    for (const requests of [1, 2, 3]) {
      const answer = yield* Effect.option(batches.ask("r", questionBody))
      assert.strictEqual(Option.isSome(answer), requests === 3)
      assert.strictEqual(stub.paid.get("r"), requests)
      const counts = { requests, prompt_tokens: 0, completion_tokens: 0, cost: null }
      assert.deepStrictEqual(yield* answers.paid, [{ model: "m", ...counts }])
    }
  })

  test("a defect releases the callers, and the batch goes on without another payment", function* () {
    const stub = yield* BatchStub.make()
    const answers = yield* JudgeAnswers.open(yield* temporaryFile("answers.db"))
    let polls = 0
    const client = (yield* HttpClient.HttpClient).pipe(
      HttpClient.tapRequest(({ method, url }) =>
        method === "GET" && url.includes("/batches/") && polls++ === 0 ? Effect.die(new Error("a bug")) : Effect.void,
      ),
    )
    const batches = yield* JudgeBatches.make(client, context(stub), answers, quick)
    const failure = yield* Effect.flip(batches.ask("r", questionBody))
    assert.include(failure.message, "failed; it is continued later")
    assert.strictEqual((yield* batches.pending("r")!).promptTokens, 100)
    assert.strictEqual(stub.batches.length, 1)
  })
})
