import { assert, describe } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as Conversation from "../../src/domain/Conversation.ts"
import type { Reject } from "../../src/domain/Reject.ts"
import * as Source from "../../src/source/Source.ts"
import { chat } from "./layout/support.ts"
import { serve } from "./place/fileServer.ts"
import { collect, summary, test, toLines, writeFiles } from "./support.ts"
import { column } from "../support/columns.ts"

const wide = (n: number, more: (i: number) => object = () => ({})) =>
  Array.from({ length: n }, (_, i) => ({ instruction: `q${i}`, output_1: `a${i}`, output_2: `b${i}`, ...more(i) }))

const read = Effect.fnUntraced(function* (
  content: string | Uint8Array,
  options?: Source.FilesOptions,
  name = "f.jsonl",
) {
  const [file] = yield* writeFiles({ [name]: content })
  return yield* collect(Source.files(file!, options))
}, Effect.scoped)

const foundIn = Effect.fnUntraced(function* (content: string, options?: Source.FilesOptions) {
  const [file] = yield* writeFiles({ "f.jsonl": content })
  return yield* Source.files(file!, options).summary!
}, Effect.scoped)

/** The line of each reject, and the field that its reason names. */
const fieldsOf = (rejects: ReadonlyArray<Reject>) =>
  rejects.map(({ line, reason }) => `${line} ${reason.split(":")[0]}`).join(", ")

const detectedFrom =
  "expected no value, because the field had none in the first 100 records, and a value would change the detected layout"

