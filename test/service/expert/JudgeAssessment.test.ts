/** Judges answer the rubric of the guidelines, as people do. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as JudgeStub from "../../support/judgeStub.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import { platform, start, task, votesOn } from "../support.ts"
import { liveOver } from "../../support/effectTest.ts"

const test = liveOver(platform)

const guidelines = `---
rubric:
  strength: required
  all_bad: true
  flags: [unsafe, broken]
  edit: true
  aspects:
    - { name: truth, steps: 3, low: wrong, high: right, required: true }
---

Prefer the longer.
`

interface Body {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string }>
}

/** A model that prefers the longer completion, and gives these answers to the rubric, one after the other. */
const modelWith = (answers: ReadonlyArray<(first: string) => object>) => {
  const asked: Array<Body["messages"]> = []
  return Effect.map(
    ScriptedService.make((request) => {
      const { messages }: Body = JSON.parse(request.body)
      if (!messages[0]!.content.includes("further questions")) {
        return JudgeStub.verdict(JudgeStub.byValue(({ length }) => length)(JudgeStub.questionOf(request)))
      }
      const first = /<completion-1-[0-9a-f]{16}>\n(.*)\n/.exec(messages[1]!.content)![1]!
      const answer = answers[Math.min(asked.length, answers.length - 1)]!(first)
      asked.push(messages)
      return JudgeStub.says(`Here: ${JSON.stringify(answer)}`)
    }),
    (service) => ({ service, asked }),
  )
}

const vote = Effect.fnUntraced(function* (baseUrl: string) {
  const base = yield* start({ experts: ["judge:m", "longest"], judge: { baseUrl } })
  const body = { ...task([["p", "short", "much longer"]]), guidelines }
  return (yield* votesOn(base, body))[0]!
})

const good = (first: string) => ({
  strength: 3,
  all_bad: true,
  flags: ["broken"],
  edited: "much longer, and better",
  aspects: { truth: first === "short" ? [1, 3] : [3, 1] },
})

test("a vote has the answers to the rubric, in the order of the task; an invalid answer is asked for once more with the problem", function* () {
  const { asked, service } = yield* modelWith([() => ({ strength: 9, aspects: { truth: [1, 2] } }), good])
  const { details, ...members } = yield* vote(service.baseUrl)
  assert.deepInclude(members, {
    expert: "judge:m",
    choice: 1,
    strength: 3,
    all_bad: true,
    flags: ["broken"],
    edited: "much longer, and better",
    aspects: { truth: [1, 3] },
  })
  assert.strictEqual(asked.length, 2)
  const [system, user] = asked[0]!
  assert.include(system!.content, `"truth" (whole numbers from 1: wrong to 3: right, required)`)
  assert.include(user!.content, "Prefer the longer.")
  assert.notInclude(user!.content, "rubric:")
  assert.match(asked[1]!.at(-1)!.content, /The rubric has no strength 9\./)
  assert.strictEqual((details!["usage"] as { requests: number }).requests, 4)
})

test("without a required answer, even after a retry, the judge gives no vote", function* () {
  const { asked, service } = yield* modelWith([(first) => ({ ...good(first), strength: null })])
  assert.strictEqual((yield* vote(service.baseUrl)).expert, "longest")
  assert.strictEqual(asked.length, 2)
  assert.match(asked[1]!.at(-1)!.content, /The guidelines require an answer: strength\./)
})
