/** `prefstream diff`: a job before and after an expert's votes were voided at the service. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import type { DatasetDiff } from "../../src/dataset/Dataset.ts"
import * as VotedResult from "../../src/domain/VotedResult.ts"
import { cli, ends, folderWithItems, jsonIn, printed, quick, to, write } from "../support/cli.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const items = Array.from({ length: 40 }, (_, i) => ({
  id: `q${i}`,
  prompt: `question ${i}`,
  completions: [`one ${i}`, `two ${i}`],
}))

/** Cy decides every fourth item, a tie of which her vote is the earliest. Every fifth of the others loses one vote. */
const choicesOf = (i: number) =>
  i % 4 === 0
    ? { cy: 1, bob: 0, ann: 1, dan: 0 }
    : i % 5 === 0
      ? { bob: 0, ann: 0, dan: 0, cy: 0 }
      : { bob: 1, ann: 1, dan: 1 }

describe("prefstream diff", () => {
  test("lists exactly the pairs that a voided expert decided, with the reason from the ledger", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* folderWithItems(items)
    let voided: string | undefined
    const service = yield* ScriptedService.make(
      ScriptedService.judging((asked) => {
        const votes = Object.entries(choicesOf(Number(asked.prompt.split(" ")[1])))
          .filter(([expert]) => expert !== voided)
          .map(([expert, choice]) => ({ expert, choice, order: [0, 1], seconds: 1 }))
        return VotedResult.of(asked, votes, [])
      }),
    )
    const job = `${folder}/job`
    const making = ["--batch-size", "10", "--no-shuffle", "--ties", "keep"]
    yield* cli(["run", `${folder}/items.jsonl`, "--dir", job, ...making, ...quick], to(service)).pipe(ends(0))
    yield* fs.copy(job, `${folder}/before`)
    const equal = yield* cli(["diff", `${folder}/before`, job]).pipe(ends(0))
    assert.match(equal.stdout, /same +40\n\nThe datasets have the same pairs\.\n$/)

    voided = "cy"
    yield* cli(["collect", "--once", "--recheck-completed", "--dir", job, ...quick], to(service)).pipe(ends(0))
    yield* cli(["export", "--dir", job]).pipe(ends(0))
    const differs = cli(["diff", `${folder}/before`, job, "--show", "100", "--json"]).pipe(ends(1))
    const diff: DatasetDiff = jsonIn(yield* differs)
    const planted = items.flatMap(({ id }, i) => (i % 4 === 0 ? [id] : []))
    assert.deepStrictEqual(diff.flipped.examples.map(({ item_id }) => item_id).toSorted(), planted.toSorted())
    assert.deepStrictEqual(diff.flipped.reasons, { vote_no_longer_counted: planted.length })
    assert.deepStrictEqual(diff.changed.reasons, { vote_no_longer_counted: 6 })
    assert.deepStrictEqual([diff.same, diff.gone.pairs, diff.added.pairs], [24, 0, 0])
    assert.deepStrictEqual(Object.values(diff.lost_experts), [16])

    // A copy of the dataset alone has no ledger: the votes in its rows still tell.
    yield* fs.copy(`${folder}/before/dataset`, `${folder}/published`)
    const published = yield* cli(["diff", `${folder}/published/manifest.json`, job, "--show", "1"]).pipe(ends(1))
    assert.include(published.stdout, "flipped              10   fewer votes 10\n")
    assert.match(published.stdout, /experts +expert-\w+: 16 votes in A, none in B\n/)
    assert.match(
      published.stdout,
      /\n  q\d+  jsonl\/train-00000-of-00001\.jsonl:\d+ → jsonl\/train-\S+:\d+  fewer votes\n/,
    )

    // Other rules are listed, even if they change no pair.
    yield* cli(["export", "--dir", job, "--ties", "drop"]).pipe(ends(0))
    const dropped = yield* cli(["diff", `${folder}/published`, job, "--json"]).pipe(ends(1))
    assert.deepStrictEqual(jsonIn(dropped).settings, { ties: { a: "keep", b: "drop" } })

    yield* cli(["diff", `${folder}/published`, job, "--ignore", "vote_margins"]).pipe(
      ends(2, /--ignore: expected split, prompt, .* or metadata, found vote_margins/),
    )
    const shard = `${folder}/published/jsonl/train-00000-of-00001.jsonl`
    yield* fs.remove(shard)
    yield* cli(["diff", `${folder}/published`, job]).pipe(
      ends(2, new RegExp(`${shard}: expected the file that the manifest lists, found no such file`)),
    )
    for (const [path, why] of [
      [`${folder}/nowhere`, "no such file or folder"],
      [`${folder}/items.jsonl`, "another file"],
      [folder, "no manifest.json"],
      ["hf://datasets/a/b", "a URL; download the dataset first"],
    ]) {
      const { stderr } = yield* cli(["diff", job, path!]).pipe(ends(2))
      assert.include(stderr, `${path}: expected a dataset, a job folder, or a manifest, found ${why}`)
    }
  })

  test("compares two jobs on the same items without the ids of tasks, by the reason that applies", function* () {
    const folder = yield* folderWithItems(items)
    const job = Effect.fnUntraced(function* (name: string, best: (i: number) => number, ...flags: Array<string>) {
      const service = yield* ScriptedService.make((request, before) => {
        const answer = ScriptedService.obliging(request, before)
        if (typeof answer === "string") return answer
        const text = JSON.stringify(answer.body).replace(/task_(?=\d)/, `task_${name}_`)
        if (request.method === "POST") return { ...answer, body: text }
        const { results } = ScriptedService.resultOf(before, request.path.split("/").at(-1)!.replace(`${name}_`, ""))
        const judged = results.map((result) => {
          const i = Number(result.prompt.split(" ")[1])
          const extra = { report: i < 2 ? [{ kind: "unsafe" }] : [] }
          return { ...result, best_completion_index: best(i), annotations: { rationale: `because ${i}`, extra } }
        })
        return { status: 200, body: { task_id: request.path.split("/").at(-1), status: "completed", results: judged } }
      })
      const making = ["--dir", `${folder}/${name}`, "--no-shuffle", "--split", "test=0.3", ...flags, ...quick]
      yield* cli(["run", `${folder}/items.jsonl`, ...making], to(service)).pipe(ends(0))
    })
    const diffOf = (a: string, b: string, ...flags: ReadonlyArray<string>) =>
      printed<DatasetDiff>(["diff", `${folder}/${a}`, `${folder}/${b}`, ...flags])
    const reasonsOf = ({ added, changed, flipped, gone }: DatasetDiff) =>
      [flipped, changed, gone, added].map(({ reasons }) => reasons)
    yield* job("one", () => 0)
    yield* job("two", () => 0)
    assert.isFalse((yield* diffOf("one", "two")).differs)
    assert.deepStrictEqual((yield* diffOf("one", "two", "--task-ids")).columns, { task_id: 40 })

    yield* job("three", (i) => (i === 7 ? 1 : 0), "--split-seed", "5")
    const seeds = yield* diffOf("one", "three")
    assert.deepStrictEqual(reasonsOf(seeds).slice(0, 2), [
      { other_votes: 1 },
      { other_splits: seeds.columns["split"] ?? 0 },
    ])

    const paths = ["--annotation-path", "flags=extra.report", "--drop", "flagged"]
    yield* job("four", () => 0, ...paths)
    assert.deepStrictEqual(reasonsOf(yield* diffOf("one", "four")), [{}, {}, { flagged: 2 }, {}])

    yield* write(`${folder}/items.jsonl`, items.slice(0, 30))
    yield* job("five", () => 0)
    assert.deepStrictEqual(reasonsOf(yield* diffOf("one", "five")), [{}, {}, { not_in_job: 10 }, {}])
  })
})
