/** `prefstream import`: votes that were given elsewhere become a ledger that every other command reads. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as Decision from "../../src/domain/Decision.ts"
import * as VotedResult from "../../src/domain/VotedResult.ts"
import {
  cli,
  ends,
  folderWithItems,
  jsonIn,
  printed,
  qualityOf,
  readJson,
  readRows,
  reportOf,
  to,
  votesOf,
  write,
} from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

/** Two completions of which experts see one or the other first. */
const vote = (item: number, annotator: string, winner: string, swapped = false) => ({
  prompt_id: `q${item}`,
  prompt: `Question ${item}`,
  response_a: swapped ? `two ${item}` : `one ${item}`,
  response_b: swapped ? `one ${item}` : `two ${item}`,
  annotator,
  winner,
  reason: `${annotator} on ${item}`,
})

const table = [
  vote(1, "ann", "model_a"),
  vote(1, "bob", "model_b", true),
  vote(1, "cy", "tie"),
  vote(2, "ann", "response_b"),
  vote(2, "bob", "b"),
  vote(2, "cy", "A"),
]

const imported = Effect.fnUntraced(function* (
  lines: ReadonlyArray<unknown>,
  flags: ReadonlyArray<string> = [],
  name = "votes.jsonl",
) {
  const folder = yield* temporaryDirectory
  yield* write(`${folder}/${name}`, lines)
  const said = yield* cli(["import", `${folder}/${name}`, "--dir", `${folder}/job`, "--json", ...flags])
  return { folder, job: `${folder}/job`, said, report: said.stdout === "" ? undefined : jsonIn(said) }
})

const importing = (file: string, job: string) => printed(["import", file, "--dir", job])

const exported = Effect.fnUntraced(function* (job: string, flags: ReadonlyArray<string> = []) {
  yield* cli(["export", "--dir", job, "--expert-names", ...flags]).pipe(ends(0))
  return { pairs: yield* readRows(`${job}/dataset/jsonl/train-00000-of-00001.jsonl`), report: yield* qualityOf(job) }
})

/** A service that answers each task of one item with the next of the results that have its prompt. */
const answering = (
  results: ReadonlyArray<{
    readonly prompt: string
    readonly best_completion_index?: unknown
    readonly annotations?: unknown
  }>,
) =>
  ScriptedService.make((request, before) => {
    const number = Number(ScriptedService.taskOf(request).replace("task_", ""))
    const prompts = before.filter(ScriptedService.isPost).map(({ body }): string => JSON.parse(body).prompts[0].prompt)
    return ScriptedService.judging(({ prompt }) => {
      const earlier = prompts.slice(0, number).filter((other) => other === prompt).length
      return results.filter((one) => one.prompt === prompt)[earlier]!
    })(request, before)
  })

/**
 * Has a service judge items, prints their votes, and imports these: they make the same pairs, and printed again they add
 * nothing.
 */
const cameBack = Effect.fnUntraced(function* (
  format: string,
  items: ReadonlyArray<object>,
  results: Parameters<typeof answering>[0],
  ...flags: ReadonlyArray<string>
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* folderWithItems(items)
  const [job, again] = [`${folder}/job`, `${folder}/again`]
  const service = yield* answering(results)
  const asking = ["--dir", job, "--batch-size", "1", "--no-shuffle", "--expert-names", ...flags]
  yield* cli(["run", `${folder}/items.jsonl`, ...asking], to(service)).pipe(ends(0))
  const before = yield* readRows(`${job}/dataset/jsonl/train-00000-of-00001.jsonl`)
  const importVotes = Effect.fnUntraced(function* (from: string) {
    const { stdout } = yield* cli(["export-votes", "--dir", from, "--as", format])
    yield* fs.writeFileString(`${folder}/votes.${format}`, stdout)
    return yield* importing(`${folder}/votes.${format}`, again)
  })
  const report = yield* importVotes(job)
  assert.deepInclude(report, { rejected: 0, duplicates: 0, items: items.length })
  const { pairs } = yield* exported(again)
  assert.deepStrictEqual(pairs, before)
  const verified = yield* cli(["verify", `${job}/dataset`, "--from-votes", `${folder}/votes.${format}`]).pipe(ends(0))
  assert.include(verified.stdout, "Rebuilt ")
  for (const from of [job, again]) {
    assert.deepInclude(yield* importVotes(from), { imported: 0, duplicates: report.imported, votes: 0 })
  }
  assert.deepStrictEqual((yield* exported(again)).pairs, pairs)
  return { folder, again, pairs, report }
})

