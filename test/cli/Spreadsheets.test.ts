/** CSV that is opened in spreadsheets: no text is a formula, and an import has the texts as they were. */
import { writeFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli, ends, importVotes, votesOf } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"

const starts = ["=1+1", "+1", "-1", "@SUM(1)", "\tx", "\rx", "'=1", "''-1", "'", "plain", "'plain", " =1"]

/** The votes of a job whose texts begin in all these ways. */
const imported = Effect.gen(function* () {
  const job = yield* temporaryDirectory
  const votes = starts.map((text, i) =>
    ({ id: `${text}${i}`, prompt: `${text} ${i}`, completions: ["a", "b"], models: [text || "m", "other"], expert: text, choice: 0, rationale: text }),
  ) // prettier-ignore
  yield* importVotes(`${job}/job`, votes, "--choice-as", "index")
  return job
})

const isFormula = /(?:^|,)"?[=+\-@\t\r][^,\n]*[a-zA-Z(]/m

describe("export-votes --as csv", () => {
  for (const flags of [[], ["--raw"]]) {
    test(`${flags.join()} is read back exactly${flags.length === 0 ? ", and has no formula" : ""}`, function* () {
      const job = yield* imported
      const { stdout: original } = yield* cli(["export-votes", "--dir", `${job}/job`])
      const { stdout: csv } = yield* cli(["export-votes", "--dir", `${job}/job`, "--as", "csv", ...flags])
      assert.strictEqual(isFormula.test(csv), flags.length > 0)
      writeFileSync(`${job}/votes.csv`, csv)
      yield* cli(["import", `${job}/votes.csv`, "--dir", `${job}/again`]).pipe(ends(0))
      const { stdout: again } = yield* cli(["export-votes", "--dir", `${job}/again`])
      assert.strictEqual(again, original)
    })
  }

  test("apostrophes of a foreign table stay", function* () {
    const job = yield* temporaryDirectory
    writeFileSync(`${job}/votes.csv`, "prompt,response_a,response_b,choice,rationale\n'=p,a,b,response_a,'-x\n")
    yield* cli(["import", `${job}/votes.csv`, "--dir", `${job}/job`])
    const [row] = yield* votesOf(`${job}/job`)
    assert.deepInclude(row, { prompt: "'=p", rationale: "'-x" })
  })
})

test("leaderboard --csv: names are no formulas, numbers stay, and --raw has the names as they are", function* () {
  const job = yield* temporaryDirectory
  const vote = { prompt: "p", completions: ["a", "b"], models: ["=cmd|x!A0", "m2"], expert: "e", choice: 0 }
  yield* importVotes(`${job}/job`, [vote], "--choice-as", "index")
  const table = ["leaderboard", "--dir", `${job}/job`, "--csv", "--resamples", "0"]
  assert.match((yield* cli(table)).stdout, /^1,1,'=cmd\|x!A0,\d/m)
  assert.match((yield* cli([...table, "--raw"])).stdout, /^1,1,=cmd\|x!A0,\d/m)
})
