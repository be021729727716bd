/** What report, card, leaderboard, and messages say of votes is what was counted. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import type { Leaderboard } from "../../src/domain/Leaderboard.ts"
import type { QualityReport } from "../../src/domain/QualityReport.ts"
import {
  cli,
  ends,
  folderWithItems,
  importVotes,
  printed,
  qualityOf,
  quick,
  readRows,
  to,
  write,
} from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

interface VoteRecord {
  readonly item: number
  readonly expert: string | null
  readonly choice: number
  readonly gold?: number
  readonly [member: string]: unknown
}

/** A record per vote, on two completions unless it has its own. */
const record = ({ choice, gold, item, ...members }: VoteRecord) => ({
  item_id: `item-${item}`,
  prompt: `Question ${item}, of its own?`,
  completions: [`no ${item}`, `yes ${item}`],
  models: ["naysayer", "yea-sayer"],
  chosen_index: choice,
  ...(gold !== undefined && { gold: { best_completion_index: gold } }),
  ...members,
})

const imported = Effect.fnUntraced(function* (votes: ReadonlyArray<VoteRecord>) {
  const job = yield* temporaryDirectory
  yield* importVotes(job, votes.map(record))
  return job
})

const exported = Effect.fnUntraced(function* (job: string, ...flags: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const said = yield* cli(["export", "--dir", job, "--expert-names", ...flags]).pipe(ends(0))
  const card = yield* fs.readFileString(`${job}/dataset/README.md`)
  return { ...said, report: yield* qualityOf(job), pairs: yield* pairsOf(job), card }
})

/** A service that answers a task with these annotations, as the completions were sent, by prompt. */
const answering = (
  answerTo: (prompt: string) => { readonly best: string; readonly votes: ReadonlyArray<readonly [string, string]> },
) =>
  ScriptedService.make(
    ScriptedService.judging(({ completions, prompt }) => {
      const { best, votes } = answerTo(prompt)
      const annotations = {
        ...(votes.some(([, text]) => text !== best) && { rationale: `for ${best}` }),
        votes: votes.map(([expert, text]) => ({ expert, choice: completions.indexOf(text) })),
      }
      return { best_completion_index: completions.indexOf(best), annotations }
    }),
  )

const times = (count: number) => Array.from({ length: count }, (_, i) => i)

describe("known answers", () => {
  // Of 60 items, 12 have a known answer. Ann and Bob are wrong on all, and Cleo is right.
  const votes = times(60).flatMap((item) =>
    [0, 0, 1].map((choice, i) => ({
      item,
      expert: ["ann", "bob", "cleo"][i]!,
      choice,
      ...(item % 5 === 0 && { gold: 1 }),
    })),
  )

  test("say how reliable experts are, alike in report, weighted dataset, leaderboard, and plan", function* () {
    const job = yield* imported(votes)
    const reliabilities = ({ experts }: QualityReport) =>
      Object.fromEntries(experts.map(({ expert, reliability }) => [expert, reliability!]))
    const byMajority = yield* exported(job)
    const weighted = yield* exported(job, "--aggregate", "dawid-skene")
    // By an implementation apart from this one.
    for (const { report } of [byMajority, weighted]) {
      const { ann, bob, cleo } = reliabilities(report)
      assert.closeTo(ann, 0.031759, 1e-5)
      assert.closeTo(bob, 0.031759, 1e-5)
      assert.closeTo(cleo, 0.984114, 1e-5)
    }
    assert.deepStrictEqual([...new Set(byMajority.pairs.map(({ chosen_index }) => chosen_index))], [0])
    assert.deepStrictEqual([...new Set(weighted.pairs.map(({ chosen_index }) => chosen_index))], [1])

    const board = yield* printed<Leaderboard>(["leaderboard", "--dir", job, "--weighted", "--resamples", "50"])
    for (const { models } of [weighted.report.leaderboard!, board]) {
      assert.deepStrictEqual(
        models.map(({ model }) => model),
        ["yea-sayer", "naysayer"],
      )
    }
    yield* write(`${job}/next.jsonl`, [record(votes[0]!)])
    const plan = yield* printed(["plan", `${job}/next.jsonl`, "--dir", job])
    assert.deepStrictEqual(
      plan.experts.map(({ accuracy }: { readonly accuracy: number }) => accuracy),
      [0, 0, 1],
    )
    assert.notInclude(weighted.stderr, "the estimated reliability")
  })

  test("contradict experts who make the same mistakes, and the export says so", function* () {
    // Of three completions, three experts choose the same wrong one; too few items have a known answer to outweigh them.
    const job = yield* imported(
      times(120).flatMap((item) =>
        ["ann", "bob", "dan", "cleo"].map((expert, i) => ({
          item,
          expert,
          choice: i < 3 ? item % 3 : (item + 1) % 3,
          completions: [`no ${item}`, `yes ${item}`, `perhaps ${item}`],
          models: ["naysayer", "yea-sayer", "doubter"],
          ...(item % 10 === 0 && { gold: (item + 1) % 3 }),
        })),
      ),
    )
    const { report, stderr } = yield* exported(job, "--aggregate", "dawid-skene")
    for (const { expert, gold_right, reliability } of report.experts) {
      const isOverrated = gold_right === 0 && reliability! > 0.8
      assert.strictEqual(isOverrated, expert !== "cleo", `${expert}: ${reliability}`)
      const warning = `${expert}: 0 of 12 votes on gold items are correct, but the estimated reliability is ${reliability!.toFixed(2)}`
      assert.strictEqual(stderr.includes(warning), isOverrated, stderr)
    }
  })
})

