/** Votes of a service that says things elsewhere (`--annotation-path`): every command reads them as `export` does. */
import { assert, describe } from "@effect/vitest"
import { cli, ends, folderWithItems, printed, to, votesOf } from "../support/cli.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

/** A list of votes that is only valid by way of the paths: a rationale is text. */
const votes = ["ann", "bob", "cy"].map((expert, i) => ({
  expert,
  choice: i % 2,
  rationale: { text: `by ${expert}` },
  preference: { strength: i + 1 },
}))

const paths = ["--annotation-path", "rationale=rationale.text", "--annotation-path", "strength=preference.strength"]

/** Every item gets these votes. */
const answering = (votes: ReadonlyArray<unknown>) => ScriptedService.judging(() => ({ annotations: { votes } }))

const lines = [1, 2, 3].map((id) => ({ id: `q${id}`, prompt: `P ${id}`, completions: ["a", "b"], models: ["m", "n"] }))

describe("--annotation-path", () => {
  test("of a run holds for export-votes, leaderboard and plan, too", function* () {
    const folder = yield* folderWithItems(lines)
    const [items, job] = [`${folder}/items.jsonl`, ["--dir", `${folder}/job`]]
    const service = yield* ScriptedService.make(answering(votes))
    yield* cli(["run", items, ...job, "--no-shuffle", ...paths], to(service)).pipe(ends(0))

    const rows = yield* votesOf(`${folder}/job`)
    assert.deepStrictEqual(
      rows.slice(0, 3).map(({ expert, rationale, strength }) => [expert, rationale, strength]),
      [
        ["ann", "by ann", 1],
        ["bob", "by bob", 2],
        ["cy", "by cy", 3],
      ],
    )
    assert.lengthOf(rows, 9)

    const board = yield* printed(["leaderboard", ...job, "--resamples", "0"])
    assert.strictEqual(board.votes, 9)
    const plan = yield* printed(["plan", items, ...job])
    assert.deepStrictEqual(
      plan.experts.map(({ expert, votes }: { readonly expert: string; readonly votes: number }) => [expert, votes]),
      ["ann", "bob", "cy"].map((expert) => [expert, 3]),
    )

    // Given on the command line, they replace those of the run.
    assert.lengthOf(yield* votesOf(`${folder}/job`, "--annotation-path", "strength=preference.strength"), 3)
  })

  test("of a submit holds for collect, which says whether items need further votes", function* () {
    const folder = yield* folderWithItems(lines)
    const [items, job] = [`${folder}/items.jsonl`, ["--dir", `${folder}/job`]]
    const agreed = ["ann", "bob", "cy", "dee", "eve", "fay"].map((expert) => ({ ...votes[0], expert }))
    const service = yield* ScriptedService.make(answering(agreed))
    const range = ["--votes", "1..3", "--confidence", "0.9"]
    yield* cli(["submit", items, ...job, "--no-shuffle", ...range, ...paths], to(service)).pipe(ends(0))
    assert.strictEqual((yield* cli(["collect", ...job], to(service))).status, 0)
    // The same results without the paths: one vote of each item.
    const other = ["--annotation-path", "strength=preference.strength"]
    assert.strictEqual((yield* cli(["collect", ...job, ...other], to(service))).status, 3)
    const planned = service.received.length
    assert.strictEqual((yield* cli(["submit", items, ...job, ...range, ...paths], to(service))).status, 0)
    assert.strictEqual(service.received.length, planned)
  })
})
