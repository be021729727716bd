import { assert, describe } from "@effect/vitest"
import { Effect, Option, Redacted, Schema } from "effect"
import { Vote } from "../../../src/domain/Vote.ts"
import type { JudgeVote } from "../../../src/service/expert/Expert.ts"
import * as JudgeStub from "../../support/judgeStub.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import { liveOver } from "../../support/effectTest.ts"

const test = liveOver(JudgeStub.httpClient)

const length = JudgeStub.byValue((completion) => completion.length)
const item = { prompt: "Say something.", completions: ["short", "much longer"] }

const ascending = (one: number, other: number) => one - other

interface Details {
  readonly model: string
  readonly temperature?: number
  readonly template: string
  readonly method: string
  readonly consistent: boolean
  readonly answers: ReadonlyArray<{ order: [number, number]; choice: number | null; rationale: string }>
  readonly usage: { requests: number; prompt_tokens: number; completion_tokens: number }
}
const detailsOf = (vote: JudgeVote) => vote.details as unknown as Details

/** A vote holds together, and can be stored and sent. */
const assertSound = (vote: JudgeVote, n: number) => {
  const all = Array.from({ length: n }, (_, i) => i)
  assert.deepStrictEqual([...vote.order!].toSorted(ascending), all)
  if (vote.ranking !== undefined) {
    assert.deepStrictEqual(vote.ranking.flat().toSorted(ascending), all)
    assert.include(vote.ranking[0]!, vote.best_completion_index)
  }
  const { best_completion_index: choice, ...rest } = vote
  Schema.decodeUnknownSync(Vote)(JSON.parse(JSON.stringify({ expert: "judge:stub", choice, seconds: 0, ...rest })))
}

/** What an expert says with a model that chooses so. */
const judged = Effect.fnUntraced(function* (
  choose: (question: JudgeStub.Question) => JudgeStub.Choice,
  of: typeof item,
  options: Parameters<typeof JudgeStub.judge>[2] = {},
) {
  const service = yield* JudgeStub.make(choose)
  const vote = yield* Effect.catchIf(
    JudgeStub.judge(service.baseUrl, of, options),
    // An abstention; whatever else fails is no vote either, and fails the test.
    ({ isRetryable, problem }) => !isRetryable && problem.startsWith("the model's preference changes"),
    () => Effect.succeed(Option.none()),
  )
  if (Option.isSome(vote)) assertSound(vote.value, of.completions.length)
  return { service, vote: Option.getOrUndefined(vote), questions: service.received.map(JudgeStub.questionOf) }
})

