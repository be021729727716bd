/** Answers of judges that are kept: a second run of the same questions asks nobody. */
import { assert, describe } from "@effect/vitest"
import { Effect, Struct } from "effect"
import type { Vote } from "../../../src/domain/Vote.ts"
import * as JudgeAnswers from "../../../src/service/expert/JudgeAnswers.ts"
import type { JudgeSettings } from "../../../src/service/expert/JudgeSettings.ts"
import * as JudgeStub from "../../support/judgeStub.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import { call, completed, platform, start, task, temporaryFile, votesOn } from "../support.ts"
import { liveOver } from "../../support/effectTest.ts"

const test = liveOver(platform)

const items = task([
  ["first", "short", "much longer"],
  ["second", "left", "right!"],
  ["third", "one", "three", "seventeen"],
])

const pair = task([["p", "a", "b"]])

/** Has a service with a database of its own judge the task; returns the votes. */
const judged = Effect.fnUntraced(function* (judge: JudgeSettings, body: object = items, model = "m") {
  const base = yield* start({ experts: [`judge:${model}`], judge })
  return yield* votesOn(base, body)
}, Effect.scoped)

const withoutUsage = (votes: ReadonlyArray<Vote>) =>
  votes.map(({ details, ...vote }) => ({
    ...Struct.omit(vote, ["seconds"]),
    details: Struct.omit(details!, ["usage"]),
  }))

const usageOf = (vote: Vote | undefined) => vote?.details?.["usage"]

describe("a second run", () => {
  test("with the same file asks nobody, gives the same votes, and says what they cost before", function* () {
    const model = yield* JudgeStub.make(JudgeStub.byValue((completion) => completion.length))
    const cache = yield* temporaryFile("answers.db")
    const settings = { baseUrl: model.baseUrl, cache, prices: { m: { input: "0.15", output: 0.6 } } }
    const first = yield* judged(settings)
    assert.strictEqual(model.received.length, 2 + 2 + 6)
    // As a client reads it: the order shown, and both answers.
    const { details, order, ...vote } = first[0]!
    assert.deepInclude(vote, { expert: "judge:m", choice: 1, ranking: [[1], [0]] })
    const rationale = "Because of: much longer"
    const answers = [order, order.toReversed()].map((order) => ({ order, choice: 1, rationale }))
    assert.deepInclude(details, { consistent: true, answers })
    const second = yield* judged(settings)
    assert.strictEqual(model.received.length, 10)
    assert.deepStrictEqual(withoutUsage(second), withoutUsage(first))
    const paid = { requests: 2, prompt_tokens: 200, completion_tokens: 20, cost: "0.000042" }
    assert.deepStrictEqual(usageOf(first[0]), paid)
    const nothing = { requests: 0, prompt_tokens: 0, completion_tokens: 0, cost: "0" }
    assert.deepStrictEqual(usageOf(second[0]), { ...nothing, cached: paid })
  })

  test("asks again for another model, other members, other guidelines, or another text", function* () {
    const model = yield* JudgeStub.make(() => "A")
    const cache = yield* temporaryFile("answers.db")
    const settings = { baseUrl: model.baseUrl, cache }
    const changes: ReadonlyArray<Effect.Effect<unknown, unknown, Effect.Services<ReturnType<typeof judged>>>> = [
      judged(settings, pair),
      judged(settings, pair, "n"),
      judged({ ...settings, body: { temperature: 0.5 } }, pair),
      judged(settings, { ...pair, guidelines: "Prefer a." }),
      judged(settings, task([["p", "a", "c"]])),
    ]
    for (const [i, change] of changes.entries()) {
      yield* change
      assert.strictEqual(model.received.length, 2 * (i + 1), `change ${i}`)
    }
    for (const change of changes) yield* change
    assert.strictEqual(model.received.length, 2 * changes.length)
  })

  const item = { prompt: "p", completions: ["a", "b"] }
  const judgeWith = Effect.fnUntraced(function* (baseUrl: string, cache: string) {
    const answers = yield* JudgeAnswers.open(cache)
    return yield* Effect.exit(JudgeStub.judge(baseUrl, item, { concurrency: 1, attempts: 2 }, answers))
  }, Effect.scoped)

  test("asks nobody where only the first answer was unusable", function* () {
    const first = new Set<string>()
    const model = yield* ScriptedService.make((request) => {
      const [shownFirst] = JudgeStub.questionOf(request).completions
      if (first.has(shownFirst)) return JudgeStub.verdict("A")
      first.add(shownFirst)
      return JudgeStub.says("Hm.")
    })
    const cache = yield* temporaryFile("answers.db")
    assert.strictEqual((yield* judgeWith(model.baseUrl, cache))._tag, "Success")
    assert.strictEqual(model.received.length, 4)
    assert.strictEqual((yield* judgeWith(model.baseUrl, cache))._tag, "Success")
    assert.strictEqual(model.received.length, 4)
  })

  for (const [name, answer] of [
    ["unusable", JudgeStub.says("Hm.")],
    ["refusals", JudgeStub.says(null, { choices: [{ message: { content: null, refusal: "No." } }] })],
  ] as const) {
    test(`asks nobody again where all answers were ${name}; with another member, it does`, function* () {
      const model = yield* ScriptedService.make(() => answer)
      const cache = yield* temporaryFile("answers.db")
      const judge = Effect.fnUntraced(function* (body: JudgeSettings["body"]) {
        const answers = yield* JudgeAnswers.open(cache)
        return yield* Effect.flip(JudgeStub.judge(model.baseUrl, item, { attempts: 2, body }, answers))
      }, Effect.scoped)
      const first = yield* judge({})
      assert.isFalse(first.isRetryable)
      const sent = model.received.length
      assert.strictEqual((yield* judge({})).message, first.message)
      assert.strictEqual(model.received.length, sent)
      assert.include(first.message, "--judge-body")
      yield* judge({ seed: 1 })
      assert.isAbove(model.received.length, sent)
    })
  }
})

