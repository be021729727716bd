import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as InputFiles from "../../src/cli/InputFiles.ts"
import { temporaryDirectory, test } from "../support/job.ts"

/** A folder with these files; those that end in / are folders. */
const folderWith = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* temporaryDirectory
  for (const name of names) {
    yield* name.endsWith("/") ? fs.makeDirectory(`${folder}/${name}`) : fs.writeFileString(`${folder}/${name}`, "")
  }
  return folder
})

const expanded = (folder: string, ...given: ReadonlyArray<string>) =>
  InputFiles.expand(given.map((name) => `${folder}/${name}`)).pipe(
    Effect.map((files) => files.map((file) => file.slice(folder.length + 1))),
  )

describe("FILE arguments", () => {
  test("are files, patterns and folders, in their order; no file is named twice", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith("b.jsonl", "a.jsonl", "c.json", ".hidden.jsonl", "d/", "d/e.jsonl", "f.jsonl/")
      assert.deepStrictEqual(yield* expanded(folder, "c.json", "*.jsonl", "a.jsonl"), ["c.json", "a.jsonl", "b.jsonl"])
      assert.deepStrictEqual(yield* expanded(folder, "d/"), ["d/e.jsonl"])
      assert.deepStrictEqual(
        yield* expanded(folder, ""),
        ["/a.jsonl", "/b.jsonl"].map((name) => name.slice(1)),
      )
      assert.deepStrictEqual(yield* expanded(folder, "**/[ae].jsonl"), ["a.jsonl", "d/e.jsonl"])
    }))

  test("may be files whose names look like patterns", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith("[1].jsonl", "1.jsonl")
      assert.deepStrictEqual(yield* expanded(folder, "[1].jsonl"), ["[1].jsonl"])
    }))

  test("may be patterns and folders that have no file yet", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith("empty/")
      assert.deepStrictEqual(yield* expanded(folder, "*.jsonl", "empty"), [])
    }))

  test("are refused where a file, or the folder of a pattern, is not there", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith()
      for (const absent of ["a.jsonl", "absent/", "absent/*.jsonl", "absent/*/a.jsonl"]) {
        const refusal = yield* Effect.flip(expanded(folder, absent))
        assert.match(refusal.message, /there is no such file$/)
      }
    }))
})
