import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { cli, ends, folderWithItems, reportOf } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root, sample } from "../support/process.ts"

const escape = "\u001b"

describe("stdout is data, messages go to stderr", () => {
  test("a pair in both orders is judged once; the first one keeps its models, gold answer and metadata; --keep-reordered judges both", function* () {
    const wide = (first: string, second: string, at: number) => ({
      prompt: "p",
      "response_gpt-4": first,
      "response_llama-3-8b": second,
      best: "response_llama-3-8b",
      at,
    })
    const layouts = {
      wide: [wide("longer", "short", 1), wide("short", "longer", 2)],
      pairs: [
        { prompt: "p", chosen: "short", rejected: "longer", at: 1 },
        { prompt: "p", chosen: "longer", rejected: "short", at: 2 },
      ],
    }
    for (const [layout, records] of Object.entries(layouts)) {
      const job = yield* folderWithItems(records)
      const gold = layout === "wide" ? ["--gold-path", "best"] : []
      const args = ["run", `${job}/items.jsonl`, "--layout", layout, "--keep", "at", ...gold, "--expert", "longest"]
      const judged = Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
        const report = reportOf(yield* cli([...args, "--dir", job, "--json", ...flags]))
        const { duplicates, known, read, rejected, reordered, submitted } = report
        assert.strictEqual(read, submitted + duplicates + rejected)
        const rows = yield* pairsOf(job)
        const metadata = rows.map(({ metadata }) => JSON.parse(String(metadata)) as { at: number })
        return { known, duplicates, reordered, submitted, at: metadata.map(({ at }) => at), rows }
      })
      const { rows, ...first } = yield* judged()
      assert.deepStrictEqual(first, { known: 0, duplicates: 1, reordered: 1, submitted: 1, at: [1] }, layout)
      const [row] = rows
      assert.strictEqual(row?.["chosen"], "longer")
      if (layout === "wide") assert.strictEqual(row?.["chosen_model"], "gpt-4")
      const { rows: _, ...both } = yield* judged("--keep-reordered")
      assert.deepStrictEqual(both, { known: 1, duplicates: 0, reordered: 0, submitted: 2, at: [1, 2] }, layout)
      const { rows: __, ...again } = yield* judged("--keep-reordered")
      assert.deepStrictEqual({ ...again, known: 1 }, both)
    }
  })

  test("in words, too, the report alone stands on stdout, without escape codes", function* () {
    const job = yield* temporaryDirectory
    const said = yield* cli(["run", sample, "--dir", job, "--expert", `gold:${sample}`]).pipe(ends(0))
    assert.match(said.stdout, /^Done in /)
    assert.match(said.stdout, /dataset +144 pairs in /)
    assert.match(said.stdout, /\n {2}chosen +\S/)
    assert.notInclude(said.stdout + said.stderr, escape)
    assert.match(
      said.stderr,
      /^Reading .*data\/sample\.jsonl; the job folder is .*\nFound in .*: JSONL; items: .*\n(\d+ of \d+\+? items judged, .*\n)*$/,
    )
  })

  test("a bug, here of a pipeline file, is logged with its stack on stderr", function* () {
    const job = yield* temporaryDirectory
    const fs = yield* FileSystem.FileSystem
    yield* fs.writeFileString(
      `${job}/buggy.ts`,
      `import { AnnotationService, Pipeline, Source } from "${root}src/index.ts"
        export default Pipeline.make({
          directory: "${job}",
          source: Source.files("${sample}"),
          service: AnnotationService.layerEmbedded({ database: "${job}/service.db", experts: ["first"] }),
          pairs: () => { throw new Error("a bug in pairs") },
        })`,
    )
    const said = yield* cli(["run", `${job}/buggy.ts`]).pipe(ends(1))
    assert.strictEqual(said.stdout, "")
    assert.match(said.stderr, /a bug in pairs\n\s+at .*buggy\.ts/)
    assert.isFalse(yield* fs.exists(`${job}/dataset`))
  })
})

test("each message while a command works is a line with its time and level", function* () {
  const job = yield* temporaryDirectory
  // Nothing listens there.
  const nowhere = ["--base-url", "http://127.0.0.1:9/v1", "--idempotency-key", "honored"]
  yield* cli(["run", sample, "--dir", job, "--once", "--patience", "1500ms", ...nowhere], {
    PREFSTREAM_TOKEN: "x",
  }).pipe(ends(1, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ warning: http:\S+ has been down since .*$/m))
})
