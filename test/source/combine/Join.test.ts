import { existsSync, readdirSync, readlinkSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, FileSystem, Result, Schema, Stream } from "effect"
import type { Origin } from "../../../src/domain/Origin.ts"
import * as Source from "../../../src/source/Source.ts"
import * as SmallDisk from "../../support/smallDisk.ts"
import { collect, platform, summary, test, toLines, writeFiles } from "../support.ts"
import { columns } from "../../support/columns.ts"

const canSeeOpenFiles = existsSync("/proc/self/fd")

/** Files in a folder that this process has open, also those without a name. */
const openFilesIn = (folder: string): ReadonlyArray<string> =>
  !canSeeOpenFiles
    ? []
    : readdirSync("/proc/self/fd").flatMap((fd) => {
        // One of them is the listing's own, and closed by now.
        try {
          const file = readlinkSync(`/proc/self/fd/${fd}`)
          return file.startsWith(`${folder}/`) ? [file] : []
        } catch {
          return []
        }
      })

interface Files {
  readonly prompts: ReadonlyArray<unknown>
  readonly a: ReadonlyArray<unknown>
  readonly b: ReadonlyArray<unknown>
  readonly c?: ReadonlyArray<unknown>
}

/** Joins the files `p`, `a`, `b` (and `c`); in what comes back, paths are the files' names. */
const run = Effect.fn(function* (files: Files, options?: Partial<Source.JoinOptions>) {
  const [prompts, ...completions] = yield* writeFiles({
    "p.jsonl": toLines(files.prompts),
    "a.jsonl": toLines(files.a),
    "b.jsonl": toLines(files.b),
    ...(files.c === undefined ? undefined : { "c.jsonl": toLines(files.c) }),
  })
  const collected = yield* collect(Source.join({ prompts: prompts!, completions, ...options }))
  return { ...collected, described: describeAll(collected.records) }
}, Effect.provide(platform))

/** Each record as `FILE:LINE item ID` or `FILE:LINE CODE REASON`, of files named without folder and extension. */
const describeAll = (records: ReadonlyArray<Source.SourceRecord>) =>
  summary(records).map((line, i) => {
    const { file } = Result.match(records[i]!, { onFailure: (reject) => reject, onSuccess: ({ origin }) => origin })
    const folder = file.slice(0, file.lastIndexOf("/") + 1)
    return `${file.slice(folder.length).replace(".jsonl", "")}:${line.replaceAll(folder, "")}`
  })

const prompt = (id: unknown, more?: object) => ({ id, prompt: `prompt ${String(id)}`, ...more })
const completion = (id: unknown, text: string) => ({ id, completion: text })
const rows = (text: string, ...ids: ReadonlyArray<unknown>) => ids.map((id) => completion(id, `${text}${String(id)}`))

