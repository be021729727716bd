import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Sniff from "../../../src/source/format/Sniff.ts"
import { formatNames } from "../../../src/source/place/FileExtensions.ts"

const sniff = (text: string | Uint8Array, name = "f", isWhole = true) =>
  Result.merge(Sniff.sniff({ head: typeof text === "string" ? new TextEncoder().encode(text) : text, name, isWhole }))

const pretty = (value: unknown) => JSON.stringify(value, undefined, 2)
const item = { prompt: "p", completions: ["a", "b"] }
const long = "x".repeat(1_000)

describe("Sniff", () => {
  it.each<[string, string, string, boolean?]>([
    // An object a line.
    ["jsonl", '{"a":1}\n{"a":2}\n', "f"],
    ["jsonl", '\uFEFF\n {"a":1}\r\n{"a":2}\r\n', "f.json"],
    ["jsonl", '{"a":1}\n{"a":2}\n', "f.csv"],
    ["jsonl", '{"a":1}', "f.json"],
    ["jsonl", `{"a":"${long}`, "f", false],
    // With a first line that is broken.
    ["jsonl", '{"a":1\n{"a":2}\n', "f.jsonl"],
    ["jsonl", '{"a":1\n{"a":2}\n', "f"],
    ["jsonl", '{"a":"b\n{"a":2}\n', "f.json"],
    ["jsonl", '[{"a":1\n{"a":2}\n{"a":3}\n', "f.jsonl"],
    ["jsonl", '"a\n{"a":2}\n', "f.NDJSON.gz"],
    ["jsonl", 'garbage\n{"a":2}\n{"a":3}', "f"],
    ["jsonl", "garbage", "f.json"],
    ["jsonl", '{"a":1}{"a":2}\n', "f.jsonl"],
    ["jsonl", "[1]\n[2]\n", "f"],
    // A list.
    ["json", '[{"a":1}]', "f"],
    ["json", '\uFEFF \n[\n{"a":1},\n{"a":2}\n]\n', "f.jsonl"],
    ["json", '[{"a":1},\n{"a":2}]', "f.jsonl"],
    ["json", `[{"a":"${long}`, "f.jsonl", false],
    ["json", pretty([item, item]).slice(0, 40), "f.jsonl", false],
    ["json", "[]", "f.jsonl"],
    ["json", "[\n]", "f"],
    ["json", '[{"a":1,},{"a":2}]', "f"],
    ["json", '[{"a":1},{"a":2,}]', "f.jsonl"],
    ["json", "[x", "f"],
    // What Python writes for a missing value.
    ["jsonl", '{"a":NaN}\n{"a":NaN}\n', "f"],
    ["json", '[{"a":NaN},{"a":NaN}]', "f.jsonl"],
    ["json", '{\n"a":NaN\n}\n', "f"],
    ["jsonl", '{"a":NaN,"b":"cut NaN', "f", false],
    // Objects over several lines.
    ["json", `${pretty(item)}\n${pretty(item)}\n`, "f"],
    ["json", pretty(item), "f.jsonl"],
    ["json", pretty({ ...item, prompt: [{ role: "user", content: "q" }] }), "f.json"],
    ["json", pretty({ ...item, prompt: long }).slice(0, 500), "f", false],
    ["json", '{"a":1}{"a":2}\n', "f"],
    // Else the name, and without one, CSV.
    ["csv", "prompt,a,b\np,x,y\n", "f"],
    ["csv", '"prompt","a"\n', "f"],
    ["tsv", "prompt\ta\n", "f.tsv"],
    ["tsv", "prompt\ta\n", "f.tab.zst"],
    ["csv", "{instruction},{answer}\nx,y\n", "f.csv"],
    ["csv", "[a],[b]\nx,y\n", "f.csv"],
    ["csv", "prompt\n", "https://host/f.csv?x=.jsonl"],
    ["jsonl", "", "f"],
    ["csv", "\n \n", "f.csv"],
    ["parquet", "PAR1\u0000", "f.jsonl"],
    ["csv", "prompt,a\n", "f.constructor"],
  ])("%s: %j, called %s", (format, text, name, isWhole) => {
    assert.strictEqual(sniff(text, name, isWhole), format)
  })

  it.each(["", "\\"])("tens of thousands of quotes that nothing closes are looked at once (end: %j)", (end) => {
    const text = `{"${'\\"'.repeat(32_000)}${end}`
    for (let i = 0; i < 40; i++) assert.strictEqual(sniff(text, "f.jsonl"), "jsonl")
  })

  it("an object around the list of records is refused with the list's name", () => {
    const refusal =
      'the file contains one object, whose member "data" is the list of records; extract the list: jq .data FILE > NEW.json'
    assert.strictEqual(sniff(pretty({ meta: { rows: [{}] }, data: [item] })), refusal)
    assert.strictEqual(sniff(JSON.stringify({ data: [item] })), refusal)
    assert.strictEqual(sniff(JSON.stringify({ data: [item, long] }).slice(0, 500), "f.json", false), refusal)
    assert.strictEqual(
      sniff(JSON.stringify({ train: [item], test: [item] })),
      `the file contains one object, whose members "train" and "test" are lists of records; extract one list (jq .train FILE > NEW.json), or all lists (jq '.train + .test' FILE > NEW.json)`,
    )
    assert.strictEqual(sniff(`${JSON.stringify({ data: [item] })}\n${JSON.stringify({ data: [item] })}`), "jsonl")
    assert.strictEqual(sniff(pretty({ data: ["a"] })), "json")
    assert.strictEqual(sniff(pretty({ a: { data: [item] } })), "json")
  })

  const bytes = (...parts: ReadonlyArray<string | number>) =>
    Uint8Array.from(parts.flatMap((part) => (typeof part === "number" ? [part] : [...Buffer.from(part, "latin1")])))

  it.each<[string, Uint8Array]>([
    ["encrypted Parquet; write it without", bytes("PARE")],
    [
      "a Git LFS pointer, not the file itself; get the file (git lfs install, then git lfs pull)",
      bytes("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"),
    ],
    ["a git-annex pointer, not the file itself; get the file: git annex get", bytes("/annex/objects/MD5-s5--d8e8\n")],
    ["an Arrow stream, as written by save_to_disk", bytes(0xff, 0xff, 0xff, 0xff)],
    ["an Arrow (Feather) file; write it as Parquet or JSONL", bytes("ARROW1\0\0")],
    ["an ORC file", bytes("ORC")],
    ["an Avro file", bytes("Obj", 1)],
    ["an SQLite database; export", bytes("SQLite format 3\0")],
    ["a ZIP archive (or a workbook, .xlsx); unpack it first", bytes("PK", 3, 4)],
    ["a PDF", bytes("%PDF-1.7")],
    ["a tar archive; unpack it first (tar -xf FILE)", bytes("name".padEnd(257, "\0"), "ustar")],
    ["compressed with bzip2; unpack it first (bunzip2 FILE), or compress it with gzip or zstd", bytes("BZh9")],
    ["compressed with xz", bytes(0xfd, "7zXZ", 0)],
    ["compressed with LZ4", bytes(4, 0x22, 0x4d, 0x18)],
    ["compressed with Snappy", bytes(0xff, 6, 0, 0, "sNaPpY")],
    ["an HTML or XML page", bytes("\n<!DOCTYPE html><html>")],
    ["an HTML or XML page", bytes('<?xml version="1.0"?><Error>')],
    ["neither text nor a known format", bytes("\u0001\0\0\0abc\0")],
  ])("refused: %s", (expected, head) => {
    assert.isTrue(sniff(head).startsWith(`this is ${expected}`), sniff(head))
  })

  it("a pointer of Git LFS is refused in a format that was set, too", () => {
    const head = bytes("version https://git-lfs.github.com/spec/v1\n")
    for (const format of formatNames) {
      assert.match(Result.merge(Sniff.check(format, head)), /^this is a Git LFS pointer/)
      assert.match(sniff(head, `f.${format}`), /^this is a Git LFS pointer/)
    }
  })

  it("text in another encoding is refused with how to convert it", () => {
    const utf16 = (text: string) => Buffer.from(text, "utf16le")
    const swapped = (text: string) => utf16(text).swap16()
    const utf32 = (text: string) =>
      Buffer.concat(
        Array.from(text, (character) => (character === "\uFEFF" ? bytes(0xff, 0xfe, 0, 0) : bytes(character, 0, 0, 0))),
      )
    const refusal = (encoding: string) =>
      `this is ${encoding} text, expected UTF-8; ${
        encoding.startsWith("UTF-32")
          ? `convert it: iconv -f ${encoding} -t UTF-8 FILE > NEW`
          : `set \`encoding: "${encoding.toLowerCase()}"\``
      }`
    for (const text of ['{"a":1}', "prompt,a\n", '[\n{"a"']) {
      assert.strictEqual(sniff(utf16(`\uFEFF${text}`), "f.csv"), refusal("UTF-16LE"))
      assert.strictEqual(sniff(swapped(`\uFEFF${text}`)), refusal("UTF-16BE"))
      assert.strictEqual(sniff(utf16(text)), refusal("UTF-16LE"))
      assert.strictEqual(sniff(swapped(text)), refusal("UTF-16BE"))
      assert.strictEqual(sniff(utf32(text)), refusal("UTF-32LE"))
      assert.strictEqual(sniff(utf32(text).swap32()), refusal("UTF-32BE"))
      assert.strictEqual(sniff(Buffer.concat([bytes(0xff, 0xfe, 0, 0), utf32(text)])), refusal("UTF-32"))
      assert.strictEqual(sniff(Buffer.concat([bytes(0, 0, 0xfe, 0xff), utf32(text).swap32()])), refusal("UTF-32"))
    }
    assert.strictEqual(Result.merge(Sniff.check("csv", utf16("\uFEFFa"))), refusal("UTF-16LE"))
    assert.strictEqual(Result.merge(Sniff.check("csv", bytes("{}"))), "csv")
  })

  it("text that looks like Windows-1252 is refused with how to read it", () => {
    const latin1 = (text: string) => Buffer.from(text, "latin1")
    const refusal = /^this text is not UTF-8, but probably Windows-1252; set `encoding: "windows-1252"`/
    assert.match(sniff(latin1("Frage;Antwort\nGrün?;Süß\n")), refusal)
    assert.match(sniff(Buffer.concat([latin1("a\nGrün "), bytes(0x93), latin1("x"), bytes(0x94)])), refusal)
    for (const text of [
      "Grün",
      "Привет, мир".replaceAll(/\p{L}/gu, (letter) => String.fromCharCode((letter.charCodeAt(0) & 0xff) | 0xc0)),
    ]) {
      assert.notMatch(sniff(latin1(`a\n${text}\n`)), refusal)
    }
    assert.notMatch(sniff(Buffer.concat([Buffer.from("a\né ê\n"), latin1("ü é")])), refusal)
  })

  it("plain text is told from what is none", () => {
    assert.isTrue(Sniff.isPlainText(Buffer.from("żółć\t\r\n\f😀").subarray(0, -1)))
    assert.isFalse(Sniff.isPlainText(bytes("a", 0xff)))
    assert.isFalse(Sniff.isPlainText(bytes("a\0")))
  })
})
