/** `run --expert … --expert … --votes N`: a jury of automatic experts, from its votes to all that tells who voted. */
import { readFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Struct } from "effect"
import {
  cli,
  ends,
  folderWithItems,
  importVotes,
  printed,
  qualityOf,
  reportOf,
  votesOf,
  write,
} from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { test } from "../support/job.ts"
import * as JudgeStub from "../support/judgeStub.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const items = Array.from({ length: 6 }, (_, i) => ({
  id: `item-${i}`,
  prompt: `prompt ${i}`,
  completions: [`short ${i}`, `much longer ${i}`],
  gold: { best_completion_index: i % 2 },
}))

/** `length` prefers the longer completion; `first` prefers the one that it is shown first. */
const judges = ScriptedService.make((request) => {
  const { model } = JSON.parse(request.body) as { readonly model: string }
  return JudgeStub.verdict(
    model === "first" ? "A" : JudgeStub.byValue((completion) => completion.length)(JudgeStub.questionOf(request)),
  )
})

describe("a jury", () => {
  test("has one vote per judge and item, whose kind and answers in both orders stay in every table and report", function* () {
    const job = yield* folderWithItems(items)
    const { baseUrl, received } = yield* judges
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--judge-base-url", baseUrl, "--votes", "3", "--json"]
    const experts = ["judge:length", "judge:first", `gold:${job}/items.jsonl`]
    yield* cli([...args, ...experts.flatMap((expert) => ["--expert", expert])]).pipe(ends(0))
    assert.lengthOf(received, items.length * 2 * 2)

    const votes = yield* votesOf(job)
    assert.deepStrictEqual(
      votes.map(({ details, expert, item_id, kind }) => [item_id, expert, kind, details?.["consistent"]]),
      items.flatMap(({ id }) => [
        [id, "judge:length", "judge", true],
        [id, "judge:first", "judge", false],
        [id, `gold:${job}/items.jsonl`, "automatic", undefined],
      ]),
    )
    for (const { details } of votes.filter(({ kind }) => kind === "judge")) {
      const [one, other] = details!["answers"] as ReadonlyArray<{ readonly order: ReadonlyArray<number> }>
      assert.deepStrictEqual(one!.order.toReversed(), other!.order)
    }

    // Two prefer the longer one of odd items; of even items, the first judge and the gold answer differ.
    const pairs = yield* pairsOf(job)
    assert.deepStrictEqual(
      pairs.map(({ chosen_index, item_id, votes }) => [item_id, chosen_index, votes]),
      ["item-1", "item-3", "item-5"].map((id) => [id, 1, 3]),
    )
    const report = yield* qualityOf(job)
    assert.deepStrictEqual(
      report.gold.kinds.map(({ kind, right, votes }) => [kind, votes, right]),
      [
        ["automatic", 6, 6],
        ["judge", 6, 3],
      ],
    )
    assert.sameDeepMembers(
      report.experts.map(({ kind, votes }) => [kind, votes]),
      [
        ["automatic", 6],
        ["judge", 6],
        ["judge", 6],
      ],
    )
    assert.include(readFileSync(`${job}/dataset/README.md`, "utf8"), "the language models `first` and `length`")
  })

  test("that is evenly split gives the same data with and without names, and a tie if no judge is more reliable", function* () {
    const job = yield* folderWithItems([])
    const votesBy = (measured: number) =>
      Array.from({ length: 30 }, (_, i) =>
        ["judge:a", "judge:b"].map((expert, judge) => ({
          item_id: `item-${i}`,
          prompt: `prompt ${i}`,
          completions: [`one ${i}`, `other ${i}`],
          expert,
          kind: "judge",
          chosen_index: (i + judge) % 2,
          // The second judge is right in five of six.
          ...(i < measured && { gold: { best_completion_index: (i + (i % 6 === 0 ? 0 : 1)) % 2 } }),
        })),
      ).flat()
    for (const measured of [0, 12]) {
      const datasets: Array<unknown> = []
      for (const copy of [1, 2]) {
        const dir = `${job}/${measured}-${copy}`
        yield* importVotes(dir, votesBy(measured))
        for (const names of [[], ["--expert-names"]]) {
          const exporting = ["export", "--dir", dir, "--aggregate", "jury", ...names]
          // Exit status 7: there is no pair to write.
          yield* cli(exporting).pipe(ends(measured === 0 ? 7 : 0))
          if (measured === 0) yield* cli([...exporting, "--ties", "keep"]).pipe(ends(0))
          const pairs = yield* pairsOf(dir)
          assert.lengthOf(pairs, 30)
          if (measured > 0) {
            assert.deepStrictEqual(
              pairs.map(({ chosen_index }) => chosen_index),
              pairs.map((_, i) => (i + 1) % 2),
            )
          }
          datasets.push(pairs.map((pair) => Struct.omit(pair, ["task_id"])))
          const table = yield* cli(["export-votes", "--dir", dir]).pipe(ends(0))
          yield* write(`${dir}.votes`, [table.stdout.trimEnd()])
          yield* cli(["verify", `${dir}/dataset`, "--from-votes", `${dir}.votes`]).pipe(ends(0))
        }
      }
      for (const dataset of datasets) assert.deepStrictEqual(dataset, datasets[0])
    }
  })

  test("is one by the judges' names, if votes tell no kind, also where pseudonyms replace them", function* () {
    const job = yield* folderWithItems([])
    // Both judges differ from the person: a majority of experts, but a tie of the jury and a person.
    const votes = Array.from({ length: 4 }, (_, i) =>
      ["judge:a", "judge:b", "ann"].map((expert, k) => ({
        item_id: `item-${i}`,
        prompt: `prompt ${i}`,
        completions: [`one ${i}`, `other ${i}`],
        expert,
        chosen_index: k < 2 ? 0 : 1,
      })),
    ).flat()
    yield* importVotes(job, votes)
    for (const names of [["--expert-names"], []]) {
      yield* cli(["export", "--dir", job, "--aggregate", "jury", ...names]).pipe(ends(7))
    }
  })

  test("costs the judges' price, also for prompts that a judge leaves unanswered", function* () {
    const job = yield* folderWithItems(items)
    const { baseUrl } = yield* ScriptedService.make((request) => {
      const { model } = JSON.parse(request.body) as { readonly model: string }
      const { prompt } = JudgeStub.questionOf(request)
      const refuses = prompt === "prompt 1" || (prompt === "prompt 2" && model === "b")
      return refuses ? JudgeStub.says("I would rather not.") : JudgeStub.verdict("A")
    })
    for (const [experts, votes] of [
      [["judge:a"], 1],
      [["judge:a", "judge:b"], 2],
    ] as const) {
      const args = ["run", `${job}/items.jsonl`, "--dir", `${job}/${votes}`, "--judge-base-url", baseUrl, "--json"]
      const flags = ["--votes", String(votes), "--price", "0.3", "--price", "judge=0.005"]
      const ended = yield* cli([...args, ...flags, ...experts.flatMap((expert) => ["--expert", expert])])
      const { spending } = reportOf(ended)
      assert.deepStrictEqual(
        spending?.kinds.map(({ cost, kind, votes }) => [kind, votes, Number(cost)]),
        [["judge", 6 * votes, 6 * votes * 0.005]],
      )
    }
  })

  test("has one task for its votes, as its dry run says", function* () {
    const job = yield* folderWithItems(items)
    const jury = ["--expert", "first", "--expert", "last", "--votes", "2"]
    const args = ["run", `${job}/items.jsonl`, "--dir", `${job}/job`, ...jury]
    const { new_votes, tasks } = yield* printed([...args, "--dry-run"])
    assert.deepStrictEqual([tasks, new_votes], [1, 2 * items.length])
    assert.strictEqual((yield* printed(args)).tasks.completed.tasks, tasks)
  })

  test("of fewer experts than votes is refused by name before anything is asked", function* () {
    const job = yield* folderWithItems(items)
    const { baseUrl, received } = yield* judges
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--judge-base-url", baseUrl]
    const twice = ["--expert", "judge:a", "--expert", "longest", "--expert", "judge:a"]
    yield* cli([...args, ...twice, "--votes", "3"]).pipe(
      ends(2, /--votes 3: .* only 2 automatic experts \(judge:a, longest\)\. Add --expert, lower --votes/),
    )
    yield* cli([...args, ...twice, "--votes", "1..2"]).pipe(ends(2, /--votes: .* the same number of votes/))
    yield* cli(["run", `${job}/items.jsonl`, "--dir", job, "--votes", "2"]).pipe(ends(2, /only 1 .*\(longest\)/))
    assert.lengthOf(received, 0)
  })
})
