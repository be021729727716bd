/** `prefstream leaderboard`, from a ledger to its table, JSON and CSV. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { Leaderboard } from "../../src/domain/Leaderboard.ts"
import type { LeaderboardGroup } from "../../src/pipeline/Leaderboard.ts"
import { cli, ends, folderWithItems, importVotes, jsonIn, printed, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"

/** Items whose longest completion is of these models, best first. */
const items = (count: number, ...models: ReadonlyArray<string>) =>
  Array.from({ length: count }, (_, i) => ({
    prompt: `Question ${i} on ${models.join()}?`,
    completions: models.map((_, rank) => "An answer. ".repeat(models.length - rank)),
    ...(models[0] === "" ? {} : { models }),
  }))

const jobOf = Effect.fnUntraced(function* (lines: ReadonlyArray<object>) {
  const job = yield* folderWithItems(lines)
  yield* cli(["run", `${job}/items.jsonl`, "--dir", `${job}/job`, "--expert", "longest", "--quiet"])
  return ["leaderboard", "--dir", `${job}/job`]
})

describe("prefstream leaderboard", () => {
  test("gives no number of further votes that is out of reach", function* () {
    const job = yield* temporaryDirectory
    const pair = { response_a: "one", response_b: "two", model_a: "x", model_b: "y", judge: "ann" }
    const winners = Array.from({ length: 1401 }, (_, i) => (i % 2 === 0 ? "model_a" : "model_b"))
    yield* importVotes(
      job,
      winners.map((winner, i) => ({ ...pair, prompt: `Question ${i}?`, winner })),
    )
    const { stdout } = yield* cli(["leaderboard", "--dir", job, "--resamples", "10"]).pipe(ends(0))
    assert.match(
      stdout,
      /If both ratings stay as they are, ranking the models takes over 1,000,000 more votes\. The models may be equally good\./,
    )
  })

  test("prints a table, and what the votes do not tell", function* () {
    const args = yield* jobOf([
      ...items(20, "one", "two"),
      ...items(12, "two", "one"),
      ...items(9, "x", "y"),
      ...items(3, "always", "two"),
    ])
    const { stdout } = yield* cli([...args, "--resamples", "100"]).pipe(ends(0))
    const lines = stdout.split("\n")
    assert.strictEqual(lines[0], "5 models: 44 votes on 44 items, 44 comparisons, 0 ties")
    assert.match(lines[2]!, /^ {2}rank {2}model +rating +95% interval/)
    assert.strictEqual(lines[3], "group 1")
    assert.match(lines[4]!, /^ {5}1 {2}always +\d{4} +\d+ to ∞ +100\.0%/)
    assert.strictEqual(lines[7], "group 2")
    assert.match(stdout, /No vote compares models from different groups/)
    assert.match(
      stdout,
      /always never lost; one won only in cycles of results \(such as: A beat B, B beat C, and C beat A\); /,
    )
    assert.match(stdout, /With 1,000 more votes, each interval would shrink to about 20\.5% of its current width/)

    const controlled = printed<Leaderboard>([...args, "--resamples", "100", "--control", "position"])
    const board = yield* controlled
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
    assert.deepStrictEqual(yield* controlled, board)

    const csv = (yield* cli([...args, "--csv", "--resamples", "100"])).stdout.trimEnd().split("\n")
    assert.match(csv[0]!, /^group,rank,model,rating,rating_low,rating_high,/)
    assert.match(csv[1]!, /^1,1,always,[\d.]+,[\d.]+,,/)
    assert.strictEqual(csv.length, 6)
  })

  test("rates the pairs of a dataset as it rates a job of one vote per item, and says what they lack", function* () {
    const calling = (city: string) => [
      { role: "assistant", tool_calls: [{ type: "function", function: { name: "weather", arguments: { city } } }] },
    ]
    const withCalls = Array.from({ length: 12 }, (_, i) => ({
      prompt: [{ role: "user", content: `Question ${i}?` }],
      completions: [calling(`Zürich ${i}`), calling("a")],
      models: i < 8 ? ["caller", "two"] : ["two", "caller"],
    }))
    const args = yield* jobOf([
      ...items(20, "one", "two", "three"),
      ...items(12, "two", "one"),
      ...items(3, "x", "two"),
      ...withCalls,
    ])
    const dataset = `${args[2]!}/dataset`
    const boardOf = (...args: ReadonlyArray<string>) =>
      Effect.map(cli(["leaderboard", ...args, "--json", "--resamples", "50"]), (said) => ({
        board: jsonIn(said) as Leaderboard,
        stderr: said.stderr,
      }))
    const ofJob = yield* boardOf("--dir", args[2]!)
    const ofDataset = yield* boardOf(dataset)
    const ofFile = yield* boardOf(`${dataset}/jsonl/train-00000-of-00001.jsonl`)
    assert.deepStrictEqual(ofDataset.board, ofJob.board)
    assert.deepStrictEqual(ofFile.board, ofJob.board)
    assert.match(ofDataset.stderr, /each item of the dataset counted as one vote/)
    assert.notMatch(ofJob.stderr, /counted as one vote/)

    yield* cli(["leaderboard", dataset, "--weighted", "--control", "position"]).pipe(
      ends(2, /--weighted, --control position: only available for a job/),
    )
    yield* cli(["leaderboard", args[2]!]).pipe(ends(2, /not a dataset: expected manifest\.json/))
    yield* cli(["leaderboard", `${args[2]!}/../items.jsonl`]).pipe(
      ends(2, /row 1 of .*items\.jsonl is not a preference pair/),
    )
  })

  test("rates a full ranking of a dataset by its pairs alone, which have no ties", function* () {
    const folder = yield* temporaryDirectory
    const pairOf = (i: number, chosen: number, rejected: number) => ({
      prompt: `Question ${i}?`,
      chosen: `Answer ${chosen}`,
      rejected: `Answer ${rejected}`,
      item_id: `item-${i}`,
      chosen_index: chosen,
      rejected_index: rejected,
      chosen_model: `model-${chosen}`,
      rejected_model: `model-${rejected}`,
      metadata: i < 3 ? JSON.stringify({ topic: i % 2 === 0 ? "even, and more" : 1 }) : null,
    })
    // 2 is better than 0 and 1, of which nothing is said.
    yield* write(
      `${folder}/pairs.jsonl`,
      [0, 1, 2, 3].flatMap((i) => [pairOf(i, 2, 0), pairOf(i, 2, 1), ...(i === 0 ? [pairOf(i, 0, 1)] : [])]),
    )
    const board = yield* printed<Leaderboard>(["leaderboard", `${folder}/pairs.jsonl`, "--resamples", "0"])
    assert.deepStrictEqual(
      board.models.map(({ losses, model, ties, wins }) => [model, wins, ties, losses]),
      [
        ["model-2", 8, 0, 0],
        ["model-0", 1, 0, 4],
        ["model-1", 0, 0, 5],
      ],
    )
    assert.deepStrictEqual([board.items, board.votes, board.comparisons], [4, 4, 9])

    const by = ["leaderboard", `${folder}/pairs.jsonl`, "--by", "topic", "--resamples", "0"]
    const text = (yield* cli(by)).stdout
    assert.match(text, /^topic: even, and more \(2 items\)\n3 models: 2 votes on 2 items, 5 comparisons/)
    assert.match(text, /\n\ntopic: 1 \(1 item\)\n/)
    assert.match(text, /\n\nno topic \(1 item\)\n/)
    const csv = (yield* cli([...by, "--csv"])).stdout.trimEnd().split("\n")
    assert.match(csv[0]!, /^topic,group,rank,model,/)
    assert.match(csv[1]!, /^"even, and more",1,1,model-2,/)
    assert.strictEqual(csv.length, 1 + 3 * 3)
    const { groups } = yield* printed<{ readonly groups: ReadonlyArray<LeaderboardGroup> }>(by)
    assert.deepStrictEqual(
      groups.map(({ group }) => group),
      ["even, and more", "1", null],
    )
    yield* cli(["leaderboard", `${folder}/pairs.jsonl`, "--by", "a b"]).pipe(ends(2, /--by a b: not a field path/))
  })

  test("rates a job by a field of the items' metadata, and refuses one with too many values", function* () {
    const all = [...items(80, "one", "two"), ...items(25, "two", "one")]
    const args = yield* jobOf(
      all.map((item, i) => ({ ...item, metadata: { topic: i % 2 === 0 ? "a" : "b", number: i } })),
    )
    const { groups } = yield* printed<{ readonly groups: ReadonlyArray<LeaderboardGroup> }>([
      ...args,
      "--by",
      "topic",
      "--resamples",
      "0",
    ])
    assert.deepStrictEqual(
      groups.map(({ group, items, leaderboard }) => [group, items, leaderboard!.models[0]!.wins]),
      [
        ["a", 53, 40],
        ["b", 52, 40],
      ],
    )
    yield* cli([...args, "--by", "number"]).pipe(ends(2, /--by number: more than 100 values/))
  })

  test("of few items says that there are no intervals", function* () {
    const { stdout } = yield* cli(yield* jobOf(items(1, "one", "two"))).pipe(ends(0))
    assert.match(stdout, /No intervals: expected at least 10 items, found 1\./)
  })

  test("without models says what is missing, and fails", function* () {
    const { status, stderr, stdout } = yield* cli(yield* jobOf(items(3, "", "")))
    assert.deepStrictEqual([status, stdout], [1, ""])
    assert.match(stderr, /no vote compares two models.*--model-path/)
  })
})
