/** What labels of public vote files mean: read where there is one reading, asked about otherwise, and read as options say. */
import { assert, describe } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import * as Source from "../../../src/source/Source.ts"
import { csvOf, test, writeFiles } from "../support.ts"

type Row = { readonly [member: string]: unknown }

const sourceOf = Effect.fnUntraced(function* (text: string, name: string, votes: Source.VotesOptions["votes"]) {
  const [file] = yield* writeFiles({ [name]: text })
  return Source.votes(file!, { votes })
})

/** What each record says: the place of the better one, or of all best ones, or the reason why it was rejected. */
const choices = Effect.fnUntraced(function* (text: string, name: string, votes: Source.VotesOptions["votes"] = {}) {
  const source = yield* sourceOf(text, name, votes)
  const found = yield* Effect.scoped(Stream.runCollect(source.records))
  return found.flatMap((record): ReadonlyArray<unknown> =>
    Result.match(record, {
      onFailure: ({ reason }) => [reason],
      onSuccess: ({ votes }) =>
        votes.map(({ all_bad, choice, ranking }) => {
          const best = ranking?.[0] ?? [choice]
          return all_bad === true ? "all bad" : best.length > 1 ? "tie" : best[0]
        }),
    }),
  )
})

const problem = Effect.fnUntraced(function* (text: string, votes: Source.VotesOptions["votes"] = {}) {
  const source = yield* sourceOf(text, "votes.jsonl", votes)
  return (yield* Effect.flip(Effect.scoped(Stream.runCollect(source.records)))).message
})

const jsonl = (rows: ReadonlyArray<Row>): string => rows.map((row) => JSON.stringify(row)).join("\n")

/** A pair in columns of these names, and what is said of it. */
const pair = (
  i: number,
  said: Row,
  [first, second]: readonly [string, string] = ["response_a", "response_b"],
): Row => ({ prompt: `Question ${i}`, [first]: `one ${i}`, [second]: `two ${i}`, ...said })

const rowsOf = (name: string, values: ReadonlyArray<unknown>, columns?: [string, string]) =>
  values.map((value, i) => pair(i, { [name]: value }, columns))

