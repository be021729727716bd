/** `prefstream init`: what it finds, asks, and writes. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Option, Queue, Terminal } from "effect"
import { parse } from "yaml"
import { AtTerminal, cliIn, ends, folderWithItems, itemLines, reportOf, write } from "../support/cli.ts"
import { test } from "../support/job.ts"

const folderOfItems = folderWithItems([...itemLines(5), "not JSON"])

/** Types these words, each with Enter after it, at the questions of a terminal. */
const typing =
  (answers: ReadonlyArray<string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const keys = yield* Queue.unbounded<Terminal.UserInput>()
      const press = (name: string, input?: string) =>
        Queue.offer(keys, {
          input: Option.fromUndefinedOr(input),
          key: { name, ctrl: false, meta: false, shift: false },
        })
      for (const answer of answers) {
        for (const letter of answer) yield* press(letter, letter)
        yield* press("enter")
      }
      const terminal = yield* Terminal.Terminal
      return yield* effect.pipe(
        Effect.provideService(
          Terminal.Terminal,
          Terminal.make({ ...terminal, readInput: Effect.succeed(keys), display: () => Effect.void }),
        ),
        Effect.provideService(AtTerminal, true),
      )
    })

describe("init", () => {
  test("writes what it is given, and a run then needs no flags", function* () {
    const folder = yield* folderOfItems
    const fs = yield* FileSystem.FileSystem
    const said = yield* cliIn(folder, ["init", "items.jsonl", "--dir", "job", "--split", "test=0.4", "--no-margin"])
    assert.deepStrictEqual([said.status, said.stdout], [0, "prefstream.yaml\n.env.example\n"], said.stderr)
    assert.include(said.stderr, 'Found in items.jsonl: JSONL; items: prompt at "prompt"')
    assert.include(said.stderr, "6 records: 5 items + 0 duplicates + 1 rejected")
    const text = yield* fs.readFileString(`${folder}/prefstream.yaml`)
    assert.deepStrictEqual(parse(text), { files: "items.jsonl", dir: "job", split: "test=0.4", margin: false })
    // What was not given stands there as a comment, which a person only has to uncomment.
    assert.doesNotThrow(() => parse(text.replaceAll(/^# (?=[a-z-]+: )/gm, "")))
    assert.match(text, /^# votes: 3 +# votes per item/m)
    assert.notMatch(text, /^# dir:/m)
    assert.match(yield* fs.readFileString(`${folder}/.env.example`), /^PREFSTREAM_TOKEN=$/m)

    const run = yield* cliIn(folder, ["run", "--expert", "first", "--json"])
    assert.deepStrictEqual([run.status, reportOf(run).dataset?.rows], [0, 5], run.stderr)
  })

  test("refers to the schema where it is, and says what several votes need", function* () {
    const folder = yield* folderOfItems
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(`${folder}/in/here`, { recursive: true })
    const settings = "dist"
    yield* fs.makeDirectory(`${folder}/node_modules/prefstream/${settings}`, { recursive: true })
    const yaml = Effect.suspend(() => fs.readFileString(`${folder}/in/here/prefstream.yaml`))
    const stdin = yield* cliIn(`${folder}/in/here`, ["init", "-"])
    assert.deepStrictEqual([stdin.status, yield* fs.readDirectory(`${folder}/in/here`)], [2, []])
    const first = yield* cliIn(`${folder}/in/here`, ["init", "../../items.jsonl", "--votes", "3"])
    assert.match(first.stderr, /settings written; set PREFSTREAM_BASE_URL to the address of a service/)
    assert.notInclude(yield* yaml, "$schema")
    // A copy of it as it stands does not stop a run.
    assert.match(yield* fs.readFileString(`${folder}/in/here/.env.example`), /^# PREFSTREAM_BASE_URL=https/m)
    for (const [at, expected] of [
      [`node_modules/prefstream/${settings}`, `../../node_modules/prefstream/${settings}`],
      [`in/here/${settings}`, settings],
    ] as const) {
      yield* fs.makeDirectory(`${folder}/${at}`, { recursive: true })
      yield* fs.writeFileString(`${folder}/${at}/prefstream.schema.json`, "{}")
      yield* fs.remove(`${folder}/in/here/prefstream.yaml`)
      const said = yield* cliIn(`${folder}/in/here`, ["init", "../../items.jsonl"])
      assert.include(said.stderr, "settings written; start a job with prefstream run")
      assert.include(yield* yaml, `# yaml-language-server: $schema=${expected}/prefstream.schema.json\n`)
    }
  })

  test("overwrites nothing, and writes nothing of files without an item", function* () {
    const folder = yield* folderOfItems
    const fs = yield* FileSystem.FileSystem
    yield* write(`${folder}/other.jsonl`, ['{"a": 1}'])
    const nothing = yield* cliIn(folder, ["init", "other.jsonl"])
    assert.isAbove(nothing.status, 0)
    assert.match(nothing.stderr, /other\.jsonl: found no prompt and no completions/)
    const nameless = yield* cliIn(folder, ["init"])
    assert.deepStrictEqual(
      [nameless.status, (yield* fs.readDirectory(folder)).toSorted()],
      [2, ["items.jsonl", "other.jsonl"]],
    )
    yield* fs.writeFileString(`${folder}/.env.example`, "MINE=1\n")
    yield* fs.writeFileString(`${folder}/prefstream.yaml`, "votes: 2\n")
    const there = yield* cliIn(folder, ["init", "items.jsonl"])
    assert.deepStrictEqual(
      [there.status, there.stderr],
      [2, "prefstream: prefstream.yaml already exists: edit it, or remove it first\n"],
    )
    yield* fs.remove(`${folder}/prefstream.yaml`)
    assert.strictEqual((yield* cliIn(folder, ["init", "items.jsonl"])).stdout, "prefstream.yaml\n")
    assert.strictEqual(yield* fs.readFileString(`${folder}/.env.example`), "MINE=1\n")
  })

  test("takes quoted names with spaces at a terminal", function* () {
    const folder = yield* folderOfItems
    yield* write(`${folder}/my items.jsonl`, itemLines(2, 5))
    yield* cliIn(folder, ["init"])
      .pipe(typing([`"my items.jsonl" 'items.jsonl'`, ""]))
      .pipe(ends(0))
    const text = yield* (yield* FileSystem.FileSystem).readFileString(`${folder}/prefstream.yaml`)
    assert.deepStrictEqual(parse(text), { files: ["my items.jsonl", "items.jsonl"] })
  })

  test("asks at a terminal where no file is named", function* () {
    const folder = yield* folderOfItems
    const fs = yield* FileSystem.FileSystem
    yield* cliIn(folder, ["init"])
      .pipe(typing(["items.jsonl", "https://annotation.example/v1", "3"]))
      .pipe(ends(0))
    assert.deepStrictEqual(parse(yield* fs.readFileString(`${folder}/prefstream.yaml`)), {
      files: "items.jsonl",
      "base-url": "https://annotation.example/v1",
      votes: 3,
    })
  })
})
