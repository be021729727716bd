/** A judge at work in the service: what a client reads of its votes. */
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import { Vote } from "../../../src/domain/Vote.ts"
import * as JudgeStub from "../../support/judgeStub.ts"
import { call, completed, platform, start, task } from "../support.ts"
import { liveOver } from "../../support/effectTest.ts"

const test = liveOver(platform)

const votesOf = Schema.decodeUnknownSync(Schema.Array(Vote))

test("annotations of a task that a language model judged hold its vote with the order shown, both answers of each pair, and what it cost", function* () {
  // Prefers the longer; of "left" and "same" whichever stands first.
  const model = yield* JudgeStub.make((question) => {
    const choice = JudgeStub.byValue((completion) => completion.length)(question)
    return choice === "tie" ? "A" : choice
  })
  const base = yield* start({ experts: ["judge:m"], judge: { baseUrl: model.baseUrl } })
  const body = task([
    ["first", "short", "much longer"],
    ["second", "left", "same"],
  ])
  const { json } = yield* call("POST", `${base}/v1/tasks`, { body })
  const { results } = (yield* completed(base, json.task_id)).json

  const [clear, unclear] = results
  const [vote] = votesOf(clear.annotations.votes)
  assert.deepStrictEqual([clear.best_completion_index, clear.annotations.agreement], [1, 1])
  assert.strictEqual(clear.annotations.rationale, "Because of: much longer")
  assert.deepStrictEqual([vote!.expert, vote!.choice, vote!.ranking], ["judge:m", 1, [[1], [0]]])
  const first = vote!.order as [number, number]
  const second = first.toReversed()
  assert.deepInclude(vote!.details, {
    consistent: true,
    answers: [
      { order: first, choice: 1, rationale: "Because of: much longer" },
      { order: second, choice: 1, rationale: "Because of: much longer" },
    ],
    usage: { requests: 2, prompt_tokens: 200, completion_tokens: 20 },
  })

  const [tied] = votesOf(unclear.annotations.votes)
  const shown = tied!.order as [number, number]
  assert.strictEqual(unclear.best_completion_index, shown[0])
  assert.deepStrictEqual(tied!.ranking, [shown])
  assert.deepInclude(tied!.details, {
    consistent: false,
    answers: [
      { order: shown, choice: shown[0], rationale: `Because of: ${["left", "same"][shown[0]]}` },
      { order: shown.toReversed(), choice: shown[1], rationale: `Because of: ${["left", "same"][shown[1]]}` },
    ],
  })
  assert.strictEqual(unclear.annotations.tie, true)
})
