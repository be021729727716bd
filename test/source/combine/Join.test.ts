import { createHash } from "node:crypto"
import { existsSync, readdirSync, readlinkSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, FileSystem, Path, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { PromptItem } from "../../../src/domain/PromptItem.ts"
import * as Source from "../../../src/source/Source.ts"
import { sharedData } from "../../support/sharedData.ts"
import * as SmallDisk from "../../support/smallDisk.ts"
import { collect, platform, summary, toLines, writeFiles } from "../support.ts"

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
  const directory = prompts!.slice(0, prompts!.lastIndexOf("/") + 1)
  return {
    ...collected,
    described: summary(collected.records).map((line) => line.replaceAll(directory, "")),
    places: collected.rejects.map(({ file, line }) => `${file.replace(directory, "")}:${line}`),
  }
}, Effect.provide(platform))

const prompt = (id: unknown, more?: object) => ({ id, prompt: `prompt ${String(id)}`, ...more })
const completion = (id: unknown, text: string) => ({ id, completion: text })
const rows = (text: string, ...ids: ReadonlyArray<unknown>) => ids.map((id) => completion(id, `${text}${String(id)}`))

describe("join", () => {
  it.effect("prompt and completion are detected, also a completion that is a list of one text", () =>
    Effect.gen(function* () {
      const told = (id: number, output: unknown) => ({
        id,
        instruction: `Task ${id}`,
        input: "",
        output,
        generator: "m",
      })
      const files = yield* writeFiles({
        "one.json": JSON.stringify([told(1, "a"), told(2, "b")]),
        "two.json": JSON.stringify([told(1, ["c"]), told(2, ["d"])]),
      })
      const source = Source.join({ prompts: files[0]!, completions: files })
      const { items, rejects } = yield* collect(source)
      assert.deepStrictEqual(rejects, [])
      assert.deepStrictEqual(
        items.map(({ item }) => [item.prompt, item.completions, item.models]),
        [
          ["Task 1", ["a", "c"], ["one", "two"]],
          ["Task 2", ["b", "d"], ["one", "two"]],
        ],
      )
      const { hints, unused } = yield* source.summary!
      assert.deepStrictEqual(unused, [{ name: "generator", share: 1 }])
      assert.deepStrictEqual(hints, [
        'models are named after the files; to name them by "generator", set --model-path generator',
      ])
      const more = yield* run({
        prompts: [prompt(1)],
        a: [{ id: 1, output: ["a", "b"] }],
        b: [{ id: 1, output: ["c"] }],
      })
      assert.match(more.rejects[1]?.reason ?? "", /^output: expected a string, found an array$/)
    }).pipe(Effect.provide(platform)),
  )

  it.effect("what is not detected is named, with the option that sets it and a value that works", () =>
    Effect.gen(function* () {
      const prompts = [
        { question_id: 1, foo: "P" },
        { question_id: 2, foo: "Q" },
      ]
      const [a, b] = ["a", "b"].map((text) => prompts.map(({ question_id }) => ({ question_id, bar: text })))
      const failing = (options: Partial<Source.JoinOptions>) =>
        Effect.map(Effect.flip(run({ prompts, a: a!, b: b! }, options)), ({ message }) => message.replace(/^.*\//, ""))
      assert.strictEqual(
        yield* failing({}),
        'p.jsonl: found no key in "question_id" and "foo": set --key to its field, such as --key question_id',
      )
      assert.strictEqual(
        yield* failing({ key: "question_id" }),
        'p.jsonl: found no prompt in "question_id" and "foo": set --prompt-path to its field, such as --prompt-path foo',
      )
      assert.strictEqual(
        yield* failing({ key: "question_id", promptPath: "foo" }),
        'a.jsonl: found no completion in "question_id" and "bar": set --completion-path to its field, such as --completion-path bar',
      )
      const found = yield* run(
        { prompts, a: a!, b: b! },
        { key: "question_id", promptPath: "foo", completionPath: "bar" },
      )
      assert.lengthOf(found.items, 2)
    }),
  )

  it.effect("completions stand in the order of their files, prompts in the order of theirs", () =>
    Effect.gen(function* () {
      const { items, rejects } = yield* run({
        prompts: [prompt("2", { metadata: { topic: "x" }, gold: "c" }), prompt("1")],
        a: rows("a", "1", "2"),
        b: rows("b", "2", "1"),
        c: rows("c", "2", "1"),
      })
      assert.deepStrictEqual(
        items.map(({ item, origin }) => [origin.line, item]),
        [
          [
            1,
            {
              id: "2",
              prompt: "prompt 2",
              completions: ["a2", "b2", "c2"],
              models: ["a", "b", "c"],
              metadata: { topic: "x" },
              gold: { best_completion_index: 2 },
            },
          ],
          [2, { id: "1", prompt: "prompt 1", completions: ["a1", "b1", "c1"], models: ["a", "b", "c"] }],
        ],
      )
      assert.deepStrictEqual(rejects, [])
    }),
  )

  it.effect("a prompt's record may be nested deeper than the engine can write", () =>
    Effect.gen(function* () {
      const deep = "[".repeat(50_000) + "]".repeat(50_000)
      const refused = `{"id":"2","prompt":"Q","metadata":{"x":${deep}}}`
      const { rejects, described } = yield* run({
        prompts: [`{"id":"1","prompt":"Q","other":${deep}}`, refused, prompt("3")],
        a: rows("a", "1", "2", "3"),
        b: rows("b", "1", "2", "3"),
      })
      assert.deepStrictEqual(described, [
        "1 item 1",
        "2 invalid_shape metadata: expected at most 100 levels of nesting, found more",
        "3 item 3",
      ])
      assert.strictEqual(rejects[0]!.raw, refused)
    }),
  )

  it.effect("values are found where the paths say", () =>
    Effect.gen(function* () {
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
    }),
  )

  it.effect("a key too long for an id has its hash for one, wherever the rows stand", () =>
    Effect.gen(function* () {
      const keys = ["x".repeat(1000), "x".repeat(1001), "é".repeat(501)]
      const { items, rejects } = yield* run({
        prompts: keys.map((key) => prompt(key)),
        a: keys.map((key) => completion(key, "a")),
        b: keys.map((key) => completion(key, "b")).toReversed(),
      })
      assert.deepStrictEqual(rejects, [])
      const hashed = (key: string) => `sha256:${createHash("sha256").update(key).digest("hex")}`
      assert.deepStrictEqual(
        items.map(({ item }) => item.id),
        [keys[0], hashed(keys[1]!), hashed(keys[2]!)],
      )
    }),
  )

  it.effect("keys are compared as text, to the last character", () =>
    Effect.gen(function* () {
      const keys = [1, "01", "1 ", "A", "a", "é", "e\u0301", "'; DROP TABLE entry; --", "__proto__"]
      const { described } = yield* run({
        prompts: keys.map((key) => prompt(key)),
        a: keys.map((key) => completion(String(key), "a")),
        b: keys.map((key) => completion(key, "b")).toReversed(),
      })
      assert.deepStrictEqual(
        described,
        keys.map((key, i) => `${i + 1} item ${key}`),
      )
    }),
  )

  it.effect("a prompt without a row in each file is refused, and its other rows with it", () =>
    Effect.gen(function* () {
      const { described, places } = yield* run({
        prompts: [prompt("1"), prompt("2"), prompt("3")],
        a: rows("a", "1", "2"),
        b: rows("b", "1"),
      })
      assert.deepStrictEqual(described, [
        "1 item 1",
        '2 no_match expected a usable row for key "2" in each completions file, found none in b.jsonl',
        '3 no_match expected a usable row for key "3" in each completions file, found none in a.jsonl, b.jsonl',
      ])
      assert.deepStrictEqual(places, ["p.jsonl:2", "p.jsonl:3"])
    }),
  )

  it.effect("or kept, where two completions are left and the gold answer is one of them", () =>
    Effect.gen(function* () {
      const gold = { best_completion_index: 1 }
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
        "1 item 1",
        '2 no_match expected a usable row for key "2" in each completions file, found none in b.jsonl, c.jsonl; at least two completions are needed',
        "3 item 3",
        "4 invalid_shape gold: expected a list of models at models for the index 1, found none; add the list, or name the model",
        '5 invalid_shape gold: expected the models of all completions in metadata.models, found none of "a"',
        "6 invalid_shape completions: expected at least two distinct completions, found 1",
      ])
      assert.deepStrictEqual(items[0]!.item.completions, ["a1", "c1"])
      assert.deepStrictEqual(items[0]!.item.models, ["a", "c"])
    }),
  )

  it.effect("each key counts once in a file, the first time", () =>
    Effect.gen(function* () {
      const { described, places, items, rejects } = yield* run({
        prompts: [prompt("1"), prompt("2"), prompt("1", { late: true }), prompt(1)],
        a: [...rows("a", "1", "2"), completion("1", "again"), completion(2, "again")],
        b: rows("b", "2", "1"),
      })
      assert.deepStrictEqual(described, [
        "1 item 1",
        "2 item 2",
        '3 duplicate_key expected each key once, but "1" is also at p.jsonl:1',
        '4 duplicate_key expected each key once, but "1" is also at p.jsonl:1',
        '3 duplicate_key expected each key once, but "1" is also at a.jsonl:1',
        '4 duplicate_key expected each key once, but "2" is also at a.jsonl:2',
      ])
      assert.deepStrictEqual(places, ["p.jsonl:3", "p.jsonl:4", "a.jsonl:3", "a.jsonl:4"])
      assert.deepStrictEqual(items[0]!.item.completions, ["a1", "b1"])
      assert.strictEqual(rejects[0]!.raw, '{"id":"1","prompt":"prompt 1","late":true}')
      assert.strictEqual(rejects[2]!.raw, '{"id":"1","completion":"again"}')
    }),
  )

  it.effect("completions that could not be used come at the end, in the order of files and lines", () =>
    Effect.gen(function* () {
      const { described, places, rejects } = yield* run(
        {
          prompts: [
            prompt("1"),
            "oops",
            prompt("2", { prompt: 5 }),
            prompt("3", { metadata: 1 }),
            { prompt: "no key" },
          ],
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
          b: [
            ...rows("b", "1", "2", "3"),
            completion("x", "bx"),
            "long".repeat(100),
            { ...completion("1", "b"), n: 1 },
          ],
        },
        { maxLineBytes: 100 },
      )
      assert.deepStrictEqual(described, [
        "1 item 1",
        '2 invalid_json column 1: expected a value, found "oops"',
        '3 no_match expected a usable row for key "2" in each completions file, found none in a.jsonl',
        '4 no_match expected a usable row for key "3" in each completions file, found none in a.jsonl',
        "5 invalid_shape id: expected a string or a safe integer, found nothing",
        '1 no_match expected a prompt with key "x" in p.jsonl, found none',
        '2 invalid_json column 2: expected a value or "]", found the end of the line',
        "4 invalid_shape completion: expected a string, found nothing",
        "5 invalid_shape completion: expected a string, found 7",
        "6 invalid_shape id: expected a string or a safe integer, found an object",
        '7 duplicate_key expected each key once, but "1" is also at a.jsonl:3',
        '8 no_match expected a prompt with key "y" in p.jsonl, found none',
        '4 no_match expected a prompt with key "x" in p.jsonl, found none',
        "5 oversized_line expected a line of at most 100 bytes, found 400",
        '6 duplicate_key expected each key once, but "1" is also at b.jsonl:1',
      ])
      assert.deepStrictEqual(
        places.slice(4),
        [1, 2, 4, 5, 6, 7, 8].map((line) => `a.jsonl:${line}`).concat([4, 5, 6].map((line) => `b.jsonl:${line}`)),
      )
      assert.isTrue(rejects.every(({ raw }) => raw !== undefined))
    }),
  )

  it.effect("a prompts row of the wrong shape is refused by the names in its file", () =>
    Effect.gen(function* () {
      const { described } = yield* run(
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
      )
      assert.deepStrictEqual(described, [
        "1 invalid_shape q[0]: expected text or a list of messages, found nothing",
        '2 invalid_shape meta: expected an object, found "m"',
        "3 invalid_shape right: expected an index below 2, the length of models, found 9",
        "4 invalid_shape right.best_completion_index: expected a number, found null",
      ])
    }),
  )

  it.effect("more rows than one statement or one page holds", () =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 3_000 }, (_, i) => i)
      const { items, rejects, places } = yield* run({
        prompts: ids.map((id) => ({ id, prompt: "p" })),
        a: ids.toReversed().map((id) => completion(id, "a")),
        b: [...ids.map((id) => completion(-1 - id, "b")), ...ids.map((id) => completion(id, "b"))],
      })
      assert.deepStrictEqual(
        items.map(({ item }) => Number(item.id)),
        ids,
      )
      assert.deepStrictEqual(
        places,
        ids.map((id) => `b.jsonl:${id + 1}`),
      )
      assert.isTrue(rejects.every(({ code }) => code === "no_match"))
    }),
  )

  it.effect("more text than is read at once", () =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 20 }, (_, i) => i)
      const text = (id: number) => `${id} ${"é".repeat(1024 * 1024)}`
      const files = {
        prompts: ids.map((id) => prompt(id)),
        a: [
          ...ids.map((id) => completion(id, text(id))),
          completion(3, text(3)),
          completion("x", text(0)),
        ].toReversed(),
        b: ids.map((id) => completion(id, "b")),
      }
      const { items, described } = yield* run(files)
      assert.deepStrictEqual(
        items.map(({ item }) => item.completions[0] === text(Number(item.id))),
        ids.map(() => true),
      )
      assert.deepStrictEqual(described.slice(ids.length), [
        '1 no_match expected a prompt with key "x" in p.jsonl, found none',
        '19 duplicate_key expected each key once, but "3" is also at a.jsonl:2',
      ])
    }),
  )

  it.effect("files of the same name in different folders are distinguished", () =>
    Effect.gen(function* () {
      const [prompts, ...completions] = yield* writeFiles({
        "p.jsonl": toLines([prompt("1")]),
        "x/out.jsonl": toLines([completion("1", "a")]),
        "y/out.jsonl": toLines([completion("1", "b")]),
      })
      const source = Source.join({ prompts: prompts!, completions })
      const { items } = yield* collect(source)
      assert.deepStrictEqual(items[0]!.item.models, completions)
      assert.strictEqual(source.description, `${prompts} with 2 inputs of completions, joined by id`)
    }).pipe(Effect.provide(platform)),
  )

  it.effect("what ends the run says which option or file, before the first record", () =>
    Effect.gen(function* () {
      const [p, a, b] = yield* writeFiles({ "p.jsonl": toLines([prompt("1")]), "a.jsonl": "", "b.jsonl": "" })
      const fail = (options: Partial<Source.JoinOptions>) =>
        Source.join({ prompts: p!, completions: [a!, b!], ...options }).records.pipe(
          Stream.take(1),
          Stream.runDrain,
          Effect.flip,
          Effect.map((error) => `${error.reason._tag} ${error.message.replaceAll(p!.slice(0, -7), "")}`),
        )
      assert.strictEqual(
        yield* fail({ completionPath: "choices[0" }),
        'InvalidOption completionPath: not a field path: "choices[0": expected .name, [0] or ["name"] at character 8, found "[0"',
      )
      assert.match(yield* fail({ key: "" }), /^InvalidOption key: not a field path: ""/)
      assert.match(yield* fail({ completionKey: "a b" }), /^InvalidOption completionKey: /)
      assert.strictEqual(
        yield* fail({ completions: [a!] }),
        "InvalidOption completions: expected at least two files, found 1",
      )
      assert.strictEqual(
        yield* fail({ completions: [a!, `${b}.gone`] }),
        "FileNotFound b.jsonl.gone: there is no such file; check the path",
      )
      assert.match(yield* fail({ scratchDirectory: `${p}/none` }), /p\.jsonl\/none/)
    }).pipe(Effect.provide(platform)),
  )

  it.effect("files of completions may be a folder or a pattern, in the order of their names", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(platform)),
  )

  it.effect("a member is found by its name, whatever that is", () =>
    Effect.gen(function* () {
      const row = (text: string) => [
        { "model.v2": { key: "1" }, "key no.": "1", "Antwort A": text, "by[0]": `m${text}` },
      ]
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
    }),
  )

  it.effect("origins say where each completion was read", () =>
    Effect.gen(function* () {
      const { items } = yield* run({
        prompts: [prompt("1"), prompt("2")],
        a: ["[", ...rows("a", "2", "1")],
        b: rows("b", "1", "2"),
      })
      assert.deepStrictEqual(
        items.map(({ completionOrigins }) =>
          completionOrigins!.map(({ file, line }) => `${file.replace(/.*\//, "")}:${line}`),
        ),
        [
          ["a.jsonl:3", "b.jsonl:1"],
          ["a.jsonl:2", "b.jsonl:2"],
        ],
      )
    }),
  )

  it.effect("a model is called as the file, or as the row says", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(platform)),
  )

  it.effect("a gold answer follows its model's name", () =>
    Effect.gen(function* () {
      const gold = { best_completion_index: 1, rationale: "so" }
      const files = (more: object) => ({ prompts: [prompt("1", more)], a: rows("a", "1"), b: [], c: rows("c", "1") })
      const best = (more: object, options?: Partial<Source.JoinOptions>) =>
        Effect.map(run(files(more), { missing: "keep", ...options }), ({ items, rejects }) => {
          const { item } = items[0] ?? {}
          if (item === undefined) return rejects[0]!.reason
          return item.gold === undefined ? "no gold" : item.completions[item.gold.best_completion_index]!
        })
      const among = (...models: ReadonlyArray<string>) => best({ gold, models })
      assert.strictEqual(yield* among("a", "c"), "c1")
      assert.strictEqual(yield* among("c", "a"), "a1")
      assert.strictEqual(yield* among("b", "c", "a"), "c1")
      assert.strictEqual(yield* among("a", "b", "c"), 'gold: expected one of "a" and "c", found "b"')
      assert.match(yield* among("a", "b"), /found none of "c"$/)
      assert.strictEqual(yield* among("c", "a", "a"), 'gold: expected each model once, found "a" twice')
      assert.strictEqual(yield* among("c", "a", "c"), 'gold: expected each model once, found "c" twice')
      assert.strictEqual(yield* best({ gold: "c" }), "c1")
      assert.strictEqual(yield* best({ gold: "0", models: ["c", "a"] }), "c1")
      assert.strictEqual(yield* best({ gold: "tie" }), "no gold")
      assert.strictEqual(yield* best({ gold: "b" }), 'gold: expected one of "a" and "c", found "b"')
      const about = { gold, about: { who: ["c", "a"] } }
      assert.strictEqual(yield* best(about, { modelsPath: "about.who" }), "a1")
      assert.match(yield* best({ gold, models: ["a", "c"] }, { modelsPath: "about.who" }), /at about.who for the index/)
      assert.match(yield* best({ gold, models: ["a", "b"], metadata: { models: ["a", "c"] } }), /found none of "c"$/)
    }),
  )

  it.effect("what goes along is kept once where all completions have the same, and else for each of them", () =>
    Effect.gen(function* () {
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
      assert.match(described[1]!, /^1 invalid_shape score: expected numbers that keep their digits/)
    }),
  )

  it.effect("prompts stand in several files, in each of which a key may be asked for but once in all", () =>
    Effect.gen(function* () {
      const [one, two, ...completions] = yield* writeFiles({
        "one.jsonl": toLines([prompt("1"), prompt("x")]),
        "two.jsonl": toLines([prompt("2"), prompt("1"), prompt("x"), prompt("x")]),
        "a.jsonl": toLines(rows("a", "1", "2")),
        "b.jsonl": toLines(rows("b", "1", "2")),
      })
      const source = Source.join({ prompts: [one!, two!], completions })
      const { records } = yield* collect(source)
      const directory = one!.slice(0, -"one.jsonl".length)
      assert.deepStrictEqual(
        summary(records).map((line) => line.replaceAll(directory, "")),
        [
          "1 item 1",
          '2 no_match expected a usable row for key "x" in each completions file, found none in a.jsonl, b.jsonl',
          "1 item 2",
          '2 duplicate_key expected each key once, but "1" is also at one.jsonl:1',
          '3 duplicate_key expected each key once, but "x" is also at one.jsonl:2',
          '4 duplicate_key expected each key once, but "x" is also at one.jsonl:2',
        ],
      )
      assert.strictEqual(source.description, "2 inputs of prompts with 2 inputs of completions, joined by id")
    }).pipe(Effect.provide(platform)),
  )

  it.effect("prompts and completions may be messages", () =>
    Effect.gen(function* () {
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
      assert.match(rejects[0]!.reason, /^completion at .*a\.jsonl:3: expected the prompt's messages/)
    }),
  )

  it.effect("rejects have the row's text to the character, however its completion is written there", () =>
    Effect.gen(function* () {
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
        unasked.rejects.map(({ code, raw }) => [code, raw]),
        texts.map((raw) => ["no_match", raw]),
      )
      const prompts = texts.map((text) => prompt(JSON.parse(text).id))
      const twice = yield* run({ prompts, a: [...texts, ...texts], b: [] })
      assert.deepStrictEqual(
        twice.rejects.slice(prompts.length).map(({ code, raw }) => [code, raw]),
        texts.map((raw) => ["duplicate_key", raw]),
      )
    }),
  )

  it.effect("a system prompt stands before the prompt", () =>
    Effect.gen(function* () {
      const prompts = [
        { id: 1, prompt: "Q", system: "S" },
        { id: 2, prompt: "Q" },
      ]
      const answers = (text: string) => toLines([1, 2].map((id) => ({ id, completion: `${text}${id}` })))
      const [file, ...completions] = yield* writeFiles({
        "prompts.jsonl": toLines(prompts),
        "a.jsonl": answers("a"),
        "b.jsonl": answers("b"),
      })
      const read = (options: Partial<Source.JoinOptions>) =>
        Effect.map(collect(Source.join({ prompts: file!, completions, ...options })), ({ items }) =>
          items.map(({ item }) => item.prompt),
        )
      assert.deepStrictEqual(yield* read({}), ["S\n\nQ", "Q"])
      assert.deepStrictEqual(yield* read({ promptPath: "prompt" }), ["S\n\nQ", "Q"])
      assert.deepStrictEqual(yield* read({ ignore: ["system"] }), ["Q", "Q"])
      assert.deepStrictEqual(yield* read({ promptPath: "prompt", systemPath: "system" }), ["S\n\nQ", "Q"])
    }).pipe(Effect.provide(platform)),
  )

  it.effect("an empty file has no rows", () =>
    Effect.gen(function* () {
      const { records } = yield* run({ prompts: [], a: [], b: [] })
      assert.deepStrictEqual(records, [])
    }),
  )

  it.effect("the scratch file has no name, and is gone with the stream, however that ends", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(platform)),
  )

  it.effect.skipIf(SmallDisk.unavailable)(
    "a full disk ends the run and says so (skipped where none can be mounted)",
    () =>
      Effect.gen(function* () {
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
          /^the scratch file of the join or group failed: .*disk is full.*job folder.*TMPDIR.*scratchDirectory/,
        )
        assert.deepStrictEqual(
          { open: openFilesIn(disk.path), named: yield* fs.readDirectory(disk.path) },
          { open: [], named: [] },
        )
      }).pipe(Effect.provide(platform)),
  )

  it.effect("what a killed run left behind is removed, and nothing else", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(platform), TestClock.withLive),
  )

  const Key = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))
  it.effect.prop(
    "the order of the completions files' rows counts for nothing",
    [Schema.Array(Key), Schema.Array(Key), Schema.Int],
    ([a, b, turn]) =>
      Effect.gen(function* () {
        const keys = Array.from({ length: 13 }, (_, i) => i)
        const turned = (ids: ReadonlyArray<number>) => {
          const distinct = [...new Set(ids)]
          const at = distinct.length === 0 ? 0 : Math.abs(turn) % distinct.length
          return [...distinct.slice(at), ...distinct.slice(0, at)].toReversed()
        }
        const prompts = keys.map((id) => prompt(id))
        const itemsOf = Effect.fnUntraced(function* (order: (ids: ReadonlyArray<number>) => ReadonlyArray<number>) {
          const { items } = yield* run({ prompts, a: rows("a", ...order(a)), b: rows("b", ...order(b)) })
          return items.map(({ item }) => item)
        })
        const sorted = yield* itemsOf((ids) => [...new Set(ids)].toSorted((one, other) => one - other))
        assert.deepStrictEqual(yield* itemsOf(turned), sorted)
        assert.strictEqual(sorted.length, keys.filter((key) => a.includes(key) && b.includes(key)).length)
      }),
    { arbitrary: { runs: 30 } },
  )

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

