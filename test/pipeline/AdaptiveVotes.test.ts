/** `--votes 2..5 --confidence …`: further votes where the votes so far leave doubt, through the real ledger. */
import { createHash } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { TaskRequest } from "../../src/domain/Task.ts"
import { cli, quick, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const items = 90
const accuracies = [0.6, 0.7, 0.8, 0.9, 0.95]

/** From 0 to below 1, by the text alone. */
const chance = (text: string) => createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32

/** The first expert by chance who has not judged the item; it is right by chance, too. */
const judging = () => {
  const judged = new Map<string, Array<string>>()
  const bodies = new Map<string, unknown>()
  const answer = (request: ScriptedService.Received, before: ReadonlyArray<ScriptedService.Received>) => {
    if (request.method === "GET") {
      const id = request.path.split("/").at(-1)!
      return { status: 200, body: { task_id: id, status: "completed", results: bodies.get(id) } }
    }
    const id = `task_${before.filter(({ method }) => method === "POST").length}`
    const { prompts } = JSON.parse(request.body) as TaskRequest
    bodies.set(
      id,
      prompts.map(({ completions, prompt }) => {
        const had = judged.get(prompt) ?? []
        const order = accuracies.toSorted((a, b) => chance(`${prompt}:${a}`) - chance(`${prompt}:${b}`))
        const accuracy = order[had.length]!
        judged.set(prompt, [...had, `expert ${accuracy}`])
        const isRight = chance(`vote ${prompt}:${accuracy}`) < accuracy
        const choice = completions.findIndex((text) => text.startsWith("right") === isRight)
        return {
          prompt,
          best_completion_index: choice,
          annotations: { votes: [{ expert: `expert ${accuracy}`, choice }] },
        }
      }),
    )
    return { status: 201, body: { task_id: id, status: "pending" } }
  }
  return { answer, judged }
}

const prepared = Effect.gen(function* () {
  const dir = yield* temporaryDirectory
  const { answer, judged } = judging()
  const service = yield* ScriptedService.make(answer)
  yield* write(
    `${dir}/items.jsonl`,
    Array.from({ length: items }, (_, i) =>
      JSON.stringify({ id: `item-${i}`, prompt: `prompt ${i}`, completions: [`right ${i}`, `wrong ${i}`] }),
    ),
  )
  const say = (command: string, ...flags: ReadonlyArray<string>) =>
    cli(
      [command, `${dir}/items.jsonl`, "--dir", `${dir}/job`, "--batch-size", "7", ...quick, "--json", ...flags],
      to(service),
    )
  const rows = () => {
    const db = new DatabaseSync(`${dir}/job/ledger.db`, { readOnly: true })
    try {
      return db.prepare("SELECT seq, vote, item_count, batch, state, idempotency_key FROM task ORDER BY seq").all()
    } finally {
      db.close()
    }
  }
  const check = cli(["ledger", "check", "--dir", `${dir}/job`])
  const votes = () => [...judged.values()].reduce((sum, { length }) => sum + length, 0)
  return { dir, say, rows, check, votes, judged, service }
})

const flags = ["--votes", "2..5", "--confidence", "0.9", "--aggregate", "dawid-skene"]

describe("--votes N..M", () => {
  test("each item gets the least, and more where its votes leave doubt; the dataset has all of them", () =>
    Effect.gen(function* () {
      const { check, judged, say, votes } = yield* prepared
      const said = yield* say("run", ...flags)
      assert.strictEqual(said.status, 0, said.stderr)
      const report = reportOf(said)
      const given = [...judged.values()].map(({ length }) => length)
      assert.strictEqual(given.length, items)
      assert.isAtLeast(Math.min(...given), 2)
      assert.isAtMost(Math.max(...given), 5)
      assert.isAbove(new Set(given).size, 2, "all items had alike votes")
      assert.isBelow(votes(), 5 * items)
      assert.strictEqual(report.tasks.completed.items, votes())
      assert.strictEqual(report.dataset?.rows, items)
      // No expert judged an item twice, so that every vote counts.
      for (const experts of judged.values()) assert.strictEqual(new Set(experts).size, experts.length)
      const checked = yield* check
      assert.strictEqual(checked.status, 0, checked.stdout)
      // Settled: another run plans nothing.
      const before = votes()
      assert.strictEqual((yield* say("run", ...flags)).status, 0)
      assert.strictEqual(votes(), before)
    }))

  test("the same ledger comes to the same votes, whether one run waits or many collect once", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* prepared, yield* prepared]
      assert.strictEqual((yield* one.say("run", ...flags)).status, 0)
      assert.strictEqual((yield* other.say("run", ...flags)).status, 0)
      assert.deepStrictEqual(other.rows(), one.rows())
      const nightly = yield* prepared
      for (let night = 0; night < 40; night++) {
        const { status } = yield* nightly.say("run", ...flags, "--once")
        assert.include([0, 3], status)
        if (status === 0) break
      }
      assert.deepStrictEqual(nightly.rows(), one.rows())
    }))

  test("the budget holds for further votes, exactly; raised, they go on", () =>
    Effect.gen(function* () {
      const { dir, say, votes } = yield* prepared
      const budget = ["--price", "0.1", "--budget"]
      const least = yield* say("run", ...flags, ...budget, "19.75")
      assert.strictEqual(least.status, 8, least.stderr)
      assert.strictEqual(votes(), 197)
      const { spending } = reportOf(least)
      assert.deepStrictEqual(spending?.left, { votes: 0, cost: "0.05" })
      assert.isAbove(spending?.over_budget.votes ?? 0, 0)
      assert.include(least.stderr, "another vote")
      const told = yield* cli(["status", "--dir", `${dir}/job`])
      assert.include(told.stdout, "further votes that the budget does not allow: ")
      // Without a range, no item wants further votes, whatever a run before noted.
      const fixed = yield* say("run", "--votes", "3", "--aggregate", "dawid-skene", "--budget", "19.80")
      assert.strictEqual(fixed.status, 0, fixed.stderr)
      const raised = yield* say("run", ...flags, "--budget", "none")
      assert.strictEqual(raised.status, 0)
      assert.isAbove(votes(), 197)
    }))

  test("submit plans further votes on what was collected since", () =>
    Effect.gen(function* () {
      const { dir, say, service, votes } = yield* prepared
      yield* say("submit", ...flags.slice(0, 4))
      assert.strictEqual(votes(), 2 * items)
      yield* say("submit", ...flags.slice(0, 4))
      assert.strictEqual(votes(), 2 * items)
      assert.strictEqual((yield* cli(["collect", "--dir", `${dir}/job`, ...quick], to(service))).status, 0)
      yield* say("submit", ...flags.slice(0, 4))
      const further = votes()
      assert.isAbove(further, 2 * items)
      // Until these are in, no more than a quarter wait.
      yield* say("submit", ...flags.slice(0, 4))
      assert.strictEqual(votes(), further)
    }))

  test("a confidence needs a range, and a range its order", () =>
    Effect.gen(function* () {
      const { say } = yield* prepared
      for (const wrong of [
        ["--votes", "3", "--confidence", "0.9"],
        ["--votes", "5..2"],
        ["--votes", "0..2"],
      ]) {
        assert.strictEqual((yield* say("submit", ...wrong)).status, 2, wrong.join(" "))
      }
    }))
})
