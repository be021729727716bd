/** `evaluate`: a reward model's scores beside a dataset, compared with a computation of the test's own. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Stream } from "effect"
import type { Evaluation } from "../../src/domain/Evaluation.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import * as Scored from "../../src/pair/evaluation/Evaluation.ts"
import { cli, ends, importVotes, printed, readRows, write } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { copiesOf, temporaryDirectory, test } from "../support/job.ts"
import { pair } from "../support/pairs.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

/** Numbers from 0 to 1 that do not depend on the order of calls. */
const uniform = (seed: number): number => {
  const x = Math.sin(seed * 12.9898) * 43_758.5453
  return x - Math.floor(x)
}

const voters = ["ann", "bob", "cy"]
const items = Array.from({ length: 60 }, (_, i) => ({
  id: `item-${i}`,
  prompt: `Question ${i} of ${i * 7919}?`,
  completions: Array.from(
    { length: 3 },
    (_, c) => `Answer ${i} ${c} ${"x".repeat(Math.floor(40 * uniform(i * 3 + c)))}`,
  ),
  models: ["alpha", "beta", "gamma"],
  metadata: { topic: i % 2 === 0 ? "even" : "odd" },
  votes: voters.map((expert, v) => ({ expert, choice: uniform(1_000 + i * 3 + v) < 0.7 ? 0 : 1 + (i % 2) })),
}))

const scoreOf = (item: number, completion: number): number => 3 * uniform(500 + item * 3 + completion)

const imported = copiesOf(
  Effect.fnUntraced(function* (directory: string) {
    yield* importVotes(directory, items, "--choice-as", "index")
    yield* cli(["export", "--dir", directory, "--ties", "keep"]).pipe(ends(0))
    const scores = items.map(({ id }, i) => ({ item_id: id, scores: [0, 1, 2].map((c) => scoreOf(i, c)) }))
    yield* write(`${directory}/scores.jsonl`, scores)
  }),
)

const half = (a: number, b: number) => (a > b ? 1 : a < b ? 0 : 0.5)

/** The mean over items of the mean over an item's rows. */
const meanOf = (rows: ReadonlyArray<PreferencePair>, valueOf: (row: PreferencePair) => number): number => {
  const perItem = [...Map.groupBy(rows, ({ item_id }) => item_id).values()].map(
    (rows) => rows.reduce((sum, row) => sum + valueOf(row), 0) / rows.length,
  )
  return perItem.reduce((sum, value) => sum + value, 0) / perItem.length
}

const numberOf = ({ item_id }: PreferencePair): number => Number(item_id.slice("item-".length))
const isRight = (row: PreferencePair) =>
  half(scoreOf(numberOf(row), row.chosen_index), scoreOf(numberOf(row), row.rejected_index))

const evaluated = Effect.fnUntraced(function* (directory: string, ...flags: ReadonlyArray<string>) {
  return yield* printed<Evaluation>(["evaluate", `${directory}/dataset`, ...flags])
})

