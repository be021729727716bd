/** `prefstream diff`: a job before and after an expert's votes were voided at the service. */
import { assert, describe } from "@effect/vitest"
import { FileSystem } from "effect"
import type { DatasetDiff } from "../../src/dataset/Dataset.ts"
import * as VotedResult from "../../src/domain/VotedResult.ts"
import { cli, ends, folderWithItems, quick, to } from "../support/cli.ts"
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
    const folder = yield* folderWithItems(items.map((item) => JSON.stringify(item)))
    let voided: string | undefined
    const service = yield* ScriptedService.make((request, before) => {
      if (request.method !== "GET") return ScriptedService.obliging(request, before)
      const id = request.path.split("/").at(-1)!
      const post = before.filter(({ method }) => method === "POST")[Number(id.replace("task_", ""))]!
      const { prompts } = JSON.parse(post.body) as { prompts: Array<(typeof items)[number]> }
      const results = prompts.map((prompt) => {
        const votes = Object.entries(choicesOf(Number(prompt.prompt.split(" ")[1])))
          .filter(([expert]) => expert !== voided)
          .map(([expert, choice]) => ({ expert, choice, order: [0, 1], seconds: 1 }))
        return VotedResult.of(prompt, votes, [])
      })
      return { status: 200, body: { task_id: id, status: "completed", results } }
    })
    const job = `${folder}/job`
    const making = ["--batch-size", "10", "--no-shuffle", "--ties", "keep"]
    yield* cli(["run", `${folder}/items.jsonl`, "--dir", job, ...making, ...quick], to(service)).pipe(ends(0))
    yield* fs.copy(job, `${folder}/before`)
    const equal = yield* cli(["diff", `${folder}/before`, job]).pipe(ends(0))
    assert.match(equal.stdout, /same +40\n\nThe datasets have the same pairs\.\n$/)

    voided = "cy"
    yield* cli(["collect", "--once", "--recheck-completed", "--dir", job, ...quick], to(service)).pipe(ends(0))
    yield* cli(["export", "--dir", job]).pipe(ends(0))
    const differs = yield* cli(["diff", `${folder}/before`, job, "--show", "100", "--json"]).pipe(ends(1))
    const diff: DatasetDiff = JSON.parse(differs.stdout)
    const planted = items.flatMap(({ id }, i) => (i % 4 === 0 ? [id] : []))
    assert.deepStrictEqual(diff.flipped.examples.map(({ item_id }) => item_id).toSorted(), planted.toSorted())
    assert.deepStrictEqual(diff.flipped.reasons, { voided_expert: planted.length })
    assert.deepStrictEqual(diff.changed.reasons, { voided_expert: 6 })
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
    const rules: DatasetDiff = JSON.parse(dropped.stdout)
    assert.deepStrictEqual(rules.settings, { ties: { a: "keep", b: "drop" } })

    for (const [path, why] of [
      [`${folder}/nowhere`, "no such file or folder"],
      [`${folder}/items.jsonl`, "no manifest.json"],
      [folder, "no manifest.json"],
    ]) {
      const { stderr } = yield* cli(["diff", job, path!]).pipe(ends(2))
      assert.include(stderr, `${path}: expected a dataset, a job folder, or a manifest, found ${why}`)
    }
  })
})
