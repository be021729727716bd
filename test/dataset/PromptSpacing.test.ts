/** Unpaired rows, in the batches that KTO trainers make of them. */
import { assert, describe, it } from "@effect/vitest"
import { Struct } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import * as PromptSpacing from "../../src/dataset/PromptSpacing.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import { pair } from "../support/pairs.ts"
import { column, columns } from "../support/columns.ts"
import { test, written } from "./support.ts"

/**
 * Completions whose mismatch is of their own prompt: `[completions[-1]] + completions[:-1]` in each batch (TRL,
 * kto_trainer.py, add_kl_completion_ids; LLaMA-Factory, feedback.py, preprocess_dataset).
 */
const matched = (prompts: ReadonlyArray<unknown>, batchSize: number): number => {
  let count = 0
  for (let start = 0; start < prompts.length; start += batchSize) {
    const batch = prompts.slice(start, start + batchSize)
    if (batch.length > 1) count += batch.filter((prompt, i) => prompt === batch.at(i - 1)).length
  }
  return count
}

const batchSizes = Array.from({ length: 999 }, (_, i) => i + 2)

/** The pairs of an item with this number of completions. */
const item = (i: number, completions: number, prompt = `Prompt ${i}`): ReadonlyArray<PreferencePair> =>
  Array.from({ length: completions - 1 }, (_, rejected) =>
    pair(i, { prompt, chosen: `${i} best`, rejected: `${i} ${rejected}`, all_bad: false }),
  )

const items = (count: number, completionsOf: (i: number) => number, promptOf?: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => item(i, completionsOf(i), promptOf?.(i))).flat()

const formats = {
  "trl-unpaired": ({ label, prompt }) => ({ label, prompt: String(prompt) }),
  "trl-unpaired-conversational": ({ label, prompt }) => ({ label, prompt: JSON.stringify(prompt) }),
  "llamafactory-kto": ({ conversations, kto_tag }) => ({
    label: kto_tag,
    prompt: JSON.stringify((conversations as ReadonlyArray<unknown>).slice(0, -1)),
  }),
} satisfies Record<string, (row: Record<string, unknown>) => { readonly label: unknown; readonly prompt: string }>

const names = Struct.keys(formats)

describe("unpaired rows", () => {
  test.each([
    ["two completions of each", 1_100, () => 2, undefined],
    ["two to four completions", 1_600, (i: number) => 2 + (i % 3), undefined],
    ["several items of each prompt, one after another", 3_300, () => 2, (i: number) => `Prompt ${Math.floor(i / 3)}`],
  ] as const)(
    "of enough prompts have no neighbors of one prompt in any batch: %s",
    function* ([, count, completions, prompt]) {
      const { directory, rows } = yield* written(items(count, completions, prompt), { formats: names })
      for (const name of names) {
        const all = (yield* rows(`formats/${name}/train.jsonl`)).map(formats[name])
        const prompts = all.map(({ prompt }) => prompt)
        assert.isAbove(prompts.length, 2_000)
        // Also where processes begin in the middle of the file.
        for (const from of [0, 1, 777]) {
          const bad = batchSizes.filter((size) => matched(prompts.slice(from), size) > 0)
          assert.deepStrictEqual(bad, [], name)
        }
        const labels = all.map(({ label }) => label)
        for (let start = 0; start + 100 <= labels.length; start += 100) {
          assert.strictEqual(new Set(labels.slice(start, start + 100)).size, 2, `both labels from row ${start} on`)
        }
      }
      assert.deepStrictEqual((yield* Dataset.verify(directory)).findings, [])
    },
  )

  test("of few prompts have neighbors only where the first prompt makes it inevitable, in each split", function* () {
    const splitOf = ({ item_id }: PreferencePair) => (item_id.endsWith("0") ? ("test" as const) : ("train" as const))
    for (const count of [20, 40, 72, 630]) {
      const pairs = items(count, () => 2)
      const { rows } = yield* written(pairs, { splitOf, formats: ["trl-unpaired"] })
      for (const split of ["train", "test"]) {
        const prompts = column(yield* rows(`formats/trl-unpaired/${split}.jsonl`), "prompt")
        const bad = batchSizes.filter((size) => matched(prompts, size) > 0)
        // A batch of the rows from the first one to the other one of its prompt.
        const inevitable = [prompts.indexOf(prompts[0], 1) + 1].filter((size) => size <= 1000)
        assert.deepStrictEqual(bad, inevitable, `${count} ${split}`)
        assert.isFalse(bad.some((size) => (size & (size - 1)) === 0 || size % 10 === 0))
      }
    }
  })

  test("of one prompt are neighbors, which verify warns of", function* () {
    const { directory } = yield* written(item(1, 3), { formats: ["trl-unpaired"] })
    const { findings } = yield* Dataset.verify(directory)
    assert.deepStrictEqual(columns(findings, "file", "found", "severity"), [
      ["formats/trl-unpaired/train.jsonl", "the same prompt (the first of 2 rows with this problem)", "warning"],
    ])
  })
})

describe("the order of rows", () => {
  const ordered = (prompts: ReadonlyArray<string>, size: number) => {
    const spacing = PromptSpacing.make<number>()
    const early = prompts.flatMap((prompt, i) => spacing.add(prompt, i, size))
    return { early, all: [...early, ...spacing.end()] }
  }

  it("has each row once, and most before the end where they are more than memory should hold", () => {
    const prompts = Array.from({ length: 20_000 }, (_, i) => `p${Math.floor(i / 4)}`)
    const { all, early } = ordered(prompts, 10_000)
    assert.isAbove(early.length, 15_000)
    assert.deepStrictEqual(
      all.toSorted((a, b) => a - b),
      prompts.map((_, i) => i),
    )
    const last = new Map<string, number>()
    for (const [i, row] of all.entries()) {
      const before = last.get(prompts[row]!)
      if (before !== undefined) assert.isAtLeast(i - before, 700)
      last.set(prompts[row]!, i)
    }
  })

  it("keeps a prompt with many rows apart as far as the others reach", () => {
    const { all } = ordered(Array.from("aaaaabcdef"), 10)
    const prompts = all.map((row) => "aaaaabcdef"[row]!)
    assert.notMatch(prompts.join(""), /aa/)
  })
})