const goldText = ({ completions, gold }: PromptItem) => completions[gold!.best_completion_index]

/** All orders of a list. */
const orders = <A>(list: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  list.length < 2
    ? [list]
    : list.flatMap((first, i) => orders(list.filter((_, other) => other !== i)).map((rest) => [first, ...rest]))

describe("join of this repository's sample", () => {
  it.effect("gives the items of the joined sample file, in whichever order the files are named", () =>
    Effect.gen(function* () {
      const path = yield* Path.Path
      const data = path.join(import.meta.dirname, "../../../data")
      const whole = yield* collect(Source.files(path.join(data, "sample.jsonl")))
      const items = new Map(whole.items.map(({ item }) => [item.id, item]))
      assert.strictEqual(items.size, 72)
      for (const models of orders(["aspen", "birch", "cedar", "willow"])) {
        const joined = yield* collect(
          Source.join({
            prompts: path.join(data, "joined/prompts.jsonl"),
            completions: models.map((model) => path.join(data, `joined/completions/${model}.jsonl`)),
            completionPath: "choices[0].message.content",
            missing: "keep",
          }),
        )
        const right = joined.items.filter(({ item }) => goldText(item) === goldText(items.get(item.id)!))
        const outcome = `${models.join()}: gold right ${right.length} of ${joined.items.length}, ${joined.rejects.length} rejected`
        assert.strictEqual(outcome, `${models.join()}: gold right 72 of 72, 0 rejected`)
        assert.deepStrictEqual(new Map(joined.items.map(({ item }) => [item.id, item])), items)
      }
    }).pipe(Effect.provide(platform)),
  )
})

const arenaHard = sharedData("arena-hard")
describe(`join of arena-hard${arenaHard === undefined ? " (skipped: the data is absent)" : ""}`, () => {
  it.effect.skipIf(arenaHard === undefined)("gives 500 items", () =>
    Effect.gen(function* () {
      const { items, rejects } = yield* collect(
        Source.join({
          prompts: `${arenaHard}/question.jsonl`,
          completions: ["gpt-3.5-turbo-0125", "gpt-4-0314", "gpt-4-0613"].map(
            (model) => `${arenaHard}/answers/${model}.jsonl`,
          ),
          key: "question_id",
          promptPath: "turns[0].content",
          completionPath: "choices[0].turns[0].content",
        }),
      )
      assert.deepStrictEqual(rejects, [])
      assert.strictEqual(items.length, 500)
      assert.isTrue(items.every(({ item }) => item.completions.length === 3))
      assert.deepStrictEqual(items[0]!.item.models, ["gpt-3.5-turbo-0125", "gpt-4-0314", "gpt-4-0613"])
    }).pipe(Effect.provide(platform)),
  )
})

const selfInstruct = sharedData("self-instruct")
describe(`join of self-instruct${selfInstruct === undefined ? " (skipped: the data is absent)" : ""}`, () => {
  // For seven of the 252 prompts all four models answer the same: there is nothing to choose.
  it.effect.skipIf(selfInstruct === undefined)("gives 245 items, and rejects the 7 that leave no choice", () =>
    Effect.gen(function* () {
      const models = ["davinci-self-instruct", "text-davinci-001", "text-davinci-002", "text-davinci-003"]
      const files = models.map((model) => `${selfInstruct}/${model}.jsonl`)
      const { items, rejects } = yield* collect(
        Source.join({ prompts: files[0]!, completions: files, key: "prompt", completionPath: "response" }),
      )
      assert.strictEqual(items.length, 245)
      assert.deepStrictEqual(
        rejects.map(({ reason }) => reason),
        Array.from({ length: 7 }, () => "completions: expected at least two distinct completions, found 1"),
      )
    }).pipe(Effect.provide(platform)),
  )
})
