import { assert, describe } from "@effect/vitest"
import { Effect, Exit, FileSystem, Layer, Ref, Result, Stream } from "effect"
import { parquetWriteBuffer } from "hyparquet-writer"
import { createHash } from "node:crypto"
import * as zlib from "node:zlib"
import type { InputFile } from "../../../src/domain/InputFile.ts"
import * as Format from "../../../src/source/format/Format.ts"
import { InputAudit } from "../../../src/source/place/InputAudit.ts"
import type { Input } from "../../../src/source/place/Input.ts"
import * as Place from "../../../src/source/place/Place.ts"
import * as OpenFile from "../../../src/source/OpenFile.ts"
import type { RowResult } from "../../../src/source/record/Row.ts"
import { platform, test, toLines, writeFiles } from "../support.ts"
import { cut } from "./support.ts"

const items = Array.from({ length: 500 }, (_, n) => ({ prompt: `p ${n} żółć`, a: "x".repeat(n + 1), b: `"${n}", {[` }))

const texts = {
  jsonl: toLines(items),
  json: JSON.stringify(items),
  "pretty.json": JSON.stringify(items, undefined, 2),
  "objects.json": items.map((item) => JSON.stringify(item, undefined, 2)).join("\n"),
  csv: `prompt,a,b\n${items.map(({ prompt, a, b }) => `${prompt},${a},"${b.replaceAll('"', '""')}"\r\n`).join("")}`,
  tsv: `prompt\ta\tb\n${items.map(({ prompt, a, b }) => `${prompt}\t${a}\t"${b.replaceAll('"', '""')}"\n`).join("")}`,
}
const descriptions: Record<keyof typeof texts, string> = {
  jsonl: "JSONL",
  json: "JSON array",
  "pretty.json": "JSON array",
  "objects.json": "JSON objects",
  csv: "CSV",
  tsv: "TSV",
}

const packers = {
  gzip: (text: string) => zlib.gzipSync(text),
  zstd: (text: string) => zlib.zstdCompressSync(text),
  brotli: (text: string) => zlib.brotliCompressSync(text, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }),
}
const endings = { gzip: ".gz", zstd: ".zst", brotli: ".br" }

const valuesOf = (rows: ReadonlyArray<RowResult>) =>
  rows.map((row) => Result.getOrThrowWith(row, (reject) => new Error(reject.reason)).value)

const read = Effect.fn(
  function* (name: string, content: string | Uint8Array, options?: Format.FormatOptions) {
    const [path] = yield* writeFiles({ [name]: content })
    const file = yield* OpenFile.open(path!, options)
    const rows = yield* Ref.make<ReadonlyArray<RowResult>>([])
    const exit = yield* file.rows().pipe(
      Stream.runForEachArray((more) => Ref.update(rows, (all) => [...all, ...more])),
      Effect.mapError((error) => error.message.replaceAll(path!, "FILE")),
      Effect.exit,
    )
    return {
      description: file.description,
      format: file.format,
      rows: yield* Ref.get(rows),
      error: Exit.isFailure(exit) ? yield* Effect.flip(exit) : undefined,
    }
  },
  Effect.provide(platform),
  Effect.scoped,
)

const refusalOf = (name: string, content: string | Uint8Array, options?: Format.FormatOptions) =>
  read(name, content, options).pipe(
    Effect.flip,
    Effect.map((error) =>
      String(error)
        .replace("SourceError: ", "")
        .replace(/^.*\/([^/]+): cannot be read: /, "$1: "),
    ),
  )

