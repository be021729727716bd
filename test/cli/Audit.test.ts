/** `prefstream audit`: its numbers on planted votes are those of another program, written from the definitions alone. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { Audit, AuditEstimate } from "../../src/domain/Audit.ts"
import { cli, ends, importVotes, printed } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { records } from "../support/judgeVotes.ts"

const jobOf = Effect.fnUntraced(function* (votes: ReadonlyArray<object>) {
  const job = yield* temporaryDirectory
  yield* importVotes(job, votes)
  return ["audit", "--dir", job]
})

const auditOf = (args: ReadonlyArray<string>) => printed<Audit>([...args, "--resamples", "200"])

const prices = ["--price", "0.40", "--price", "judge=0.01"]

/** Compares numbers to 1e-9; null is only equal to null. */
const assertNear = (
  actual: ReadonlyArray<ReadonlyArray<string | number | null>>,
  expected: ReadonlyArray<ReadonlyArray<string | number | null>>,
) => {
  const rounded = (rows: typeof actual) =>
    rows.map((row) => row.map((cell) => (typeof cell === "number" ? Number(cell.toFixed(9)) + 0 : cell)))
  assert.deepStrictEqual(rounded(actual), rounded(expected))
}

const value = (estimate: AuditEstimate | null | undefined) => estimate?.value ?? null

const ratersIn = ({ raters }: Audit) =>
  raters.map((row) => [
    row.rater,
    row.votes,
    row.agreement!.share.items,
    value(row.agreement!.share),
    value(row.agreement!.kappa),
    value(row.swap_consistency),
    value(row.chose_longer),
    value(row.chose_first),
    value(row.gold_accuracy),
  ])

const tableIn = (tables: Audit["policies"], name: "gold" | "people") =>
  tables.find(({ reference }) => reference === name)!

const policiesIn = ({ policies }: Audit, reference: "gold" | "people") =>
  tableIn(policies, reference).policies.map(({ accuracy, cost, difference, policy }) => [
    policy,
    accuracy.items,
    accuracy.value,
    difference.value,
    cost,
  ])

