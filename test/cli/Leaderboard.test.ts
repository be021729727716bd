/** `prefstream leaderboard`, from a ledger to its table, JSON and CSV. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { Leaderboard } from "../../src/domain/Leaderboard.ts"
import { cli, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"

/** Items whose longest completion is of these models, best first. */
const items = (count: number, ...models: ReadonlyArray<string>) =>
  Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      prompt: `Question ${i} on ${models.join()}?`,
      completions: models.map((_, rank) => "An answer. ".repeat(models.length - rank)),
      ...(models[0] === "" ? {} : { models }),
    }),
  )

const jobOf = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
  const job = yield* temporaryDirectory
  yield* write(`${job}/items.jsonl`, lines)
  yield* cli(["run", `${job}/items.jsonl`, "--dir", `${job}/job`, "--expert", "longest", "--quiet"])
  return ["leaderboard", "--dir", `${job}/job`]
})

describe("prefstream leaderboard", () => {
  test("prints a table, and what the votes do not tell", () =>
    Effect.gen(function* () {
      const args = yield* jobOf([
        ...items(20, "one", "two"),
        ...items(12, "two", "one"),
        ...items(9, "x", "y"),
        ...items(3, "always", "two"),
      ])
      const { status, stderr, stdout } = yield* cli([...args, "--resamples", "100"])
      assert.strictEqual(status, 0, stderr)
      const lines = stdout.split("\n")
      assert.strictEqual(lines[0], "5 models: 44 votes on 44 items, 44 comparisons, 0 ties")
      assert.match(lines[2]!, /^ {2}rank {2}model +rating +95% interval/)
      assert.strictEqual(lines[3], "group 1")
      assert.match(lines[4]!, /^ {5}1 {2}always +\d{4} +\d+ to ∞ +100\.0%/)
      assert.strictEqual(lines[7], "group 2")
      assert.match(stdout, /compare no model of one group with one of another/)
      assert.match(stdout, /always never lost/)
      assert.match(stdout, /With 1,000 more votes, intervals would have 20\.5% of their width/)

      const json = yield* cli([...args, "--json", "--resamples", "100", "--control", "position"])
      const board: Leaderboard = JSON.parse(json.stdout)
      assert.deepStrictEqual(
        board.models.map(({ group, losses, model, wins }) => [group, model, wins, losses]),
        [
          [1, "always", 3, 0],
          [1, "one", 20, 12],
          [1, "two", 12, 23],
          [2, "x", 9, 0],
          [2, "y", 0, 9],
        ],
      )
      assert.deepStrictEqual(board.method.controls, ["position"])
      assert.deepStrictEqual(
        JSON.parse((yield* cli([...args, "--json", "--resamples", "100", "--control", "position"])).stdout),
        board,
      )

      const csv = (yield* cli([...args, "--csv", "--resamples", "100"])).stdout.trimEnd().split("\n")
      assert.match(csv[0]!, /^group,rank,model,rating,rating_low,rating_high,/)
      assert.match(csv[1]!, /^1,1,always,[\d.]+,[\d.]+,,/)
      assert.strictEqual(csv.length, 6)
    }))

  test("of few items says that there are no intervals", () =>
    Effect.gen(function* () {
      const { status, stdout } = yield* cli(yield* jobOf(items(1, "one", "two")))
      assert.strictEqual(status, 0)
      assert.match(stdout, /There are no intervals: they need 10 items, and there is 1\./)
    }))

  test("without models says what is missing, and fails", () =>
    Effect.gen(function* () {
      const { status, stderr, stdout } = yield* cli(yield* jobOf(items(3, "", "")))
      assert.deepStrictEqual([status, stdout], [1, ""])
      assert.match(stderr, /no vote compares two models.*--model-path/)
    }))

  test("takes one of --csv and --json", () =>
    Effect.gen(function* () {
      const { status, stderr } = yield* cli(["leaderboard", "--csv", "--json"])
      assert.strictEqual(status, 2)
      assert.match(stderr, /--csv, --json: expected one of them/)
    }))
})
