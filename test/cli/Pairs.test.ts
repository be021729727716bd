/** How judgments become pairs, as the command line says it. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { cli, ends, folderWithItems, quick, to } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const lines = ["a", "b"].map((id) => ({ id, prompt: `prompt ${id}`, completions: ["1", "2", "3", "4"] }))

/** Experts who rank: 4 above 2 and 3, which are equally good, above 1. */
const ranked = ScriptedService.judging(() => ({
  best_completion_index: 3,
  annotations: { ranking: [[3], [1, 2], [0]] },
}))

test("--pairs of run and export says which pairs the dataset has; a seed draws others", function* () {
  const job = yield* folderWithItems(lines)
  const service = yield* ScriptedService.make(ranked)
  const pairs = Effect.fnUntraced(function* (command: ReadonlyArray<string>, ...flags: ReadonlyArray<string>) {
    yield* cli([...command, "--dir", job, ...flags], to(service)).pipe(ends(0))
    const rows = yield* pairsOf(job)
    return rows.map(({ chosen, item_id, rejected, weight }) => `${item_id}: ${chosen}>${rejected} ${weight.toFixed(2)}`)
  })
  const each = (...of: ReadonlyArray<string>) => ["a", "b"].flatMap((id) => of.map((pair) => `${id}: ${pair}`))
  const full = each("4>2 0.20", "4>3 0.20", "4>1 0.20", "2>1 0.20", "3>1 0.20")
  assert.deepStrictEqual(
    yield* pairs(["run", `${job}/items.jsonl`, "--no-shuffle", ...quick], "--pairs", "full-ranking"),
    full,
  )
  assert.deepStrictEqual(
    yield* pairs(["export"], "--pairs", "best-against-rest"),
    each("4>1 0.33", "4>2 0.33", "4>3 0.33"),
  )
  const seeds = yield* Effect.forEach(Array.from({ length: 8 }), (_, seed) =>
    pairs(["export"], "--pairs", "best-against-one", "--pair-seed", String(seed)),
  )
  for (const drawn of seeds) {
    assert.deepStrictEqual(
      drawn.map((pair) => pair.replace(/>\d/, ">")),
      each("4> 1.00"),
    )
  }
  assert.isAbove(new Set(seeds.map(String)).size, 1)
})
