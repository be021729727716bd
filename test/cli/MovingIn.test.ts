/** What the guides in `docs/moving-in` promise, beyond that their command lines run. */
import { writeFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { cli, ends } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as MovingIn from "./movingIn.ts"

const nested = (prefix: string, prompt: string, ...completions: ReadonlyArray<string>) => [
  "--id-path",
  "id",
  "--prompt-path",
  `${prefix}.${prompt}`,
  ...completions.flatMap((name) => ["--completion-path", `${prefix}.${name}`]),
]

describe("moving in", () => {
  for (const [file, content, votes, known, layout, choices] of [
    [
      "label-studio.json",
      JSON.stringify(MovingIn.labelStudio),
      1,
      1,
      nested("data", "prompt", "answer1", "answer2"),
      [],
    ],
    [
      "argilla.json",
      JSON.stringify(MovingIn.argilla),
      1,
      1,
      nested("fields", "prompt", "response_1", "response_2"),
      [],
    ],
    ["sheet.csv", MovingIn.sheet, 5, 3, [], ["--choice-path", "Anna", "--choice-path", "Ben"]],
  ] as const) {
    test(`${file}: its votes are imported, and only items without votes are sent`, function* () {
      const folder = yield* temporaryDirectory
      const [path, job] = [`${folder}/${file}`, `${folder}/moved`]
      writeFileSync(path, content)
      const imported = yield* cli(["import", path, ...choices, "--dir", job]).pipe(ends(0))
      assert.match(imported.stdout, new RegExp(`^  votes +${votes}\\b`, "m"))
      yield* cli(["export", "--dir", job]).pipe(ends(0))
      assert.strictEqual((yield* pairsOf(job)).length, known)
      yield* cli(["run", path, ...layout, "--expert", "longest", "--dir", job]).pipe(ends(0))
      const pairs = yield* pairsOf(job)
      const sent = pairs.filter(({ task_id }) => !String(task_id).startsWith("imported_"))
      assert.deepStrictEqual([pairs.length, sent.length], [known + 1, 1])
      const [first] = pairs
      assert.strictEqual(first!["chosen"], "2 is a prime number.")
      assert.isString(first!["rationale"])
    })
  }
})
