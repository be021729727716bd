/** `--price KIND=AMOUNT` with services that tell kinds at another place, or tell none: what is counted, and what the reports say. */
import { readFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { QualityReport } from "../../src/domain/QualityReport.ts"
import type { Preview } from "../../src/pipeline/Preview.ts"
import { cli, cliIn, ends, folderWithItems, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const roles = ["model", "model", "senior", "crowd"]

/** Under `annotator.role`, where prefstream looks only if it is told. */
const elsewhere = (item: number) => ({
  votes: [{ expert: `e${item % 4}`, choice: 0, annotator: { role: roles[item % 4] } }],
})

/** A service that chooses the first completion; `tell` says who does, by the number in the item's prompt. */
const prepared = Effect.fnUntraced(function* (tell: (item: number) => object, lines = itemLines(12)) {
  const dir = yield* folderWithItems(lines)
  const service = yield* ScriptedService.make(
    ScriptedService.judging(({ prompt }) => ({ annotations: tell(Number(prompt.split(" ")[1])) })),
  )
  const args = [`${dir}/items.jsonl`, "--dir", `${dir}/job`, "--batch-size", "4", "--no-shuffle", ...quick]
  const say = (command: string, ...flags: ReadonlyArray<string>) => cli([command, ...args, ...flags], to(service))
  const file = (name: string) => readFileSync(`${dir}/job/dataset/${name}`, "utf8")
  const spendingInReport = () => (JSON.parse(file("report.json")) as QualityReport).spending
  return { dir, say, file, spendingInReport, service }
})

const prices = ["--price", "0.40", "--price", "model=0.01", "--price", "senior=2.50"]
const path = ["--annotation-path", "kind=annotator.role"]

/** Known answers: the first of every other item is right. */
const withGold = Array.from({ length: 12 }, (_, i) => ({
  id: `item-${i}`,
  prompt: `prompt ${i}`,
  completions: [`a ${i}`, `b ${i}`],
  gold: { best_completion_index: i % 8 < 4 ? 0 : 1 },
}))

describe("--price KIND=AMOUNT", () => {
  test("counts results by kind, leaves room, and says so: in the run, status, and the dataset's report", function* () {
    const { dir, file, say, service, spendingInReport } = yield* prepared(elsewhere, withGold)
    const flags = [...prices, ...path, "--budget", "20.10"]
    const first = yield* say("run", ...flags, "--json").pipe(ends(8))
    // Eight at the highest price; two of each role have come back.
    assert.lengthOf(ScriptedService.promptsIn(service), 8)
    const { spending } = reportOf(first)
    assert.deepInclude(spending, {
      prices: { model: "0.01", senior: "2.50" },
      spent: { votes: 8, cost: "5.84" },
      committed: { votes: 0, cost: "0.00" },
      left: { votes: 5, cost: "14.26" },
      over_budget: { items: 4, votes: 4, cost: "10.00" },
      cost_per_pair: "0.7300",
      cost_per_right_vote: "1.4600",
    })
    assert.deepStrictEqual(
      spending!.kinds.map((kind) => [kind.kind, kind.votes, kind.cost, kind.gold_right, kind.cost_per_right_vote]),
      [
        ["model", 4, "0.04", 2, "0.0200"],
        ["crowd", 2, "0.80", 1, "0.8000"],
        ["senior", 2, "5.00", 1, "5.0000"],
      ],
    )
    assert.deepStrictEqual(spendingInReport(), spending)
    const status = yield* cli(["status", "--dir", `${dir}/job`]).pipe(ends(8))
    for (const line of [
      "cost       8 votes (5.84) spent, 0 votes (0.00) committed, at 0.40 per vote, model 0.01, senior 2.50",
      "by kind    model: 4 votes (0.04)",
      "crowd: 2 votes (0.80)",
      "budget     20.10; 14.26 left, enough for 5 votes",
      "The votes cost less than planned, so the budget allows more votes. Next: repeat the command that submitted the tasks",
    ]) {
      assert.include(status.stdout, line)
    }
    const again = yield* say("run", ...path).pipe(ends(0))
    assert.lengthOf(ScriptedService.promptsIn(service), 12)
    assert.include(again.stdout, "model: 6 votes (0.06), 0.0150 per correct vote")

    // The same ledger and settings give the same bytes.
    const before = ["report.json", "report.html"].map(file)
    assert.include(before[1], "2.50")
    assert.strictEqual((yield* cli(["export", "--dir", `${dir}/job`, ...path])).status, 0)
    assert.deepStrictEqual(["report.json", "report.html"].map(file), before)
  })

  test("gives the cost of a correct vote by the kinds that voted on items with a known answer", function* () {
    // Models judge all of these items, and none of the others.
    const ofModels = withGold.map((line, i) => (i % 4 < 2 ? line : itemLines(12)[i]!))
    const { say } = yield* prepared(elsewhere, ofModels)
    const said = yield* say("run", ...prices, ...path, "--json").pipe(ends(0))
    const { spending } = reportOf(said)
    assert.strictEqual(spending!.spent.cost, "8.76")
    // Six results at 0.01, of which four are right.
    assert.strictEqual(spending!.cost_per_right_vote, "0.0150")
  })

  test("is the highest of all for votes whose kind is unknown, where the service tells none, or is not asked at its place", function* () {
    for (const tell of [() => ({ rationale: "so" }), elsewhere]) {
      const { say } = yield* prepared(tell)
      const said = yield* say("run", ...prices, "--json").pipe(ends(0))
      const { spending } = reportOf(said)
      assert.deepStrictEqual([spending?.spent, spending?.kinds.length], [{ votes: 12, cost: "30.00" }, 1])
      assert.include(
        (yield* say("run")).stdout,
        "by kind    experts of unknown kind (each vote is counted at the price of the most expensive expert who could vote): 12 votes (30.00)\n",
      )
    }
  })

  test("is found by collect, too, and by later commands at the place that one was told", function* () {
    const { dir, say, service, spendingInReport } = yield* prepared(elsewhere)
    assert.strictEqual((yield* say("submit", ...prices, ...path)).status, 0)
    const collected = yield* cli(["collect", "--dir", `${dir}/job`, ...quick, "--json"], to(service)).pipe(ends(0))
    assert.deepStrictEqual(reportOf(collected).spending?.spent, { votes: 12, cost: "8.76" })
    assert.strictEqual((yield* cli(["export", "--dir", `${dir}/job`])).status, 0)
    assert.deepStrictEqual(
      spendingInReport()?.kinds.map(({ cost, kind }) => [kind, cost]),
      [
        ["model", "0.06"],
        ["crowd", "1.20"],
        ["senior", "7.50"],
      ],
    )
  })

  test("does not change what was planned before; a dry run foresees the same", function* () {
    const { dir, say, service } = yield* prepared(elsewhere)
    assert.strictEqual((yield* say("run", ...prices, ...path)).status, 0)
    yield* write(`${dir}/items.jsonl`, itemLines(20))
    const flags = ["--price", "3", "--price", "senior=9", "--budget", "60", ...path, "--json"]
    const preview: Preview = JSON.parse((yield* say("submit", ...flags, "--dry-run")).stdout)
    const { spending } = reportOf(yield* say("submit", ...flags))
    assert.deepStrictEqual(preview.spending, {
      price: "3",
      prices: { senior: "9" },
      budget: "60",
      before: { votes: 12, cost: "8.76" },
      new: { votes: 5, cost: "45" },
      left: "6.24",
      over_budget: { items: 3, votes: 3, cost: "27" },
    })
    assert.deepStrictEqual(
      [spending?.spent, spending?.committed, spending?.left?.cost, spending?.over_budget],
      [preview.spending?.before, preview.spending?.new, "6.24", preview.spending?.over_budget],
    )
    assert.lengthOf(ScriptedService.promptsIn(service), 17)
    const said = yield* say("submit", "--dry-run")
    assert.include(said.stdout, "0 votes (at most 0), at 3 per vote, senior 9; earlier runs: 17 votes (53.76)")
  })

  test("may be a map in prefstream.yaml, to the last digit", function* () {
    const { dir, service } = yield* prepared(elsewhere)
    yield* write(`${dir}/prefstream.yaml`, [
      "files: items.jsonl",
      "price: { default: 0.40, model: 0.010000001, senior: 123456789012345.123456789 }",
      "annotation-path: kind=annotator.role",
    ])
    const said = yield* cliIn(dir, ["submit", "--json", ...quick], to(service)).pipe(ends(0))
    assert.deepStrictEqual(reportOf(said).spending?.prices, {
      model: "0.010000001",
      senior: "123456789012345.123456789",
    })
    // What plan takes from the last run is all of it.
    const planned = yield* cliIn(dir, ["plan", "items.jsonl", "--accuracy", "0.8"])
    assert.include(planned.stdout, "123456789012345.123456789 per vote", planned.stderr)
  })
})