describe("a service's own choice", () => {
  const three = (text: string) => ["ann", "bob", "cleo"].map((expert) => [expert, text] as const)
  const answers: Record<string, Parameters<typeof answering>[0] extends (prompt: string) => infer A ? A : never> = {
    "with the votes": { best: "A", votes: three("A") },
    "of two, against the votes": { best: "A", votes: three("B") },
    "of three, against the votes": { best: "A", votes: three("B") },
    "against its only vote": { best: "A", votes: [["ann", "B"]] },
  }
  const run = Effect.gen(function* () {
    const folder = yield* temporaryDirectory
    const service = yield* answering((prompt) => answers[prompt]!)
    const completionsOf = (prompt: string) => (prompt.startsWith("of three") ? ["A", "B", "C"] : ["A", "B"])
    yield* write(
      `${folder}/items.jsonl`,
      Object.keys(answers).map((prompt, id) => ({ id: `${id}`, prompt, completions: completionsOf(prompt) })),
    )
    const said = yield* cli(["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...quick], to(service)).pipe(
      ends(0),
    )
    return { folder, job: `${folder}/job`, ...said }
  })

  test("is named as such, with how many differ from the majority, and what is left out for it", function* () {
    const { job, stdout } = yield* run
    const { card, pairs, report, stderr } = yield* exported(job)
    assert.deepStrictEqual(report.agreement.not_majority, [{ by: "service", items: 2 }])
    assert.deepInclude(report.agreement, { items: 3, unanimous: 3, mean_agreement: 1 / 3 })
    assert.deepStrictEqual(report.funnel.find(({ step }) => step === "kept")!.lost, [
      { reason: "against_votes", count: 2 },
    ])
    assert.deepStrictEqual(
      pairs.map(({ chosen, prompt, rejected }) => [prompt, chosen, rejected]),
      [
        ["with the votes", "A", "B"],
        ["of three, against the votes", "A", "C"],
      ],
    )
    assert.include(
      card,
      "On 3 items with several votes, the final choice is the choice of the majority or the service's choice (2). On 2 items, the final choice differs from the choice of the majority.",
    )
    assert.include(card, "Left out: 2 against votes.")
    assert.match(stderr, /on 2 items, the service's choice differs from the majority of the votes\. .* \(2 items\)/)
    assert.match(stdout, /left out +2 items: 2 against votes/)
    const weighted = yield* exported(job, "--aggregate", "dawid-skene")
    assert.deepStrictEqual(weighted.report.agreement.not_majority, [])
    assert.deepStrictEqual([...new Set(weighted.pairs.slice(1).map(({ chosen }) => chosen))], ["B"])
  })

  for (const format of ["jsonl", "csv"] as const) {
    test(`comes back with export-votes as ${format}`, function* () {
      const fs = yield* FileSystem.FileSystem
      const { folder, job } = yield* run
      const before = yield* exported(job)
      yield* fs.writeFileString(
        `${folder}/votes.${format}`,
        (yield* cli(["export-votes", "--dir", job, "--as", format])).stdout,
      )
      const again = `${folder}/again`
      // The second time, nothing is new.
      for (const imported of [10, 0]) {
        const counts = yield* printed(["import", `${folder}/votes.${format}`, "--dir", again])
        assert.deepInclude(counts, { imported, rejected: 0 })
        const after = yield* exported(again)
        assert.deepStrictEqual(
          after.pairs.map((pair) => ({ ...pair, task_id: "" })),
          before.pairs.map((pair) => ({ ...pair, task_id: "" })),
        )
        assert.deepStrictEqual(after.report.agreement.not_majority, before.report.agreement.not_majority)
      }
    })
  }
})

test("the report of an import counts records, items, wrong choices, and votes that do not count, each as what it is", function* () {
  const tie = { ranking: [[0, 1]] }
  const job = yield* imported([
    // Wrong choices on known answers: 14 items, more than are listed.
    ...times(14).flatMap((item) => ["ann", "bob"].map((expert) => ({ item, expert, choice: 0, gold: 1 }))),
    // A tie on a known answer is no wrong choice.
    { item: 14, expert: "ann", choice: 0, gold: 1 },
    { item: 14, expert: "bob", choice: 1, gold: 1 },
    // Mixed in: no part of the dataset.
    { item: 15, expert: "cleo", choice: 0, gold: 1, is_gold: true },
    // Ann twice, on an item that makes pairs, and on one that makes none.
    ...[0, 0, 1].map((choice, i) => ({ item: 16, expert: ["ann", "bob", "ann"][i]!, choice })),
    ...[0, 1, 1].map((choice, i) => ({ item: 17, expert: ["ann", "bob", "ann"][i]!, choice })),
    // Votes that prefer nothing: one with another, and two.
    { item: 18, expert: "ann", choice: 1 },
    { item: 18, expert: "bob", choice: 0, ...tie },
    { item: 19, expert: "ann", choice: 0, ...tie },
    { item: 19, expert: "bob", choice: 0, ...tie },
    // Of nobody who is named.
    { item: 20, expert: null, choice: 1 },
  ])
  const { card, report, stderr } = yield* exported(job)
  assert.strictEqual(report.gold.wrong_items, 15)
  assert.lengthOf(report.gold.wrong, 10)
  assert.deepInclude(report.gold, { mixed_in: 1, in_input: 15, results: 16, votes: 31, right: 1 })
  assert.match(stderr, /2 votes do not count, because their experts had already voted on the same item/)
  const { agreement, checks, experts, funnel } = report
  assert.deepInclude(agreement, { items: 19, compared_items: 17, ties: 3 })
  assert.deepInclude(
    checks.find(({ check }) => check === "kappa")!,
    { count: 17, of: 20 },
  )
  assert.deepStrictEqual(
    experts.map(({ expert, mixed_in_votes, votes }) => [expert, votes, mixed_in_votes]),
    [
      ["ann", 19, 0],
      ["bob", 19, 0],
      ["cleo", 1, 1],
      [null, 1, 0],
    ],
  )
  // 42 records: an item each at first, 21 further votes and one on a mixed-in item.
  assert.deepStrictEqual(funnel.slice(0, 2), [
    { step: "read", unit: "records", count: 42, lost: [] },
    { step: "submitted", unit: "items", count: 20, lost: [{ reason: "further_vote", count: 22 }] },
  ])
  assert.include(card, "20 items were judged with 39 votes from 2 experts and from experts without names.")
  yield* cli(["verify", `${job}/dataset`]).pipe(ends(0))
})

test("a margin is not below 0, where reliable experts count more than most votes, and where a lead decided", function* () {
  // Ann is right, and the others seldom.
  const job = yield* imported([
    ...times(12).flatMap((item) =>
      ["ann", "bob", "cleo"].map((expert) => ({ item, expert, choice: expert === "ann" ? 1 : 0, gold: 1 })),
    ),
    ...["ann", "bob", "cleo"].map((expert) => ({ item: 12, expert, choice: expert === "ann" ? 0 : 1 })),
    ...["bob", "cleo"].map((expert) => ({
      item: 13,
      expert,
      choice: 0,
      decision: { chosen_index: 1, rationale: null, by: "Lea", at: null },
    })),
  ])
  const flags = ["--aggregate", "dawid-skene", "--format", "trl", "--margin"]
  const { pairs, report } = yield* exported(job, ...flags)
  assert.deepStrictEqual(report.agreement.not_majority, [
    { by: "reliability", items: 13 },
    { by: "lead", items: 1 },
  ])
  assert.closeTo(pairs[0]!.vote_margin!, -1 / 3, 1e-12)
  assert.strictEqual(pairs.at(-1)!.vote_margin, -1)
  for (const { margin } of yield* readRows(`${job}/dataset/formats/trl/train.jsonl`)) assert.strictEqual(margin, 0)
})

test("the cost of a right vote is that of results on known answers, by the right votes that they list", function* () {
  const folder = yield* temporaryDirectory
  // Each result is one paid vote, and lists three; two of them are right.
  const service = yield* answering(() => ({
    best: "A",
    votes: [
      ["ann", "A"],
      ["bob", "A"],
      ["cleo", "B"],
    ],
  }))
  yield* write(
    `${folder}/items.jsonl`,
    times(4).map((i) => ({
      id: `${i}`,
      prompt: `Prompt ${i}`,
      completions: ["A", "B"],
      ...(i < 2 && { gold: { best_completion_index: 0 } }),
    })),
  )
  const flags = ["--dir", `${folder}/job`, "--price", "0.60", ...quick]
  yield* cli(["run", `${folder}/items.jsonl`, ...flags], to(service)).pipe(ends(0))
  const { report } = yield* exported(`${folder}/job`)
  assert.deepInclude(report.gold, { results: 2, votes: 6, right: 4 })
  assert.deepInclude(report.spending!, { cost_per_pair: "0.6000", cost_per_right_vote: "0.3000" })
})

test("votes whose rankings tie give a pair with the chosen best, and the summary counts the items without one", function* () {
  const rankings = { judge: [[0], [1]], person: [[1], [0]] }
  const vote = (item: number, expert: string, ranking: ReadonlyArray<ReadonlyArray<number>>) => ({
    item,
    expert,
    choice: ranking[0]![0]!,
    ranking,
  })
  const job = yield* imported([
    ...times(10).flatMap((item) => [vote(item, "judge:a", rankings.judge), vote(item, "ann", rankings.person)]),
    // On these, the known answer measures the judge, which is right.
    ...times(10).map((i) => ({ ...vote(10 + i, "judge:a", rankings.judge), gold: 0 })),
    vote(20, "judge:a", [[0, 1]]),
    vote(20, "ann", [[0, 1]]),
  ])
  const noPreference =
    /left out +1 item: 1 tie \(all votes are ties, or several completions are best and --ties is drop\)/
  const kept = yield* exported(job, "--ties", "keep")
  assert.lengthOf(kept.pairs, 20)
  assert.match(kept.stdout, noPreference)
  // The jury's posterior names the best, without a tie.
  const weighted = yield* exported(job, "--aggregate", "jury")
  assert.lengthOf(weighted.pairs, 20)
  assert.deepStrictEqual([...new Set(weighted.pairs.map(({ chosen_index }) => chosen_index))], [0])
  assert.match(weighted.stdout, noPreference)
  assert.match((yield* exported(job, "--ties", "drop")).stdout, /left out +11 items: 11 tie/)
})

test("a blank completion makes no pair, and its item makes those of the others", function* () {
  const folder = yield* folderWithItems([
    { id: "a", prompt: "P", completions: ["long one", "", "one"], models: ["x", "y", "z"] },
    { id: "b", prompt: "Q", completions: ["one", ""] },
  ])
  const flags = ["--dir", `${folder}/job`, "--expert", "longest"]
  const counts = yield* printed(["run", `${folder}/items.jsonl`, ...flags])
  assert.deepInclude(counts, { read: 2, submitted: 1, rejected: 1 })
  const { pairs, report } = yield* exported(`${folder}/job`)
  assert.deepStrictEqual(
    pairs.map(({ chosen, rejected, weight }) => [chosen, rejected, weight]),
    [["long one", "one", 1]],
  )
  assert.strictEqual(report.leaderboard!.models.find(({ model }) => model === "y")!.losses, 1)
})
