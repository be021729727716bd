/** Exports of annotation tools in their documented shapes, and how choices are read. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import * as Source from "../../src/source/Source.ts"
import * as Choice from "../../src/source/vote/Choice.ts"
import * as Convert from "../support/convert.ts"
import { test, writeFiles } from "./support.ts"

const sourceOf = Effect.fnUntraced(function* (records: ReadonlyArray<unknown>) {
  const [file] = yield* writeFiles({ "export.json": JSON.stringify(records) })
  return Source.votes(file!)
})

const readAll = Effect.fnUntraced(function* (records: ReadonlyArray<unknown>) {
  const source = yield* sourceOf(records)
  return yield* Effect.scoped(Stream.runCollect(source.records))
})

const read = Effect.fnUntraced(function* (records: ReadonlyArray<unknown>) {
  const source = yield* sourceOf(records)
  const summary = yield* source.summary
  const found = yield* Effect.scoped(Stream.runCollect(source.records))
  return { layout: summary.layout ?? "", votes: found.map((record) => Result.getOrThrow(record)) }
})

const judged = "2026-01-02T03:04:05Z"
const pairwise = (selected: string) => ({ from_name: "pw", to_name: "text1", type: "pairwise", value: { selected } })
const task = (data: object, ...annotations: ReadonlyArray<object>) => ({ id: 7, data, annotations })
const annotation = (completed_by: unknown, ...result: ReadonlyArray<object>) => ({ completed_by, result })
const bodies = ["a", "b", "c"].map((id) => ({ id, title: `Title ${id}`, body: `Body ${id}` }))
const pair = { prompt: "P", response_a: "one", response_b: "two" }
const argilla = { prompt: "P", "response-1": "one", "response-2": "two" }
const ranking = ["response-2", "response-1"].map((value, i) => ({ value, rank: i + 1 }))
/** Of the users `u1`, `u2` and so on, in Argilla's export. */
const answers = (...values: ReadonlyArray<unknown>) => values.map((value, i) => ({ value, user_id: `u${i + 1}` }))
const byServer = (user_id: string, status: string, said: { readonly [question: string]: string }) => ({
  user_id,
  status,
  values: Object.fromEntries(Object.entries(said).map(([question, value]) => [question, { value }])),
})