describe("two completions", () => {
  test("are shown in both orders, and the one preferred in both is the choice", function* () {
    const { questions, vote } = yield* judged(length, item, { guidelines: "Prefer the longer." })
    const [one, other] = questions
    assert.sameMembers([...one!.completions], item.completions)
    assert.deepStrictEqual<unknown>(one!.completions.toReversed(), other!.completions)
    for (const question of questions) {
      assert.strictEqual(question.prompt, item.prompt)
      assert.strictEqual(question.guidelines, "Prefer the longer.")
    }
    assert.strictEqual(new Set(questions.map(({ marker }) => marker)).size, 2)
    assert.strictEqual(vote!.best_completion_index, 1)
    assert.deepStrictEqual(vote!.ranking, [[1], [0]])
    assert.strictEqual(vote!.rationale, "Because of: much longer")
    const { answers: _, template, ...details } = detailsOf(vote!)
    assert.match(template, /^[0-9a-f]{16}$/)
    const usage = { requests: 2, prompt_tokens: 200, completion_tokens: 20 }
    const model = "stub-2024-08-06"
    assert.deepStrictEqual(details, { model, temperature: 0, method: "pair", consistent: true, usage })
  })

  for (const place of ["A", "B"] as const) {
    test(`are equal for a model that prefers ${place} whatever it is, or get no vote; both its answers are kept`, function* () {
      const { vote } = yield* judged(() => place, item)
      const [first, second] = vote!.order as [number, number]
      assert.deepStrictEqual(vote!.ranking, [[first, second]])
      assert.strictEqual(vote!.best_completion_index, first)
      const { answers, consistent } = detailsOf(vote!)
      assert.isFalse(consistent)
      const orders = [[first, second] as const, [second, first] as const]
      const answered = orders.map((order) => {
        const choice = order[place === "A" ? 0 : 1]
        return { order, choice, rationale: `Because of: ${item.completions[choice]}` }
      })
      assert.deepStrictEqual<unknown>(answers, answered)
      assert.match(
        vote!.rationale,
        /choice changed with the order.*First order: Because of: .* Second order: Because of: /,
      )
      assert.isUndefined((yield* judged(() => place, item, { onDisagreement: "abstain" })).vote)
    })
  }

  test("are equal where the model says so in one order or in both; it abstains only from the one", function* () {
    const both = yield* judged(() => "tie", item, { onDisagreement: "abstain" })
    assert.strictEqual(both.vote!.ranking!.length, 1)
    assert.isTrue(detailsOf(both.vote!).consistent)
    assert.strictEqual(both.vote!.rationale, "Equally good. Equal.")
    const inOne = ({ completions }: JudgeStub.Question) => (completions[0] === "short" ? "tie" : "A")
    const one = yield* judged(inOne, item)
    assert.strictEqual(one.vote!.ranking!.length, 1)
    assert.isFalse(detailsOf(one.vote!).consistent)
    assert.isUndefined((yield* judged(inOne, item, { onDisagreement: "abstain" })).vote)
  })

  test("stand in an order that is drawn for the item, and the same each time", function* () {
    const items = Array.from({ length: 40 }, (_, i) => ({ prompt: `prompt ${i}`, completions: [`a ${i}`, `b ${i}`] }))
    const draw = Effect.forEach(items, (item) =>
      Effect.map(
        judged(() => "tie", item),
        ({ vote }) => vote!.order![0],
      ),
    )
    const first = yield* draw
    assert.deepStrictEqual(yield* draw, first)
    const ofFirst = first.filter((index) => index === 0).length
    assert.isTrue(ofFirst > 8 && ofFirst < 32, `${ofFirst} of 40`)
  })

  test("that are the same text are equal, and nobody is asked", function* () {
    const { service, vote } = yield* judged(length, { prompt: "p", completions: ["same", "same"] })
    assert.strictEqual(vote!.ranking!.length, 1)
    assert.deepStrictEqual(service.received, [])
    assert.strictEqual(vote!.rationale, "The completions are identical.")
  })
})

