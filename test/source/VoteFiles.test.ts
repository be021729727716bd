/** Exports of annotation tools in their documented shapes, and how choices are read. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Result, Stream } from "effect"
import * as Source from "../../src/source/Source.ts"
import * as Choice from "../../src/source/vote/Choice.ts"
import { temporaryDirectory, test } from "../support/job.ts"

const sourceOf = Effect.fnUntraced(function* (records: ReadonlyArray<unknown>) {
  const fs = yield* FileSystem.FileSystem
  const file = `${yield* temporaryDirectory}/export.json`
  yield* fs.writeFileString(file, JSON.stringify(records))
  return Source.votes(file)
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

describe("exports of annotation tools", () => {
  test("Label Studio: pairwise, with several annotators and one who skipped", () =>
    Effect.gen(function* () {
      const result = (selected: string) => ({
        from_name: "pw",
        to_name: "text1",
        type: "pairwise",
        value: { selected },
      })
      const comment = { from_name: "why", to_name: "text1", type: "textarea", value: { text: ["clearer"] } }
      const { layout, votes } = yield* read([
        {
          id: 7,
          data: { prompt: "P", answer1: "one", answer2: "two" },
          annotations: [
            {
              id: 1,
              completed_by: 10,
              result: [result("right"), comment],
              was_cancelled: false,
              lead_time: 4.2,
              created_at: "2026-01-02T03:04:05Z",
            },
            { id: 2, completed_by: { id: 11, email: "b@example.com" }, result: [result("left")], was_cancelled: false },
            { id: 3, completed_by: 12, result: [result("left")], was_cancelled: true },
          ],
          predictions: [],
        },
      ])
      assert.match(layout, /^Label Studio: wide: prompt at "prompt", completions at "answer1" and "answer2"/)
      assert.deepStrictEqual(votes[0]?.item.completions, ["one", "two"])
      assert.deepStrictEqual(votes[0]?.votes, [
        { expert: "10", choice: 1, seconds: 4.2, rationale: "clearer", judged_at: "2026-01-02T03:04:05Z" },
        { expert: "11", choice: 0 },
      ])
    }))

  test("Label Studio: what was judged there counts, not the labels that its data had before", () =>
    Effect.gen(function* () {
      const { votes } = yield* read(
        [0, 1, 0, 1].map((winner, i) => ({
          id: i,
          data: {
            prompt: `P${i}`,
            response_a: "one",
            response_b: "two",
            winner: "response_a",
            winner_model_a: 1 - winner,
            winner_model_b: winner,
            winner_tie: 0,
          },
          annotations: [
            { completed_by: 7, result: [{ type: "choices", value: { choices: [winner === 0 ? "b" : "a"] } }] },
          ],
        })),
      )
      assert.deepStrictEqual(
        votes.map((item) => item.votes.map(({ choice, expert }) => [expert, choice])),
        [[["7", 1]], [["7", 0]], [["7", 1]], [["7", 0]]],
      )
    }))

  test("Label Studio: ranker, in order and in buckets", () =>
    Effect.gen(function* () {
      const items = ["a", "b", "c"].map((id) => ({ id, title: `Title ${id}`, body: `Body ${id}` }))
      const ranked = (ranker: unknown) => [{ from_name: "rank", to_name: "results", type: "ranker", value: { ranker } }]
      const { votes } = yield* read([
        {
          id: 1,
          data: { prompt: "P", items },
          annotations: [
            { completed_by: 1, result: ranked({ rank: ["c", "a", "b"] }) },
            { completed_by: 2, result: ranked(["b", "a", "c"]) },
            { completed_by: 3, result: ranked({ _: ["c"], good: ["a", "b"] }) },
          ],
        },
      ])
      assert.deepStrictEqual(votes[0]?.item.completions, ["Body a", "Body b", "Body c"])
      assert.deepStrictEqual(
        votes[0]?.votes.map(({ ranking }) => ranking),
        [
          [[2], [0], [1]],
          [[1], [0], [2]],
          [[0, 1], [2]],
        ],
      )
    }))

  test("Argilla: records of a dataset, with a ranking and a rationale", () =>
    Effect.gen(function* () {
      const ranking = ["response-2", "response-1"].map((value, i) => ({ value, rank: i + 1 }))
      const { layout, votes } = yield* read([
        {
          id: "r1",
          fields: { prompt: "P", "response-1": "one", "response-2": "two" },
          metadata: {},
          suggestions: {},
          responses: {
            ranking: [
              { value: ranking, user_id: "u1" },
              { value: ranking.toReversed().map((one, i) => ({ ...one, rank: i + 1 })), user_id: "u2" },
              { value: ranking.map((one) => ({ ...one, rank: 1 })), user_id: "u3" },
            ],
            rationale: [{ value: "better", user_id: "u1" }],
          },
          vectors: {},
          status: "completed",
          _server_id: "s",
        },
      ])
      assert.match(layout, /^Argilla: /)
      assert.deepStrictEqual(votes[0]?.votes, [
        { expert: "u1", choice: 1, ranking: [[1], [0]], rationale: "better" },
        { expert: "u2", choice: 0, ranking: [[0], [1]] },
        { expert: "u3", choice: 1, ranking: [[1, 0]] },
      ])
    }))

  test("Argilla: a ranking as a list of names, as the SDK writes it, beside labels, which are lists, too", () =>
    Effect.gen(function* () {
      const { votes } = yield* read([
        {
          id: "r1",
          fields: { prompt: "P", "response-1": "one", "response-2": "two" },
          responses: {
            tags: [{ value: ["short", "polite"], user_id: "u1" }],
            ranking: [
              { value: ["response-2", "response-1"], user_id: "u1" },
              { value: ["response-1", "response-2"], user_id: "u2" },
            ],
          },
        },
      ])
      assert.deepStrictEqual(votes[0]?.votes, [
        { expert: "u1", choice: 1, ranking: [[1], [0]] },
        { expert: "u2", choice: 0, ranking: [[0], [1]] },
      ])
    }))

  test("Argilla: a ranking that names a completion twice, or leaves one out, is refused", () =>
    Effect.gen(function* () {
      const ranked = (...value: ReadonlyArray<string>) => ({
        id: value.join(),
        fields: { prompt: "P", response_a: "one", response_b: "two", response_c: "three" },
        responses: { ranking: [{ value, user_id: "u1" }] },
      })
      const records = yield* readAll([ranked("response_a", "response_a"), ranked("response_b", "response_a")])
      for (const record of records) {
        assert.match(
          Result.isFailure(record) ? record.failure.reason : "",
          /^ranking: expected each of 3 completions once, found /,
        )
      }
    }))

  test("Argilla: flat records, and a feedback dataset of the Hub, whose drafts and discarded answers do not count", () =>
    Effect.gen(function* () {
      const flat = yield* read([
        {
          id: "r1",
          prompt: "P",
          response_a: "one",
          response_b: "two",
          "preference.responses": ["response_b", "response_a", "tie"],
          "preference.responses.users": ["u1", "u2", "u3"],
          "preference.responses.status": ["submitted", "draft", "submitted"],
        },
      ])
      assert.deepStrictEqual(flat.votes[0]?.votes, [
        { expert: "u1", choice: 1 },
        { expert: "u3", choice: 0, ranking: [[0, 1]] },
      ])
      const columns = { user_id: ["u1", "u2"], value: ["response_a", "response_b"], status: ["submitted", "discarded"] }
      const hub = yield* read([
        {
          prompt: "P",
          response_a: "one",
          response_b: "two",
          preference: columns,
          "preference-suggestion": null,
          external_id: "e1",
        },
        {
          prompt: "Q",
          response_a: "one",
          response_b: "two",
          preference: [{ user_id: "u1", value: "response_b", status: "submitted" }],
          external_id: "e2",
        },
      ])
      assert.deepStrictEqual(
        hub.votes.map(({ item, votes }) => [item.id, votes]),
        [
          ["e1", [{ expert: "u1", choice: 0 }]],
          ["e2", [{ expert: "u1", choice: 1 }]],
        ],
      )
    }))

  test("Argilla: records as its server has them", () =>
    Effect.gen(function* () {
      const response = (user_id: string, status: string, said: { readonly [question: string]: string }) => ({
        user_id,
        status,
        values: Object.fromEntries(Object.entries(said).map(([question, value]) => [question, { value }])),
      })
      const { layout, votes } = yield* read([
        {
          id: "r1",
          fields: { prompt: "P", response1: "one", response2: "two" },
          external_id: null,
          responses: [
            response("u1", "submitted", { preference: "response1", why: "shorter" }),
            response("u2", "submitted", { preference: "response2" }),
            response("u3", "discarded", { preference: "response2" }),
          ],
        },
      ])
      assert.match(layout, /^Argilla \(server\): /)
      assert.strictEqual(votes[0]?.item.id, "r1")
      assert.deepStrictEqual(votes[0]?.votes, [
        { expert: "u1", choice: 0, rationale: "shorter" },
        { expert: "u2", choice: 1 },
      ])
    }))

  test("Argilla: records that nobody answered are rejected, and hide no others", () =>
    Effect.gen(function* () {
      const record = (prompt: string, preference: ReadonlyArray<unknown>) => ({
        prompt,
        response1: "one",
        response2: "two",
        preference,
        external_id: null,
      })
      const source = yield* sourceOf([
        record("Q", []),
        record("P", [{ user_id: "u1", value: "response2", status: "submitted" }]),
      ])
      const found = yield* Effect.scoped(Stream.runCollect(source.records))
      assert.deepStrictEqual(
        found.map(Result.match({ onFailure: ({ reason }) => reason, onSuccess: ({ votes }) => votes })),
        ["votes: expected at least one vote, found none", [{ expert: "u1", choice: 1 }]],
      )
    }))

  test("Label Studio: JSON-MIN and CSV, a record per annotation", () =>
    Effect.gen(function* () {
      const record = (id: number, annotator: number | string, said: object) => ({
        prompt: `P ${id}`,
        text1: "one",
        text2: "two",
        id,
        ...said,
        annotator,
        annotation_id: 70 + id,
        created_at: "2026-01-02T03:04:05Z",
        updated_at: "2026-01-02T03:05:05Z",
        lead_time: 6.5,
      })
      const records = [
        record(1, 3, { pw: [{ selected: "left" }], why: "clearer" }),
        record(1, 4, { pw: [{ selected: "right" }], why: "shorter" }),
      ]
      const expected = ["clearer", "shorter"].map((rationale, choice) => ({
        expert: String(3 + choice),
        choice,
        seconds: 6.5,
        rationale,
        judged_at: "2026-01-02T03:04:05Z",
      }))
      const { layout, votes } = yield* read(records)
      assert.match(layout, /^Label Studio \(flat\): /)
      assert.deepStrictEqual(
        votes.flatMap(({ votes }) => votes),
        expected,
      )
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* temporaryDirectory}/export.csv`
      const cell = (value: unknown) =>
        `"${(typeof value === "string" ? value : JSON.stringify(value)).replaceAll('"', '""')}"`
      const lines = [Object.keys(records[0]!), ...records.map((one) => Object.values(one).map(cell))]
      yield* fs.writeFileString(file, lines.map((cells) => cells.join(",")).join("\n"))
      const found = yield* Effect.scoped(Stream.runCollect(Source.votes(file).records))
      assert.deepStrictEqual(
        found.map((one) => Result.getOrThrow(one)).map(({ item, votes }) => [item.id, item.completions, votes[0]]),
        expected.map((vote) => ["1", ["one", "two"], vote]),
      )
    }))

  test("Label Studio: JSON-MIN with a ranker", () =>
    Effect.gen(function* () {
      const items = ["a", "b", "c"].map((id) => ({ id, body: `Body ${id}` }))
      const { votes } = yield* read([
        {
          prompt: "P",
          items,
          id: 1,
          rank: [{ ranker: ["c", "a", "b"] }],
          annotator: 1,
          annotation_id: 2,
          lead_time: 3,
        },
      ])
      assert.deepStrictEqual(votes[0]?.votes[0].ranking, [[2], [0], [1]])
    }))

  test("Label Studio: the template's names, and exports of versions before 1", () =>
    Effect.gen(function* () {
      const record = (id: number, selected: string, name: string) => ({
        id,
        data: { prompt: `P ${id}`, text1: "one", text2: "two" },
        [name]: [{ completed_by: 1, result: [{ type: "pairwise", value: { selected } }] }],
      })
      const { votes } = yield* read([record(1, "left", "annotations"), record(2, "right", "completions")])
      assert.deepStrictEqual(
        votes.map(({ item, votes }) => [item.completions, votes]),
        [
          [["one", "two"], [{ expert: "1", choice: 0 }]],
          [["one", "two"], [{ expert: "1", choice: 1 }]],
        ],
      )
    }))
})

describe("choices", () => {
  for (const [first, second] of [
    ["response_a", "response_b"],
    ["output1", "output2"],
    ["answer_left", "answer_right"],
    ["completion_model_a", "completion_model_b"],
  ] as const) {
    test(`places are those of the names, whatever the order of the members: ${first}`, () =>
      Effect.gen(function* () {
        for (const winners of [
          [1, 2],
          ["left", "right"],
          ["A", "b"],
          [first, second],
        ]) {
          if (winners[0] === "A" && !first.endsWith("a")) continue
          const { votes } = yield* read(
            winners.map((winner, i) => ({ prompt: `P ${i}`, [second]: "two", [first]: "one", winner })),
          )
          assert.deepStrictEqual(
            votes.map(({ item, votes }) => [item.completions, votes[0]?.choice]),
            [0, 1].map((choice) => [["one", "two"], choice]),
            JSON.stringify(winners),
          )
        }
      }))
  }

  test("the models' columns go with those of the completions", () =>
    Effect.gen(function* () {
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
      assert.deepStrictEqual(
        votes.map(({ votes }) => votes[0]?.choice),
        [0, 1, 0, 1],
      )
    }))

  it("an exact name goes before what is derived from names and places", () => {
    const read = Choice.reader({}, ["response_b", "response_a"])
    const of = (value: unknown, models?: ReadonlyArray<string>) =>
      Result.map(read(value, { completions: ["x", "y"], models }), (chosen) => chosen?.choice)
    assert.deepStrictEqual(of("response_b"), Result.succeed(0))
    assert.deepStrictEqual(of("A"), Result.succeed(1))
    assert.deepStrictEqual(of("b", ["a", "b"]), Result.succeed(1))
    assert.deepStrictEqual(of("left", ["right", "left"]), Result.succeed(1))
  })

  it("a value that names none or several completions is refused", () => {
    const read = Choice.reader({}, ["response_a", "response_b"])
    const of = (value: unknown, models?: ReadonlyArray<string>) =>
      Result.map(read(value, { completions: ["x", "y"], models }), (chosen) => chosen?.choice)
    assert.deepStrictEqual(of("model_b"), Result.succeed(1))
    assert.deepStrictEqual(of("y"), Result.succeed(1))
    assert.deepStrictEqual(of("left"), Result.succeed(0))
    assert.deepStrictEqual(of("tie (bothbad)"), Result.succeed(undefined))
    assert.deepStrictEqual(of("gpt", ["gpt", "claude"]), Result.succeed(0))
    for (const value of ["z", "", null, { a: 1 }, "none", "neither", 1, "2"])
      assert.isTrue(Result.isFailure(of(value)), JSON.stringify(value))
    assert.isTrue(Result.isFailure(of("gpt", ["gpt", "gpt"])))
    assert.deepStrictEqual(
      Choice.reader({ kind: "scale" }, undefined)(-2, { completions: ["x", "y"] }),
      Result.succeed({ choice: 0, strength: 2 }),
    )
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
    const fs = yield* FileSystem.FileSystem
    const file = `${yield* temporaryDirectory}/votes.jsonl`
    const plain = (i: number) => `{"id":"i${i}","prompt":"p${i}","completions":["a","b"],"choice":0,"expert":"e"}`
    yield* fs.writeFileString(file, `${plain(1)}\n${plain(2).slice(0, -1)},${odd}}\n${plain(3)}\n`)
    return yield* Effect.scoped(Stream.runCollect(Source.votes(file, { votes: { choiceAs: "index" } }).records))
  })

  test("a record of too many levels is one reject, wherever they are", () =>
    Effect.gen(function* () {
      const nested = `${"[".repeat(6_000)}${"]".repeat(6_000)}`
      for (const name of ["choice", "expert", "rationale", "seconds", "flags", "aspects", "ranking", "decision"]) {
        const records = yield* votesIn(`"${name}":${nested}`)
        assert.deepStrictEqual(
          records.map((record) => (Result.isSuccess(record) ? "vote" : record.failure.reason)),
          ["vote", "the record: expected at most 100 levels of nesting, found more", "vote"],
          name,
        )
      }
    }))

  test("lists and objects that have no text of their own stop nothing", () =>
    Effect.gen(function* () {
      const odd = '{"toString":1,"valueOf":2}'
      for (const name of ["choice", "expert", "rationale", "seconds", "ranked", "judged_at", "strength"]) {
        for (const value of [odd, `[${odd}]`]) {
          const [first, , last] = yield* votesIn(`"${name}":${value}`)
          assert.isTrue(Result.isSuccess(first!) && Result.isSuccess(last!), name)
        }
      }
    }))
})