describe("prefstream audit", () => {
  test("compares judges, jury and people, and policies by known answers", function* () {
    const args = yield* jobOf(records())
    const audit = yield* auditOf([...args, ...prices, "--by", "source"])
    assertNear(ratersIn(audit), [
      ["judge:a", 60, 46, 0.550724637681, 0.218523085354, 0.883333333333, 0.521739130435, 0.441666666667, 0.725],
      ["judge:b", 60, 46, 0.391304347826, 0.123511398435, 0.533333333333, 0.5, 0.716666666667, 0.616666666667],
      ["jury", 60, 46, 0.492753623188, 0.185428788262, null, 0.527777777778, null, 0.725],
      ["people", 97, 29, 0.64367816092, 0.341793776693, null, 0.491666666667, 0.38768115942, 0.798913043478],
    ])
    assertNear(
      audit.raters[1]!.slices.map(({ by, kappa, share, value }) => [by, value, share.items, share.value, kappa!.value]),
      [
        ["metadata.source", "one", 32, 0.348958333333, 0.098083427283],
        ["metadata.source", "two", 14, 0.488095238095, 0.187584345479],
        ["models", "y / z", 29, 0.425287356322, 0.113962725324],
        ["models", "x / y", 17, 0.333333333333, 0.155588020453],
        ["length", "longer", 12, 0.611111111111, 0.253333333333],
        ["length", "shorter", 9, 0.703703703704, 0.320754716981],
        ["length", "near equal", 4, 0.916666666667, 0],
      ],
    )
    // A judge that was asked in both orders has no position.
    assert.deepStrictEqual(
      audit.raters.flatMap(({ rater, slices }) => slices.flatMap(({ by }) => (by === "position" ? [rater] : []))),
      ["people", "people"],
    )
    assertNear(policiesIn(audit, "gold"), [
      ["judge:a", 46, 0.70652173913, -0.119565217391, "0.0100"],
      ["judge:b", 46, 0.619565217391, -0.20652173913, "0.0100"],
      ["jury", 46, 0.70652173913, -0.119565217391, "0.0200"],
      ["jury, people below 0.6", 46, 0.815217391304, -0.010869565217, "0.2635"],
      ["jury, people below 0.8", 46, 0.836956521739, 0.010869565217, "0.5852"],
      ["jury, people below 0.9", 46, 0.826086956522, 0, "0.8635"],
      ["one person", 46, 0.798913043478, -0.027173913043, "0.4000"],
      ["people", 46, 0.826086956522, 0, "0.8435"],
    ])
    assert.strictEqual(tableIn(audit.policies, "gold").cheapest, "jury, people below 0.6")
    const within = yield* auditOf([...args, "--within", "0.12"])
    assert.strictEqual(tableIn(within.policies, "gold").cheapest, "judge:a")
    assert.deepStrictEqual(yield* auditOf([...args, ...prices, "--by", "source"]), audit)

    for (const { agreement, slices } of audit.raters) {
      for (const { high, low, value } of [agreement!, ...slices].flatMap(({ kappa, share }) => [share, kappa!])) {
        assert.isTrue(low === null || (low <= value && value <= high!))
      }
    }
    // Resamples of four items would not show how little they say.
    const few = audit.raters[1]!.slices.find(({ value }) => value === "near equal")!
    assert.isTrue(few.share.high! - few.share.low! > 0.5)
    assert.deepStrictEqual([few.kappa!.low, few.kappa!.high], [null, null])

    const { stdout } = yield* cli([...args, ...prices, "--by", "source"]).pipe(ends(0))
    assert.include(stdout, "60 items, 46 with votes from both judges and people; 3 people\n")
    assert.match(stdout, /^ {2}judge:a +60 +46 +55\.1% \([\d.]+% to [\d.]+%\) +0\.219 \(/m)
    assert.match(stdout, /^ {2}jury, people below 0\.6 +46 +81\.5%.* +0\.2635$/m)
    assert.match(
      stdout,
      /^The cheapest policy that is at most 2\.0 percentage points less accurate than people is jury, people below 0\.6, with a cost of 0\.2635 per item\. .* 0\.8435 per item\. However, this is uncertain: the true difference may be more than 2\.0 percentage points/m,
    )
  })

  test("also compares policies by the majority of the other people, or by it alone", function* () {
    const audit = yield* auditOf([...(yield* jobOf(records({ goldItems: 0 }))), ...prices])
    const withGold = yield* auditOf([...(yield* jobOf(records())), ...prices])
    assert.deepStrictEqual(audit.policies, [tableIn(withGold.policies, "people")])
    assertNear(policiesIn(audit, "people"), [
      ["judge:a", 29, 0.704022988506, -0.002873563218, "0.0100"],
      ["judge:b", 29, 0.612068965517, -0.094827586207, "0.0100"],
      ["jury", 29, 0.666666666667, -0.040229885057, "0.0200"],
      ["jury, people below 0.6", 29, 0.724137931034, 0.01724137931, "0.1441"],
      ["jury, people below 0.8", 29, 0.741379310345, 0.034482758621, "0.2683"],
      ["jury, people below 0.9", 29, 0.706896551724, 0, "0.4200"],
      ["one person", 29, 0.706896551724, 0, "0.4000"],
    ])
    assert.deepStrictEqual(new Set(audit.raters.map(({ gold_accuracy }) => gold_accuracy)), new Set([null]))
  })

  test("shows no table of few items with known answers beside a larger one", function* () {
    const args = yield* jobOf(records({ goldItems: 6 }))
    const { policies } = yield* auditOf(args)
    assert.deepStrictEqual(
      policies.map(({ items, reference }) => [reference, items]),
      [
        ["gold", 6],
        ["people", 29],
      ],
    )
    const { stdout } = yield* cli(args).pipe(ends(0))
    assert.include(
      stdout,
      "compared on 29 items. Votes and costs are means per item. Accuracy is the share of decisions that agree with the majority of the other people who voted on the item",
    )
    assert.notInclude(stdout, "agree with the known answer")
    assert.include(
      stdout,
      "Policies were not compared on items with a known answer: expected at least 10 such items, found 6.",
    )
  })

  test("says that few items have no interval", function* () {
    const few = records().filter((record) => "item_id" in record && /-[0-8]$/.test(String(record.item_id)))
    const { stdout } = yield* cli([...(yield* jobOf(few)), "--within", "1"]).pipe(ends(0))
    const doubt =
      /^The cheapest policy that is at most [\d.]+ percentage points less accurate than people is (.*), with .* Only (\d) items were compared: too few for an interval\.$/m
    assert.match(stdout, doubt)
    // Few votes of one judge are doubted, too, if the other policies have many.
    const right = records().flatMap((record) => {
      if (!("gold" in record && "item_id" in record && /^item-[1-4]$/.test(String(record.item_id)))) return []
      const { best_completion_index: best } = record.gold as { readonly best_completion_index: number }
      return [{ ...record, expert: "judge:c", kind: "judge", chosen_index: best, ranking: [[best], [1 - best]] }]
    })
    const others = yield* cli(yield* jobOf([...records(), ...right])).pipe(ends(0))
    assert.deepStrictEqual(doubt.exec(others.stdout)?.slice(1, 3), ["judge:c", "4"])
  })

  test("has an interval if all items have the same value, but none of kappa", function* () {
    // The judge is always right, and people are always wrong; the second judge has one choice for all items.
    const votes = Array.from({ length: 20 }, (_, i) =>
      [
        ["judge:a", i % 2],
        ["judge:b", 0],
        ["ann", 1 - (i % 2)],
        ["bob", 1 - (i % 2)],
      ].map(([expert, chosen_index]) => ({
        item_id: `item-${i}`,
        prompt: `Question ${i}?`,
        completions: ["one", "two"],
        expert,
        chosen_index,
        gold: { best_completion_index: i % 2 },
      })),
    ).flat()
    const audit = yield* auditOf(yield* jobOf(votes))
    const bound = 1.959963984540054 ** 2 / (20 + 1.959963984540054 ** 2)
    const boundsOf = (estimate: AuditEstimate) => [estimate.value, estimate.low, estimate.high]
    const [judge, other, jury, ...rest] = tableIn(audit.policies, "gold").policies
    assertNear([judge!.accuracy, judge!.difference, jury!.accuracy, rest.at(-1)!.difference].map(boundsOf), [
      [1, 1 - bound, 1],
      [1, 1 - 2 * bound, 1],
      [0.75, 0.65, 0.85],
      [0, 0, 0],
    ])
    assert.isTrue(other!.accuracy.high! > other!.accuracy.low!)
    assertNear([boundsOf(audit.raters[1]!.agreement!.kappa!)], [[0, null, null]])
  })

  test("says who is missing if there is nothing to compare, and takes other experts as judges", function* () {
    const judgesOnly = yield* jobOf(records({ withPeople: false }))
    yield* cli(judgesOnly).pipe(ends(1, /60 items have votes, but none has a vote by a person/))
    const people = records().flatMap((record) => ("kind" in record && record.kind === "person" ? [record] : []))
    const peopleOnly = yield* jobOf(people)
    const { stdout } = yield* cli(peopleOnly).pipe(ends(1, /46 items .* none has a vote by an automatic judge/))
    assert.strictEqual(stdout, "")
    const audit = yield* auditOf([...peopleOnly, "--judge", "cem"])
    assert.deepStrictEqual(
      audit.raters.map(({ rater, role }) => [rater, role]),
      [
        ["cem", "judge"],
        ["people", "people"],
      ],
    )
    yield* cli([...peopleOnly, "--by", "a b"]).pipe(ends(2, /--by a b: not a field path/))
  })

  test("reads kinds of experts from tables of other tools", function* () {
    const votes = [
      { expert: "gpt-4o", kind: "judge", choice: "A" },
      { expert: "ann", kind: "person", choice: "A" },
      { expert: "bob", kind: "friendly", choice: "B" },
    ].map((vote) => ({ prompt: "Q?", response_a: "one", response_b: "two", ...vote }))
    const { raters } = yield* auditOf(yield* jobOf(votes))
    assert.deepStrictEqual(
      raters.map(({ rater, votes }) => [rater, votes]),
      [
        ["gpt-4o", 1],
        ["people", 2],
      ],
    )
  })

  test("counts a choice among three against each other text, and a tie as a random choice", function* () {
    const vote = (expert: string, ranking: ReadonlyArray<ReadonlyArray<number>>, order = [0, 1, 2]) => ({
      item_id: "i",
      prompt: "Q?",
      completions: ["short", "a longer one", "the longest of them"],
      gold: { best_completion_index: 1 },
      expert,
      chosen_index: ranking[0]![0],
      ranking,
      order,
    })
    const audit = yield* auditOf(
      yield* jobOf([
        vote("judge:a", [[1], [0, 2]]),
        vote("judge:b", [[0, 1], [2]]),
        vote("longest", [[2], [0, 1]]),
        vote("ann", [[1], [0], [2]], [1, 0, 2]),
      ]),
    )
    assertNear(
      audit.raters.map((row) => [
        row.rater,
        row.votes,
        value(row.agreement?.share),
        value(row.chose_longer),
        value(row.chose_first),
        value(row.gold_accuracy),
      ]),
      [
        ["judge:a", 1, 1, 0.5, 0.5, 1],
        ["judge:b", 1, 0, null, null, 0.5],
        ["jury", 1, 1, 0.5, null, 1],
        ["people", 1, null, 0.5, 1, 1],
      ],
    )
  })
})
