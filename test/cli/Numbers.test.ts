/** What report, card, leaderboard, and messages say of votes is what was counted. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import type { Leaderboard } from "../../src/domain/Leaderboard.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import type { QualityReport } from "../../src/domain/QualityReport.ts"
import { cli, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"

interface VoteRecord {
  readonly item: number
  readonly expert: string | null
  readonly choice: number
  readonly gold?: number
  readonly [member: string]: unknown
}

/** A record per vote, on two completions unless it has its own. */
const line = ({ choice, gold, item, ...members }: VoteRecord) =>
  JSON.stringify({
    item_id: `item-${item}`,
    prompt: `Question ${item}, of its own?`,
    completions: [`no ${item}`, `yes ${item}`],
    models: ["naysayer", "yea-sayer"],
    chosen_index: choice,
    ...(gold !== undefined && { gold: { best_completion_index: gold } }),
    ...members,
  })

const imported = Effect.fnUntraced(function* (votes: ReadonlyArray<VoteRecord>) {
  const folder = yield* temporaryDirectory
  const job = `${folder}/job`
  yield* write(`${folder}/votes.jsonl`, votes.map(line))
  const said = yield* cli(["import", `${folder}/votes.jsonl`, "--dir", job])
  assert.strictEqual(said.status, 0, said.stderr)
  return job
})

const exported = Effect.fnUntraced(function* (job: string, ...flags: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const { status, stderr, stdout } = yield* cli(["export", "--dir", job, ...flags])
  assert.strictEqual(status, 0, stderr)
  const read = (file: string) => fs.readFileString(`${job}/dataset/${file}`)
  const report: QualityReport = JSON.parse(yield* read("report.json"))
  const pairs = (yield* read("jsonl/train-00000-of-00001.jsonl"))
    .trimEnd()
    .split("\n")
    .map((text): PreferencePair => JSON.parse(text))
  return { report, pairs, card: yield* read("README.md"), stderr, stdout }
})

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

  test("say how reliable experts are, alike in report, weighted dataset, leaderboard, and plan", () =>
    Effect.gen(function* () {
      const job = yield* imported(votes)
      const reliabilities = ({ experts }: QualityReport) =>
        Object.fromEntries(experts.map(({ expert, reliability }) => [expert, reliability!]))
      const byMajority = yield* exported(job)
      const weighted = yield* exported(job, "--aggregate", "dawid-skene")
      // By an implementation apart from this one.
      for (const { report } of [byMajority, weighted]) {
        const { ann, bob, cleo } = reliabilities(report)
        assert.closeTo(ann!, 0.031759, 1e-5)
        assert.closeTo(bob!, 0.031759, 1e-5)
        assert.closeTo(cleo!, 0.984114, 1e-5)
      }
      assert.deepStrictEqual([...new Set(byMajority.pairs.map(({ chosen_index }) => chosen_index))], [0])
      assert.deepStrictEqual([...new Set(weighted.pairs.map(({ chosen_index }) => chosen_index))], [1])

      const board = (yield* cli(["leaderboard", "--dir", job, "--weighted", "--json", "--resamples", "50"])).stdout
      for (const { models } of [weighted.report.leaderboard!, JSON.parse(board) as Leaderboard]) {
        assert.deepStrictEqual(
          models.map(({ model }) => model),
          ["yea-sayer", "naysayer"],
        )
      }
      yield* write(`${job}/next.jsonl`, [line(votes[0]!)])
      const plan = JSON.parse((yield* cli(["plan", `${job}/next.jsonl`, "--dir", job, "--json"])).stdout)
      assert.deepStrictEqual(
        plan.experts.map(({ accuracy }: { readonly accuracy: number }) => accuracy),
        [0, 0, 1],
      )
    }))
})
