/**
 * From files to files, through the command line: what is chosen is what the gold
 * answers prefer, and independent readers find it so in each format.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, describe, it } from "vitest"
import type { PromptItem } from "../../src/domain/PromptItem.ts"
import { cli } from "../support/cli.ts"
import * as readers from "../support/datasetReaders.ts"
import { platform } from "../support/job.ts"
import { root } from "../support/process.ts"
import { sharedData } from "../support/sharedData.ts"

const scratch = mkdtempSync(join(tmpdir(), "prefstream-interop-"))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

interface Report {
  readonly read: number
  readonly submitted: number
  readonly rejected: number
  readonly dataset: { readonly rows: number }
}

const runJson = async (...args: ReadonlyArray<string>): Promise<Report> => {
  const { status, stderr, stdout } = await Effect.runPromise(Effect.provide(cli(["run", ...args, "--json"]), platform))
  assert.strictEqual(status, 0, stderr)
  return JSON.parse(stdout) as Report
}

/** Runs the items with the gold experts, and looks for their answers in the dataset by each reader. */
const goldIsChosen = async (file: string, job: string) => {
  const items = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as PromptItem)
  const expected = items.flatMap(({ completions, gold, prompt }) =>
    completions.flatMap((completion, i) =>
      i === gold!.best_completion_index || completion === completions[gold!.best_completion_index]
        ? []
        : [{ prompt, chosen: completions[gold!.best_completion_index], rejected: completion }],
    ),
  )
  const report = await runJson(file, "--expert", `gold:${file}`, "--dir", job)
  assert.strictEqual(report.submitted, items.length)
  const parquet = `${job}/dataset/data/train-00000-of-00001.parquet`
  const jsonl = `${job}/dataset/jsonl/train-00000-of-00001.jsonl`
  for (const rows of [
    await readers.duckdbParquet(parquet),
    await readers.arrow(parquet),
    await readers.hyparquet(parquet),
    await readers.duckdbJsonl(jsonl),
    await readers.jsonl(jsonl),
  ]) {
    const found = rows.map(({ chosen, prompt, rejected }) => ({ prompt, chosen, rejected }))
    assert.deepStrictEqual(found, expected)
  }
  return items.length
}

describe("gold answers are what is chosen", () => {
  it("in the sample data", async () => {
    assert.strictEqual(await goldIsChosen(join(root, "data/sample.jsonl"), join(scratch, "sample")), 72)
  })

  const llmbar = sharedData("llmbar")
  it.skipIf(llmbar === undefined)("in LLMBar (skipped where the public data is absent)", async () => {
    const records = readdirSync(llmbar!)
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) =>
        (
          JSON.parse(readFileSync(join(llmbar!, name), "utf8")) as ReadonlyArray<{
            readonly input: string
            readonly output_1: string
            readonly output_2: string
            readonly label: 1 | 2
          }>
        ).map(({ input, label, output_1, output_2 }) => ({
          prompt: input,
          completions: [output_1, output_2],
          gold: { best_completion_index: label - 1 },
          metadata: { set: basename(name, ".json") },
        })),
      )
    const file = join(scratch, "llmbar.jsonl")
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""))
    assert.strictEqual(await goldIsChosen(file, join(scratch, "llmbar")), 280)
  })
})