describe("files", () => {
  test("a later record with what the first ones lack is refused where it would be left out", function* () {
    const late = wide(103, (i) =>
      i === 100 ? { input: "more" } : i === 101 ? { output_3: "c" } : i === 102 ? { score: 1 } : {},
    )
    const { items, rejects } = yield* read(toLines(late))
    assert.strictEqual(items.length, 101)
    assert.strictEqual(fieldsOf(rejects), "101 input, 102 output_3")
    const said = { prompt: "instruction", completions: ["output_1", "output_2"] }
    assert.strictEqual((yield* read(toLines(late), said)).items.length, 102)
    assert.strictEqual((yield* read(toLines(late), { ...said, ignore: ["input"] })).items.length, 103)
  })

  test("a new name is found behind more names than are compared, in time that grows with the file alone", function* () {
    const ownNames = (i: number) => Object.fromEntries(Array.from({ length: 400 }, (_, k) => [`own_${i}_${k}`, 1]))
    const records = wide(601, (i) => (i === 600 ? { ...ownNames(i), output_3: "c" } : ownNames(i)))
    const { items, rejects } = yield* read(toLines(records))
    assert.strictEqual(items.length, 600)
    assert.strictEqual(fieldsOf(rejects), "601 output_3")
  })

  test("a system prompt that comes late is refused, too, beside items of the own form", function* () {
    const item = { prompt: "Q", completions: ["A", "B"] }
    const text = toLines([...Array.from({ length: 100 }, () => item), { ...item, system: "S" }])
    const { items, rejects } = yield* read(text)
    assert.strictEqual(items.length, 100)
    const options = "(`prompt`, `system`, `history`, `completion`, `completions`)"
    assert.isTrue(rejects[0]!.reason.startsWith(`system: ${detectedFrom}`), rejects[0]!.reason)
    assert.isTrue(rejects[0]!.reason.endsWith(options), rejects[0]!.reason)
    assert.strictEqual((yield* read(text, { system: "system" })).items.length, 101)
  })

  test("a column of CSV that is empty at first is refused where it has a value late", function* () {
    const rows = Array.from({ length: 102 }, (_, i) => `q${i},a${i},b${i},${i === 101 ? "c" : ""}`)
    const { items, rejects } = yield* read(`prompt,response_a,response_b,response_c\n${rows.join("\n")}\n`, {}, "f.csv")
    assert.strictEqual(items.length, 101)
    assert.isTrue(rejects[0]!.reason.startsWith(`response_c: ${detectedFrom}`), rejects[0]!.reason)
  })

  test("the summary says that models may be named after files, where no record names one", function* () {
    const layoutOf = Effect.fnUntraced(function* (more: object) {
      const text = (output: string) => toLines([{ prompt: "Q", output, ...more }])
      const files = yield* writeFiles({ "A.jsonl": text("A"), "B.jsonl": text("B") })
      return (yield* Source.files(files).summary!).layout
    }, Effect.scoped)
    const named =
      "models are named after the files, unless the files often have different numbers of completions for the same prompt"
    assert.strictEqual(
      yield* layoutOf({}),
      `long: prompt at "prompt", completion at "output", grouped by the prompt; ${named}`,
    )
    assert.notInclude(yield* layoutOf({ model: "m" }), named)
  })

  test("hints at the flags that a detected layout may lack", function* () {
    const hintsOf = (records: ReadonlyArray<object>, options?: Source.FilesOptions) =>
      Effect.map(foundIn(toLines(records), options), ({ hints }) => hints)
    const named = [{ prompt: "Q", response_baseline: "A", response_new: "B" }]
    assert.deepStrictEqual(yield* hintsOf(named), [
      'the completions have no model names; to use the column names "baseline" and "new", set `modelsFromColumns`',
    ])
    assert.deepStrictEqual(yield* hintsOf(named, { modelsFromColumns: true }), [])
    assert.deepStrictEqual(yield* hintsOf(wide(2)), [])
    const apart = [1, 2].map((n) => ({ prompt: `Q${n}`, reply: "A", alternative: "B" }))
    assert.deepStrictEqual(yield* hintsOf(apart), [
      'the detected layout is long (one completion per record), but the first 2 records all have different prompts. If each record has several completions, name all their fields with `completions: ["…", "…"]`. If other files contain more completions of these prompts, add these files to the input',
    ])
    assert.deepStrictEqual(yield* hintsOf([...apart, ...apart]), [])
    const several = yield* writeFiles({ "A.jsonl": toLines(apart), "B.jsonl": toLines(apart) })
    assert.deepStrictEqual((yield* Source.files(several).summary!).hints, [])
    assert.strictEqual(Source.files(several).description, "2 inputs")
    assert.deepStrictEqual(yield* hintsOf(apart, { layout: "long" }), [])
    assert.deepStrictEqual(yield* hintsOf([{ prompt: "Q", answers: [{ text: "A" }] }]), [
      "the detected layout does not fit the first record (answers[].text: expected at least two distinct completions, found 1). Set `layout`, `prompt`, and one of `completion` and `completions`",
    ])
  })

  test("an id of questions is none where the models differ between records", function* () {
    const record = { question_id: 81, prompt: "Q", response_a: "A", response_b: "B" }
    const idsOf = (records: ReadonlyArray<object>, options?: Source.FilesOptions) =>
      Effect.map(read(toLines(records), options), ({ items }) => items.map(({ item }) => item.id))
    assert.deepStrictEqual(yield* idsOf([record]), ["81"])
    assert.deepStrictEqual(yield* idsOf([{ id: "x", ...record }]), ["x"])
    assert.deepStrictEqual(yield* idsOf([{ ...record, model_a: "m", model_b: "n" }]), [undefined])
    assert.deepStrictEqual(yield* idsOf([record], { ignore: ["question_id"] }), [undefined])
  })

  test("lists as JSON text are hinted at, with the flags that read them", function* () {
    const { hints } = yield* foundIn(toLines([{ prompt: '["Q"]', response_a: '["A"]', response_b: "B" }]))
    assert.deepStrictEqual(hints, [
      `"prompt" contains JSON lists as text; to read them as lists, set \`prompt: "prompt[]"\``,
      `"response_a" contains JSON lists as text; to read them as lists, set \`completions: ["response_a[]"]\``,
    ])
  })

  describe("lists that Python or NumPy wrote into CSV", () => {
    const conversation = (answer: string, separator: string) =>
      `"[{'role': 'user', 'content': 'Q'}${separator}{'role': 'assistant', 'content': '${answer}'}]"`
    const message = "{'role': 'assistant', 'content': 'A'}"
    const refused = (path: string, found: string) =>
      `${path}: expected text or a list as JSON, found ${found}; export the data as Parquet or JSON Lines, or write the column with json.dumps`
    const noCommas = "a list in NumPy print format, with no commas between its elements"

    const pair = "prompt,response_a,response_b"
    test.each<readonly [string, lines: ReadonlyArray<string>, items: ReadonlyArray<string>, reasons?: Array<string>]>([
      [
        "whole conversations",
        ["prompt,chosen,rejected", `Q,${conversation("A", ", ")},${conversation("B", "\n ")}`],
        ["Q|A|B"],
      ],
      ["the assistant's turn alone, beside a text", [pair, `Q,"[${message}]",B`, "R,C,D"], ["Q|A|B", "R|C|D"]],
      ["lists of one text", [pair, `['Q'],['A'],['B']`, `['R'],"[""A's""]",['B']`], ["Q|A|B", "R|A's|B"]],
      [
        "items",
        ["prompt,completions", `Q,"['A', ""B's""]"`, `R,"['A' 'B']"`],
        ["Q|A|B's"],
        [refused("completions", noCommas)],
      ],
      [
        "one completion per record",
        ["prompt,model,response", `Q,m,"[${message}]"`, "Q,n,B", `Q,o,"['A'\n 'B']"`],
        ["Q|A|B"],
        [refused("response", noCommas)],
      ],
      [
        "what NumPy printed of texts",
        [pair, `Q,['A' 'B'],C`, `Q,C,"['A' 'B' ... 'Y' 'Z']"`],
        [],
        [
          refused("response_a", noCommas),
          refused("response_b", 'a list in NumPy print format, with "..." instead of some of its elements'),
        ],
      ],
      [
        "a list of messages that is cut off",
        [pair, `Q,A,"[{'role': 'assistant', 'content': 'It"`],
        [],
        [refused("response_b", "an incomplete list of messages")],
      ],
      [
        "text that is no list stays as it is, and a list among texts",
        [pair, `Q,[x for x in 'ab'],"['a', 'b']"`, "R,A,B"],
        ["Q|[x for x in 'ab']|['a', 'b']", "R|A|B"],
      ],
    ])("%s", function* ([, lines, expected, reasons = []]) {
      const { items, rejects } = yield* read(`${lines.join("\n")}\n`, {}, "f.csv")
      const texts = items.map(({ item }) => [Conversation.render(item.prompt), ...item.completions].join("|"))
      assert.deepStrictEqual(texts, expected)
      const found = rejects.map(({ reason }) => reason)
      assert.deepStrictEqual(found, reasons)
    })
  })

  test.each<readonly [string, unknown, string]>([
    ["lists", { prompt: ["q", "r"], response_a: ["a", "b"] }, "FILE"],
    ["lists of messages", { prompt: ["q", "r"], chosen: [[{ role: "user", content: "q" }], []] }, "FILE"],
    ["objects by row", { prompt: { 0: "q", 1: "r" }, response_a: { 0: "a", 1: "b" } }, "FILE"],
    ["split", { columns: ["prompt"], index: [0], data: [["q"]] }, 'FILE, orient="split"'],
  ])("a table by columns is refused as what it is: %s", function* ([, table, of]) {
    for (const content of [JSON.stringify(table), JSON.stringify(table, undefined, 2)]) {
      const { message } = yield* Effect.flip(read(content, {}, "f.json"))
      assert.match(message, /f\.json: cannot be read: expected one object per row, found one table stored by column; /)
      assert.include(message, `pandas.read_json(${of}).to_json(`)
    }
  })

  test("a record of lists is none", function* () {
    for (const [record, prompt] of [
      [{ prompt: chat("Q", "A"), completions: ["A", "B"] }, "[user]\nQ\n\n[assistant]\nA"],
      [{ prompt: ["Q"], response_a: ["A"], response_b: ["B"] }, "Q"],
    ] as const) {
      const { items } = yield* read(toLines([record]))
      const found = items.map(({ item }) => [Conversation.render(item.prompt), ...item.completions])
      assert.deepStrictEqual(found, [[prompt, "A", "B"]])
    }
  })

  test("a pair with a list on one side only is told from one without a prompt", function* () {
    for (const record of [
      { chosen: chat("Q", "A"), rejected: "B" },
      { question: "Q", chosen: ["A", "B"], rejected: "C" },
    ]) {
      const { message } = yield* Effect.flip(read(toLines([record])))
      assert.match(message, /: "chosen" has lists and "rejected" has text: write both sides in the same way$/)
    }
  })

  test("files that were put together of several are read, and a second header is no record", function* () {
    const item = JSON.stringify({ prompt: "Q", completions: ["A", "B"] })
    const lines = yield* read(`\uFEFF${item}\n\uFEFF${item}\n`)
    assert.deepStrictEqual([lines.items.length, lines.rejects], [2, []])
    for (const name of ["f.json", "f.jsonl"]) {
      const arrays = yield* read(`[${item},${item}]\n[]\n[${item}]\n`, {}, name)
      assert.strictEqual(arrays.items.map(({ origin }) => `${origin.line}/${origin.row}`).join(), "1/1,1/2,3/3")
    }
    const conversations = yield* read(`[{"role":"user","content":"Q"}]\n[{"role":"user","content":"R"}]\n`)
    assert.strictEqual(conversations.rejects.length, 2)
    const csv = 'prompt,response_a,response_b\nQ,A,B\n\uFEFF"prompt",response_a,response_b\nR,A,B\n'
    const table = yield* read(csv, {}, "f.csv")
    assert.strictEqual(table.items.length, 2)
    assert.deepStrictEqual(summary(table.rejects.map(Result.fail)), [
      "3 invalid_shape expected a record, found the header again; the file may be several files in one",
    ])
  })

  test("a needed field that no record has ends the reading at once, with the names that there are", function* () {
    for (const [options, expected] of [
      [{ prompt: "promt" }, /f\.jsonl: `prompt`: the first records have no "promt"; they have "instruction", /],
      [{ completions: ["output_1", "x"], prompt: "instruction" }, undefined],
      [{ completions: ["x", "y"], prompt: "instruction" }, /`completions` path: the first records have no "x"/],
    ] as const) {
      const outcome = yield* Effect.result(read(toLines(wide(3)), options))
      if (expected === undefined || outcome._tag === "Success") assert.isUndefined(expected)
      else assert.match(outcome.failure.message, expected)
    }
  })

  test("finds a member by its name, whatever that is, before it reads the name as a path", function* () {
    const record = {
      "Frage 1": "Q",
      "Antwort A": "A",
      "model.v2": "B",
      model: { v2: "other" },
      "Die Nr.": "7",
      "best?": "model.v2",
      "wer A": "x",
      "wer B": "y",
    }
    const options = {
      prompt: "{Frage 1} ({Die Nr.})",
      completions: ["Antwort A", "model.v2"],
      id: "Die Nr.",
      gold: "best?",
      model: ["wer A", "wer B"],
      keep: ["Frage 1"],
    } as const
    const { items } = yield* read(toLines([record]), options)
    assert.deepStrictEqual(column(items, "item"), [
      {
        id: "7",
        prompt: "Q (7)",
        completions: ["A", "B"],
        models: ["x", "y"],
        gold: { best_completion_index: 1 },
        metadata: { "Frage 1": "Q" },
      },
    ])
    const failure = yield* Effect.flip(read(toLines([record]), { ...options, id: "Nr. 1" }))
    assert.match(
      failure.message,
      /`id`: not a field path: "Nr\. 1": .+; the first records have no field of this name; .+ "Antwort A"/,
    )
  })

  test("a folder with a file for each model names the models, and one of a file's pieces does not", function* () {
    const questions = Array.from({ length: 8 }, (_, i) => `Q${i}`)
    const answer = (prompt: string, by: string, more?: object) => ({ prompt, response: `${by} ${prompt}`, ...more })
    const modelsIn = Effect.fnUntraced(function* (files: Readonly<Record<string, ReadonlyArray<object>>>) {
      const [first] = yield* writeFiles(
        Object.fromEntries(Object.entries(files).map(([name, lines]) => [`${name}.jsonl`, toLines(lines)])),
      )
      const { items } = yield* collect(Source.files(first!.replace(/[^/]+$/, "")))
      return items.map(({ item }) => item.models?.join())
    })
    const of = (name: string, more?: object) => questions.map((prompt) => answer(prompt, name, more))
    const all = (models: string) => questions.map(() => models)
    // Not every model answers everything, and one may answer twice.
    const some = yield* modelsIn({ "gpt-4": of("x"), llama: of("y").slice(1), "x.1": of("z") })
    assert.deepStrictEqual(some, ["gpt-4,x.1", ...all("gpt-4,llama,x.1").slice(1)])
    const twice = yield* modelsIn({ a: [...of("x"), ...of("y")], b: [...of("z"), ...of("w")] })
    assert.deepStrictEqual(twice, all("a,a,b,b"))
    // A record's own model is the model.
    assert.deepStrictEqual(yield* modelsIn({ a: of("x", { model: "m" }), b: of("y") }), all("m,b"))
    const lines = questions.flatMap((prompt) => ["x", "y", "z"].map((by) => answer(prompt, by)))
    const none = questions.map(() => undefined)
    assert.deepStrictEqual(yield* modelsIn({ "part-1": lines.slice(0, 11), "part-2": lines.slice(11) }), none)
    const dealt = (rest: number) => lines.filter((_, i) => (i * 7 + (i >> 2)) % 2 === rest)
    assert.deepStrictEqual(yield* modelsIn({ "part-1": dealt(0), "part-2": dealt(1) }), none)
    assert.deepStrictEqual(yield* modelsIn({ only: lines }), none)
    // Three of four prompts are enough that have as many answers in each file, and two of three are not.
    const twiceFirst = (count: number) => ({
      a: of("x").slice(0, count),
      b: [...of("y").slice(0, count), answer("Q0", "z")],
    })
    assert.deepStrictEqual(yield* modelsIn(twiceFirst(4)), ["a,b,b", "a,b", "a,b", "a,b"])
    assert.deepStrictEqual(yield* modelsIn(twiceFirst(3)), none.slice(0, 3))
    // A prompt counts that is in more than half of the files.
    const quarters = ["a", "b", "c", "d"].map((name, i) => [name, of(name).slice(i < 2 ? 0 : 4, i < 2 ? 4 : 8)])
    assert.deepStrictEqual(yield* modelsIn(Object.fromEntries(quarters)), none)
  })

  test("tells of fields that were set and are not there, and of members that are not used", function* () {
    const found = yield* foundIn(toLines(wide(3, () => ({ score: 1 }))), { gold: "winer" })
    assert.deepStrictEqual(found.unknownFields, ['"winer" (`gold`)'])
    assert.deepStrictEqual(found.unused, [{ name: "score", share: 1 }])
    for (const unreadable of ["", "not JSON\n"]) assert.strictEqual((yield* foundIn(unreadable)).layout, undefined)
  })

  test("large records are looked at by fewer, so that a pipe can be read again", function* () {
    const large = wide(40, () => ({ filler: "x".repeat(500_000) }))
    const { items } = yield* read(toLines(large))
    assert.strictEqual(items.length, 40)
  })

  test("neither user nor query of a URL is in what is read from it, nor in what is found", function* () {
    const { host } = yield* serve((_, response) => response.end(toLines([...wide(2), "{"])))
    const url = (path: string) => `http://user:hidden@${host}/${path}?signature=hidden`
    const source = Source.files(url("p.jsonl"))
    const all = [source.description, yield* source.summary!, (yield* collect(source)).records]
    const joined = Source.join({
      prompts: url("p.jsonl"),
      completions: [url("a/m.jsonl"), url("b/m.jsonl"), url("c/n.jsonl")],
      key: "instruction",
      promptPath: "instruction",
      completionPath: "output_1",
    })
    const records = (yield* collect(joined)).records
    assert.isAbove(records.length, 2)
    const shown = JSON.stringify([all, joined.description, records])
    assert.notInclude(shown, "hidden")
    assert.include(shown, `http://${host}/a/m.jsonl`)
    assert.notDeepEqual(summary(records), [])
  })
})

test("an idle timeout that is no duration above zero, or no file at all, is an error with its reason", function* () {
  const [file] = yield* writeFiles({ "a.jsonl": toLines([{ prompt: "p", completions: ["a", "b"] }]) })
  const { reason } = yield* Effect.flip(collect(Source.files(file!, { idleTimeout: 0 })))
  assert.strictEqual(reason.message, "`idleTimeout`: expected a duration above zero, found 0")
  const { message } = yield* Effect.flip(collect(Source.files([])))
  assert.strictEqual(message, "`files`: expected at least one file, found none")
})