describe("join", () => {
  test("prompt and completion are detected, also a completion that is a list of one text", function* () {
    const answers = (...outputs: ReadonlyArray<unknown>) =>
      JSON.stringify(
        outputs.map((output, i) => ({ id: i, instruction: `Task ${i}`, input: "", output, generator: "m" })),
      )
    const files = yield* writeFiles({ "one.json": answers("a", "b"), "two.json": answers(["c"], ["d"]) })
    const source = Source.join({ prompts: files[0]!, completions: files })
    const { items, rejects } = yield* collect(source)
    assert.deepStrictEqual(rejects, [])
    const of = (prompt: string, ...completions: ReadonlyArray<string>) => [prompt, completions, ["one", "two"]]
    const read = items.map(({ item }) => [item.prompt, item.completions, item.models])
    assert.deepStrictEqual(read, [of("Task 0", "a", "c"), of("Task 1", "b", "d")])
    const { hints, unused } = yield* source.summary!
    assert.deepStrictEqual(unused, [{ name: "generator", share: 1 }])
    assert.deepStrictEqual(hints, [
      'models are named after the files; to name them by "generator", set `modelPath: "generator"`',
    ])
    const [a, b] = [["a", "b"], ["c"]].map((output) => [{ id: 1, output }])
    const more = yield* run({ prompts: [prompt(1)], a: a!, b: b! })
    assert.match(more.rejects[1]?.reason ?? "", /^output: expected a string, found an array$/)
  })

  test("what is not detected is named, with the option that sets it and a value that works", function* () {
    const prompts = ["P", "Q"].map((foo, question_id) => ({ question_id, foo }))
    const [a, b] = ["a", "b"].map((text) => prompts.map(({ question_id }) => ({ question_id, bar: text })))
    const failing = (options: Partial<Source.JoinOptions>) =>
      Effect.map(Effect.flip(run({ prompts, a: a!, b: b! }, options)), ({ message }) => message.replace(/^.*\//, ""))
    for (const [what, file, other, option, value, set] of [
      ["key", "p", "foo", "key", "question_id", {}],
      ["prompt", "p", "foo", "promptPath", "foo", { key: "question_id" }],
      ["completion", "a", "bar", "completionPath", "bar", { key: "question_id", promptPath: "foo" }],
    ] as const) {
      assert.strictEqual(
        yield* failing(set),
        `${file}.jsonl: found no ${what} in "question_id" and "${other}": set \`${option}\` to the right field, such as \`${option}: "${value}"\``,
      )
    }
    const set = { key: "question_id", promptPath: "foo", completionPath: "bar" }
    assert.lengthOf((yield* run({ prompts, a: a!, b: b! }, set)).items, 2)
  })

  test("values are found where the paths say", function* () {
    const answer = (q: number, text: string) => ({ for: { q }, out: [{ text }] })
    const { items } = yield* run(
      {
        prompts: [
          {
            "the key": 7,
            turns: [{ content: "hello" }],
            about: { models: ["b", "a"] },
            right: { best_completion_index: 1 },
          },
        ],
        a: [answer(7, "x")],
        b: [answer(7, "y")],
      },
      {
        promptKey: '["the key"]',
        completionKey: "for.q",
        promptPath: "turns[0].content",
        completionPath: "out[0].text",
        metadataPath: "about",
        goldPath: "right",
      },
    )
    assert.deepStrictEqual(items[0]!.item, {
      id: "7",
      prompt: "hello",
      completions: ["y", "x"],
      models: ["b", "a"],
      metadata: { models: ["b", "a"] },
      gold: { best_completion_index: 1 },
    })
  })

  const gold = { best_completion_index: 1 }
  const deep = "[".repeat(50_000) + "]".repeat(50_000)
  const tooDeep = `{"id":"2","prompt":"Q","metadata":{"x":${deep}}}`
  const keys = [1, "01", "1 ", "A", "a", "é", "e\u0301", "'; DROP TABLE entry; --", "__proto__"]
  const noRow = (key: string) =>
    `no_match expected a usable row for key "${key}" in each completions file, found none in`
  const twice = (key: string, at: string) =>
    `duplicate_key expected each key only once, but "${key}" already occurs at ${at}`

  test.each<readonly [string, Files, Partial<Source.JoinOptions>, ReadonlyArray<string>]>([
    [
      "a prompt's record may be nested deeper than the engine can write",
      {
        prompts: [`{"id":"1","prompt":"Q","other":${deep}}`, tooDeep, prompt("3")],
        a: rows("a", "1", "2", "3"),
        b: rows("b", "1", "2", "3"),
      },
      {},
      ["p:1 item 1", "p:2 invalid_shape metadata: expected at most 100 levels of nesting, found more", "p:3 item 3"],
    ],
    [
      "keys are compared as text, to the last character",
      {
        prompts: keys.map((key) => prompt(key)),
        a: keys.map((key) => completion(String(key), "a")),
        b: keys.map((key) => completion(key, "b")).toReversed(),
      },
      {},
      keys.map((key, i) => `p:${i + 1} item ${key}`),
    ],
    [
      "a prompt without a row in each file is refused, and its other rows with it",
      { prompts: [prompt("1"), prompt("2"), prompt("3")], a: rows("a", "1", "2"), b: rows("b", "1") },
      {},
      ["p:1 item 1", `p:2 ${noRow("2")} b.jsonl`, `p:3 ${noRow("3")} a.jsonl, b.jsonl`],
    ],
    [
      "each key counts once in a file, the first time",
      {
        prompts: [prompt("1"), prompt("2"), prompt("1", { late: true }), prompt(1)],
        a: [...rows("a", "1", "2"), completion("1", "again"), completion(2, "again")],
        b: rows("b", "2", "1"),
      },
      {},
      [
        "p:1 item 1",
        "p:2 item 2",
        `p:3 ${twice("1", "p.jsonl:1")}`,
        `p:4 ${twice("1", "p.jsonl:1")}`,
        `a:3 ${twice("1", "a.jsonl:1")}`,
        `a:4 ${twice("2", "a.jsonl:2")}`,
      ],
    ],
    [
      "completions that could not be used come at the end, in the order of files and lines",
      {
        prompts: [prompt("1"), "oops", prompt("2", { prompt: 5 }), prompt("3", { metadata: 1 }), { prompt: "no key" }],
        a: [
          completion("x", "ax"),
          "[",
          ...rows("a", "1"),
          { id: "2" },
          { id: "3", completion: 7 },
          completion({}, "odd"),
          completion("1", "again"),
          completion("y", "ay"),
        ],
        b: [...rows("b", "1", "2", "3"), completion("x", "bx"), "long".repeat(100), { ...completion("1", "b"), n: 1 }],
      },
      { maxLineBytes: 100 },
      [
        "p:1 item 1",
        'p:2 invalid_json column 1: expected a value, found "oops"',
        `p:3 ${noRow("2")} a.jsonl`,
        `p:4 ${noRow("3")} a.jsonl`,
        "p:5 invalid_shape id: expected a string or a safe integer, found nothing",
        'a:1 no_match expected a prompt with key "x" in p.jsonl, found none',
        'a:2 invalid_json column 2: expected a value or "]", found the end of the line',
        "a:4 invalid_shape completion: expected a string, found nothing",
        "a:5 invalid_shape completion: expected a string, found 7",
        "a:6 invalid_shape id: expected a string or a safe integer, found an object",
        `a:7 ${twice("1", "a.jsonl:3")}`,
        'a:8 no_match expected a prompt with key "y" in p.jsonl, found none',
        'b:4 no_match expected a prompt with key "x" in p.jsonl, found none',
        "b:5 oversized_line expected a line of at most 100 bytes, found 400",
        `b:6 ${twice("1", "b.jsonl:1")}`,
      ],
    ],
    [
      "a prompts row of the wrong shape is refused by the names in its file",
      {
        prompts: [
          { id: "1", q: [] },
          { id: "2", q: ["x"], meta: "m" },
          { id: "3", q: ["x"], right: { best_completion_index: 9 }, models: ["a", "b"] },
          { id: "4", q: ["x"], right: { best_completion_index: null }, models: ["a", "b"] },
        ],
        a: rows("a", "1", "2", "3", "4"),
        b: rows("b", "1", "2", "3", "4"),
      },
      { promptPath: "q[0]", metadataPath: "meta", goldPath: "right" },
      [
        "p:1 invalid_shape q[0]: expected text or a list of messages, found nothing",
        'p:2 invalid_shape meta: expected an object, found "m"',
        "p:3 invalid_shape right: expected an index below 2 (the length of models), found 9",
        "p:4 invalid_shape right.best_completion_index: expected a number, found null",
      ],
    ],
    ["an empty file has no rows", { prompts: [], a: [], b: [] }, {}, []],
  ])("%s", function* ([, files, options, expected]) {
    const { described, items, rejects } = yield* run(files, options)
    assert.deepStrictEqual(described, expected)
    for (const { item } of items) if (item.id === "1") assert.match(item.completions.join(), /^a1?,b1?$/)
    // Each reject has its line, or the beginning of one that is too long.
    const lines = { p: files.prompts, a: files.a, b: files.b }
    for (const { code, file, line, raw } of rejects) {
      const text = toLines([lines[file.at(-".jsonl".length - 1) as keyof typeof lines][line! - 1]]).slice(0, -1)
      if (code !== "oversized_line") assert.strictEqual(raw, text)
    }
  })

  test("a prompt that lacks a row is kept if two completions are left and the gold answer is one of them", function* () {
    const { described, items } = yield* run(
      {
        prompts: [
          prompt("1"),
          prompt("2"),
          prompt("3", { gold, metadata: { models: ["a", "c"] } }),
          prompt("4", { gold }),
          prompt("5", { gold, metadata: { models: ["b", "c"] } }),
          prompt("same"),
        ],
        a: [...rows("a", "1", "2", "3", "4", "5"), completion("same", "x")],
        b: [],
        c: [...rows("c", "1", "3", "4", "5"), completion("same", "x")],
      },
      { missing: "keep" },
    )
    assert.deepStrictEqual(described, [
      "p:1 item 1",
      `p:2 ${noRow("2")} b.jsonl, c.jsonl; at least two completions are needed`,
      "p:3 item 3",
      "p:4 invalid_shape gold: the index 1 refers to the prompt's list of models, but the prompt has no list at models; add the list, or give the model's name instead of the index",
      'p:5 invalid_shape gold: metadata.models must list the model of every completion; missing: "a"',
      "p:6 invalid_shape completions: expected at least two distinct completions, found 1",
    ])
    assert.deepStrictEqual(items[0]!.item.completions, ["a1", "c1"])
    assert.deepStrictEqual(items[0]!.item.models, ["a", "c"])
  })

  test("more rows than one statement or one page holds", function* () {
    const ids = Array.from({ length: 3_000 }, (_, i) => i)
    const { items, rejects } = yield* run({
      prompts: ids.map((id) => ({ id, prompt: "p" })),
      a: ids.toReversed().map((id) => completion(id, "a")),
      b: [...ids.map((id) => completion(-1 - id, "b")), ...ids.map((id) => completion(id, "b"))],
    })
    const found = items.map(({ item }) => Number(item.id))
    assert.deepStrictEqual(found, ids)
    assert.deepStrictEqual(
      rejects.map(({ code, file, line }) => `${file.at(-".jsonl".length - 1)}:${line} ${code}`),
      ids.map((id) => `b:${id + 1} no_match`),
    )
  })

  test("more text than is read at once", function* () {
    const ids = Array.from({ length: 20 }, (_, i) => i)
    const text = (id: number) => `${id} ${"é".repeat(1024 * 1024)}`
    const files = {
      prompts: ids.map((id) => prompt(id)),
      a: [...ids.map((id) => completion(id, text(id))), completion(3, text(3)), completion("x", text(0))].toReversed(),
      b: ids.map((id) => completion(id, "b")),
    }
    const { items, described } = yield* run(files)
    assert.deepStrictEqual(
      items.map(({ item }) => item.completions[0] === text(Number(item.id))),
      ids.map(() => true),
    )
    assert.deepStrictEqual(described.slice(ids.length), [
      'a:1 no_match expected a prompt with key "x" in p.jsonl, found none',
      'a:19 duplicate_key expected each key only once, but "3" already occurs at a.jsonl:2',
    ])
  })

  test("files of the same name in different folders are distinguished", function* () {
    const [prompts, ...completions] = yield* writeFiles({
      "p.jsonl": toLines([prompt("1")]),
      "x/out.jsonl": toLines([completion("1", "a")]),
      "y/out.jsonl": toLines([completion("1", "b")]),
    })
    const source = Source.join({ prompts: prompts!, completions })
    const { items } = yield* collect(source)
    assert.deepStrictEqual(items[0]!.item.models, completions)
    assert.strictEqual(source.description, `${prompts} with 2 inputs of completions, joined by id`)
  })

  test.each<readonly [Partial<Source.JoinOptions>, string]>([
    [
      { completionPath: "choices[0" },
      'InvalidOption `completionPath`: not a field path: "choices[0": expected .name, [0] or ["name"] at character 8, found "[0"',
    ],
    [{ key: "" }, 'InvalidOption `key`: not a field path: ""'],
    [{ completionKey: "a b" }, "InvalidOption `completionKey`: "],
    [{ completions: ["a.jsonl"] }, "InvalidOption `completions`: expected at least two files, found 1"],
    [{ completions: ["a.jsonl", "gone"] }, "FileNotFound gone: there is no such file; check the path"],
    [{ scratchDirectory: "p.jsonl/none" }, "p.jsonl/none"],
  ])("%j ends the run with the name of the option or file, before the first record", function* ([options, expected]) {
    const [p = ""] = yield* writeFiles({ "p.jsonl": toLines([prompt("1")]), "a.jsonl": "", "b.jsonl": "" })
    const folder = p.slice(0, -"p.jsonl".length)
    const { completions = ["a.jsonl", "b.jsonl"], scratchDirectory } = options
    const all = {
      ...options,
      completions: [completions].flat().map((name) => folder + name),
      ...(scratchDirectory !== undefined && { scratchDirectory: folder + scratchDirectory }),
    }
    const error = yield* Effect.flip(Stream.runDrain(Stream.take(Source.join({ prompts: p, ...all }).records, 1)))
    assert.include(`${error.reason._tag} ${error.message.replaceAll(folder, "")}`, expected)
  })

  test("files of completions may be a folder or a pattern, in the order of their names", function* () {
    const json = (text: string) => JSON.stringify([completion("1", text)])
    const [prompts, b] = yield* writeFiles({
      "p.jsonl": toLines([prompt("1")]),
      "answers/b.json": json("B"),
      "answers/a.json": json("A"),
      "answers/notes.txt": "no data",
      "more/c.json": json("C"),
    })
    const folder = b!.slice(0, -"/b.json".length)
    const join = (completions: string | ReadonlyArray<string>) => Source.join({ prompts: prompts!, completions })
    const models = (completions: string | ReadonlyArray<string>) =>
      Effect.map(collect(join(completions)), ({ items }) => items.map(({ item }) => item.models?.join()))
    assert.deepStrictEqual(yield* models(`${folder}/*.json`), ["a,b"])
    assert.deepStrictEqual(yield* models(folder), ["a,b"])
    assert.deepStrictEqual(yield* models([`${folder}/../more`, folder, b!]), ["c,a,b"])
    const found = yield* join([`${folder}/*.json`, `${folder}/*.csv`]).summary!
    assert.deepStrictEqual(found.empty, [`${folder}/*.csv`])
    assert.strictEqual(found.count, 3)
    assert.strictEqual(join(folder).description, `${prompts} with ${folder}, joined by id`)
    const failure = yield* Effect.flip(Stream.runDrain(join([`${folder}/../more`, `${folder}/*.csv`]).records))
    assert.match(failure.message, /at least two files, found 1, and none in .+\*\.csv$/)
  })

  test("a member is found by its name, whatever that is", function* () {
    const row = (text: string) => [{ "model.v2": { key: "1" }, "key no.": "1", "Antwort A": text, "by[0]": `m${text}` }]
    const named = yield* run(
      { prompts: [{ "key no.": "1", "Frage {de}": "Q" }], a: row("A"), b: row("B") },
      { key: "key no.", promptPath: "Frage {de}", completionPath: "Antwort A", modelPath: "by[0]" },
    )
    assert.deepStrictEqual(named.items[0]?.item, {
      id: "1",
      prompt: "Q",
      completions: ["A", "B"],
      models: ["mA", "mB"],
    })
    const nested = yield* run(
      { prompts: [prompt("1")], a: row("A"), b: row("B") },
      { completionKey: '["model.v2"].key', completionPath: "{Antwort A}!" },
    )
    assert.deepStrictEqual(nested.items[0]?.item.completions, ["A!", "B!"])
  })

  test("origins say where each completion was read", function* () {
    const prompts = [prompt("1"), prompt("2")]
    const { items } = yield* run({ prompts, a: ["[", ...rows("a", "2", "1")], b: rows("b", "1", "2") })
    const at = ({ file, line }: Origin) => `${file.replace(/.*\//, "")}:${line}`
    const found = items.map(({ completionOrigins }) => completionOrigins!.map(at).join())
    assert.deepStrictEqual(found, ["a.jsonl:3,b.jsonl:1", "a.jsonl:2,b.jsonl:2"])
  })

  test("a model is called as the file, or as the row says", function* () {
    const row = (model: unknown, text: string) => ({ ...completion("1", text), by: { name: model } })
    const names = ["gpt-3.5.jsonl", "x/opus.v2.JSONL", "y/llama-3.1-8b", ".jsonl"]
    const [prompts, ...completions] = yield* writeFiles({
      "p.jsonl": toLines([prompt("1")]),
      ...Object.fromEntries(names.map((name, i) => [name, toLines([row(`model ${i}`, `text ${i}`)])])),
    })
    const modelsOf = (options: Partial<Source.JoinOptions>) =>
      Effect.map(collect(Source.join({ prompts: prompts!, completions, ...options })), ({ items, rejects }) =>
        items.length === 1 ? items[0]!.item.models : rejects.map(({ reason }) => reason),
      )
    assert.deepStrictEqual(yield* modelsOf({}), ["gpt-3.5", "opus.v2", "llama-3.1-8b", ".jsonl"])
    assert.deepStrictEqual(
      yield* modelsOf({ modelPath: "by.name" }),
      names.map((_, i) => `model ${i}`),
    )
    const refused = yield* modelsOf({ modelPath: "by.nam" })
    assert.strictEqual(refused!.at(-1), "by.nam: expected a string, found nothing")
  })

  test("a gold answer follows its model's name", function* () {
    const gold = { best_completion_index: 1, rationale: "so" }
    const files = (more: object) => ({ prompts: [prompt("1", more)], a: rows("a", "1"), b: [], c: rows("c", "1") })
    const best = (more: object, options?: Partial<Source.JoinOptions>) =>
      Effect.map(run(files(more), { missing: "keep", ...options }), ({ items, rejects }) => {
        const { item } = items[0] ?? {}
        if (item === undefined) return rejects[0]!.reason
        return item.gold === undefined ? "no gold" : item.completions[item.gold.best_completion_index]!
      })
    const who = { modelsPath: "about.who" }
    for (const [more, expected, options] of [
      [{ gold, models: ["a", "c"] }, "c1"],
      [{ gold, models: ["c", "a"] }, "a1"],
      [{ gold, models: ["b", "c", "a"] }, "c1"],
      [{ gold, models: ["a", "b", "c"] }, 'gold: expected one of "a" and "c", found "b"'],
      [{ gold, models: ["a", "b"] }, 'missing: "c"'],
      [{ gold, models: ["c", "a", "a"] }, 'gold: expected each model once, found "a" twice'],
      [{ gold, models: ["c", "a", "c"] }, 'gold: expected each model once, found "c" twice'],
      [{ gold: "c" }, "c1"],
      [{ gold: "0", models: ["c", "a"] }, "c1"],
      [{ gold: "tie" }, "no gold"],
      [{ gold: "b" }, 'gold: expected one of "a" and "c", found "b"'],
      [{ gold, about: { who: ["c", "a"] } }, "a1", who],
      [{ gold, models: ["a", "c"] }, "the prompt has no list at about.who; add the list", who],
      [{ gold, models: ["a", "b"], metadata: { models: ["a", "c"] } }, 'missing: "c"'],
    ] as const) {
      assert.include(yield* best(more, options), expected)
    }
  })

  test("what goes along is kept once where all completions have the same, and else for each of them", function* () {
    const row = (more: object) => [{ ...completion("1", "x"), ...more }]
    const files = {
      prompts: [
        prompt("1", { topic: "t", lang: "en", models: ["b", "a"], gold: { best_completion_index: 0, by: "z" } }),
      ],
      a: row({ score: 9, run: 7, lang: "en" }),
      b: row({ completion: [{ role: "assistant", content: "y" }], score: 2, run: 7, lang: "de", tokens: 3 }),
    }
    const kept = (keep: ReadonlyArray<string>) =>
      Effect.map(run(files, { keep }), ({ items }) => items[0]?.item.metadata)
    assert.deepStrictEqual(yield* kept(["*"]), {
      topic: "t",
      lang: "en",
      models: ["b", "a"],
      gold: { by: "z" },
      score: [2, 9],
      run: 7,
      "completions[].lang": ["de", "en"],
      tokens: [3, null],
    })
    const { items } = yield* run(files, { keep: ["*"] })
    assert.deepStrictEqual(items[0]?.completionLists, [["score"], ["completions[].lang"], ["tokens"]])
    assert.deepStrictEqual(yield* kept(["topic", "score"]), { topic: "t", score: [2, 9] })
    assert.isUndefined(yield* kept([]))
    const { described } = yield* run({ ...files, a: row({ score: 2 ** 60 }) }, { keep: ["score"] })
    assert.match(described[1]!, /^a:1 invalid_shape score: expected a finite number \(write integers above/)
  })

  test("prompts stand in several files, in each of which a key may be asked for but once in all", function* () {
    const [one, two, ...completions] = yield* writeFiles({
      "one.jsonl": toLines([prompt("1"), prompt("x")]),
      "two.jsonl": toLines([prompt("2"), prompt("1"), prompt("x"), prompt("x")]),
      "a.jsonl": toLines(rows("a", "1", "2")),
      "b.jsonl": toLines(rows("b", "1", "2")),
    })
    const source = Source.join({ prompts: [one!, two!], completions })
    assert.deepStrictEqual(describeAll((yield* collect(source)).records), [
      "one:1 item 1",
      `one:2 ${noRow("x")} a.jsonl, b.jsonl`,
      "two:1 item 2",
      `two:2 ${twice("1", "one.jsonl:1")}`,
      `two:3 ${twice("x", "one.jsonl:2")}`,
      `two:4 ${twice("x", "one.jsonl:2")}`,
    ])
    assert.strictEqual(source.description, "2 inputs of prompts with 2 inputs of completions, joined by id")
  })

  test("prompts and completions may be messages", function* () {
    const user = { role: "user", content: "Hello" }
    const assistant = (content: string) => ({ role: "assistant", content })
    const { items, rejects } = yield* run({
      prompts: [
        { id: 1, prompt: [user] },
        { id: 2, prompt: "Hello" },
        { id: 3, prompt: "Bye" },
      ],
      a: [1, 2, 3].map((id) => ({ id, completion: [user, assistant(`a${id}`)] })),
      b: [1, 2, 3].map((id) => ({ id, completion: [assistant(`b${id}`)] })),
    })
    assert.deepStrictEqual(
      items.map(({ item }) => [item.prompt, item.completions]),
      [
        [[user], ["a1", "b1"]],
        ["Hello", ["a2", "b2"]],
      ],
    )
    assert.strictEqual(rejects.length, 1)
    assert.match(
      rejects[0]!.reason,
      /^completion at .*a\.jsonl:3: expected either the assistant's turn alone, or the prompt/,
    )
  })

  test("rejects have the row's text to the character, however its completion is written there", function* () {
    const texts = [
      '{"id":"1","completion":"a line that is not short, \\n and another"}',
      '{ "completion" : "\\u0061 line that is not short, \\u00e9" , "id" : "2" }',
      '{"id":"3","completion":"é \\"quoted\\" and long enough to be cut out","twice":"é \\"quoted\\" and long enough to be cut out"}',
      '{"id":"4","completion":"$& is no pattern, and {} is no template","x":[1, 2]}',
      '{"id":"5","completion":"short"}',
      `{"id":"${"six".repeat(40)}","completion":"the key is longer than this"}`,
    ]
    const unasked = yield* run({ prompts: [], a: texts, b: [] })
    assert.deepStrictEqual(
      columns(unasked.rejects, "code", "raw"),
      texts.map((raw) => ["no_match", raw]),
    )
    const prompts = texts.map((text) => prompt(JSON.parse(text).id))
    const twice = yield* run({ prompts, a: [...texts, ...texts], b: [] })
    assert.deepStrictEqual(
      columns(twice.rejects.slice(prompts.length), "code", "raw"),
      texts.map((raw) => ["duplicate_key", raw]),
    )
  })

  test("a system prompt stands before the prompt", function* () {
    const prompts = [prompt(1, { system: "S" }), prompt(2)]
    const read = (options: Partial<Source.JoinOptions>) =>
      Effect.map(run({ prompts, a: rows("a", 1, 2), b: rows("b", 1, 2) }, options), ({ items }) =>
        items.map(({ item }) => item.prompt),
      )
    for (const options of [{}, { promptPath: "prompt" }, { promptPath: "prompt", systemPath: "system" }]) {
      assert.deepStrictEqual(yield* read(options), ["S\n\nprompt 1", "prompt 2"])
    }
    assert.deepStrictEqual(yield* read({ ignore: ["system"] }), ["prompt 1", "prompt 2"])
  })

  test("the scratch file has no name, and is gone with the stream, however that ends", function* () {
    const fs = yield* FileSystem.FileSystem
    const scratchDirectory = yield* fs.makeTempDirectoryScoped()
    const [prompts, ...completions] = yield* writeFiles({
      "p.jsonl": toLines([prompt("1"), prompt("2")]),
      "a.jsonl": toLines(rows("a", "1", "2")),
      "b.jsonl": toLines(rows("b", "1", "2")),
    })
    const { records } = Source.join({ prompts: prompts!, completions, scratchDirectory })
    const seen = Effect.gen(function* () {
      return { open: openFilesIn(scratchDirectory), named: yield* fs.readDirectory(scratchDirectory) }
    })
    const ended = (use: Effect.Effect<void, string>) =>
      records.pipe(
        Stream.mapEffect(() => Effect.tap(seen, () => use)),
        Stream.take(1),
        Stream.runCollect,
        Effect.exit,
      )
    const [left] = yield* Effect.flatten(ended(Effect.void))
    assert.strictEqual(left!.open.length > 0, canSeeOpenFiles)
    assert.deepStrictEqual(left!.named, [])
    for (const use of [Effect.void, Effect.fail("broken"), Effect.interrupt]) {
      yield* ended(use)
      assert.deepStrictEqual(yield* seen, { open: [], named: [] })
    }
  })

  test.skipIf(SmallDisk.unavailable)(
    "a full disk ends the run and says so (skipped where none can be mounted)",
    function* () {
      const disk = yield* Effect.acquireRelease(
        Effect.sync(() => SmallDisk.make("512k")),
        ({ remove }) => Effect.sync(remove),
      )
      const fs = yield* FileSystem.FileSystem
      const ids = Array.from({ length: 1_000 }, (_, i) => i)
      const failure = yield* run(
        {
          prompts: ids.map((id) => prompt(id)),
          a: ids.map((id) => completion(id, "a".repeat(1_000))),
          b: ids.map((id) => completion(id, "b")),
        },
        { scratchDirectory: disk.path },
      ).pipe(Effect.flip)
      assert.strictEqual(failure.reason._tag, "ScratchFailed")
      assert.match(
        failure.message,
        /^the scratch file for joining or grouping records failed: .*disk is full.*job folder.*TMPDIR.*scratchDirectory/,
      )
      assert.deepStrictEqual(
        { open: openFilesIn(disk.path), named: yield* fs.readDirectory(disk.path) },
        { open: [], named: [] },
      )
    },
  )

  test.live("what a killed run left behind is removed, and nothing else", function* () {
    const fs = yield* FileSystem.FileSystem
    const scratchDirectory = yield* fs.makeTempDirectoryScoped()
    const make = Effect.fnUntraced(function* (name: string, time: Date) {
      yield* fs.makeDirectory(`${scratchDirectory}/${name}`)
      yield* fs.writeFileString(`${scratchDirectory}/${name}/join.sqlite`, "")
      yield* fs.utimes(`${scratchDirectory}/${name}`, time, time)
    })
    const now = DateTime.toDateUtc(yield* DateTime.now)
    const longAgo = DateTime.toDateUtc(DateTime.makeUnsafe(0))
    yield* make("prefstream-scratch-AbCdEf", longAgo)
    yield* make("prefstream-scratch-beingmade", now)
    yield* make("results", longAgo)
    yield* run({ prompts: [], a: [], b: [] }, { scratchDirectory })
    assert.deepStrictEqual((yield* fs.readDirectory(scratchDirectory)).toSorted(), [
      "prefstream-scratch-beingmade",
      "results",
    ])
  })

  const Key = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))
  const Rows = Schema.Array(Schema.Union([Key, Schema.Literal("bad")]))
  it.effect.prop(
    "every row is in one item, in one reject, or belongs to a refused prompt",
    [Rows, Rows, Rows],
    ([p, a, b]) =>
      Effect.gen(function* () {
        const toRow = (row: number | "bad", member: string, text: string) =>
          row === "bad" ? "{bad" : { id: row, [member]: text }
        const { records, items } = yield* run({
          prompts: p.map((row) => toRow(row, "prompt", "p")),
          a: a.map((row) => toRow(row, "completion", "a")),
          b: b.map((row) => toRow(row, "completion", "b")),
        })
        const asked = new Set(p.filter((row) => row !== "bad"))
        const unused = (file: ReadonlyArray<number | "bad">) =>
          file.filter((row, i) => row === "bad" || file.indexOf(row) < i || !asked.has(row)).length
        assert.strictEqual(records.length, p.length + unused(a) + unused(b))
        assert.deepStrictEqual(
          new Set(items.map(({ item }) => Number(item.id))),
          new Set([...asked].filter((row) => a.includes(row) && b.includes(row))),
        )
      }),
  )
})