test("accuracy, the longer completion, slices, and log loss are those of another computation", function* () {
  const directory = yield* imported
  const rows = yield* pairsOf(directory)
  const evaluation = yield* evaluated(directory, "--scores", `${directory}/scores.jsonl`, "--by", "topic")
  assert.strictEqual(evaluation.pairs, rows.length)
  assert.strictEqual(evaluation.items, 60)
  const near = (actual: number | undefined, expected: number) => assert.approximately(actual!, expected, 1e-12)
  near(evaluation.overall?.accuracy.value, meanOf(rows, isRight))
  near(
    evaluation.overall?.longer.value,
    meanOf(rows, ({ chosen, rejected }) => half(chosen.length, rejected.length)),
  )
  const votesOn = (row: PreferencePair) => items[numberOf(row)]!.votes.map(({ choice }) => choice)
  const decided = rows.filter((row) =>
    votesOn(row).every((choice) => choice === row.chosen_index || choice === row.rejected_index),
  )
  const votePairsOf = (votes: ReadonlyArray<number>) =>
    votes.flatMap((a, i) => votes.slice(i + 1).map((b) => [a, b] as const))
  const agreed = (row: PreferencePair) =>
    votePairsOf(votesOn(row)).filter(([a, b]) => a === b).length / votePairsOf(votesOn(row)).length
  const preferred = (row: PreferencePair) => (isRight(row) === 1 ? row.chosen_index : row.rejected_index)
  const isLike = (row: PreferencePair) => votesOn(row).filter((choice) => choice === preferred(row)).length / 3
  assert.isBelow(decided.length, rows.length)
  near(evaluation.votes?.people.value, meanOf(decided, agreed))
  near(evaluation.votes?.scores.value, meanOf(decided, isLike))
  const odd = rows.filter(({ metadata }) => (JSON.parse(metadata!) as { topic: string }).topic === "odd")
  const slice = evaluation.slices.find(({ by, value }) => by === "metadata.topic" && value === "odd")
  near(slice?.accuracy.value, meanOf(odd, isRight))
  const models = rows.filter(({ chosen_index, rejected_index }) => chosen_index + rejected_index === 1)
  near(evaluation.slices.find(({ value }) => value === "alpha / beta")?.accuracy.value, meanOf(models, isRight))
  const losses = rows.map((row) => {
    const difference = scoreOf(numberOf(row), row.chosen_index) - scoreOf(numberOf(row), row.rejected_index)
    return Math.log(1 + Math.exp(-difference))
  })
  near(evaluation.calibration.log_loss ?? undefined, losses.reduce((sum, loss) => sum + loss, 0) / losses.length)
  assert.strictEqual(
    evaluation.calibration.bins.reduce((sum, { pairs }) => sum + pairs, 0),
    rows.length,
  )
})

test("scores by completion, by pair, and in the order of the pairs give the same numbers, as CSV and JSON Lines", function* () {
  const directory = yield* imported
  const rows = yield* pairsOf(directory)
  const expected = yield* evaluated(directory, "--scores", `${directory}/scores.jsonl`)
  const pairScores = (row: PreferencePair) =>
    [row.chosen_index, row.rejected_index].map((index) => scoreOf(numberOf(row), index))
  const forms = {
    "completions.csv": [
      "item_id,completion_index,score",
      ...items.flatMap(({ id }, i) => [0, 1, 2].map((c) => `${id},${c},${scoreOf(i, c)}`)).toReversed(),
    ],
    "pairs.jsonl": rows.toReversed().map((row) => {
      const [chosen_score, rejected_score] = pairScores(row)
      const { chosen_index, item_id, rejected_index } = row
      return { item_id, chosen_index, rejected_index, chosen_score, rejected_score }
    }),
    "order.jsonl": rows.map((row) => {
      const [scores_chosen, scores_rejected] = pairScores(row)
      return { scores_chosen, scores_rejected }
    }),
  }
  for (const [name, lines] of Object.entries(forms)) {
    yield* write(`${directory}/${name}`, lines)
    assert.deepStrictEqual(yield* evaluated(directory, "--scores", `${directory}/${name}`), expected, name)
  }
})

test("writes the items on which scores and experts differ, which run reads, and a report with the section", function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* imported
  const files = ["--disputed", `${directory}/next.jsonl`, "--report", `${directory}/report.html`]
  const args = ["evaluate", `${directory}/dataset`, "--scores", `${directory}/scores.jsonl`, ...files]
  const said = yield* cli(args).pipe(ends(0))
  assert.match(said.stdout, /scores +60 +\d\d\.\d% \(\d\d\.\d% to \d\d\.\d%\)\n +longer wins/)
  const rows = yield* pairsOf(directory)
  const wrong = new Set(rows.filter((row) => isRight(row) === 0).map(({ item_id }) => item_id))
  const disputed = yield* readRows<(typeof items)[number]>(`${directory}/next.jsonl`)
  assert.deepStrictEqual(new Set(disputed.map(({ id }) => id)), wrong)
  for (const { completions, id, models } of disputed) {
    const item = items[Number(id.slice(5))]!
    assert.deepStrictEqual([completions, models], [item.completions, item.models])
  }
  yield* cli(["validate", `${directory}/next.jsonl`]).pipe(ends(0))
  assert.include(yield* fs.readFileString(`${directory}/report.html`), '"evaluation":{"pairs":')
  yield* cli(["verify", `${directory}/dataset`]).pipe(ends(0))
})