describe("exports of annotation tools", () => {
  test.each<readonly [string, ReadonlyArray<unknown>, RegExp, votes: ReadonlyArray<ReadonlyArray<unknown>>]>([
    [
      "Label Studio: pairwise, with several annotators and one who skipped",
      [
        task(
          { prompt: "P", answer1: "one", answer2: "two" },
          {
            ...annotation(10, pairwise("right"), { type: "textarea", value: { text: ["clearer"] } }),
            lead_time: 4.2,
            created_at: judged,
          },
          annotation({ id: 11, email: "b@example.com" }, pairwise("left")),
          { ...annotation(12, pairwise("left")), was_cancelled: true },
        ),
      ],
      /^Label Studio: wide: prompt at "prompt", completions at "answer1" and "answer2"/,
      [
        [
          { expert: "10", choice: 1, seconds: 4.2, rationale: "clearer", judged_at: judged },
          { expert: "11", choice: 0 },
        ],
      ],
    ],
    [
      "Label Studio: what was judged there counts, not the labels that its data had before",
      [0, 1, 0, 1].map((winner, i) =>
        task(
          { ...pair, prompt: `P${i}`, winner_model_a: 1 - winner, winner_model_b: winner, winner_tie: 0 },
          annotation(7, { type: "choices", value: { choices: [winner === 0 ? "b" : "a"] } }),
        ),
      ),
      /^Label Studio: /,
      [1, 0, 1, 0].map((choice) => [{ expert: "7", choice }]),
    ],
    [
      "Label Studio: ranker, in order and in buckets",
      [
        task(
          { prompt: "P", items: bodies },
          ...[{ rank: ["c", "a", "b"] }, ["b", "a", "c"], { _: ["c"], good: ["a", "b"] }].map((ranker, i) =>
            annotation(i, { type: "ranker", value: { ranker } }),
          ),
        ),
      ],
      /^Label Studio: /,
      [
        [
          { expert: "0", choice: 2, ranking: [[2], [0], [1]] },
          { expert: "1", choice: 1, ranking: [[1], [0], [2]] },
          { expert: "2", choice: 0, ranking: [[0, 1], [2]] },
        ],
      ],
    ],
    [
      "Label Studio: JSON-MIN with a ranker",
      [
        {
          prompt: "P",
          items: bodies,
          rank: [{ ranker: ["c", "a", "b"] }],
          annotator: 1,
          annotation_id: 2,
          lead_time: 3,
        },
      ],
      /^Label Studio \(flat\): /,
      [[{ expert: "1", choice: 2, ranking: [[2], [0], [1]], seconds: 3 }]],
    ],
    [
      "Label Studio: the template's names, and exports of versions before 1",
      (["annotations", "completions"] as const).map((name, i) => ({
        id: i,
        data: { prompt: `P ${i}`, text1: "one", text2: "two" },
        [name]: [{ completed_by: 1, result: [pairwise(["left", "right"][i]!)] }],
      })),
      /^Label Studio: /,
      [[{ expert: "1", choice: 0 }], [{ expert: "1", choice: 1 }]],
    ],
    [
      "Argilla: records of a dataset, with a ranking and a rationale",
      [
        {
          id: "r1",
          fields: argilla,
          responses: {
            ranking: answers(
              ranking,
              ranking.toReversed().map((one, i) => ({ ...one, rank: i + 1 })),
              ranking.map((one) => ({ ...one, rank: 1 })),
            ),
            rationale: answers("better"),
          },
        },
      ],
      /^Argilla: /,
      [
        [
          { expert: "u1", choice: 1, ranking: [[1], [0]], rationale: "better" },
          { expert: "u2", choice: 0, ranking: [[0], [1]] },
          { expert: "u3", choice: 1, ranking: [[1, 0]] },
        ],
      ],
    ],
    [
      "Argilla: a ranking as a list of names, as the SDK writes it, beside labels, which are lists, too",
      [
        {
          id: "r1",
          fields: argilla,
          responses: {
            tags: answers(["short", "polite"]),
            ranking: answers(["response-2", "response-1"], ["response-1", "response-2"]),
          },
        },
      ],
      /^Argilla: /,
      [
        [
          { expert: "u1", choice: 1, ranking: [[1], [0]] },
          { expert: "u2", choice: 0, ranking: [[0], [1]] },
        ],
      ],
    ],
    [
      "Argilla: a rating per completion, as distilabel makes the questions",
      [
        {
          id: "r1",
          fields: { instruction: "P", "generations-0": "one", "generations-1": "two" },
          suggestions: { "generations-0-rating": { value: 5, score: null, agent: "gpt-4" } },
          responses: {
            "generations-0-rating": answers(2, 4),
            "generations-1-rating": answers(5, 4),
            "generations-0-rationale": answers("too short"),
          },
        },
      ],
      /^Argilla: /,
      [
        [
          { expert: "u1", choice: 1, ranking: [[1], [0]] },
          { expert: "u2", choice: 0, ranking: [[0, 1]] },
        ],
      ],
    ],
    [
      "Argilla: flat records, of which drafts do not count",
      [
        {
          id: "r1",
          ...pair,
          "preference.responses": ["response_b", "response_a", "tie"],
          "preference.responses.users": ["u1", "u2", "u3"],
          "preference.responses.status": ["submitted", "draft", "submitted"],
        },
      ],
      /^Argilla/,
      [
        [
          { expert: "u1", choice: 1 },
          { expert: "u3", choice: 0, ranking: [[0, 1]] },
        ],
      ],
    ],
    [
      "Argilla: a feedback dataset of the Hub, whose discarded answers do not count",
      [
        {
          ...pair,
          "preference-suggestion": null,
          external_id: "e1",
          preference: {
            user_id: ["u1", "u2"],
            value: ["response_a", "response_b"],
            status: ["submitted", "discarded"],
          },
        },
        {
          ...pair,
          prompt: "Q",
          external_id: "e2",
          preference: [{ user_id: "u1", value: "response_b", status: "submitted" }],
        },
      ],
      /^Argilla/,
      [[{ expert: "u1", choice: 0 }], [{ expert: "u1", choice: 1 }]],
    ],
    [
      "Argilla: records as its server has them",
      [
        {
          id: "r1",
          fields: { prompt: "P", response1: "one", response2: "two" },
          external_id: null,
          responses: [
            byServer("u1", "submitted", { preference: "response1", why: "shorter" }),
            byServer("u2", "submitted", { preference: "response2" }),
            byServer("u3", "discarded", { preference: "response2" }),
          ],
        },
      ],
      /^Argilla \(server\): /,
      [
        [
          { expert: "u1", choice: 0, rationale: "shorter" },
          { expert: "u2", choice: 1 },
        ],
      ],
    ],
  ])("%s", function* ([, records, layoutLike, expected]) {
    const { layout, votes } = yield* read(records)
    assert.match(layout, layoutLike)
    const found = votes.map(({ votes }) => votes)
    assert.deepStrictEqual<unknown>(found, expected)
    const completions = JSON.stringify(records).includes("Body a") ? ["Body a", "Body b", "Body c"] : ["one", "two"]
    for (const { item } of votes) assert.deepStrictEqual(item.completions, completions)
    const ids = records.map((record) => (record as { external_id?: string }).external_id)
    if (typeof ids[0] === "string") assert.strictEqual(votes.map(({ item }) => item.id).join(), ids.join())
  })

  test("Argilla: a ranking that names a completion twice, or leaves one out, is refused", function* () {
    const ranked = (...value: ReadonlyArray<string>) => ({
      id: value.join(),
      fields: { ...pair, response_c: "three" },
      responses: { ranking: answers(value) },
    })
    const records = yield* readAll([ranked("response_a", "response_a"), ranked("response_b", "response_a")])
    for (const record of records) {
      const reason = Result.isFailure(record) ? record.failure.reason : ""
      assert.match(reason, /^ranking: expected each of 3 completions once, found /)
    }
  })

  test("Argilla: ratings of a part of the completions, or whose numbers are not those of the fields, are refused", function* () {
    const rated = (...questions: ReadonlyArray<string>) => ({
      id: questions.join(),
      fields: { prompt: "P", response_1: "one", response_2: "two", response_3: "three" },
      responses: Object.fromEntries(questions.map((question, i) => [question, answers(i)])),
    })
    const records = yield* readAll([rated("rating_1", "rating_3"), rated("rating_0", "rating_1")])
    const reasons = records.map(Result.match({ onFailure: ({ reason }) => reason, onSuccess: () => "" }))
    assert.match(reasons[0]!, /^ranking: expected each of 3 completions once, found /)
    assert.match(reasons[1]!, /^votes: expected at least one vote, found none/)
  })

  test("Argilla: records that nobody answered are rejected, and hide no others", function* () {
    const record = (prompt: string, preference: ReadonlyArray<unknown>) => ({
      prompt,
      response1: "one",
      response2: "two",
      preference,
      external_id: null,
    })
    const found = yield* readAll([
      record("Q", []),
      record("P", [{ user_id: "u1", value: "response2", status: "submitted" }]),
    ])
    const read = found.map(Result.match({ onFailure: ({ reason }) => reason, onSuccess: ({ votes }) => votes }))
    assert.deepStrictEqual(read, ["votes: expected at least one vote, found none", [{ expert: "u1", choice: 1 }]])
  })

  test("Label Studio: JSON-MIN and CSV, a record per annotation", function* () {
    const record = (annotator: number, said: object) => ({
      prompt: "P 1",
      text1: "one",
      text2: "two",
      id: 1,
      ...said,
      annotator,
      annotation_id: 71,
      created_at: judged,
      updated_at: "2026-01-02T03:05:05Z",
      lead_time: 6.5,
    })
    const records = [
      record(3, { pw: [{ selected: "left" }], why: "clearer" }),
      record(4, { pw: [{ selected: "right" }], why: "shorter" }),
    ]
    const expected = ["clearer", "shorter"].map((rationale, choice) => {
      return { expert: String(3 + choice), choice, seconds: 6.5, rationale, judged_at: judged }
    })
    const { layout, votes } = yield* read(records)
    assert.match(layout, /^Label Studio \(flat\): /)
    const shown = votes.flatMap(({ votes }) => votes)
    assert.deepStrictEqual(shown, expected)
    const [file] = yield* writeFiles({ "export.csv": Convert.csv(records) })
    const found = yield* Stream.runCollect(Source.votes(file!).records)
    assert.deepStrictEqual(
      found.map((one) => Result.getOrThrow(one)).map(({ item, votes }) => [item.id, item.completions, votes[0]]),
      expected.map((vote) => ["1", ["one", "two"], vote]),
    )
  })
})

