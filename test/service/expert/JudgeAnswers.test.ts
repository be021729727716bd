/** Answers of judges that are kept: a second run of the same questions asks nobody. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Struct } from "effect"
import type { Vote } from "../../../src/domain/Vote.ts"
import * as JudgeAnswers from "../../../src/service/expert/JudgeAnswers.ts"
import type { JudgeSettings } from "../../../src/service/expert/JudgeSettings.ts"
import * as JudgeStub from "../../support/judgeStub.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import { platform, start, task, temporaryFile, votesOn } from "../support.ts"
import { liveOver } from "../../support/effectTest.ts"

const test = liveOver(platform)

const items = task([
  ["first", "short", "much longer"],
  ["second", "left", "right!"],
  ["third", "one", "three", "seventeen"],
])

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
    const body = task([["p", "a", "b"]])
    const changes: ReadonlyArray<Effect.Effect<unknown, unknown, Effect.Services<ReturnType<typeof judged>>>> = [
      judged(settings, body),
      judged(settings, body, "n"),
      judged({ ...settings, body: { temperature: 0.5 } }, body),
      judged(settings, { ...body, guidelines: "Prefer a." }),
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

  test("asks again where all answers were unusable", function* () {
    const model = yield* ScriptedService.make(() => JudgeStub.says("Hm."))
    const cache = yield* temporaryFile("answers.db")
    assert.strictEqual((yield* judgeWith(model.baseUrl, cache))._tag, "Failure")
    const asked = model.received.length
    assert.strictEqual((yield* judgeWith(model.baseUrl, cache))._tag, "Failure")
    assert.isAbove(model.received.length, asked)
  })
})

test("two services share a file, and a new file is created once", function* () {
  const model = yield* JudgeStub.make(JudgeStub.byValue((completion) => completion.length))
  const cache = yield* temporaryFile("answers.db")
  const settings = { baseUrl: model.baseUrl, cache }
  const fibers = yield* Effect.forEach([items, task([["another", "x", "xx"]])], (body) =>
    Effect.forkChild(judged(settings, body)),
  )
  yield* Effect.forEach(fibers, Fiber.join)
  const asked = model.received.length
  yield* judged(settings)
  assert.strictEqual(model.received.length, asked)
})

test("without a setting, the file is beside the service's database", function* () {
  const model = yield* JudgeStub.make(() => "A")
  const database = yield* temporaryFile("service.db")
  const body = task([["p", "a", "b"]])
  const run = (database: string) =>
    Effect.scoped(
      Effect.gen(function* () {
        const base = yield* start({ experts: ["judge:m"], judge: { baseUrl: model.baseUrl }, database })
        yield* votesOn(base, body)
      }),
    )
  yield* run(database)
  yield* run(`${database}-2`)
  assert.strictEqual(model.received.length, 2)
})