describe("each paid request is counted once", () => {
  const paidBy = (votes: ReadonlyArray<Vote>) =>
    votes.map((vote) => {
      const { cost, requests, without_vote } = usageOf(vote) as unknown as Usage & { without_vote?: Usage }
      return [requests, cost, without_vote?.requests, without_vote?.cost]
    })
  interface Usage {
    readonly requests: number
    readonly cost: string
  }
  const prices = { m: { input: "1", output: "1" } }
  const paidIn = Effect.fnUntraced(function* (cache: string) {
    return yield* (yield* JudgeAnswers.open(cache)).paid
  }, Effect.scoped)

  test("those of a judgment without a vote are in the next vote of the judge", function* () {
    const model = yield* ScriptedService.make((request) =>
      JudgeStub.questionOf(request).prompt === "bad" ? JudgeStub.says("Hm.") : JudgeStub.verdict("A"),
    )
    const cache = yield* temporaryFile("answers.db")
    const settings = { baseUrl: model.baseUrl, cache, prices, attempts: 1, concurrency: 1 }
    const votes = yield* Effect.scoped(
      Effect.gen(function* () {
        const base = yield* start({ experts: ["judge:m", "first"], judge: settings })
        const bad = yield* votesOn(base, task([["bad", "a", "b"]]))
        assert.deepStrictEqual(
          bad.map(({ expert }) => expert),
          ["first"],
        )
        return yield* votesOn(base, task([["good", "a", "b"]]))
      }),
    )
    const sent = model.received.length
    assert.isAbove(sent, 2)
    assert.deepStrictEqual(paidBy(votes), [[2, "0.00022", sent - 2, sent === 4 ? "0.00022" : "0.00011"]])
    const cost = sent === 4 ? "0.00044" : "0.00033"
    const all = { requests: sent, prompt_tokens: 100 * sent, completion_tokens: 10 * sent, cost }
    assert.deepStrictEqual(yield* paidIn(cache), [{ model: "m", ...all }])
  })

  test("those under way when another one is refused are awaited, and counted in the next vote", function* () {
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const refused = JudgeStub.says(null, { choices: [{ message: { refusal: "No." } }] })
    const model = yield* ScriptedService.make(async (request, before) => {
      if (JudgeStub.questionOf(request).prompt !== "bad") return JudgeStub.verdict("A")
      if (before.length === 0) return arrived.promise.then(() => refused)
      arrived.resolve()
      return released.promise.then(() => JudgeStub.verdict("A"))
    })
    const cache = yield* temporaryFile("answers.db")
    const settings = { baseUrl: model.baseUrl, cache, prices }
    const base = yield* start({ experts: ["judge:m", "first"], judge: settings })
    const { json } = yield* call("POST", `${base}/v1/tasks`, { body: task([["bad", "a", "b"]]) })
    const { sql } = yield* JudgeAnswers.open(cache)
    yield* Effect.repeat(sql`SELECT 1 FROM answer`, { until: (rows) => rows.length > 0 })
    released.resolve()
    yield* completed(base, json.task_id)
    assert.strictEqual(model.received.length, 2)
    assert.strictEqual((yield* paidIn(cache))[0]!.requests, 2)
    assert.deepStrictEqual(paidBy(yield* votesOn(base, task([["good", "a", "b"]]))), [[2, "0.00022", 2, "0.00022"]])
  })

  test("those before a stop are in the vote after it, and not in another one", function* () {
    const database = yield* temporaryFile("service.db")
    const cache = yield* temporaryFile("answers.db")
    const model = yield* ScriptedService.make((_, before) =>
      before.length === 1 ? new Promise<never>(() => {}) : JudgeStub.verdict("A"),
    )
    const service = { database, experts: ["judge:m"], judge: { baseUrl: model.baseUrl, cache, prices } }
    const stopped = Effect.gen(function* () {
      const { json } = yield* call("POST", `${yield* start(service)}/v1/tasks`, { body: pair })
      const answers = yield* JudgeAnswers.open(cache)
      const kept = answers.sql`SELECT * FROM answer WHERE counted_for IS NOT NULL`
      yield* Effect.repeat(kept, { until: (rows) => rows.length === 1 && model.received.length === 2 })
      return json.task_id as string
    })
    const taskId = yield* Effect.scoped(stopped)
    const base = yield* start(service)
    const { json } = yield* completed(base, taskId)
    assert.deepStrictEqual(paidBy(json.results[0].annotations.votes), [[2, "0.00022", undefined, undefined]])
    const [again] = yield* votesOn(base, pair)
    assert.deepInclude(usageOf(again), { requests: 0, cost: "0" })
  })

  test("two votes that need the same answers at the same time share them", function* () {
    const model = yield* JudgeStub.make(() => "A")
    const base = yield* start({ experts: ["judge:m"], judge: { baseUrl: model.baseUrl, prices } })
    const votes = yield* Effect.forEach([1, 2, 3], () => votesOn(base, pair), { concurrency: "unbounded" })
    assert.strictEqual(model.received.length, 2)
    const requests = votes.flat().map((vote) => (usageOf(vote) as unknown as Usage).requests)
    assert.strictEqual(
      requests.reduce((sum, requests) => sum + requests),
      2,
    )
  })
})

test("one service at a time uses a file, which has the answers of all", function* () {
  const model = yield* JudgeStub.make(JudgeStub.byValue((completion) => completion.length))
  const cache = yield* temporaryFile("answers.db")
  const settings = { baseUrl: model.baseUrl, cache }
  yield* Effect.scoped(
    Effect.gen(function* () {
      const base = yield* start({ experts: ["judge:m"], judge: settings })
      assert.match(String(yield* Effect.flip(judged(settings))), /answers\.db is in use by process/)
      yield* votesOn(base, items)
    }),
  )
  const sent = model.received.length
  yield* judged(settings)
  assert.strictEqual(model.received.length, sent)
})

test("without a setting, the file is beside the service's database", function* () {
  const model = yield* JudgeStub.make(() => "A")
  const database = yield* temporaryFile("service.db")
  const run = (database: string) =>
    Effect.scoped(
      Effect.gen(function* () {
        const base = yield* start({ experts: ["judge:m"], judge: { baseUrl: model.baseUrl }, database })
        yield* votesOn(base, pair)
      }),
    )
  yield* run(database)
  yield* run(`${database}-2`)
  assert.strictEqual(model.received.length, 2)
})