describe("choices", () => {
  test("the models' columns go with those of the completions", function* () {
    const record = (winner: string) => ({
      prompt: `P ${winner}`,
      response_b: "two",
      response_a: "one",
      model_b: "claude",
      model_a: "gpt",
      winner,
    })
    const { votes } = yield* read(["gpt", "claude", "model_a", "model_b"].map(record))
    assert.deepStrictEqual(votes[0]?.item.models, ["gpt", "claude"])
    const choices = votes.map(({ votes }) => votes[0]?.choice)
    assert.deepStrictEqual(choices, [0, 1, 0, 1])
  })

  const backward = ["response_b", "response_a"]
  const forward = ["response_a", "response_b"]
  it.for<readonly [columns: Array<string>, value: unknown, choice: number | undefined, models?: Array<string>]>([
    // An exact name goes before what is derived from names and places.
    [backward, "response_b", 0],
    [backward, "A", 1],
    [backward, "b", 1, ["a", "b"]],
    [backward, "left", 1, ["right", "left"]],
    [forward, "model_b", 1],
    [forward, "y", 1],
    [forward, "left", 0],
    [forward, "tie (bothbad)", undefined],
    [forward, "gpt", 0, ["gpt", "claude"]],
  ])("of columns %j, %j chooses %j", ([columns, value, choice, models]) => {
    const chosen = Choice.reader({}, columns)(value, { completions: ["x", "y"], models })
    assert.deepStrictEqual<unknown>(Result.getOrThrow(chosen)?.choice, choice)
  })

  it("a value that names none or several completions is refused", () => {
    const read = (value: unknown, models?: ReadonlyArray<string>) =>
      Choice.reader({}, forward)(value, { completions: ["x", "y"], models })
    for (const value of ["z", "", null, { a: 1 }, "none", "neither", 1, "2"])
      assert.isTrue(Result.isFailure(read(value)), JSON.stringify(value))
    assert.isTrue(Result.isFailure(read("gpt", ["gpt", "gpt"])))
    const scale = Choice.reader({ kind: "scale" }, undefined)
    assert.deepStrictEqual(scale(-2, { completions: ["x", "y"] }), Result.succeed({ choice: 0, strength: 2 }))
  })
})