const isSound = Effect.fnUntraced(function* (job: string) {
  yield* cli(["ledger", "check", "--dir", job]).pipe(ends(0))
})

describe("prefstream import", () => {
  test("makes a ledger of votes: majority, ties, and completions that were shown in another order", function* () {
    const { job, report } = yield* imported(table)
    assert.deepInclude(report, { read: 6, imported: 6, duplicates: 0, rejected: 0, items: 2, votes: 6, ties: 1 })
    yield* isSound(job)
    const { pairs, report: quality } = yield* exported(job)
    assert.deepStrictEqual(
      pairs.map((row) => [row.item_id, row.chosen, row.agreement, row.vote_margin, row.votes, row.rationale]),
      [
        ["q1", "one 1", 2.5 / 3, 2 / 3, 3, "ann on 1"],
        ["q2", "two 2", 2 / 3, 1 / 3, 3, "ann on 2"],
      ],
    )
    assert.sameMembers(
      quality.experts.map(({ expert }) => expert),
      ["ann", "bob", "cy"],
    )
    assert.strictEqual(quality.turnaround.count ?? 0, 0)
    const status = reportOf(yield* cli(["status", "--dir", job, "--json"]))
    assert.deepInclude(status, { status: "done", read: 6, imported: 6, submitted: 0, known: 0 })
  })

  test("says that an input without records adds nothing, and names no next step", function* () {
    const folder = yield* temporaryDirectory
    yield* write(`${folder}/empty.jsonl`, [])
    const said = yield* cli(["import", `${folder}/empty.jsonl`, "--dir", `${folder}/job`])
    assert.match(said.stdout, /^No votes were added: the input has no records\.\n\n/, said.stderr)
  })

  test("says first how many records were rejected, and where they are", function* () {
    const { folder } = yield* imported([...table, vote(2, "dan", "the third one")])
    const said = yield* cli(["import", `${folder}/votes.jsonl`, "--dir", `${folder}/other`]).pipe(ends(0))
    assert.match(said.stdout, /^Imported 6 votes\.\n1 of 7 records was rejected: see \S+\/other\/rejects\.jsonl\.\n/)
    yield* cli(["import", `${folder}/votes.jsonl`, "--dir", `${folder}/none`, "--max-rejects", "0"]).pipe(ends(5))
  })

  test("adds nothing if the same file comes again, and the votes that a later file has", function* () {
    const { folder, job } = yield* imported(table)
    assert.deepInclude(yield* importing(`${folder}/votes.jsonl`, job), {
      read: 6,
      imported: 0,
      duplicates: 6,
      items: 0,
      votes: 0,
    })
    yield* write(`${folder}/later.jsonl`, [vote(2, "dan", "b"), vote(3, "dan", "a"), vote(2, "ann", "response_b")])
    assert.deepInclude(yield* importing(`${folder}/later.jsonl`, job), {
      read: 3,
      imported: 2,
      duplicates: 1,
      items: 1,
      votes: 2,
    })
    yield* isSound(job)
    const { pairs } = yield* exported(job)
    const votes = Object.fromEntries(pairs.map((pair) => [pair.item_id, pair.votes]))
    assert.deepStrictEqual(votes, { q1: 3, q2: 4, q3: 1 })
  })

  test("rejects what names no completion, with file, line, field and text", function* () {
    const bad = vote(2, "dan", "the third one")
    const { job, report } = yield* imported(
      [...table, bad, "{", { ...vote(1, "dan", "a"), response_a: "other" }],
      ["--id-path", "prompt_id"],
    )
    assert.deepInclude(report, { read: 9, imported: 6, rejected: 3 })
    const rejects = yield* readRows(`${job}/rejects.jsonl`)
    assert.deepStrictEqual(rejects.map(({ code, line }) => `${code}:${line}`).toSorted(), [
      "conflicting_id:9",
      "invalid_json:8",
      "invalid_shape:7",
    ])
    const choice = rejects.find(({ line }) => line === 7)
    assert.match(
      choice?.["reason"],
      /^winner: expected the name of one of the 2 completions.*; to give this value a meaning, set --choice-map$/,
    )
    assert.deepStrictEqual(JSON.parse(choice?.["raw"]), bad)
    yield* isSound(job)
  })

  test("reads a list of votes per item, and counts equal votes of unnamed experts each", function* () {
    const item = (votes: unknown) => ({ prompt: "P", completions: ["a", "b"], votes })
    const { job, folder, report } = yield* imported([item(["a", "a", "b"])])
    assert.deepInclude(report, { read: 1, imported: 1, votes: 3 })
    yield* write(`${folder}/more.jsonl`, [
      item([
        { chosen_index: 0, expert: "ann" },
        { chosen_index: 1, expert: "bob" },
      ]),
    ])
    yield* cli(["import", `${folder}/more.jsonl`, "--dir", job])
    assert.deepInclude(yield* importing(`${folder}/votes.jsonl`, job), { duplicates: 1, votes: 0 })
    const { pairs } = yield* exported(job)
    assert.lengthOf(pairs, 1)
    assert.deepInclude(pairs[0], { chosen: "a", votes: 5 })
  })

  test("asks what numbers mean, shows two records as each reading has them, and takes an option that it names", function* () {
    const lines = Array.from({ length: 120 }, (_, i) => {
      return { prompt: `Question ${i}`, response_a: `left ${i}`, response_b: `right ${i}`, label: i % 3 }
    })
    const { folder, said } = yield* imported(lines)
    assert.notStrictEqual(said.status, 0)
    const shown = said.stderr.split("\n").filter((text) => text.startsWith("  "))
    assert.deepStrictEqual(shown, [
      '  line 1: label is 0, prompt "Question 0", "response_a": "left 0", "response_b": "right 0"',
      '  line 2: label is 1, prompt "Question 1", "response_a": "left 1", "response_b": "right 1"',
      '  --choice-as number                     line 1: a tie; line 2: "response_a" is better',
      `  --choice-map '0=first,1=second,2=tie'  line 1: "response_a" is better; line 2: "response_b" is better`,
      `  --choice-map '0=second,1=first,2=tie'  line 1: "response_b" is better; line 2: "response_a" is better`,
    ])
    const option = ["--choice-map", "1=first,0=second,2=tie"]
    const again = yield* printed(["import", `${folder}/votes.jsonl`, "--dir", `${folder}/job`, ...option])
    assert.deepInclude(again, { imported: 120, ties: 40, rejected: 0 })
  })

  test("leaves nothing to send: a submit of the same items knows them, and sends the others", function* () {
    const { folder, job } = yield* imported(table)
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    yield* write(
      `${folder}/items.jsonl`,
      [1, 2, 3].map((n) => ({ id: `q${n}`, prompt: `Question ${n}`, completions: [`one ${n}`, `two ${n}`] })),
    )
    const said = yield* cli(["submit", `${folder}/items.jsonl`, "--dir", job, "--json"], to(service)).pipe(ends(0))
    assert.deepInclude(reportOf(said), { read: 3, submitted: 3, known: 2, imported: 0 })
    assert.deepInclude(reportOf(said).tasks.submitted, { tasks: 1, items: 1 })
    // Votes on an item that was sent are not mixed with those of the service.
    yield* write(`${folder}/sent.jsonl`, [vote(3, "ann", "a"), vote(1, "eve", "a")])
    assert.deepInclude(yield* importing(`${folder}/sent.jsonl`, job), { read: 2, imported: 1, rejected: 1 })
    assert.strictEqual((yield* readRows(`${job}/rejects.jsonl`))[0]?.["code"], "not_imported")
    yield* isSound(job)
  })

  test("takes a cell of an expert's column that has no value for no vote", function* () {
    const { report, said } = yield* imported(
      ["id,prompt,response1,response2,rater1,rater2,rater3", "1,P,a,b,1,,2", "2,Q,a,b,NA,1,nan", "3,R,a,b,n/a,NULL,"],
      [],
      "votes.csv",
    )
    assert.deepInclude(report, { read: 3, imported: 2, rejected: 1, votes: 3 })
    assert.match(said.stderr, /numbers from 1/)
  })

  test("finds a column for each expert in a JSON array, which may have NaN for a missing input", function* () {
    const of = (idx: number, input: string, votes: ReadonlyArray<number>) => `    {
        "idx": ${idx}, "cmp_key": "m_n", "instruction": "Do ${idx}", "input": ${input},
        "response1": "one ${idx}", "response2": "two ${idx}",
        ${votes.map((vote, i) => `"annotator${i + 1}": ${vote}`).join(", ")}
    }`
    const records = [
      of(0, "NaN", [2, 2, 0]),
      of(1, '"NaN"', [1, 0, 1]),
      of(2, '""', [0, 0, 0]),
      of(3, "NaN", [1, 2, 0]),
    ]
    const file = ["[", records.join(",\n"), "]"]
    assert.match((yield* imported(file, [], "testset.json")).said.stderr, /"annotator1", .* have 0, 1 and 2/)
    const { job, report, said } = yield* imported(file, ["--choice-as", "number"], "testset.json")
    assert.deepInclude(report, { read: 4, imported: 4, rejected: 0, items: 4, votes: 12, ties: 6 })
    assert.include(said.stderr, "choices of 3 experts")
    const { pairs, report: quality } = yield* exported(job)
    assert.deepStrictEqual(
      pairs.map(({ agreement, chosen, item_id, prompt }) => [item_id, prompt, chosen, agreement]),
      [
        ["0", "Do 0", "two 0", 2.5 / 3],
        ["1", "Do 1\n\nNaN", "one 1", 2.5 / 3],
      ],
    )
    // Pairs of votes: 0 has 2-2, 1 has 1-1, 3 has 1-2; so 2 of 6 values disagree, where chance is 18 of 30.
    assert.strictEqual(quality.agreement.krippendorff_alpha, 1 - 2 / 6 / (18 / 30))
  })

  test("reads the conversations of its own CSV as conversations, and texts as texts", function* () {
    const fs = yield* FileSystem.FileSystem
    const system = { role: "system", content: "Be kind." }
    const user = { role: "user", content: 'Say "hi", twice.\nNow.' }
    const prompts = [[user], [system, user], "plain", "[1, 2] are numbers", '["a", "b"]', '{"role": "user"}', "[]"]
    const { folder, job, report } = yield* imported(
      prompts.map((prompt, i) => ({ prompt, completions: ["x", "y"], item_id: `q${i}`, expert: "ann", choice: "x" })),
    )
    const all = { imported: prompts.length, rejected: 0 }
    assert.deepInclude(report, all)
    const { stdout } = yield* cli(["export-votes", "--dir", job, "--as", "csv"])
    yield* fs.writeFileString(`${folder}/votes.csv`, stdout)
    assert.deepInclude(yield* importing(`${folder}/votes.csv`, `${folder}/again`), all)
    const rows = yield* votesOf(`${folder}/again`)
    assert.deepStrictEqual(
      rows.map(({ prompt }): unknown => prompt),
      prompts,
    )
    const inspected = yield* cli(["inspect", `${folder}/votes.csv`])
    assert.match(inspected.stdout, /an export of prefstream: a run would send these items/)
  })

  for (const format of ["jsonl", "csv"]) {
    test(`keeps the definitions of tools, and kinds, orders and details, by way of ${format}`, function* () {
      const call = { type: "function", function: { name: "weather", arguments: { city: "Rome" } } }
      const tools = '[ {"type": "function", "function": {"name": "weather"}} ]'
      const completions = [[{ role: "assistant", tool_calls: [call] }], [{ role: "assistant", content: "Who knows?" }]]
      const given = { choice: 0, order: [1, 0], seconds: 1 }
      const details = { answers: [{ order: [0, 1], choice: null }] }
      const votes = [
        { ...given, expert: "ann", kind: "person" },
        { ...given, expert: "longest", kind: "automatic", details },
        { ...given, expert: "cy" },
      ]
      const { again, pairs, report } = yield* cameBack(
        format,
        [
          { id: "q1", prompt: "Is it warm?", completions, tools },
          { id: "q2", prompt: "Q", completions: ["c", "d"] },
        ],
        [
          VotedResult.of({ prompt: "Is it warm?", completions: ["a", "b"] }, votes, []),
          { prompt: "Q", best_completion_index: 0, annotations: { rationale: "r", expert: "dan", kind: "student" } },
        ],
      )
      assert.strictEqual(report.votes, 4)
      assert.deepStrictEqual(
        (yield* votesOf(again)).map((row) => [row.expert, row.kind, row.details, row.order, row.tools]),
        [
          ["ann", "person", null, [1, 0], tools],
          ["longest", "automatic", details, [1, 0], tools],
          ["cy", null, null, [1, 0], tools],
          ["dan", "student", null, null, null],
        ],
      )
      assert.strictEqual(pairs[0]?.["tools"], tools)
    })

    test(`keeps what votes of a rubric say, and the flags of all tasks, by way of ${format}`, function* () {
      const vote = (expert: string, choice: number, said: object) => ({
        expert,
        choice,
        order: [0, 1, 2],
        seconds: 1,
        ...said,
      })
      const clarity = [1, 3, null]
      const edited = 'b,\n"better"'
      const aspects = { clarity: [2, null, 5], depth: [1, 1, 1] }
      const rubric = [
        [
          vote("ann", 1, { strength: 3, all_bad: true, edited, aspects: { clarity }, flags: ["unsafe"] }),
          vote("bob", 1, { strength: 1, all_bad: false, edited: "[b]", aspects }),
          vote("cy", 0, { all_bad: true, edited: "a!", flags: ["unsafe"] }),
        ],
        [vote("dan", 1, { strength: 2, all_bad: true, aspects: { clarity }, flags: ["off-topic"] })],
      ]
      // Another service gives results without lists of votes.
      const said = { strength: 2, all_bad: true, edited: "d!", aspects: { clarity: 4 }, flags: ["unsafe"] }
      const listless = { prompt: "Q", best_completion_index: 0, annotations: { rationale: "", ...said } }
      const { pairs, report } = yield* cameBack(
        format,
        [
          { id: "q1", prompt: "P", completions: ["a", "b", "c"] },
          { id: "q2", prompt: "Q", completions: ["d", "e", "f"] },
        ],
        [
          ...rubric.map((votes) => VotedResult.of({ prompt: "P", completions: ["a", "b", "c"] }, votes, [])),
          listless,
          listless,
        ],
        "--votes",
        "2",
      )
      assert.strictEqual(report.votes, 6)
      assert.deepInclude(pairs[0], { strength: 2, all_bad: true, edited })
      assert.deepInclude(pairs.at(-1), { strength: 2, all_bad: true, edited: "d!" })
      assert.lengthOf(JSON.parse(pairs[0]?.["flags"]), 3)
      assert.lengthOf(JSON.parse(pairs.at(-1)?.["flags"]), 2)
    })

    test(`keeps what a lead decided, by way of ${format}, and in another order of the completions`, function* () {
      const completions = ["a", "b", "c"]
      const votes = [
        { expert: "ann", choice: 1, order: [0, 1, 2], seconds: 1, strength: 2, edited: "b!", rationale: "for b" },
        { expert: "bob", choice: 1, order: [1, 0, 2], seconds: 1 },
        { expert: "cy", choice: 2, order: [2, 1, 0], seconds: 1, edited: "c!", strength: 1 },
      ]
      // An import takes equal votes of an expert in the same millisecond for one. So a second task has a reason for each.
      const secondVotes = votes.map((vote) => ({ ...vote, rationale: `still for ${vote.choice}` }))
      const at = "2026-11-24T12:00:00.000Z"
      const decided = (prompt: string, choice: number, given: Parameters<typeof VotedResult.of>[1] = votes) =>
        Decision.decided(VotedResult.of({ prompt, completions }, given, []), completions, given, {
          chosen_index: choice,
          rationale: `as "Lea",\nfor ${choice}`,
          by: "Lea",
          at,
        })
      const [against, twice, unvoted, other] = [
        "against most votes",
        "of two tasks",
        "without votes",
        "another service",
      ]
      const one = [{ expert: "dan", choice: 1, order: [0, 1, 2], seconds: 1 }]
      const byLead = { rationale: "clear", expert: "Lea", decision: { by: "Lea", at } }
      const withoutVotes = { prompt: unvoted, best_completion_index: 2, annotations: byLead }
      // Another service says less.
      const less = { prompt: other, best_completion_index: 0, annotations: { votes, decision: {} } }
      const { again, folder, pairs } = yield* cameBack(
        format,
        [against, twice, unvoted, other].map((prompt, i) => ({ id: `q${i}`, prompt, completions })),
        [
          decided(against, 2),
          VotedResult.of({ prompt: against, completions }, one, []),
          decided(twice, 0),
          decided(twice, 2, secondVotes),
          withoutVotes,
          { ...withoutVotes, annotations: { ...byLead, rationale: "clear, too" } },
          less,
          { ...less, annotations: { votes: secondVotes, decision: {} } },
        ],
        "--votes",
        "2",
      )
      assert.deepStrictEqual(
        pairs.map(({ chosen, prompt }) => [prompt, chosen]),
        [
          [against, "c"],
          [twice, "c"],
          [unvoted, "c"],
          [other, "a"],
        ].flatMap((row) => [row, row]),
      )
      assert.deepInclude(pairs[0], { rationale: 'as "Lea",\nfor 2', edited: "c!" })
      // The same decision in a record that has the completions the other way round.
      const turned = (yield* votesOf(again)).map((row) => ({
        ...row,
        completions: row["completions"].toReversed(),
        chosen_index: 2 - row["chosen_index"],
        order: row["order"]?.map((index: number) => 2 - index) ?? null,
        decision: { ...row.decision, chosen_index: 2 - row.decision!.chosen_index },
      }))
      yield* write(`${folder}/turned.jsonl`, turned)
      assert.deepInclude(yield* importing(`${folder}/turned.jsonl`, again), { imported: 0, votes: 0 })
      assert.deepStrictEqual((yield* exported(again)).pairs, pairs)
    })
  }

  test("rejects what is meant as a lead's decision, but is none on the record's completions", function* () {
    const told = { chosen_index: 1, rationale: null, by: "Lea", at: null }
    const noIndex = "decision.chosen_index: expected an index below 2, found "
    const decisions: ReadonlyArray<readonly [decision: unknown, reason?: string]> = [
      [told],
      [{ ...told, chosen_index: 2 }, `${noIndex}2`],
      [{ ...told, chosen_index: -1 }, `${noIndex}-1`],
      [{ ...told, chosen_index: "1" }, `${noIndex}"1"`],
      [{ ...told, by: 7 }, "decision.by: expected text or null, found 7"],
      [{ chosen_index: 1 }, "decision.rationale: expected text or null, found nothing"],
      [{ ...told, chosen_index: undefined }, `${noIndex}nothing`],
      // Of another tool, or none.
      [{ accepted: true, by: "x" }],
      [{}],
      ["accept"],
      [null],
    ]
    const { job, report } = yield* imported(
      decisions.map(([decision], i) => {
        return { prompt: `P${i}`, completions: ["a", "b"], expert: "ann", chosen_index: 0, decision }
      }),
    )
    assert.deepInclude(report, { rejected: 6, items: 5, votes: 5 })
    assert.deepStrictEqual(
      (yield* readRows(`${job}/rejects.jsonl`)).map(({ line, reason }) => [line, reason]),
      decisions.flatMap(([, reason], i) => (reason === undefined ? [] : [[i + 1, reason]])),
    )
    assert.deepStrictEqual(
      (yield* exported(job)).pairs.map(({ chosen }) => chosen),
      ["b", "a", "a", "a", "a"],
    )
  })

  test("tells votes apart by what they say besides, and reads ratings of completions in another order", function* () {
    const rated = (completions: ReadonlyArray<string>, said: object) => ({
      prompt: "P",
      completions,
      expert: null,
      chosen_index: completions.indexOf("a"),
      ...said,
    })
    const { job, report } = yield* imported([
      rated(["a", "b", "c"], { aspects: { clarity: [1, 2, 3] } }),
      rated(["c", "a", "b"], { aspects: { clarity: [3, 1, 2] } }),
      rated(["a", "b", "c"], { all_bad: true }),
      rated(["a", "b", "c"], { edited: "a!" }),
      rated(["a", "b", "c"], { aspects: "odd", edited: 7, all_bad: 1 }),
    ])
    assert.deepInclude(report, { rejected: 0, votes: 5 })
    const votes = yield* votesOf(job)
    assert.deepStrictEqual(
      votes.map(({ all_bad, aspects, edited }) => [all_bad, edited, aspects]),
      [
        [null, null, { clarity: [1, 2, 3] }],
        [null, null, { clarity: [1, 2, 3] }],
        [true, null, null],
        [null, "a!", null],
        [null, null, null],
      ],
    )
  })

  test("takes no column of another CSV for an edit of the completion", function* () {
    const { job } = yield* imported(["prompt,response_a,response_b,winner,edited", "P,one,two,a,True"], [], "votes.csv")
    assert.isNull((yield* exported(job)).pairs[0]?.["edited"])
  })

  test("takes the exact name of a column for a path, blanks and dots included, in all of its flags", function* () {
    const said = { "the id": "i7", "the choice": "b", "the.expert": "ann", "a reason": "why", "how much": 2, "at [UTC]": "now" } // prettier-ignore
    const record = { prompt: "P", response_a: "one", response_b: "two", ...said }
    const of = { choice: "the choice", expert: "the.expert", rationale: "a reason", strength: "how much", "judged-at": "at [UTC]" } // prettier-ignore
    const flags = Object.entries(of).flatMap(([part, name]) => [`--${part}-path`, name])
    const cells = (values: ReadonlyArray<unknown>) => values.map((value) => `"${String(value)}"`).join(",")
    const { "the id": id, ...vote } = said
    const list = { prompt: "P", response_a: "one", response_b: "two", "the id": id, "all votes": [vote] }
    const inputs = [
        imported([record], [...flags, "--id-path", "the id"]),
        imported([cells(Object.keys(record)), cells(Object.values(record))], [...flags, "--id-path", "the id"], "votes.csv"),
        imported([list], [...flags, "--id-path", "the id", "--votes-path", "all votes"]),
      ] // prettier-ignore
    for (const input of inputs) {
      const { job, report, said } = yield* input
      assert.deepInclude(report, { imported: 1, votes: 1 }, said.stderr)
      const [row] = yield* votesOf(job)
      const { chosen_index, expert, item_id, judged_at, rationale, strength } = row!
      assert.deepStrictEqual(
        [item_id, chosen_index, expert, rationale, strength, judged_at],
        ["i7", 1, "ann", "why", 2, "now"],
      )
    }
  })

  test("says what is wrong with a path, and nothing of the header of a CSV", function* () {
    const rows = ["prompt,response_a,response_b,winner", "P,one,two,a"]
    for (const flag of ["--choice-path", "--completion-path"]) {
      const { said } = yield* imported(rows, [flag, "no such name"], "votes.csv")
      assert.match(
        said.stderr,
        new RegExp(
          `votes\\.csv: ${flag}: not a field path: "no such name": .*; the first records have no field of this name`,
        ),
      )
    }
  })

  test("says which flag reads the better completions of pairs, and reads them, texts and messages", function* () {
    const answer = (content: string) => [{ role: "assistant", content }]
    const talk = (content: string) => [{ role: "user", content: "P" }, ...answer(content)]
    const files: ReadonlyArray<readonly [records: ReadonlyArray<object>, better: string]> = [
        [[{ prompt: "P", chosen: "one", rejected: "two", score_chosen: 5, score_rejected: 2 }], "chosen"],
        [[{ chosen: talk("one"), rejected: talk("two") }], "chosen"],
        [["P", "Q"].map((content) => ({ input: { messages: [{ role: "user", content }] }, preferred_output: answer("one"), non_preferred_output: answer("two") })), "preferred_output"],
      ] // prettier-ignore
    for (const [records, better] of files) {
      const lines = records
      const { said } = yield* imported(lines)
      assert.match(said.stderr, new RegExp(`if "${better}" is the better .*, set --choice-path ${better}\n`))
      const { job, report } = yield* imported(lines, ["--choice-path", better])
      assert.deepInclude(report, { imported: records.length, votes: records.length })
      const { pairs } = yield* exported(job)
      assert.lengthOf(pairs, records.length)
      for (const { chosen, rejected } of pairs) {
        assert.match(JSON.stringify(chosen), /"one"/)
        assert.match(JSON.stringify(rejected), /"two"/)
      }
    }
    const cells = [talk("one"), talk("two")].map((messages) => `"${JSON.stringify(messages).replaceAll('"', '""')}"`)
    const { report } = yield* imported(
      ["chosen,rejected", cells.join()],
      ["--choice-path", "chosen", "--completion-path", "chosen[]", "--completion-path", "rejected[]"],
      "pairs.csv",
    )
    assert.deepInclude(report, { imported: 1, votes: 1 })
  })

  test("suggests no map for objects that name no completion", function* () {
    const of = (i: number) => ({ prompt: `P${i}`, response_a: "one", response_b: "two", choice: { at: i } })
    const { said } = yield* imported([of(1), of(2)])
    assert.match(
      said.stderr,
      /"choice" has an object, but no value identifies a completion: set --choice-path to the field that identifies the chosen completion\n/,
    )
  })

  test("says that a label of one completion is no comparison, as inspect does, and what reads it", function* () {
    const talk = [{ role: "user", content: "P" }, { role: "assistant", content: "one" }] // prettier-ignore
    const noComparison =
      /each record has one completion, and "label" says whether it is good, but .* with prefstream run --layout long/
    for (const record of [{ prompt: "P", completion: "one" }, { messages: talk }]) {
      for (const label of [true, 0]) {
        const { folder, said } = yield* imported([
          { ...record, label },
          { ...record, label: false },
        ])
        assert.match(said.stderr, noComparison)
        const inspected = yield* cli(["inspect", `${folder}/votes.jsonl`])
        assert.match(inspected.stdout, noComparison)
        assert.notInclude(inspected.stdout, "to use their votes")
      }
    }
    const { said } = yield* imported([{ prompt: "P", completion: "one", winner: "x" }])
    assert.match(said.stderr, /votes\.jsonl: long: .*: expected all completions of an item in one record.*: set --comp/)
  })

  test("takes a member for a rationale or an expert only if there is text in it", function* () {
    const pair = { prompt: "P", response_a: "one", response_b: "two", winner: "a" }
    const odd = { feedback: { errors: ["e"] }, annotator: { age: 30 } }
    const { said } = yield* imported([{ ...pair, ...odd }])
    assert.notMatch(said.stderr, /(?:rationale|expert) at/)
    assert.match(said.stderr, /not used.*feedback.*annotator/i)
    const { job } = yield* imported([{ ...pair, ...odd, comment: "why", feedback: null }, { ...pair, prompt: "Q", annotator: { id: 7 } }]) // prettier-ignore
    const votes = yield* votesOf(job)
    assert.deepStrictEqual(
      votes.map(({ expert, rationale }) => [expert, rationale]),
      [
        [null, "why"],
        ["7", null],
      ],
    )
  })

  test("counts the numbers of a list that has too many, and names the element that may be the choice", function* () {
    const rows = [2, 1].map((best, i) => ({ prompt: `P${i}`, response_a: "one", response_b: "two", preference: [best, 7, 8] })) // prettier-ignore
    const { job } = yield* imported(rows, ["--choice-path", "preference", "--choice-as", "scores"])
    assert.strictEqual(
      (yield* readRows(`${job}/rejects.jsonl`))[0]?.["reason"],
      "preference: expected a number for each of 2 completions, found 3 numbers; if the choice is a single element of the list, such as the first, set --choice-path 'preference[0]', and omit --choice-as",
    )
    assert.deepInclude((yield* imported(rows, ["--choice-path", "preference[0]"])).report, { votes: 2 })
  })

  test("names a template of fixed words for a file without prompts, which reads it", function* () {
    const rows = ["a", "b"].map((winner, i) => ({ winner, response_a: `one ${i}`, response_b: "two", "#id": i }))
    const { said } = yield* imported(rows)
    const [, template = ""] = /--prompt-path '([^']*)'/.exec(said.stderr) ?? []
    assert.strictEqual(template, "Which is better? ({#id})")
    assert.deepInclude((yield* imported(rows, ["--prompt-path", template])).report, { votes: 2, items: 2 })
  })

  test("says what earlier imports rejected, and the manifest counts the records of all its inputs", function* () {
    const blank = { prompt: "P", response_a: "one", response_b: " ", winner: "model_a" }
    const { folder, job, report } = yield* imported([vote(1, "ann", "model_a"), blank, vote(1, "ann", "model_a")])
    assert.deepInclude(report, { read: 3, rejected: 1, duplicates: 1, earlier: { read: 0, rejected: 0 } })
    yield* write(`${folder}/later.jsonl`, [vote(1, "bob", "model_a"), vote(2, "bob", "model_a")])
    const said = yield* cli(["import", `${folder}/later.jsonl`, "--dir", job])
    const told = "counts are for the last run only; earlier runs read 3 records and rejected 1 record from other files"
    assert.include(said.stdout, told)
    yield* write(`${folder}/last.jsonl`, [vote(3, "bob", "model_a")])
    yield* cli(["import", `${folder}/last.jsonl`, "--dir", job])
    const written = yield* cli(["export", "--dir", job])
    assert.include(written.stdout, told.replace("3 records", "5 records"))
    assert.lengthOf(yield* readRows(`${job}/rejects.jsonl`), 1)
    const { counts, inputs } = yield* readJson(`${job}/dataset/manifest.json`)
    assert.deepInclude(counts, { read: 6, submitted: 3 })
    assert.strictEqual(
      inputs.reduce((sum: number, { records }: { records: number }) => sum + records, 0),
      6,
    )
    // Read again, a file adds nothing, and an export of it is up to date.
    yield* cli(["import", `${folder}/last.jsonl`, "--dir", job])
    assert.include((yield* cli(["export", "--dir", job])).stdout, "earlier runs read 5 records")
  })

  test("reads the numbers of votes in an own table without chosen_index as no choices", function* () {
    const { folder, job } = yield* imported(table)
    yield* exported(job)
    const rows = (yield* votesOf(job)).map(({ chosen_index, expert, item_id, prompt, completions, vote }) => ({
      chosen: chosen_index,
      row: { item_id, prompt, completions, expert, vote },
    }))
    const bare = rows.map(({ row }) => row)
    const { said } = yield* imported(bare)
    assert.strictEqual(said.status, 2)
    assert.include(said.stderr, '"vote" only numbers the votes on an item (1, 2, …)')
    assert.include(said.stderr, "set --choice-path to the column that has the choices")
    yield* write(`${folder}/bare.jsonl`, bare)
    const verified = yield* cli(["verify", `${job}/dataset`, "--from-votes", `${folder}/bare.jsonl`]).pipe(ends(2))
    assert.include(verified.stderr, "expected the table that prefstream export-votes prints, with chosen_index")
    assert.notInclude(verified.stderr, "--choice")
    // Choices that are numbers are equal if experts agree, and a set path is a choice.
    const choices = rows.map(({ chosen, row }) => ({ ...row, vote: chosen + 1 }))
    assert.deepInclude((yield* imported(choices)).report, { votes: rows.length })
    assert.deepInclude((yield* imported(bare, ["--choice-path", "vote", "--choice-as", "number"])).report, { read: 6 })
  })
})
