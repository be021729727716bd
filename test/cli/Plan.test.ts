/** `prefstream plan`: votes, accuracy and cost, from assumed accuracy, gold items, and agreement. */
import { assert, describe } from "@effect/vitest"
import { FileSystem } from "effect"
import type { VotePlan } from "../../src/pipeline/VotePlan.ts"
import { cli, ends, folderWithItems, importVotes, itemLines, printed, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"

const planOf = (args: ReadonlyArray<string>) => printed<VotePlan>(args)

const prepared = folderWithItems([...itemLines(1000), ...itemLines(2)])

describe("prefstream plan", () => {
  test("with an assumed accuracy prints what 1 to 7 votes give and cost, and how many a target needs", function* () {
    const dir = yield* prepared
    const args = ["plan", `${dir}/items.jsonl`, "--accuracy", "0.8", "--price", "0.40", "--target-accuracy", "0.94208"]
    const { stdout } = yield* cli(args).pipe(ends(0))
    assert.strictEqual(
      stdout,
      `  input      1,000 items: 2 completions per item
  experts    80.0% of the votes are assumed to be correct
  price      0.40 per vote

  votes  accuracy  agreement     cost
      1     80.0%          –   400.00
      2     80.0%      68.0%   800.00
      3     89.6%      68.0%  1200.00
      4     89.6%      68.0%  1600.00
      5     94.2%      68.0%  2000.00
      6     94.2%      68.0%  2400.00
      7     96.7%      68.0%  2800.00

An accuracy of 94.2% takes 5 votes per item: 5,000 votes (2000.00).
`,
    )
    const plan = yield* planOf(args)
    assert.deepStrictEqual([plan.read, plan.items, plan.duplicates, plan.experts], [1002, 1000, 2, null])
    assert.closeTo(plan.plan[4]!.accuracy, 0.94208, 1e-12)
    assert.deepStrictEqual(plan.target?.reached?.total, { votes: 5000, cost: "2000.00" })
  })

  test("says where no number of votes reaches the target, and without a price what it takes", function* () {
    const dir = yield* prepared
    const args = ["plan", `${dir}/items.jsonl`, "--target-accuracy", "0.99", "--accuracy"]
    const half = yield* cli([...args, "0.5"])
    assert.include(half.stdout, "An accuracy of 99.0% would take more than 25 votes per item.")
    assert.notInclude(half.stdout, "cost")
    assert.include((yield* cli([...args, "0.9"])).stdout, "takes 5 votes per item: 5,000 votes.")
  })

  test("of items with different numbers of completions takes the mean over items", function* () {
    const dir = yield* temporaryDirectory
    const item = (n: number, ...completions: ReadonlyArray<string>) => ({ prompt: `p ${n}`, completions })
    yield* write(`${dir}/items.jsonl`, [
      item(1, "a", "b"),
      item(2, "a", "b"),
      item(3, "a", "b"),
      item(4, "a", "b", "c"),
    ])
    const args = ["plan", `${dir}/items.jsonl`, "--accuracy", "0.6"]
    const { completions, plan } = yield* planOf(args)
    assert.deepStrictEqual(completions, [
      { completions: 2, items: 3 },
      { completions: 3, items: 1 },
    ])
    // Of three completions: p³ + 3 p² q, and a third of 3/2 p q².
    assert.closeTo(plan[2]!.accuracy, (3 * 0.648 + 0.696) / 4, 1e-12)
    assert.closeTo(plan[2]!.agreement!, (3 * 0.52 + 0.44) / 4, 1e-12)
    const drawn = yield* planOf([...args, "--completions-per-item", "2"])
    assert.closeTo(drawn.plan[2]!.accuracy, 0.648, 1e-12)
  })

  test("by a pilot at the embedded service takes the expert's accuracy on gold items", function* () {
    const dir = yield* prepared
    // The longest completion is right in 16 of 20.
    const known = Array.from({ length: 20 }, (_, i) => ({
      prompt: `Known ${i}?`,
      completions: ["A long answer.", "Short."],
      gold: { best_completion_index: i < 16 ? 0 : 1 },
    }))
    yield* write(`${dir}/pilot.jsonl`, known)
    const job = ["--dir", `${dir}/pilot`]
    yield* cli(["run", `${dir}/pilot.jsonl`, ...job, "--expert", "longest", "--quiet"]).pipe(ends(0))
    const ledger = (yield* FileSystem.FileSystem).readFile(`${dir}/pilot/ledger.db`)
    const before = yield* ledger
    const args = ["plan", `${dir}/items.jsonl`, ...job, "--price", "0.1", "--target-accuracy", "0.95"]
    const plan = yield* planOf(args)
    assert.deepStrictEqual(
      plan.experts?.map(({ accuracy, by, votes }) => ({ accuracy, by, votes })),
      [{ accuracy: 0.8, by: "gold", votes: 20 }],
    )
    assert.closeTo(plan.accuracy, 0.8, 1e-12)
    assert.closeTo(plan.plan[4]!.accuracy, 0.94208, 1e-12)
    assert.deepStrictEqual(plan.target?.reached?.total, { votes: 7000, cost: "700.0" })
    const said = yield* cli(args)
    assert.include(
      said.stdout,
      "80.0% of the votes are estimated to be correct, based on the votes of 1 expert in the pilot",
    )
    assert.include(
      said.stdout,
      "1 expert gave at least 10 votes on gold items: the accuracy is the share of correct votes on gold items",
    )
    assert.deepStrictEqual(yield* ledger, before)
  })

  test("by a pilot without gold takes reliabilities, and leaves out whom nothing tells about", function* () {
    const dir = yield* prepared
    const vote = (n: number, expert: string, isA: boolean) => ({
      prompt: `q ${n}`,
      completion_a: `a ${n}`,
      completion_b: `b ${n}`,
      expert,
      choice: isA ? "A" : "B",
    })
    const votes = Array.from({ length: 40 }, (_, n) => [
      vote(n, "ann", true),
      vote(n, "bob", n !== 1 && n !== 2),
      vote(n, "cy", n % 3 !== 0),
    ])
    yield* importVotes(`${dir}/pilot`, [...votes.flat(), vote(40, "alone", true)])
    const args = ["plan", `${dir}/items.jsonl`, "--dir", `${dir}/pilot`]
    const plan = yield* planOf(args)
    const [ann, bob, cy, alone] = ["ann", "bob", "cy", "alone"].map((name) =>
      plan.experts?.find(({ expert }) => expert === name),
    )
    assert.deepStrictEqual([ann?.by, ann?.votes, alone?.by, alone?.accuracy], ["agreement", 40, null, null])
    assert.isTrue(ann!.accuracy! > bob!.accuracy! && bob!.accuracy! > cy!.accuracy!)
    const [a, b, c] = [ann!.accuracy!, bob!.accuracy!, cy!.accuracy!]
    assert.closeTo(plan.accuracy, (a + b + c) / 3, 1e-12)
    const three = a * b * c + a * b * (1 - c) + a * (1 - b) * c + (1 - a) * b * c
    assert.closeTo(plan.plan[2]!.accuracy, three, 1e-12)
    const { stdout } = yield* cli(args)
    assert.include(
      stdout,
      "based on the votes of 3 experts in the pilot\n             3 experts gave fewer than 10 votes each on gold items: the accuracy is estimated from all votes and known answers",
    )
    assert.include(
      stdout,
      "1 expert is left out of the estimate: no other expert voted on their items, and these items have no known answer",
    )
  })

  test("fails where nothing tells the accuracy, or there is nothing to judge", function* () {
    const dir = yield* prepared
    const args = ["plan", `${dir}/items.jsonl`, "--dir", `${dir}/job`]
    yield* cli(args).pipe(ends(2, /--dir.*or assume an accuracy with --accuracy/))
    yield* write(`${dir}/few.jsonl`, itemLines(3))
    yield* cli(["run", `${dir}/few.jsonl`, "--dir", `${dir}/job`, "--expert", "longest", "--quiet"])
    yield* cli(args).pipe(ends(1, /the pilot's votes do not show how accurate its experts are/))
    yield* write(`${dir}/none.jsonl`, ["{}"])
    yield* cli(["plan", `${dir}/none.jsonl`, "--accuracy", "0.8"]).pipe(ends(1))
  })
})
