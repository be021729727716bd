import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as Listing from "../../../src/source/place/Listing.ts"
import { temporaryDirectory } from "../../support/job.ts"
import { failureOf, test } from "./support.ts"

/** A folder with these files; those that end in / are folders. */
const folderWith = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* temporaryDirectory
  for (const name of names) {
    yield* name.endsWith("/") ? fs.makeDirectory(`${folder}/${name}`) : fs.writeFileString(`${folder}/${name}`, "")
  }
  return folder
})

const expanded = (folder: string, ...given: ReadonlyArray<string>) => {
  const short = (names: ReadonlyArray<string>) => names.map((name) => name.slice(folder.length + 1))
  return Listing.expand(given.map((name) => `${folder}/${name}`)).pipe(
    Effect.map(({ empty, files }) => ({ files: short(files), empty: short(empty) })),
  )
}

const filesOf = (folder: string, ...given: ReadonlyArray<string>) =>
  Effect.map(expanded(folder, ...given), ({ files }) => files)

describe("names of files", () => {
  test("are files, patterns and folders, in their order; no file is named twice", function* () {
    const folder = yield* folderWith("b.jsonl", "a.jsonl", "c.txt", ".hidden.jsonl", "d/", "d/e.jsonl", "f.jsonl/")
    assert.deepStrictEqual(yield* filesOf(folder, "c.txt", "*.jsonl", "a.jsonl"), ["c.txt", "a.jsonl", "b.jsonl"])
    assert.deepStrictEqual(yield* filesOf(folder, "d/"), ["d/e.jsonl"])
    assert.deepStrictEqual(yield* filesOf(folder, "d/e.jsonl", "./d/../d/e.jsonl"), ["d/e.jsonl"])
    assert.deepStrictEqual(yield* filesOf(folder, "**/[ae].jsonl"), ["a.jsonl", "d/e.jsonl"])
  })

  test("of a folder that save_to_disk wrote are refused, with what to do", function* () {
    const folder = yield* folderWith(
      "a/",
      "a/data-00000-of-00001.arrow",
      "a/dataset_info.json",
      "b/",
      "b/dataset_dict.json",
    )
    for (const [name, split] of [
      ["a", ""],
      ["b", '["train"]'],
    ] as const) {
      const { message } = yield* Effect.flip(Listing.expand([`${folder}/${name}/`]))
      assert.strictEqual(
        message,
        `${folder}/${name}/: cannot be read: save_to_disk in Hugging Face datasets wrote this folder, and its Arrow files are not supported; convert them to Parquet: datasets.load_from_disk("${folder}/${name}")${split}.to_parquet("new.parquet")`,
      )
    }
  })

  test("of a folder stand for the data files right in it", function* () {
    const data = ["jsonl", "ndjson", "jsonlines", "json", "csv", "tsv", "tab", "parquet"].flatMap((format) =>
      ["", ".gz", ".gzip", ".zst", ".zstd", ".br"].map((compression) => `x.${format}${compression}`),
    )
    const folder = yield* folderWith(
      ...data,
      "README.md",
      "x.txt",
      "x.gz",
      "x.constructor",
      "x.jsonl.bz2",
      "jsonl",
      ".x.jsonl",
      "_SUCCESS",
      "_x.jsonl",
      "dataset_info.json",
      "dataset_infos.json",
      "dataset_dict.json",
      "state.json",
      "y.csv/",
      "deeper/",
      "deeper/x.jsonl",
    )
    assert.deepStrictEqual(
      yield* filesOf(folder, ""),
      data.toSorted().map((name) => name),
    )
  })

  test("of one pattern are in the order of code units, also where the letters have another", function* () {
    const folder = yield* folderWith("ä.jsonl", "z.jsonl", "B.jsonl", "a.jsonl", "a1.jsonl", "a/", "a/x.jsonl")
    assert.deepStrictEqual(yield* filesOf(folder, "**/*.jsonl"), [
      "B.jsonl",
      "a.jsonl",
      "a/x.jsonl",
      "a1.jsonl",
      "z.jsonl",
      "ä.jsonl",
    ])
  })

  test("may look like patterns", function* () {
    const folder = yield* folderWith("[1].jsonl", "1.jsonl")
    assert.deepStrictEqual(yield* filesOf(folder, "[1].jsonl"), ["[1].jsonl"])
  })

  test("may be patterns and folders without files yet, which are reported", function* () {
    const folder = yield* folderWith("empty/", "a.txt")
    assert.deepStrictEqual(yield* expanded(folder, "*.jsonl", "a.txt", "empty"), {
      files: ["a.txt"],
      empty: ["*.jsonl", "empty"],
    })
  })

  test("are refused where a file, or the folder of a pattern, is not there", function* () {
    const folder = yield* folderWith()
    for (const absent of ["a.jsonl", "absent/", "absent/*.jsonl", "absent/*/a.jsonl"]) {
      assert.match(yield* failureOf(expanded(folder, absent)), /there is no such file/)
    }
  })

  test("may be of elsewhere", function* () {
    const names = ["https://host/a*.jsonl?x=[1]", "-", "/dev/stdin", "HTTP://host/b"]
    assert.deepStrictEqual((yield* Listing.expand(names)).files, ["https://host/a*.jsonl?x=[1]", "-", "HTTP://host/b"])
    assert.match(yield* failureOf(Listing.expand(["ftp://bucket/a.jsonl"])), /^ftp:\/\/bucket\/a\.jsonl: .* s3:\/\//)
  })
})