describe("an endpoint", () => {
  /** Serves the scores in the forms of vLLM and Text Embeddings Inference. The first request fails with 503. */
  const endpoint = ScriptedService.make((request, before) => {
    if (before.length === 0) return { status: 503 }
    const body = JSON.parse(request.body) as {
      messages?: ReadonlyArray<{ role: string; content: string }>
      text_2?: string
      inputs?: ReadonlyArray<readonly [string, string]>
    }
    const text = body.messages?.at(-1)?.content ?? body.text_2 ?? body.inputs![0]![1]
    const [, item, completion] = /Answer (\d+) (\d)/.exec(text)!
    const score = scoreOf(Number(item), Number(completion))
    const answers: { readonly [path: string]: unknown } = {
      "/pooling": { object: "list", data: [{ index: 0, object: "pooling", data: [[0.1], [score]] }] },
      "/v1/score": { object: "list", data: [{ index: 0, object: "score", score }] },
      "/predict": [[{ score, label: "LABEL_0" }]],
    }
    const refusal = { error: "no such path", sent: request.headers.authorization }
    return { status: 200, body: answers[request.path] ?? refusal }
  })

  test("is asked about each completion once, and gives the numbers of the file", function* () {
    const directory = yield* imported
    const expected = yield* evaluated(directory, "--scores", `${directory}/scores.jsonl`)
    const { baseUrl, received } = yield* endpoint
    const url = new URL(baseUrl).origin
    for (const path of ["/pooling", "/v1/score", "/predict"]) {
      const args = ["evaluate", `${directory}/dataset`, "--json", "--scores", `${url}${path}`, "--model", "reward"]
      const { stdout } = yield* cli(args, { PREFSTREAM_SCORES_API_KEY: "key-1" }).pipe(ends(0))
      assert.deepStrictEqual(JSON.parse(stdout), expected)
      const requests = received.filter((request) => request.path === path)
      assert.strictEqual(requests.length, 3 * items.length + (path === "/pooling" ? 1 : 0))
    }
    assert.deepStrictEqual([...new Set(received.map(({ headers }) => headers.authorization))], ["Bearer key-1"])
    yield* cli(["evaluate", `${directory}/dataset`, "--scores", `${url}/other/score`]).pipe(
      ends(1, /\/other\/score: expected a score, found \{"error":"no such path"/),
    )
    const secret = [
      "evaluate",
      `${directory}/dataset`,
      "--scores",
      `${url.replace("//", "//user:word@")}/other/score?key=query`,
    ]
    const { stderr } = yield* cli(secret, { PREFSTREAM_SCORES_API_KEY: "key-1" }).pipe(ends(1, /expected a score/))
    for (const part of ["key-1", "word", "query"]) assert.notInclude(stderr, part)
    const open = ["evaluate", `${directory}/dataset`, "--scores", "http://models.example/score"]
    yield* cli(open, { PREFSTREAM_SCORES_API_KEY: "key-1" }).pipe(ends(1, /expected https, because a key is sent/))
  })
})

test("refuses scores that it cannot use, with line and field", function* () {
  const directory = yield* imported
  const rows = yield* pairsOf(directory)
  const id = { item_id: "item-0" }
  for (const [lines, why] of [
    [[{ ...id, scores: [1, "x"] }], /bad\.jsonl:1: scores\[1\]: expected a finite number, found "x"/],
    [[{ ...id, score: 1 }], /bad\.jsonl:1: completion_index: expected an index of 0 or greater, found nothing/],
    [['{"item_id":"item-0","scores":[NaN,1]}'], /:1: scores\[0\]: expected a finite number, found null or NaN/],
    [[{ id: "item-0", reward: 1 }], /bad\.jsonl:1: expected item_id and scores.*found no score/],
    [
      [1, 2].map((score) => ({ ...id, completion_index: 0, score })),
      /bad\.jsonl:2: a completion has two scores: 1 in an earlier record, and 2 in this one/,
    ],
    [
      [{ chosen_score: 1, rejected_score: 0 }],
      new RegExp(`in the order of the pairs: expected ${rows.length} records, found 1 record`),
    ],
    [
      [{ item_id: "another", scores: [1, 2] }],
      /the scores match no pair of the dataset: expected records with .* of its pairs, found 1 item, such as another/,
    ],
  ] as const) {
    yield* write(`${directory}/bad.jsonl`, lines)
    yield* cli(["evaluate", `${directory}/dataset`, "--scores", `${directory}/bad.jsonl`]).pipe(ends(1, why))
  }
  yield* write(`${directory}/some.jsonl`, [{ item_id: "item-1", scores: [1, 2, 3] }])
  const { pairs, unscored } = yield* evaluated(directory, "--scores", `${directory}/some.jsonl`)
  assert.deepStrictEqual([pairs, pairs + unscored], [2, rows.length])
  yield* cli(["evaluate", `${directory}/dataset`]).pipe(ends(2, /--scores/))
  yield* cli(["evaluate", `${directory}/dataset`, "--scores", "missing.jsonl"]).pipe(
    ends(1, /missing\.jsonl: there is no such file/),
  )
})

test("says how many items with scores have no pair, and names the first", function* () {
  const directory = yield* imported
  const extra = Array.from({ length: 7 }, (_, i) => ({ item_id: `lost-${i}`, scores: [1, 2, 3] }))
  const file = `${directory}/more.jsonl`
  yield* write(file, [{ item_id: "item-1", scores: [1, 2, 3] }, ...extra])
  const { unmatched } = yield* evaluated(directory, "--scores", file)
  assert.deepStrictEqual(unmatched, { items: 7, first: [0, 1, 2, 3, 4].map((i) => `lost-${i}`) })
  const { stdout } = yield* cli(["evaluate", `${directory}/dataset`, "--scores", file]).pipe(ends(0))
  assert.include(stdout, "\n7 items with scores have no pair: lost-0, lost-1, lost-2, lost-3, lost-4, …\n")
})

test("names the line and column of a decimal comma, or the line whose cells it splits", function* () {
  const directory = yield* imported
  for (const [lines, why] of [
    [["item_id;completion_index;score", "item-0;0;0,5"], /:2: score: expected a finite number, found "0,5", with a decimal comma: write a decimal point/],
    [["item_id,chosen_score,rejected_score,chosen_index,rejected_index", 'item-0,1.5,"1,5",0,1'], /:2: rejected_score: .*found "1,5", with a decimal comma/],
    [["item_id,completion_index,score", "item-0,0,0,5", "item-0,1,0,5"], /scores\.csv:2: expected .*; a decimal comma would split a number into two cells: write a decimal point/],
    [["item_id,chosen_index,rejected_index,chosen_score,rejected_score", "item-0,1,0,0,5,1,5"], /:2: expected 5 cells as in the header, found 7; a decimal comma/],
  ] as const) {
    yield* write(`${directory}/scores.csv`, lines)
    yield* cli(["evaluate", `${directory}/dataset`, "--scores", `${directory}/scores.csv`]).pipe(ends(1, why))
  } // prettier-ignore
})

/** Imports votes such as `first` and `tie` on pairs of completions, and exports them. */
const voted = Effect.fnUntraced(function* (directory: string, votes: ReadonlyArray<ReadonlyArray<string>>) {
  const records = votes.map((choices, i) => ({
    id: `item-${i}`,
    prompt: `Question ${i * 7919}?`,
    completions: [`One ${i}`, `Two ${i}`],
    votes: choices.map((choice, v) => ({ expert: voters[v], choice })),
  }))
  yield* importVotes(directory, records)
  yield* cli(["export", "--dir", directory]).pipe(ends(0))
  const scores = records.map(({ id }) => ({ item_id: id, scores: [1, 0] }))
  yield* write(`${directory}/scores.jsonl`, scores)
})

test("the human ceiling counts only items on which no vote is a tie", function* () {
  const directory = yield* temporaryDirectory
  const tied = [
    ["first", "tie"],
    ["tie", "second", "second"],
  ]
  yield* voted(`${directory}/tied`, tied)
  assert.isNull((yield* evaluated(`${directory}/tied`, "--scores", `${directory}/tied/scores.jsonl`)).votes)
  yield* voted(`${directory}/some`, [["first", "first", "second"], ["second", "second"], ...tied])
  const { votes } = yield* evaluated(`${directory}/some`, "--scores", `${directory}/some/scores.jsonl`)
  assert.strictEqual(votes?.people.items, 2)
  assert.approximately(votes!.people.value, (1 / 3 + 1) / 2, 1e-12)
  assert.approximately(votes!.scores.value, (2 / 3 + 0) / 2, 1e-12)
})

test("writes all disputed items, not only as many as the evaluation lists, and gives their number", function* () {
  const directory = yield* temporaryDirectory
  const ids = Array.from({ length: 130 }, (_, i) => i)
  yield* voted(
    directory,
    ids.map((i) => [i % 13 === 0 ? "first" : "second"]),
  )
  const differenceOf = (i: number) => 1 + ((i * 7) % 130)
  const scores = ids.map((i) => ({ item_id: `item-${i}`, scores: [differenceOf(i), 0] }))
  yield* write(`${directory}/scores.jsonl`, scores)
  const files = ["--disputed", `${directory}/next.jsonl`]
  const args = ["evaluate", `${directory}/dataset`, "--scores", `${directory}/scores.jsonl`, "--json", ...files]
  const { stderr, stdout } = yield* cli(args).pipe(ends(0))
  const expected = ids.filter((i) => i % 13 !== 0).toSorted((a, b) => differenceOf(b) - differenceOf(a))
  const written = yield* readRows(`${directory}/next.jsonl`)
  assert.deepStrictEqual(
    written.map(({ id }) => id),
    expected.map((i) => `item-${i}`),
  )
  const evaluation = JSON.parse(stdout) as Evaluation
  assert.strictEqual(evaluation.disagreements.length, 100)
  assert.deepStrictEqual(evaluation.disputed, { pairs: 120, items: 120, with_tools: 0 })
  assert.include(stderr, "120 items on which scores and experts differ: ")
})

test("records in the order of the pairs need a single split, whose order they have", function* () {
  const directory = yield* imported
  yield* cli(["export", "--dir", directory, "--ties", "keep", "--split", "test=0.3"]).pipe(ends(0))
  const orderOf = Effect.fnUntraced(function* (split: string, file: string) {
    const rows = yield* readRows<PreferencePair>(`${directory}/dataset/jsonl/${split}-00000-of-00001.jsonl`)
    const records = rows.map((row) => ({
      chosen_score: scoreOf(numberOf(row), row.chosen_index),
      rejected_score: scoreOf(numberOf(row), row.rejected_index),
    }))
    return yield* write(file, records)
  })
  const file = `${directory}/order.jsonl`
  yield* orderOf("test", file)
  yield* cli(["evaluate", `${directory}/dataset`, "--scores", file]).pipe(
    ends(
      1,
      /order\.jsonl: without item_id, the records must be in the order .* of one split\. The dataset has the splits train and test: set --split, or/,
    ),
  )
  const flags = ["--split", "test", "--scores"]
  assert.deepStrictEqual(
    yield* evaluated(directory, ...flags, file),
    yield* evaluated(directory, ...flags, `${directory}/scores.jsonl`),
  )
})

test("reads the dataset of a job's folder, and refuses a field that no item has", function* () {
  const directory = yield* imported
  const scores = ["--scores", `${directory}/scores.jsonl`]
  assert.deepStrictEqual(yield* printed(["evaluate", directory, ...scores]), yield* evaluated(directory, ...scores))
  yield* cli(["evaluate", directory, ...scores, "--by", "topics"]).pipe(
    ends(2, /--by topics: expected a field of the items' metadata, but no item has this field/),
  )
})

it.effect("pairs of a dataset without decided_votes have no human ceiling, and are counted", () =>
  Effect.gen(function* () {
    const scored = [2, 3, null].map((decided_votes, i) => {
      const votes = { votes: 3, agreement: 2 / 3, vote_margin: 1 / 3, decided_votes }
      return [pair(i, votes), { chosen: 1, rejected: 0 }] as const
    })
    const { unknown_ties, votes } = yield* Scored.of(Stream.fromIterable(scored))
    assert.strictEqual(unknown_ties, 1)
    assert.strictEqual(votes?.people.items, 1)
  }),
)
