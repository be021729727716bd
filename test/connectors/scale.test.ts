/** `pipelines/connectors/scale.ts`, from a file to the dataset, at the fake of the service. */
import { assert, describe } from "@effect/vitest"
import { protocol, settings } from "../../pipelines/connectors/scale.ts"
import { test } from "../support/job.ts"
import * as Job from "./job.ts"
import * as Scale from "./scale.ts"

const fake = (options?: Parameters<typeof Scale.make>[0]) => Job.served(() => Scale.make(options))

const items = Array.from({ length: 4 }, (_, i) => ({
  id: `item-${i}`,
  prompt: `Why ${i}?`,
  completions: [`Short ${i}.`, `Longer ${i}, since there is a reason.`, `Longest ${i}, since there are many reasons.`],
}))

const job = { protocol: protocol({ project: Scale.project }), service: settings }

describe("the connector of Scale", () => {
  test("makes a dataset with strength, rationale and ranks from the turn with a selected model", function* () {
    const service = yield* fake()
    const { finish, pairs, submit } = yield* Job.make(service, items, { ...job, guidelines: "Be strict." })
    yield* submit
    assert.sameMembers([...service.created()], ["Why 0?", "Why 1?", "Why 2?", "Why 3?"])
    service.decide(({ prompt, responses }) => {
      const best = Job.longest(prompt, responses)
      const others = [0, 1, 2].filter((index) => index !== best)
      const likert = prompt === "Why 0?" ? 1 : 6
      return { best, ranking: [[best], others], likert, justification: `It is ${responses[best]}` }
    })
    const report = yield* finish
    assert.deepStrictEqual([report.status, report.tasks.completed.tasks], ["done", 4])
    const rows = yield* pairs
    assert.lengthOf(rows, 8)
    for (const { agreement, chosen, prompt, rationale, rejected, strength, votes } of rows) {
      const [short, longer, best] = items.find((item) => item.prompt === prompt)!.completions
      assert.strictEqual(chosen, best)
      assert.include([short, longer], rejected)
      assert.strictEqual(rationale, `It is ${best}`)
      // 1 is three steps from the middle of 1 to 7, and 6 is two.
      assert.strictEqual(strength, prompt === "Why 0?" ? 3 : 2)
      assert.deepStrictEqual([votes, agreement], [1, null])
    }
    assert.isTrue(service.tasks().every(({ guidelines }) => guidelines === "Be strict."))
  })

  test("makes no pair of two responses of equal rank", function* () {
    const service = yield* fake()
    const { finish, pairs, submit } = yield* Job.make(service, items.slice(0, 1), job)
    yield* submit
    service.decide(({ responses }) => {
      const worst = responses.indexOf("Short 0.")
      const equal = [0, 1, 2].filter((index) => index !== worst)
      return { best: equal[0]!, ranking: [equal, [worst]], likert: 4 }
    })
    yield* finish
    const rows = yield* pairs
    assert.isNotEmpty(rows)
    for (const { rejected, strength } of rows) assert.deepStrictEqual([rejected, strength], ["Short 0.", null])
  })

  test("refuses a result without a selected model, with another text, or with a ranking that contradicts the choice", function* () {
    const service = yield* fake()
    const { finish, submit } = yield* Job.make(service, items, { ...job, allowEmpty: true })
    yield* submit
    service.decide(({ prompt }) => {
      if (prompt === "Why 0?") return { best: null }
      if (prompt === "Why 1?") return { best: 0, isWrong: true }
      return prompt === "Why 2?" ? { best: 0, ranking: [[1], [0, 2]] } : { best: 0 }
    })
    const { issues, tasks } = yield* finish
    assert.deepStrictEqual([tasks.invalid.tasks, tasks.completed.tasks], [3, 1])
    const reasons = issues.map(({ reason }) => reason).join("\n")
    assert.match(reasons, /expected 1 results, one per prompt, found 0/)
    assert.match(reasons, /expected the text of a completion that was sent/)
    assert.match(reasons, /expected the best completion \(0\) first, found 1/)
  })

  test("reports canceled tasks, tasks in error, and reported content as failed", function* () {
    const service = yield* fake()
    const { finish, pairs, submit } = yield* Job.make(service, items, job)
    yield* submit
    const ends = ["canceled", "error", "reported"] as const
    service.decide(({ prompt }) => ends[Number(prompt.at(-2))] ?? { best: 0 })
    const { issues, tasks } = yield* finish
    assert.deepStrictEqual([tasks.failed.tasks, tasks.completed.tasks], [3, 1])
    const reasons = issues.map(({ reason }) => reason).join("\n")
    for (const end of ends) assert.include(reasons, end)
    for (const { prompt } of yield* pairs) assert.strictEqual(prompt, "Why 3?")
  })

  test("refuses one prompt without the others, also in a batch of several", function* () {
    const service = yield* fake({ refuses: (prompt) => prompt === "Why 2?" })
    const { finish, submit } = yield* Job.make(service, items, job)
    const report = yield* submit
    assert.deepStrictEqual([report.tasks.submitted.tasks, report.tasks.refused.tasks], [3, 1])
    assert.sameMembers([...service.created()], ["Why 0?", "Why 1?", "Why 3?"])
    service.judge(Job.longest, { reversed: true })
    const { dataset, rejected } = yield* finish
    assert.deepStrictEqual([dataset?.rows, rejected], [6, 1])
  })

  test("creates each task once if answers are lost and requests are refused with 429", function* () {
    const service = yield* fake()
    const writes = new Map<string, number>()
    service.disturb(({ body, method }) => {
      if (method !== "POST") return undefined
      const { unique_id } = body as { readonly unique_id: string }
      const times = (writes.get(unique_id) ?? 0) + 1
      writes.set(unique_id, times)
      if (writes.size === 1) return times === 1 ? "busy" : times === 2 ? "lost" : undefined
      return writes.size === 3 && times === 1 ? "lost" : undefined
    })
    const { finish, pairs, submit } = yield* Job.make(service, items, {
      ...job,
      batch: { maxPrompts: 1, maxBytes: 1_000_000 },
    })
    const report = yield* submit
    assert.deepStrictEqual([report.tasks.submitted.tasks, report.tasks.in_doubt.tasks], [4, 0])
    assert.sameMembers([...service.created()], ["Why 0?", "Why 1?", "Why 2?", "Why 3?"])
    assert.lengthOf(
      service.requests().filter(({ url }) => url.pathname === "/v1/tasks"),
      2,
    )
    service.judge(Job.longest)
    yield* finish
    assert.lengthOf(yield* pairs, 8)
  })
})