describe("a choice in a record without some of its completions", () => {
  const reader = Choice.reader({ kind: "name" }, ["response_a", "response_b", "response_c"])
  const read = (value: unknown, completions: ReadonlyArray<string>, models?: ReadonlyArray<string>) =>
    reader(value, { completions, models })

  it("is known by a completion's text or model alone", () => {
    const completions = ["two", "three"]
    assert.deepStrictEqual(read("three", completions), Result.succeed({ choice: 1 }))
    assert.deepStrictEqual(read("m2", completions, ["m2", "m3"]), Result.succeed({ choice: 0 }))
    for (const name of ["response_b", "b", "2", 2]) assert.isTrue(Result.isFailure(read(name, completions)))
    assert.deepStrictEqual(read("response_b", ["one", "two", "three"]), Result.succeed({ choice: 1 }))
  })
})

describe("members of any shape", () => {
  const votesIn = Effect.fnUntraced(function* (odd: string) {
    const plain = (i: number) => `{"id":"i${i}","prompt":"p${i}","completions":["a","b"],"choice":0,"expert":"e"}`
    const [file] = yield* writeFiles({ "votes.jsonl": `${plain(1)}\n${plain(2).slice(0, -1)},${odd}}\n${plain(3)}\n` })
    return yield* Stream.runCollect(Source.votes(file!, { votes: { choiceAs: "index" } }).records)
  })

  test("a record of too many levels is one reject, wherever they are", function* () {
    const nested = `${"[".repeat(6_000)}${"]".repeat(6_000)}`
    for (const name of ["choice", "expert", "rationale", "seconds", "flags", "aspects", "ranking", "decision"]) {
      const records = yield* votesIn(`"${name}":${nested}`)
      assert.deepStrictEqual(
        records.map((record) => (Result.isSuccess(record) ? "vote" : record.failure.reason)),
        ["vote", "the record: expected at most 100 levels of nesting, found more", "vote"],
        name,
      )
    }
  })

  test("lists and objects that have no text of their own stop nothing", function* () {
    const odd = '{"toString":1,"valueOf":2}'
    for (const name of ["choice", "expert", "rationale", "seconds", "ranked", "judged_at", "strength"]) {
      for (const value of [odd, `[${odd}]`]) {
        const [first, , last] = yield* votesIn(`"${name}":${value}`)
        assert.isTrue(Result.isSuccess(first!) && Result.isSuccess(last!), name)
      }
    }
  })
})