describe("Format", () => {
  describe.each(Object.keys(texts) as Array<keyof typeof texts>)("%s", (kind) => {
    const text = texts[kind]

    test("is read whatever its name, with byte order mark and without", function* () {
      for (const name of [`f.${kind}`, "f", "f.txt", "f.gz"]) {
        for (const mark of ["", "\uFEFF"]) {
          const { description, error, rows } = yield* read(name, mark + text)
          assert.deepStrictEqual({ description, error }, { description: descriptions[kind], error: undefined })
          assert.deepStrictEqual(valuesOf(rows), items)
        }
      }
    })

    test.each(["gzip", "zstd", "brotli"] as const)("is read from %s, whatever its name", function* (compression) {
      const packed = packers[compression](text)
      for (const name of [`f.${kind}${endings[compression]}`, "f", `f.${kind}`]) {
        const { description, error, rows } = yield* read(name, packed)
        assert.deepStrictEqual(
          { description, error },
          { description: `${descriptions[kind]}, ${compression}`, error: undefined },
        )
        assert.deepStrictEqual(valuesOf(rows), items)
      }
    })
  })

  test("an empty file has no records, packed or not", function* () {
    const contents = ["", "\n \n", "\uFEFF", packers.gzip(""), packers.zstd(""), packers.gzip("\n")]
    for (const name of ["f", "f.json", "f.csv", "f.jsonl.gz", "f.zst"]) {
      for (const content of contents) {
        const { rows, error } = yield* read(name, content)
        assert.deepStrictEqual({ rows, error }, { rows: [], error: undefined })
      }
    }
    assert.deepStrictEqual((yield* read("f.br", packers.brotli(""))).rows, [])
  })

  test("a format that is chosen is not looked for; a compression is told all the same", function* () {
    const lines = packers.gzip('{"a":1}\n{"a":2}\n')
    const asCsv = yield* read("f.jsonl", lines, { format: "csv", header: false })
    assert.deepStrictEqual(valuesOf(asCsv.rows), [{ column_1: '{"a":1}' }, { column_1: '{"a":2}' }])
    assert.match(asCsv.description, /^CSV .*without header, gzip$/)
    const asJson = yield* read("f.csv", lines, { format: "json" })
    assert.deepStrictEqual(valuesOf(asJson.rows), [{ a: 1 }, { a: 2 }])
    const semicolons = yield* read("f.csv", "a;b\n1,5;2\n")
    assert.deepStrictEqual(
      [valuesOf(semicolons.rows), semicolons.description],
      [[{ a: "1,5", b: "2" }], 'CSV with ";"'],
    )
    const chosen = yield* read("f.csv", "a;b\n1,5;2\n", { delimiter: "," })
    assert.strictEqual(Result.isFailure(chosen.rows[0]!), true)
    assert.strictEqual((yield* read("f", "a\tb\n1\t2\n", { format: "tsv" })).format, "tsv")
  })

  const damaged = packers.gzip(texts.jsonl)
  damaged[0] = 0x1e
  test.each<readonly [string, string | Uint8Array, RegExp, Format.FormatOptions?]>([
    [
      "f.gz",
      zlib.gzipSync(packers.zstd(texts.jsonl)),
      /^f.gz: compressed twice, with zstd and then gzip; decompress it once$/,
    ],
    ["f.jsonl.gz", zlib.gzipSync("PK\u0003\u0004"), /^f.jsonl.gz: this is a ZIP archive/],
    ["f.jsonl", "<!doctype html>", /^f.jsonl: this is an HTML or XML page/],
    ["f", Buffer.from("\uFEFFa", "utf16le"), /^f: this is UTF-16LE text, .*`encoding: "utf-16le"`/, { format: "csv" }],
    [
      "f.jsonl.gz",
      damaged,
      /^f.jsonl.gz: the file name has the extension of a compressed file, but the content is not compressed; download the file again$/,
    ],
    ["f", packers.gzip(texts.jsonl).subarray(0, 12), /^f: the gzip data ends too early/],
    ["f.br", Buffer.from([0, 1, 2, 3, 0xff]), /^f.br: the Brotli data/],
  ])(
    "%s that cannot be read is refused with the file's name and what to do",
    function* ([name, content, expected, set]) {
      assert.match(yield* refusalOf(name, content, set), expected)
    },
  )

  test("what is no UTF-8 is refused with its line, and taken for no compression", function* () {
    const latin1 = Buffer.from(toLines([{ a: "e" }, { a: "é" }, { a: "e" }]), "latin1")
    const { rows, description } = yield* read("f.jsonl", latin1)
    assert.strictEqual(description, "JSONL")
    assert.deepStrictEqual(
      rows.map(
        Result.match({ onSuccess: ({ place }) => place.line, onFailure: ({ line, code }) => `${line} ${code}` }),
      ),
      [1, "2 invalid_utf8", 3],
    )
  })

  test("text in another encoding is read where it is said, packed or not", function* () {
    const expected = [{ prompt: "Grün – „ja“", a: "5 €" }]
    const windows1252 = Buffer.concat([
      Buffer.from("prompt;a\nGr\xfcn ", "latin1"),
      Buffer.from([0x96, 0x20, 0x84, 0x6a, 0x61, 0x93, 0x3b, 0x35, 0x20, 0x80, 0x0a]),
    ])
    const utf16 = Buffer.from(`\uFEFFprompt;a\n${Object.values(expected[0]!).join(";")}\n`, "utf16le")
    for (const [encoding, bytes] of [
      ["windows-1252", windows1252],
      ["utf-16le", utf16],
    ] as const) {
      for (const content of [bytes, zlib.gzipSync(bytes)]) {
        assert.include(yield* refusalOf("f.csv", content), `set \`encoding: "${encoding}"\``)
        const { description, rows } = yield* read("f.csv", content, { encoding })
        assert.match(description, new RegExp(`^CSV with ";", ${encoding}`))
        assert.deepStrictEqual(valuesOf(rows), expected)
      }
    }
    const damaged = yield* read("f.csv", windows1252, { encoding: "utf-8" })
    assert.match(
      Result.getOrThrow(Result.flip(damaged.rows[0]!)).reason,
      /^expected UTF-8, found other bytes \(for Windows-1252, set `encoding: "windows-1252"`\)/,
    )
    const cut = yield* read("f.csv", utf16.subarray(0, -1), { encoding: "utf-16le" })
    assert.match(cut.error!, /: cannot be read: not valid utf-16le \(`encoding`\)$/)
    assert.match(yield* refusalOf("f.csv", utf16, { encoding: "utf-17" }), /^`encoding`: expected an encoding such/)
  })

  test("the input log is told once, of the file's bytes and records, and only if it is read to its end", function* () {
    for (const [name, content] of Object.entries({
      "f.jsonl": Buffer.from(texts.jsonl),
      "f.json": Buffer.from(texts.json),
      "f.csv.gz": packers.gzip(texts.csv),
      "f.json.br": packers.brotli(texts.json),
      "f.zst": Buffer.concat([packers.zstd(texts.jsonl), packers.zstd("")]),
    })) {
      const told: Array<InputFile> = []
      const log = Layer.succeed(InputAudit, (file) => void told.push(file))
      yield* Effect.provide(Effect.asVoid(read(name, content)), log)
      const sha256 = createHash("sha256").update(content).digest("hex")
      const found = told.map(({ bytes, records, sha256 }) => ({ bytes, records, sha256 }))
      assert.deepStrictEqual(found, [{ bytes: content.length, records: items.length, sha256 }])
    }
    const [file] = yield* writeFiles({ "f.jsonl": texts.jsonl })
    const { rows } = yield* OpenFile.open(file!)
    const unread: Array<InputFile> = []
    yield* Effect.provideService(Stream.runHead(rows()), InputAudit, (file) => void unread.push(file))
    assert.deepStrictEqual(unread, [])
  })

  test("Parquet is read from a file, a compressed file and a pipe; the log is told of the file", function* () {
    const parquet = Buffer.from(
      parquetWriteBuffer({
        columnData: [
          { name: "prompt", data: items.map(({ prompt }) => prompt), type: "STRING" },
          { name: "a", data: items.map(({ a }) => a), type: "STRING" },
        ],
      }),
    )
    const files = {
      "f.parquet": parquet,
      "f.jsonl": parquet,
      "f.parquet.gz": zlib.gzipSync(parquet),
      f: zlib.brotliCompressSync(parquet),
    }
    for (const [name, content] of Object.entries(files)) {
      const paths = yield* writeFiles({ [name]: content })
      const ofFile = yield* Place.open(paths[0]!)
      const ofPipe: Input = { ...ofFile, size: undefined, slice: undefined }
      for (const input of [ofFile, ofPipe]) {
        if (name === "f") {
          assert.match((yield* Effect.flip(Format.open(input))).message, /neither text nor a known format/)
          continue
        }
        const file = yield* Format.open(input)
        const compression = name.endsWith(".gz") ? ", gzip" : ""
        assert.strictEqual(file.description, `Parquet, 500 rows${compression}`)
        assert.strictEqual(file.count, 500)
        const told: Array<InputFile> = []
        const rows = yield* Stream.runCollect(file.rows(["prompt"])).pipe(
          Effect.provideService(InputAudit, (file) => void told.push(file)),
        )
        assert.deepStrictEqual(
          valuesOf(rows),
          items.map(({ prompt }) => ({ prompt })),
        )
        const found = told.map(({ sha256 }) => sha256)
        assert.deepStrictEqual(found, [createHash("sha256").update(content).digest("hex")])
      }
    }
  })

  test("Parquet that is replaced while it is read is told as what was read, or is a failure", function* () {
    const parquet = (prompt: string) =>
      Buffer.from(parquetWriteBuffer({ columnData: [{ name: "prompt", data: [prompt], type: "STRING" }] }))
    const fs = yield* FileSystem.FileSystem
    const [path, other] = yield* writeFiles({ "f.parquet": parquet("before"), "other.parquet": parquet("after it") })
    const told: Array<InputFile> = []
    const rows = (file: Format.RowFile) =>
      Effect.provideService(Stream.runCollect(file.rows()), InputAudit, (file) => void told.push(file))

    const renamed = yield* OpenFile.open(path!)
    yield* fs.rename(other!, path!)
    assert.deepStrictEqual(valuesOf(yield* rows(renamed)), [{ prompt: "before" }])
    const before = parquet("before")
    const sha256 = createHash("sha256").update(before).digest("hex")
    assert.deepStrictEqual(told, [{ file: path!, bytes: before.length, records: 1, sha256 }])

    const overwritten = yield* OpenFile.open(path!)
    yield* fs.writeFile(path!, parquet("like it!"))
    yield* fs.utimes(path!, 1, 1)
    const problem = yield* Effect.flip(rows(overwritten))
    assert.match(problem.message, /f\.parquet: cannot be read: the file changed while it was read; run again$/)
    assert.strictEqual(told.length, 1)
  })

  test("a record that does not end, or never begins, ends the reading", function* () {
    for (const [byte, format] of [
      [0, "jsonl"],
      [0, "json"],
      [0, "csv"],
      [10, "jsonl"],
    ] as const) {
      const input: Input = {
        name: "endless",
        size: undefined,
        bytes: Stream.forever(Stream.succeed(new Uint8Array(64 * 1024).fill(byte))),
        slice: undefined,
      }
      const file = yield* Format.open(input, { format, maxLineBytes: 1000 })
      assert.strictEqual(
        (yield* Effect.flip(Stream.runDrain(file.rows()))).message,
        "endless: cannot be read: no record ends within 65536 bytes; check that the file contains records, and that `format` is right",
      )
    }
  })

  test("rows are the same wherever the boundaries of chunks fall", function* () {
    const contents = Object.values(texts).flatMap((text) => {
      const short = text.slice(0, 3_000)
      return [Buffer.from(short), packers.gzip(short)]
    })
    for (const content of contents) {
      const rowsIn = Effect.fnUntraced(function* (size: number) {
        const input: Input = {
          name: "f",
          size: undefined,
          slice: undefined,
          bytes: Stream.fromArray(cut(content, [size])).pipe(Stream.rechunk(1)),
        }
        const file = yield* Format.open(input)
        const rows = file.rows().pipe(Stream.catch(({ message }) => Stream.succeed(message)))
        return { description: file.description, rows: yield* Stream.runCollect(rows) }
      })
      const whole = yield* rowsIn(content.length)
      for (const size of [1, 1_000]) assert.deepStrictEqual(yield* rowsIn(size), whole)
    }
  })
})
