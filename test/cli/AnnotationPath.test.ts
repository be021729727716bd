/** Votes of a service that says things elsewhere (`--annotation-path`): every command reads them as `export` does. */
import { assert, describe } from "@effect/vitest"
import { cli, ends, folderWithItems, to } from "../support/cli.ts"
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
const answering =
  (votes: ReadonlyArray<unknown>): Parameters<typeof ScriptedService.make>[0] =>
  (request, before) => {
    if (request.method !== "GET") return ScriptedService.obliging(request, before)
    const id = request.path.split("/").at(-1)!
    const posts = before.filter(({ method }) => method === "POST")
    const { prompts } = JSON.parse(posts[Number(id.replace("task_", ""))]!.body)
    const results = prompts.map(({ prompt }: { readonly prompt: string }) => ({
      prompt,
      best_completion_index: 0,
      annotations: { votes },
    }))
    return { status: 200, body: { task_id: id, status: "completed", results } }
  }

const lines = [1, 2, 3].map((id) =>
  JSON.stringify({ id: `q${id}`, prompt: `P ${id}`, completions: ["a", "b"], models: ["m", "n"] }),
)

describe("--annotation-path", () => {
  test("of a run holds for export-votes, leaderboard and plan, too", function* () {
    const folder = yield* folderWithItems(lines)
    const [items, job] = [`${folder}/items.jsonl`, ["--dir", `${folder}/job`]]
    const service = yield* ScriptedService.make(answering(votes))
    yield* cli(["run", items, ...job, "--no-shuffle", ...paths], to(service)).pipe(ends(0))

    const printed = yield* cli(["export-votes", ...job])
    const rows = printed.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepStrictEqual(
      rows.slice(0, 3).map(({ expert, rationale, strength }) => [expert, rationale, strength]),
      [
        ["ann", "by ann", 1],
        ["bob", "by bob", 2],
        ["cy", "by cy", 3],
      ],
    )
    assert.lengthOf(rows, 9)

    const board = JSON.parse((yield* cli(["leaderboard", ...job, "--resamples", "0", "--json"])).stdout)
    assert.strictEqual(board.votes, 9)
    const plan = JSON.parse((yield* cli(["plan", items, ...job, "--json"])).stdout)
    assert.deepStrictEqual(
      plan.experts.map(({ expert, votes }: { readonly expert: string; readonly votes: number }) => [expert, votes]),
      ["ann", "bob", "cy"].map((expert) => [expert, 3]),
    )

    // Given on the command line, they replace those of the run.
    const other = yield* cli(["export-votes", ...job, "--annotation-path", "strength=preference.strength"])
    assert.lengthOf(other.stdout.trimEnd().split("\n"), 3)
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