describe("one reading", () => {
  const cases: ReadonlyArray<readonly [what: string, rows: ReadonlyArray<Row>, expected: ReadonlyArray<unknown>]> = [
    ["numbers from 1, as decimals", rowsOf("winner", [1.5 - 0.5, "2.0", "1.0"]), [0, 1, 0]],
    ["numbers beside a tie and an empty cell", rowsOf("winner", [1, "tie", 2, "Tie (both bad)"]), [0, "tie", 1, "all bad"]],
    ["Chatbot Arena", rowsOf("winner", ["model_a", "model_b", "tie", "tie (bothbad)", "both_bad"]), [0, 1, "tie", "all bad", "all bad"]],
    ["verdicts of judges", rowsOf("verdict", ["[[A]]", "[[B]]", "A>B", "B >> A", "A=B", "[[A<<B]]", "[[B>A]]"]), [0, 1, 0, 1, "tie", 1, 1]],
    ["numbers that are compared", rowsOf("verdict", ["1>2", "2>1", "1=2"]), [0, 1, "tie"]],
    ["places in words", rowsOf("preferred", ["first", "Second", "left", "right"]), [0, 1, 0, 1]],
    ["PKU-SafeRLHF: ids that are the columns' numbers", rowsOf("better_response_id", [0, 1, 1], ["response_0", "response_1"]), [0, 1, 1]],
    ["LMSYS on Kaggle: one-hot columns", [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(([a, b, tie], i) => pair(i, { winner_model_a: a, winner_model_b: b, winner_tie: tie })), [0, 1, "tie"]],
    ["one-hot columns, empty instead of 0", [["1", ""], ["", "1"]].map(([a, b], i) => pair(i, { winner_model_a: a, winner_model_b: b })), [0, 1]],
    ["one-hot columns of truth values, before those of the completions", [[true, false], [false, true]].map(([b, a], i) => ({ winner_b: b, winner_a: a, ...pair(i, {}) })), [1, 0]],
    ["a completion's text, also where it is a number", [["4", "5", "5"], ["Paris", "2", "Paris"]].map(([one, two, best], i) => ({ prompt: `Q${i}`, completions: [one, two], choice: best })), [1, 0]],
  ] // prettier-ignore
  for (const [what, rows, expected] of cases) {
    test(what, function* () {
      assert.deepStrictEqual(yield* choices(jsonl(rows), "votes.jsonl"), expected)
      assert.deepStrictEqual(yield* choices(csvOf(rows), "votes.csv"), expected)
    })
  }

  test("a ranking of more than two, by signs", function* () {
    const records = yield* sourceOf(
      jsonl(
        ["B>A=C", "C < A < B", "A>B"].map((verdict, i) => ({ prompt: `Q${i}`, completions: ["x", "y", "z"], verdict })),
      ),
      "votes.jsonl",
      {},
    )
    const found = yield* Effect.scoped(Stream.runCollect(records.records))
    const read = found.map(Result.match({ onFailure: () => "rejected", onSuccess: ({ votes }) => votes[0].ranking }))
    assert.deepStrictEqual(read, [[[1], [0, 2]], [[1], [0], [2]], "rejected"])
  })
})

describe("several readings", () => {
  const cases: ReadonlyArray<
    readonly [what: string, rows: ReadonlyArray<Row>, options: ReadonlyArray<string>]
  > = [
    ["Auto-J and PandaLM: 0, 1, 2", rowsOf("label", [0, 1, 2]), ['`choiceAs: "number"`', '`choiceMap: { "0": "first", "1": "second", "2": "tie" }`']],
    ["SHP: 0 and 1", rowsOf("labels", [0, 1]), ['`choiceAs: "index"`', '`choiceMap: { "0": "second", "1": "first" }`']],
    ["0 and 1 beside a tie", rowsOf("winner", [0, 1, "tie"]), ['`choiceAs: "index"`', '`choiceMap: { "0": "second", "1": "first" }`']],
    ["0 and 1 beside another word", rowsOf("winner", [0, 1, "unsure"], ["response_1", "response_2"]), ['`choiceAs: "index"`', '`choiceMap: { "0": "second", "1": "first" }`']],
    ["0 and 1 as decimals", rowsOf("preference", [0.0, 1.0, 0.0]), ['`choiceAs: "index"`', '`choiceAs: "number"`']],
    ["1 alone", rowsOf("choice", [1, 1]), ['`choiceAs: "index"`', '`choiceAs: "number"`']],
    ["2 alone", rowsOf("choice", [2, 2]), ['`choiceAs: "number"`', '`choiceMap: { "0": "first", "1": "second", "2": "tie" }`']],
    ["HelpSteer3: a scale around 0", rowsOf("overall_preference", [-3, 0, 2]), ['`choiceAs: "scale"`', '`choiceMap: { "0": "tie", "<0": "second", ">0": "first" }`']],
    ["a share", rowsOf("preference", [0.9, 0.25, 0.5]), ['`choiceMap: { "<0.5": "first", "0.5": "tie", ">0.5": "second" }`', '`choiceMap: { "<0.5": "second", "0.5": "tie", ">0.5": "first" }`']],
    ["a scale from 1 to 5", rowsOf("preference", [1, 5, 3]), ['`choiceMap: { "3": "tie", "<3": "first", ">3": "second" }`']],
    ["truth values", rowsOf("preferred", [true, false]), ['`choiceMap: { "true": "first", "false": "second" }`', '`choiceMap: { "true": "second", "false": "first" }`']],
    ["numbers that are also texts of the completions", [0, 1].map((choice) => ({ prompt: `P${choice}`, completions: ["1", "0"], choice })), ['`choiceAs: "index"`', '`choiceAs: "text"`']],
    ["three completions and no ties", [0, 1, 2].map((choice) => ({ prompt: `P${choice}`, completions: ["a", "b", "c"], choice })), ['`choiceAs: "index"`', '`choiceAs: "number"`']],
  ] // prettier-ignore
  for (const [what, rows, options] of cases) {
    test(`${what}, however many there are`, function* () {
      const many = Array.from({ length: 40 }, (_, copy) =>
        rows.map((row) => ({ ...row, prompt: `${String(row["prompt"])}, ${copy}` })),
      )
      for (const some of [rows, many.flat()]) {
        const said = yield* problem(jsonl(some))
        for (const option of options) assert.include(said, `\n  ${option} `)
        assert.match(said, /line 1: .*\n +line \d+: /)
      }
    })
  }

  test("a number below 1 after first records with 1 and 2 ends the import", function* () {
    const rows = rowsOf("label", [...Array.from({ length: 100 }, (_, i) => (i % 2) + 1), 0])
    assert.match(yield* problem(jsonl(rows)), /line 101 has a choice below 1.* `choiceMap`/)
    assert.lengthOf(yield* choices(jsonl(rows), "votes.jsonl", { choiceAs: "number" }), 101)
  })

  test("texts that name nothing, with the map that would read them", function* () {
    const said = yield* problem(jsonl(rowsOf("winner", ["Response 1 is better", "same, more or less"])))
    assert.include(said, '`choiceMap: { "Response 1 is better": "…", "same, more or less": "…" }`')
    const map = { "response 1 is better": "first", "same, more or less": "tie" }
    const rows = rowsOf("winner", ["Response 1 is better", "same, more or less", "neither"])
    const [first, tie, other] = yield* choices(jsonl(rows), "votes.jsonl", { choiceMap: map })
    assert.deepStrictEqual([first, tie], [0, "tie"])
    assert.match(String(other), /^winner: expected a value of `choiceMap` \(.*\), found "neither"$/)
  })

  test("a list of numbers that may be an order or ranks", function* () {
    const ranked = (ranking: unknown, said: Row = {}) => ({
      prompt: "P",
      completions: ["a", "b", "c"],
      ranking,
      ...said,
    })
    const rows = [ranked([1, 2, 0]), ranked([1, 0, 2]), ranked([[1], [2], [0]]), ranked([1, 2, 0], { choice: "b" })]
    const [first, ...others] = yield* choices(jsonl(rows), "votes.jsonl", { choice: "choice" })
    assert.match(String(first), /^ranking: found \[1,2,0\], which has two possible meanings/)
    assert.deepStrictEqual(others, [1, 1, 1])
  })

  test("measures of each completion are suggested, with the options that read them", function* () {
    const said = yield* problem(jsonl([pair(0, { score_a: -0.5, score_b: 0.5 })]))
    assert.include(said, '`choice: ["score_a", "score_b"], choiceAs: "scores"`')
    const answers = ["a", "b"].map((answer, i) => ({ answer, rank: 2 - i }))
    assert.include(yield* problem(jsonl([{ prompt: "P", answers }])), '`choice: "answers[].rank", choiceAs: "ranks"`')
  })
})

describe("as options say", () => {
  type Votes = NonNullable<Source.VotesOptions["votes"]>
  const cases: ReadonlyArray<
    readonly [what: string, rows: ReadonlyArray<Row>, options: Votes, expected: ReadonlyArray<unknown>]
  > = [
    ["SHP", rowsOf("labels", [0, 1]), { choiceMap: { 1: "first", 0: "second" } }, [1, 0]],
    ["a threshold", rowsOf("preference", [0.9, 0.5, "0.25"]), { choiceMap: { ">0.5": "first", "<0.5": "second", 0.5: "tie" } }, [0, "tie", 1]],
    ["comparisons in their order, after exact values", rowsOf("preference", [4, 2, 1, 3]), { choiceMap: { ">=3": "first", ">1": "tie", 3: "all_bad", "<=1": "second" } }, [0, "tie", 1, "all bad"]],
    ["HelpSteer3", rowsOf("overall_preference", [-3, 0, 2]), { choiceAs: "scale" }, [0, "tie", 1]],
    ["a tie of bad ones, and no vote", rowsOf("label", [0, 3, 9]), { choiceMap: { 0: "first", 3: "all_bad", 9: "none" } }, [0, "all bad", "label: expected at least one vote, found none"]],
    ["a column's name", rowsOf("label", ["y", "n"]), { choiceMap: { y: "response_b", n: "response_a" } }, [1, 0]],
    ["an empty cell that is a tie", rowsOf("label", ["A", ""]), { choiceMap: { A: "first", "": "tie" } }, [0, "tie"]],
    ["WebGPT: scores in columns, in another order", [[-0.5, 0.5], [0, 0], [1, -1]].map(([a, b], i) => pair(i, { score_b: b, score_a: a })), { choice: ["score_b", "score_a"], choiceAs: "scores" }, [1, "tie", 0]],
    ["scores whose columns begin like the completions'", [[2, 5], [3, 1]].map(([a, b], i) => pair(i, { response_b_score: b, response_a_score: a })), { choice: ["response_b_score", "response_a_score"], choiceAs: "scores" }, [1, 0]],
    ["scores in columns of which one completion's name begins another's", [[2, 1], [1, 2]].map(([a, b], i) => pair(i, { base_score: a, "base-dpo_score": b }, ["answer_base", "answer_base-dpo"])), { choice: ["base_score", "base-dpo_score"], choiceAs: "scores" }, [0, 1]],
    ["one-hot columns of which one completion's name begins another's", [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(([a, b, tie], i) => pair(i, { "best.gpt-4.first": a, "best.gpt-4-turbo.first": b, best_tie: tie }, ["answer_gpt-4", "answer_gpt-4-turbo"])), { choice: ['["best.gpt-4.first"]', '["best.gpt-4-turbo.first"]', "best_tie"], choiceAs: "one-hot" }, [0, 1, "tie"]],
    ["UltraFeedback: scores in elements", [[5, 8], [7.5, 7.5]].map((scores, i) => ({ prompt: `P${i}`, completions: scores.map((overall_score, n) => ({ response: `r${i}${n}`, overall_score })) })), { choice: "completions[].overall_score", choiceAs: "scores" }, [1, "tie"]],
    ["Nectar: ranks in elements", [{ prompt: "P", answers: [3, 1, 2].map((rank) => ({ answer: `a${rank}`, rank })) }], { choice: "answers[].rank", choiceAs: "ranks" }, [1]],
    ["one-hot columns of other names", [[1, 0, 0], [0, 0, 1]].map(([a, b, n], i) => pair(i, { a_wins: a, b_wins: b, nobody: n })), { choice: ["a_wins", "b_wins", "nobody"], choiceAs: "one-hot", choiceMap: { a_wins: "first", b_wins: "second", nobody: "all_bad" } }, [0, "all bad"]],
    ["a list of flags", [pair(0, { labels: [0, 1] })], { choice: "labels", choiceAs: "one-hot" }, [1]],
    ["a column for each expert, of which one cell means no vote", [pair(0, { ann: 0, bob: 1, cy: -1 })], { choice: ["ann", "bob", "cy"], choiceMap: { 0: "first", 1: "second", "-1": "none" } }, [0, 1]],
    ["Label Studio: a value in a list", [pair(0, { pw: [{ selected: "right" }] })], { choice: "pw" }, [1]],
  ] // prettier-ignore
  for (const [what, rows, options, expected] of cases) {
    test(what, function* () {
      assert.deepStrictEqual(yield* choices(jsonl(rows), "votes.jsonl", options), expected)
      assert.deepStrictEqual(yield* choices(csvOf(rows), "votes.csv", options), expected)
    })
  }

  test("ranks deep in records, beside completions whose names begin alike", function* () {
    const records = [[2, 1], [1, 2]].map(([one, other], i) => ({
        prompt: `Q${i}`,
        questions: [
          { bart: { text: "x", reviews: [{ rank: one }] }, "bart-dpr": { text: "y", reviews: [{ rank: other }] } },
        ],
      })) // prettier-ignore
    const [file] = yield* writeFiles({ "votes.jsonl": jsonl(records) })
    const at = (part: string) => ["bart", "bart-dpr"].map((name) => `questions[0].${name}.${part}`)
    const source = Source.votes(file!, {
      completions: at("text"),
      votes: { choice: at("reviews[0].rank").toReversed(), choiceAs: "ranks" },
    })
    const found = yield* Effect.scoped(Stream.runCollect(source.records))
    assert.deepStrictEqual(
      found.map((one) => Result.getOrThrow(one).votes[0].ranking),
      [
        [[1], [0]],
        [[0], [1]],
      ],
    )
  })

  test("columns of which one names two completions, or two name one, are refused with what each names", function* () {
    const rows = [pair(0, { quality_a: 1, gold_a: 2 })]
    const set = { choice: ["quality_a", "gold_a"], choiceAs: "scores" } as const
    assert.deepStrictEqual(yield* choices(jsonl(rows), "votes.jsonl", set), [
      'quality_a and gold_a: expected one column for each of the 2 completions ("response_a" and "response_b"), but "quality_a" names "response_a" and "gold_a" names "response_a": rename the columns, so that each one names a different completion',
    ])
    const alike = [pair(0, { answer_x: 1, answer_x_c: 2 }, ["answer_x_a", "answer_x_b"])]
    assert.match(
      String(
        (yield* choices(jsonl(alike), "votes.jsonl", { choice: ["answer_x", "answer_x_c"], choiceAs: "ranks" }))[0],
      ),
      /, but "answer_x" names "answer_x_a" and "answer_x_b" and "answer_x_c" names .*: rename the columns, so that each one names a different completion$/,
    )
  })

  test("a record whose columns say two things, or nothing, is rejected", function* () {
    const flags = [[1, 1], [0, 0], [1, 0], [0, 1]] // prettier-ignore
    const rows = flags.map(([a, b], i) => pair(i, { winner_a: a, winner_b: b }))
    assert.match(yield* problem(jsonl(rows)), /found no votes in .*"winner_a" and "winner_b"/)
    const set = { choice: ["winner_a", "winner_b"], choiceAs: "one-hot" } as const
    const [two, none, ...others] = yield* choices(jsonl(rows), "votes.jsonl", set)
    assert.strictEqual(two, "winner_a and winner_b: expected 1 for one completion and 0 for the others, found 1 and 1")
    assert.strictEqual(none, "winner_a and winner_b: expected 1 for one completion and 0 for the others, found 0 and 0")
    assert.deepStrictEqual(others, [0, 1])
    const partly = [pair(0, { winner_a: 1, winner_b: 0, tie: null })]
    assert.match(
      String((yield* choices(jsonl(partly), "votes.jsonl", { ...set, choice: [...set.choice, "tie"] }))[0]),
      /expected 1 for one completion and 0 for the others, found 1, 0,? and null$/,
    )
    const scored = [pair(0, { score_a: 1, score_b: null })]
    assert.match(
      String((yield* choices(jsonl(scored), "votes.jsonl", { choice: ["score_a", "score_b"], choiceAs: "scores" }))[0]),
      /^score_a and score_b: expected a number for each of 2 completions, found 1 and null$/,
    )
  })

  const oneHotRows = (odd: ReadonlyArray<readonly [number, number, number]>, total = 20) =>
    Array.from({ length: total }, (_, i) => {
      const [a, b, tie] = odd[i] ?? [i % 3 === 0 ? 1 : 0, i % 3 === 1 ? 1 : 0, i % 3 === 2 ? 1 : 0]
      return pair(i, { winner_a: a, winner_b: b, winner_tie: tie })
    })

  test("among the first records, a few whose one-hot columns say nothing, or two things, are rejected alone", function* () {
    const read = yield* choices(jsonl(oneHotRows([[0, 0, 0], [1, 1, 0]])), "votes.jsonl") // prettier-ignore
    const reason = "winner_a, winner_b and winner_tie: expected 1 for one completion and 0 for the others, found"
    assert.deepStrictEqual(read.slice(0, 5), [`${reason} 0, 0 and 0`, `${reason} 1, 1 and 0`, "tie", 0, 1])
    assert.notInclude(read.slice(2).map(String).join(), "expected")
    const tooMany = jsonl(oneHotRows([[0, 0, 0], [1, 1, 0], [0, 0, 0]])) // prettier-ignore
    assert.match(
      yield* problem(tooMany),
      /found no votes in .*: if 1 marks the choice in each record, set `choice: \["winner_a", "winner_b", "winner_tie"\], choiceAs: "one-hot"`$/,
    )
    const neverSecond = Array.from({ length: 20 }, (_, i) => pair(i, { winner_a: i === 0 ? 0 : 1, winner_b: 0 }))
    assert.match(yield* problem(jsonl(neverSecond)), /found no votes in/)
  })

  test("columns of which one has 1 may be one-hot, or an expert's each", function* () {
    const choice = ["winner_a", "winner_b", "winner_tie"]
    const oneHot = /\n {2}`choiceAs: "one-hot"` +the column with the value 1 is chosen$/
    assert.match(yield* problem(jsonl(oneHotRows([[0, 0, 0]])), { choice }), oneHot)
    const empty = oneHotRows([]).map((row) => JSON.parse(JSON.stringify(row, (_, value) => (value === 0 ? "" : value))))
    assert.match(yield* problem(jsonl(empty), { choice }), oneHot)
    const experts = Array.from({ length: 20 }, (_, i) => pair(i, { winner_a: i % 2, winner_b: i % 2 }))
    assert.notMatch(yield* problem(jsonl(experts), { choice: ["winner_a", "winner_b"] }), /one-hot/)
  })

  test("columns of 0 and 1 that name no completion are no votes", function* () {
    const rows = [1, 0].map((toxic, i) => pair(i, { label_toxic: toxic, label_fine: 1 - toxic }))
    assert.match(
      yield* problem(jsonl(rows)),
      /label_toxic and label_fine: expected the name of one of the 2 completions/,
    )
  })

  test("a map that cannot be meant is refused", function* () {
    const rows = jsonl(rowsOf("label", [0, 1]))
    const refused = (votes: Votes) => problem(rows, votes)
    assert.match(yield* refused({ choiceMap: { 0: "frist", 1: "second" } }), /`choiceMap`: expected first, .*"frist"$/)
    assert.match(yield* refused({ choiceMap: { 0: "first", "0.0": "second" } }), /"0\.0" has two meanings/)
    assert.match(yield* refused({ choiceMap: {} }), /expected at least one value/)
    assert.match(
      yield* refused({ choiceMap: { 0: "first" }, choiceAs: "index" }),
      /cannot be used with `choiceAs: "index"`/,
    )
  })
})