describe("more completions", () => {
  test("are compared pair by pair and ranked", function* () {
    const { service, vote } = yield* judged(length, { prompt: "p", completions: ["22", "1", "333", "one"] })
    assert.strictEqual(service.received.length, 12)
    assert.deepStrictEqual(
      vote!.ranking!.map((group) => group.toSorted(ascending)),
      [[2, 3], [0], [1]],
    )
    const details = detailsOf(vote!)
    assert.deepStrictEqual([details.method, details.consistent, details.answers.length], ["all_pairs", true, 12])
    assert.strictEqual(details.usage.requests, 12)
    assert.match(
      vote!.rationale,
      /^The choice was compared with 3 other completions, and won against 2 of them in both orders of presentation\. .*Because of: (333|one)$/,
    )
  })

  test("are equal for a model that looks at places", function* () {
    const of = { prompt: "p", completions: ["a", "b", "c"] }
    const { vote } = yield* judged(() => "A", of)
    assert.deepStrictEqual(vote!.ranking, [vote!.order as never])
    assert.strictEqual(
      vote!.rationale,
      "The choice was compared with 2 other completions, and won against 0 of them in both orders of presentation.",
    )
    assert.isUndefined((yield* judged(() => "A", of, { onDisagreement: "abstain" })).vote)
  })

  test("may disagree below the best without an abstention", function* () {
    const best = ({ completions }: JudgeStub.Question) => (completions[1] === "best" ? "B" : "A")
    const of = { prompt: "p", completions: ["a", "best", "c"] }
    const { vote } = yield* judged(best, of, { onDisagreement: "abstain" })
    assert.strictEqual(vote!.best_completion_index, 1)
    assert.isFalse(detailsOf(vote!).consistent)
  })

  test("than can be ranked are searched for the best", function* () {
    const completions = ["1", "22", "333", "4444", "55555", "666666", "7", "same", "same"]
    const { service, vote } = yield* judged(length, { prompt: "p", completions })
    assert.strictEqual(service.received.length, 14)
    assert.strictEqual(vote!.best_completion_index, 5)
    assert.isUndefined(vote!.ranking)
    assert.strictEqual(detailsOf(vote!).method, "sliding_pass")
  })

  test("that are the same text stand in one group", function* () {
    const { service, vote } = yield* judged(length, { prompt: "p", completions: ["long", "x", "long"] })
    assert.strictEqual(service.received.length, 2)
    assert.deepStrictEqual(
      vote!.ranking!.map((group) => group.toSorted(ascending)),
      [[0, 2], [1]],
    )
  })
})

describe("answers of no use", () => {
  test("are asked for again, and what they cost is counted", function* () {
    const service = yield* ScriptedService.make((request, before) =>
      before.length < 3 ? JudgeStub.says("A is better.") : JudgeStub.verdict(length(JudgeStub.questionOf(request))),
    )
    const vote = Option.getOrThrow(yield* JudgeStub.judge(service.baseUrl, item))
    assert.strictEqual(vote.best_completion_index, 1)
    assert.strictEqual(service.received.length, 5)
    assert.deepStrictEqual(detailsOf(vote).usage, { requests: 5, prompt_tokens: 500, completion_tokens: 50 })
  })

  for (const text of ["Completion A is better.", ""]) {
    test(`leave the item to others, without a guess: ${JSON.stringify(text)}`, function* () {
      const service = yield* ScriptedService.make(() => JudgeStub.says(text))
      const failure = yield* Effect.flip(JudgeStub.judge(service.baseUrl, item, { attempts: 2, concurrency: 1 }))
      assert.isFalse(failure.isRetryable)
      assert.include(failure.message, "judge:stub gave 2 unusable answers, the last: ")
      assert.include(failure.message, text === "" ? "nothing" : text)
    })
  }

  test("are quoted without the key, should the model know it", function* () {
    const service = yield* ScriptedService.make(() => JudgeStub.says("The key is sk-very-secret, isn't it?"))
    const apiKey = Redacted.make("sk-very-secret")
    const failure = yield* Effect.flip(JudgeStub.judge(service.baseUrl, item, { attempts: 1, apiKey }))
    assert.include(failure.message, "The key is <key>, isn't it?")
    assert.notInclude(JSON.stringify(failure), "sk-very-secret")
  })
})

describe("the expert", () => {
  test("is named after its model, and judges as many at once as its requests allow", function* () {
    const expert = yield* JudgeStub.expertAt("http://127.0.0.1:9/v1", { model: "org/model:7b", concurrency: 5 })
    assert.deepStrictEqual([expert.name, expert.concurrency], ["judge:org/model:7b", 3])
  })

  test("asks by the operator's template", function* () {
    const template = "Which is funnier?\n{prompt}\n{completions}"
    const { questions, vote } = yield* judged(length, item, { template })
    assert.isTrue(questions.every(({ user }) => user.startsWith("Which is funnier?\n<prompt-")))
    assert.notStrictEqual(detailsOf(vote!).template, detailsOf((yield* judged(length, item)).vote!).template)
  })
})
