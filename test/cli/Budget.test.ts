/** `--price` and `--budget`: no vote is planned beyond it, and what the rest would cost is said. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { Preview } from "../../src/pipeline/Preview.ts"
import { cli, ends, folderWithItems, itemLines, jsonIn, quick, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const prepared = Effect.gen(function* () {
  const dir = yield* folderWithItems(10)
  const service = yield* ScriptedService.make(ScriptedService.obliging)
  const args = [`${dir}/items.jsonl`, "--dir", `${dir}/job`, "--batch-size", "3", ...quick]
  const say = (command: string, ...flags: ReadonlyArray<string>) => cli([command, ...args, ...flags], to(service))
  return { dir, say, sent: () => ScriptedService.promptsIn(service).length, service }
})

describe("--budget", () => {
  test("run plans as far as it goes, writes the dataset, and ends with 8; raised, it goes on", function* () {
    const { dir, say, sent, service } = yield* prepared
    const twice = ["--no-shuffle", "--votes", "2"]
    const first = yield* say("run", ...twice, "--price", "0.40", "--budget", "5.70", "--json").pipe(ends(8))
    const report = reportOf(first)
    assert.strictEqual(sent(), 14)
    assert.deepStrictEqual(
      [report.status, report.read, report.submitted, report.not_submitted, report.dataset?.rows],
      ["over_budget", 10, 7, 3, 7],
    )
    assert.deepInclude(report.spending, {
      spent: { votes: 14, cost: "5.60" },
      committed: { votes: 0, cost: "0.00" },
      left: { votes: 0, cost: "0.10" },
      over_budget: { items: 3, votes: 6, cost: "2.40" },
      cost_per_pair: "0.8000",
      cost_per_right_vote: null,
    })
    const status = yield* cli(["status", "--dir", `${dir}/job`]).pipe(ends(8))
    assert.include(status.stdout, "cost       14 votes (5.60) spent, 0 votes (0.00) committed, at 0.40 per vote")
    assert.include(status.stdout, "budget     5.70; 0.10 left, enough for 0 votes")
    assert.include(status.stdout, "3 items beyond the budget: 6 votes (2.40)")

    // Price and budget hold for the job.
    const again = yield* say("run", ...twice).pipe(ends(8))
    assert.include(again.stderr, "the budget is used up, so 3 new items are not planned")
    assert.strictEqual(sent(), 14)

    const raised = yield* say("run", ...twice, "--budget", "8", "--json").pipe(ends(0))
    assert.strictEqual(sent(), 20)
    assert.deepStrictEqual(reportOf(raised).spending?.left, { votes: 0, cost: "0.00" })
    assert.strictEqual((yield* cli(["ledger", "check", "--dir", `${dir}/job`], to(service))).status, 0)
  })

  test("submit ends with 8 too, collect waits for what was sent, and none lifts the limit", function* () {
    const { dir, say, sent, service } = yield* prepared
    assert.strictEqual((yield* say("submit", "--price", "1", "--budget", "4")).status, 8)
    assert.strictEqual(sent(), 4)
    const collected = yield* cli(["collect", "--dir", `${dir}/job`, ...quick, "--json"], to(service)).pipe(ends(8))
    assert.strictEqual(reportOf(collected).tasks.completed.items, 4)
    assert.strictEqual((yield* say("submit", "--budget", "none")).status, 0)
    assert.strictEqual(sent(), 10)
  })

  test("duplicates of items that it leaves out are duplicates", function* () {
    const { dir, say, sent } = yield* prepared
    yield* write(`${dir}/items.jsonl`, [
      ...itemLines(6),
      ...itemLines(6),
      { id: "item-5", prompt: "other", completions: ["a", "b"] },
    ])
    const said = yield* say("submit", "--price", "1", "--budget", "4", "--json")
    const { duplicates, not_submitted, read, rejected, submitted } = reportOf(said)
    assert.deepStrictEqual(
      { duplicates, not_submitted, read, rejected, submitted },
      { duplicates: 6, not_submitted: 2, read: 13, rejected: 1, submitted: 4 },
    )
    assert.strictEqual(sent(), 4)
  })

  test("needs a price", function* () {
    const { say, sent } = yield* prepared
    for (const flags of [[], ["--dry-run"]]) {
      const needed = /a budget of 4 requires a price per vote: set --price/
      yield* say("submit", "--budget", "4", ...flags).pipe(ends(2, needed))
    }
    assert.strictEqual(sent(), 0)
  })

  test("a dry run says what the run then does, at each step", function* () {
    const { dir, say, sent } = yield* prepared
    yield* write(`${dir}/gold.jsonl`, [
      { prompt: "gold", completions: ["right", "wrong"], gold: { best_completion_index: 0 } },
    ])
    const gold = ["--gold", `${dir}/gold.jsonl`, "--gold-rate", "0.3"]
    let [votes, posts] = [0, 0]
    for (const budget of ["2.5", "6", "7.25", "40"]) {
      const flags = [...gold, "--votes", "2", "--price", "0.5", "--budget", budget, "--json"]
      const preview: Preview = jsonIn(yield* say("submit", ...flags, "--dry-run"))
      assert.strictEqual(sent(), votes)
      const report = reportOf(yield* say("submit", ...flags))
      votes += preview.new_votes
      posts += preview.requests
      assert.strictEqual(sent(), votes)
      assert.strictEqual(preview.sending_seconds, preview.requests / 1000)
      const { spending } = preview
      assert.deepStrictEqual(
        [spending?.budget, spending?.left, spending?.over_budget],
        [report.spending?.budget, report.spending?.left?.cost, report.spending?.over_budget],
      )
      assert.strictEqual(report.spending?.committed.votes, votes)
    }
    assert.isAbove(votes, 20, "no gold item was mixed in")
    const said = yield* say("submit", "--votes", "2", "--dry-run")
    assert.include(said.stdout, "cost       0 votes (0.0), at 0.5 per vote; earlier runs: ")
    assert.include(said.stdout, "sending    0 requests, at least 0.0 s at the rate limit")
    assert.isAbove(posts, 4)
  })

  test("a dry run counts what a budget holds back like the run, which sends it before new items", function* () {
    const dir = yield* temporaryDirectory
    let isDown = true
    const service = yield* ScriptedService.make((request, before) =>
      isDown ? { status: 402 } : ScriptedService.obliging(request, before),
    )
    const submit = (...flags: ReadonlyArray<string>) =>
      cli(
        ["submit", `${dir}/items.jsonl`, "--dir", `${dir}/job`, "--batch-size", "3", ...quick, "--json", ...flags],
        to(service),
      )
    const next = Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
      const preview: Preview = jsonIn(yield* submit(...flags, "--dry-run"))
      yield* submit(...flags)
      const { spending } = reportOf(yield* cli(["status", "--dir", `${dir}/job`, "--json"]))
      assert.deepStrictEqual(
        [preview.spending?.budget, preview.spending?.left, preview.spending?.over_budget],
        [spending?.budget, spending?.left?.cost ?? null, spending?.over_budget],
      )
      assert.strictEqual(
        (preview.spending?.before.votes ?? 0) + preview.new_votes,
        (spending?.spent.votes ?? 0) + (spending?.committed.votes ?? 0),
      )
      return [preview.planned, preview.requests, preview.new_votes, spending?.over_budget.items]
    })
    yield* write(`${dir}/items.jsonl`, itemLines(12))
    yield* submit("--votes", "2", "--price", "0.5")
    assert.deepStrictEqual(yield* next("--budget", "4"), [2, 2, 0, 9])
    assert.deepStrictEqual(yield* next("--budget", "9"), [6, 6, 0, 3])
    yield* write(`${dir}/items.jsonl`, itemLines(20))
    isDown = false
    const before = ScriptedService.promptsIn(service).length
    assert.deepStrictEqual(yield* next("--budget", "14", "--votes", "2"), [8, 10, 4, 6])
    assert.lengthOf(ScriptedService.promptsIn(service), before + 28)
    assert.deepStrictEqual(yield* next("--budget", "none", "--votes", "2"), [0, 4, 12, 0])
  })
})
