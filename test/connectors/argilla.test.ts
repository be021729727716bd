/** `pipelines/connectors/argilla.ts`, from a file to the dataset, at the fake of the server. */
import { assert, describe } from "@effect/vitest"
import { protocol, settings } from "../../pipelines/connectors/argilla.ts"
import { test } from "../support/job.ts"
import * as Argilla from "./argilla.ts"
import * as Job from "./job.ts"

const fake = (options?: Argilla.Settings) => Job.served(() => Argilla.make(options))

const items = Array.from({ length: 6 }, (_, i) => ({
  id: `item-${i}`,
  prompt: `Wo ${i} – größer?`,
  completions: [`Short ${i}.`, `Longer ${i}, since there is a reason.`],
}))

const job = { protocol: protocol({ dataset: Argilla.dataset }), service: settings }

/** A ranking of all options of the question. Those without a completion have the text "". */
const ranked = (completions: ReadonlyArray<string>, rankOf: (text: string, index: number) => number) =>
  Array.from({ length: 8 }, (_, i) => ({
    value: `response${i + 1}`,
    rank: Math.min(rankOf(completions[i] ?? "", i), 8),
  })).toReversed()

const users = ["ann", "bob", "eve", "joe"]

describe("the connector of Argilla", () => {
  test("makes a dataset of several users' votes, with their names, agreement, strength and rationale", function* () {
    const service = yield* fake({ minSubmitted: 3, users })
    const { names } = service
    const { finish, pairs, submit, votes } = yield* Job.make(service, items, {
      ...job,
      protocol: protocol({ dataset: Argilla.dataset, names }),
    })
    yield* submit
    assert.deepStrictEqual(
      service.created(),
      items.map(({ prompt }) => prompt),
    )
    const says = (user: string, isRight: boolean, strength: number) =>
      service.respond(user, (record) => {
        const best = Job.longest("", Argilla.completionsOf(record))
        const preference = `response${1 + (isRight ? best : 1 - best)}`
        return { status: "submitted", preference, strength, rationale: `${user} says so.` }
      })
    says("ann", false, 4)
    service.respond("joe", () => ({ status: "discarded" }))
    says("bob", true, 1)
    says("eve", true, 2)
    const { tasks } = yield* finish
    assert.strictEqual(tasks.completed.items, 6)
    const rows = yield* pairs
    assert.lengthOf(rows, 6)
    for (const row of rows) {
      assert.match(row.chosen, /^Longer/)
      assert.match(row.rejected, /^Short/)
      assert.deepStrictEqual([row.votes, row.agreement], [3, 2 / 3])
      assert.deepStrictEqual([row.strength, row.rationale], [1.5, "bob says so."])
    }
    const given = yield* votes
    assert.deepStrictEqual(
      given.slice(0, 3).map(({ decision, expert }) => [expert, decision]),
      [
        ["ann", null],
        ["bob", null],
        ["eve", null],
      ],
    )
  })

  test("reads rankings with ties, which are no pairs, also of options for which a record has no response", function* () {
    const service = yield* fake({ question: "ranking" })
    const three = items.map((item, i) => (i < 3 ? { ...item, completions: [...item.completions, `Bad ${i}`] } : item))
    const { finish, pairs, submit } = yield* Job.make(service, three, { ...job, ties: "drop" })
    yield* submit
    // Of the last item, both are at the top.
    service.respond("ann", (record) => ({
      status: "submitted",
      preference: ranked(Argilla.completionsOf(record), (text) =>
        text.startsWith("Longer") || text === "Short 5." ? 1 : text === "" ? 8 : 2,
      ),
    }))
    const { tasks } = yield* finish
    assert.strictEqual(tasks.completed.items, 6)
    const rows = yield* pairs
    assert.lengthOf(rows, 8)
    for (const { chosen, rejected } of rows) {
      assert.match(chosen, /^Longer/)
      assert.match(rejected, /^(Short|Bad)/)
    }
  })

  test("waits until each record has as many submitted responses as the dataset asks for", function* () {
    const service = yield* fake({ minSubmitted: 2, users })
    const { once, submit } = yield* Job.make(service, items, job)
    yield* submit
    const answer =
      (status: "draft" | "submitted" | "discarded") => (record: Parameters<typeof Argilla.completionsOf>[0]) =>
        ({ status, preference: `response${1 + Job.longest("", Argilla.completionsOf(record))}` }) as const
    service.respond("ann", answer("submitted"))
    service.respond("bob", answer("draft"))
    service.respond("eve", answer("discarded"))
    assert.strictEqual((yield* once).tasks.submitted.items, 6)
    service.respond("joe", answer("submitted"))
    assert.strictEqual((yield* once).tasks.completed.items, 6)
  })

  for (const question of ["label_selection", "ranking"] as const) {
    test(`keeps a result invalid if a vote prefers a response that its record does not have (${question})`, function* () {
      const service = yield* fake({ question, minSubmitted: 3, users })
      const { finish, submit } = yield* Job.make(service, items, { ...job, allowEmpty: true })
      yield* submit
      const prefer = (place: number) => () => ({
        status: "submitted" as const,
        preference: question === "ranking" ? ranked([], (_, i) => (i === place ? 1 : i + 2)) : `response${place + 1}`,
      })
      service.respond("ann", prefer(0))
      service.respond("bob", prefer(2))
      service.respond("eve", prefer(0))
      const { issues, tasks } = yield* finish
      assert.strictEqual(tasks.invalid.items, 6)
      assert.match(issues.map(({ reason }) => reason).join("\n"), /results\[0\]\.votes\[1\]\.choice: expected 0 to 1/)
    })
  }

  test("refuses the record at fault, and creates all others once", function* () {
    const service = yield* fake()
    const many = Array.from({ length: 9 }, (_, i) => `Completion ${i}`)
    const odd = items.map((item, i) => (i === 4 ? { ...item, completions: many } : item))
    const { finish, pairs, submit } = yield* Job.make(service, odd, job)
    const { tasks } = yield* submit
    assert.deepStrictEqual([tasks.submitted.items, tasks.refused.items], [5, 1])
    service.judge(Job.longest, { reversed: true })
    const { issues, rejected } = yield* finish
    assert.strictEqual(rejected, 1)
    assert.match(issues.map(({ reason }) => reason).join("\n"), /found fields values for non configured fields/)
    assert.sameMembers(
      (yield* pairs).map(({ prompt }) => prompt),
      items.filter((_, i) => i !== 4).map(({ prompt }) => prompt),
    )
  })

  test("creates each record once if answers are lost and requests are refused with 429", function* () {
    const service = yield* fake()
    let writes = 0
    service.disturb(({ method }) => {
      if (method !== "PUT") return undefined
      writes++
      return writes === 1 ? "busy" : writes === 2 || writes === 4 ? "lost" : undefined
    })
    const { finish, pairs, submit } = yield* Job.make(service, items, {
      ...job,
      batch: { maxPrompts: 3, maxBytes: 1_000_000 },
    })
    const { tasks } = yield* submit
    assert.deepStrictEqual([tasks.submitted.items, tasks.in_doubt.items, writes], [6, 0, 5])
    assert.sameMembers(
      [...service.created()],
      items.map(({ prompt }) => prompt),
    )
    service.judge(Job.longest)
    yield* finish
    assert.lengthOf(yield* pairs, 6)
  })
})
