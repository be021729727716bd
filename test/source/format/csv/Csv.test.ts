import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { Base64 } from "effect/encoding"
import * as Csv from "../../../../src/source/format/csv/Csv.ts"
import type { RowResult } from "../../../../src/source/record/Row.ts"
import { cut } from "../support.ts"
import { cases } from "../../../support/cases.ts"
import { test } from "../../support.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const comma: Csv.CsvDialect = { delimiter: ",", header: true, description: "CSV" }

interface Options {
  readonly sizes?: ReadonlyArray<number>
  readonly dialect?: Csv.CsvDialect
  readonly maxLineBytes?: number
}

const read = (bytes: Uint8Array, { sizes = [65_536], dialect = comma, maxLineBytes }: Options = {}) =>
  Stream.fromArray(cut(bytes, sizes)).pipe(
    Stream.rechunk(1),
    Csv.rows("f.csv", dialect, { maxLineBytes }),
    Stream.runCollect,
  )

/** One line for each row: enough to see at a glance what became of it. */
const summary = (rows: ReadonlyArray<RowResult>): ReadonlyArray<string> =>
  rows.map(
    Result.match({
      onSuccess: ({ place, value }) => `${place.line} ${JSON.stringify(value)}`,
      onFailure: ({ line, code, reason }) => `${line} ${code} ${reason}`,
    }),
  )

const raws = (rows: ReadonlyArray<RowResult>) =>
  rows.map(Result.match({ onSuccess: ({ place }) => place.raw, onFailure: ({ raw }) => raw }))

const misplaced = (line: number, found: string) =>
  `expected "," or a line end after the closing quote in line ${line}, found ${JSON.stringify(found)}; if quotes are text in this file, set \`quote: "none"\``

describe("Csv.rows", () => {
  test.each<[string, string, Array<string>]>([
    ["nothing", "", []],
    ["a header alone", "a,b", []],
    ["LF", "a,b\n1,2\n", ['2 {"a":"1","b":"2"}']],
    ["CR LF, the last line without its end", "a,b\r\n1,2\r\n3,4", ['2 {"a":"1","b":"2"}', '3 {"a":"3","b":"4"}']],
    ["both line ends", "a,b\r\n1,2\n3,4\r\n", ['2 {"a":"1","b":"2"}', '3 {"a":"3","b":"4"}']],
    ["CR at the end", 'a,b\n1,2\r\n3,"4"\r', ['2 {"a":"1","b":"2"}', '3 {"a":"3","b":"4"}']],
    // RFC 4180, section 2, rules 5 to 7.
    ["RFC 4180: quotes", '"a","b"\n"1,1","2""2"\n', ['2 {"a":"1,1","b":"2\\"2"}']],
    [
      "RFC 4180: line ends within quotes",
      'a,b\r\n"x\r\n\r\ny","z\n"\r\n1,2\r\n',
      ['2 {"a":"x\\r\\n\\r\\ny","b":"z\\n"}', '6 {"a":"1","b":"2"}'],
    ],
    ["RFC 4180: spaces are part of a cell", "a,b\n 1 , 2\n", ['2 {"a":" 1 ","b":" 2"}']],
    ["a byte order mark before a quote", '\uFEFF"a",b\n\uFEFF1,2\n', ['2 {"a":"\uFEFF1","b":"2"}']],
    ["a byte order mark alone", "\uFEFF", []],
    ["nothing and empty text", 'a,b,c\n,"",\n', ['2 {"a":null,"b":"","c":null}']],
    ["blank lines", "\n \r\na,b\n\n\r\n\t\n1,2\n\n", ['7 {"a":"1","b":"2"}']],
    ["a quoted empty line is a record", 'a\n\n""\n" "\nx', ['3 {"a":""}', '4 {"a":" "}', '5 {"a":"x"}']],
    [
      "quotes within a cell, as DuckDB and pandas have them",
      'a,b\n5" pipe,"say ""hi"""\n',
      ['2 {"a":"5\\" pipe","b":"say \\"hi\\""}'],
    ],
    ["quotes behind a space", 'a,b\n1, "x"\n', ['2 {"a":"1","b":" \\"x\\""}']],
    ["text that looks like numbers", "a,b\n007,1e400\n", ['2 {"a":"007","b":"1e400"}']],
    ["U+FFFD that stands in the file", "a\n\uFFFD\n", ['2 {"a":"\uFFFD"}']],
    ["NUL", "a,b\n\0,1\0\n", ['2 {"a":"\\u0000","b":"1\\u0000"}']],
    [
      "names without white space around them, and by their place",
      "a, b ,\n1,2,3\n",
      ['2 {"a":"1","b":"2","column_3":"3"}'],
    ],
    [
      "too few and too many cells",
      'a,b,c\n1,2\n1,2,3,4\n1,2,3\n""\n',
      [
        "2 invalid_shape expected 3 cells as in the header, found 2",
        "3 invalid_shape expected 3 cells as in the header, found 4",
        '4 {"a":"1","b":"2","c":"3"}',
        "5 invalid_shape expected 3 cells as in the header, found 1",
      ],
    ],
    [
      "text behind a closing quote",
      'a,b\n"abc"def,1\n"x" ,2\nz,3\n"q\nr",4\n',
      [
        `2 invalid_csv cell 1: ${misplaced(2, "def,1")}`,
        `3 invalid_csv cell 1: ${misplaced(3, " ,2")}`,
        '4 {"a":"z","b":"3"}',
        '5 {"a":"q\\nr","b":"4"}',
      ],
    ],
    [
      "quotes that are not doubled, in a cell of several lines",
      'a,b\n1,"abc\nxyz "quoted" foo\nbar"\n2,3\n',
      [`2 invalid_csv cell 2: ${misplaced(3, 'quoted" foo')}`, '5 {"a":"2","b":"3"}'],
    ],
    [
      "a quote that the next record's opening quote closes",
      'a,b\n1,"open\n2,"fine"\n3,"ok"\n',
      [`2 invalid_csv cell 2: ${misplaced(3, 'fine"')}`, '4 {"a":"3","b":"ok"}'],
    ],
    [
      "the rest of a cell, after quotes at fault, is no record",
      'a,b\n"He said "hi"\nleft, ok",x\n\nand, "again"\n1,2\nfoo"bar,3\n',
      [
        `2 invalid_csv cell 1: ${misplaced(2, 'hi"')}`,
        "3 invalid_csv cell 2: a quote within the cell is ambiguous, because an earlier record has malformed quotes",
        "5 invalid_csv cell 2: a quote within the cell is ambiguous, because an earlier record has malformed quotes",
        '6 {"a":"1","b":"2"}',
        '7 {"a":"foo\\"bar","b":"3"}',
      ],
    ],
    [
      "a quote that is not closed",
      'a,b\n1,2\n3,"x\n4,5\n6,7',
      [
        '2 {"a":"1","b":"2"}',
        '3 invalid_csv cell 2: expected a closing quote for the quote in line 3, found none up to the last line (5); if quotes are text in this file, set `quote: "none"`',
      ],
    ],
    [
      "a quote behind a closing quote and CR",
      'a,b\n"x"\r"y",1\n2,3\n',
      [`2 invalid_csv cell 1: ${misplaced(2, "\r")}`, '3 {"a":"2","b":"3"}'],
    ],
    [
      "CR within a cell",
      'a,b\n1,x\ry\n2,"x\ry"\nx\ry,"1\n2"\n3,4\r\r\n',
      [
        "2 invalid_csv cell 2: the cell contains CR without LF, but is not in quotes",
        '3 {"a":"2","b":"x\\ry"}',
        "4 invalid_csv cell 1: the cell contains CR without LF, but is not in quotes",
        "6 invalid_csv cell 2: the cell contains CR without LF, but is not in quotes",
      ],
    ],
  ])("%s", function* ([, text, expected]) {
    const whole = yield* read(bytesOf(text))
    assert.deepStrictEqual(summary(whole), expected)
    assert.deepStrictEqual(yield* read(bytesOf(text), { sizes: [1] }), whole)
  })

  test("a row has its text as it stands in the file, and says that its cells are text", function* () {
    const records = ['"x\r\ny",1', '"abc"def,1', "5", 'z,"1""2"', "last,"]
    const rows = yield* read(bytesOf(`a,b\r\n${records.join("\r\n")}`))
    assert.deepStrictEqual(raws(rows), records)
    assert.isTrue(Result.getOrThrow(rows[0]!).isTextual)
    assert.strictEqual(Result.getOrThrow(rows[0]!).place.file, "f.csv")
  })

  test("without a header, columns have numbers and the first record tells how many", function* () {
    const rows = yield* read(bytesOf('\n1,"2"\n3\n5,6\n'), { dialect: { ...comma, header: false } })
    assert.deepStrictEqual(summary(rows), [
      '2 {"column_1":"1","column_2":"2"}',
      "3 invalid_shape expected 2 cells as in the record in line 2, found 1",
      '4 {"column_1":"5","column_2":"6"}',
    ])
  })

  test("a column may be called __proto__", function* () {
    const rows = yield* read(bytesOf("__proto__,constructor,0\nx,y,z\n"))
    const { value } = Result.getOrThrow(rows[0]!)
    assert.deepStrictEqual(Object.entries(value as object), [
      ["0", "z"],
      ["__proto__", "x"],
      ["constructor", "y"],
    ])
    assert.strictEqual(Object.getPrototypeOf(value), Object.prototype)
  })

  test.each<[string, string | Uint8Array, string]>([
    [
      "two columns of one name",
      "a,b, a\n1,2,3\n",
      'expected distinct names, found "a" in cells 1 and 3; rename one column',
    ],
    [
      "a name by place that is there already",
      "column_2,\n",
      'expected distinct names, found "column_2" in cells 1 and 2; rename one column',
    ],
    ["CR line ends", "a,b\r1,2\r", "cell 2: the cell contains CR without LF, but is not in quotes"],
    [
      "open quotes",
      'a,"b\n1,2',
      'cell 2: expected a closing quote for the quote in line 1, found none up to the last line (2); if quotes are text in this file, set `quote: "none"`',
    ],
    [
      "UTF-16 with a byte order mark",
      Uint8Array.of(0xff, 0xfe, 0x61, 0, 0x0a, 0),
      'expected UTF-8, found other bytes (for another encoding, set `encoding: "NAME"`); see raw_base64',
    ],
    [
      "UTF-16 without one",
      "\0a\0,\0b\0\n\0",
      'expected names without NUL, found "\\u0000a\\u0000"; save the file as UTF-8',
    ],
  ])("a header with %s ends the reading", function* ([, content, problem]) {
    for (const sizes of [[65_536], [1]]) {
      const error = yield* Effect.flip(read(typeof content === "string" ? bytesOf(content) : content, { sizes }))
      assert.strictEqual(error.reason._tag, "FileUnreadable")
      assert.strictEqual(error.message, `f.csv: cannot be read: unusable header in line 1: ${problem}`)
    }
  })

  test("a delimiter is one ASCII character", function* () {
    for (const delimiter of ["", "::", "§", '"', "\n"]) {
      const error = yield* Effect.flip(read(bytesOf("a"), { dialect: { ...comma, delimiter } }))
      assert.strictEqual(error.reason._tag, "InvalidOption")
    }
  })

  test("a record that is not UTF-8 is refused alone, with its bytes", function* () {
    const bad = Uint8Array.of(...bytesOf('"1\n'), 0xff, 0xc3, ...bytesOf('",é'))
    const bytes = Uint8Array.of(...bytesOf("a,b\nß,ü\n"), ...bad, ...bytesOf("\n😀,ö\n"))
    for (const size of [1, 2, 3, 7, 100]) {
      const rows = yield* read(bytes, { sizes: [size] })
      assert.deepStrictEqual(summary(rows), [
        '2 {"a":"ß","b":"ü"}',
        '3 invalid_utf8 expected UTF-8, found other bytes (for another encoding, set `encoding: "NAME"`); see raw_base64',
        '5 {"a":"😀","b":"ö"}',
      ])
      assert.strictEqual(Result.getOrThrow(Result.flip(rows[1]!)).raw_base64, Base64.encode(bad))
    }
  })

  test("a record over the limit is refused, with its beginning and its size", function* () {
    // Three bytes each, so that the beginning's end falls into a character; lines within count.
    const long = `"${"€".repeat(30_000)}\n${"€".repeat(20_000)}",1`
    const bytes = bytesOf(`a,b\n${long}\nx,y\n${long}`)
    const size = bytesOf(long).length
    for (const sizes of [[1_000_000], [65_536], [997], [4, 100_000]]) {
      const rows = yield* read(bytes, { sizes, maxLineBytes: size - 1 })
      const reason = `oversized_line expected a record of at most ${size - 1} bytes, found ${size}`
      assert.deepStrictEqual(summary(rows), [`2 ${reason}`, '4 {"a":"x","b":"y"}', `5 ${reason}`])
      const reject = Result.getOrThrow(Result.flip(rows[0]!))
      assert.strictEqual(reject.raw, `"${"€".repeat(21_845)}`)
      assert.strictEqual(reject.raw_bytes, size)
      assert.isTrue((yield* read(bytes, { sizes, maxLineBytes: size })).every(Result.isSuccess))
    }
  })

  test("an open quote before hundreds of megabytes is one reject, and no more than the limit is held", function* () {
    const chunk = bytesOf("4,5\n".repeat(65_536))
    const chunks = cases(800, 2_000)
    const before = process.memoryUsage.rss()
    let peak = 0
    const rows = yield* Stream.range(1, chunks).pipe(
      Stream.rechunk(1),
      Stream.map((i) => {
        if (i % 100 === 0) peak = Math.max(peak, process.memoryUsage.rss())
        return i === 1 ? bytesOf('a,b\n1,2\n3,"') : chunk.slice()
      }),
      Csv.rows("f.csv", comma),
      Stream.runCollect,
    )
    const size = 3 + (chunks - 1) * chunk.length
    assert.deepStrictEqual(summary(rows), [
      '2 {"a":"1","b":"2"}',
      `3 oversized_line expected a record of at most 33554432 bytes, found ${size}; check that each quoted cell ends with a quote, and that quotes inside the cell are written as ""`,
    ])
    assert.isBelow(peak - before, 110e6)
  })

  const Part = Schema.Literals([...Array.from('aé😀"",\n\r \uFEFF'), '""', "\r\n", "bad", "long", '"a"\n', "x,y\n"])
  const Size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))
  it.effect.prop(
    "any chunks give the rows of the whole, and every byte is in a row, a reject or a blank line",
    [Schema.Array(Part), Schema.NonEmptyArray(Size)],
    ([parts, sizes]) =>
      Effect.gen(function* () {
        const bytes = Uint8Array.from(
          parts.flatMap((part) =>
            part === "bad" ? [0xe2, 0x82] : [...bytesOf(part === "long" ? "long".repeat(10) : part)],
          ),
        )
        const options = { maxLineBytes: 60, dialect: { ...comma, header: false } }
        const whole = yield* read(bytes, options)
        assert.deepStrictEqual(yield* read(bytes, { ...options, sizes }), whole)
        // What is in no record is white space, and records come in the order of their lines.
        const latin1 = (some: Uint8Array) => String.fromCharCode(...some)
        let rest = latin1(bytes)
        for (const row of whole) {
          const place = Result.isSuccess(row) ? { ...row.success.place, raw_base64: undefined } : row.failure
          const shown =
            place.raw === undefined
              ? latin1(Result.getOrThrow(Base64.decode(place.raw_base64!)))
              : latin1(bytesOf(place.raw))
          const at = rest.indexOf(shown)
          assert.match(rest.slice(0, at), /^(\xEF\xBB\xBF|\s)*$/)
          rest = rest.slice(at + shown.length)
        }
        assert.match(rest, /^(\xEF\xBB\xBF|\s)*$/)
      }),
  )
})

const tab = { delimiter: "\t", header: true, description: "TSV" }
const balanced = 'a\tb\nx\t"y\nz\tw"\nx\t"1\n2"\n'

it.effect.each<[string, Csv.CsvDialect, Array<string>]>([
  [
    "a record of TSV that is several without quoting is a reject",
    tab,
    [
      '2 invalid_csv found 2 ambiguous lines: if the lines are one record with quoted cells, set `quote: "double"`; if the lines are 2 separate records, and the quotes belong to the text, set `quote: "none"`',
      '4 {"a":"x","b":"1\\n2"}',
    ],
  ],
  [
    "it is one where quotes enclose cells",
    { ...tab, quote: "double" },
    ['2 {"a":"x","b":"y\\nz\\tw"}', '4 {"a":"x","b":"1\\n2"}'],
  ],
  [
    "it is several where quotes are text",
    { ...tab, quote: "none" },
    [
      '2 {"a":"x","b":"\\"y"}',
      '3 {"a":"z","b":"w\\""}',
      '4 {"a":"x","b":"\\"1"}',
      "5 invalid_shape expected 2 cells as in the header, found 1",
    ],
  ],
])("%s", ([, dialect, expected]) =>
  Effect.map(read(bytesOf(balanced), { dialect }), (rows) => assert.deepStrictEqual(summary(rows), expected)),
)

test("Excel's line is no record, and lines keep their numbers", function* () {
  const bytes = bytesOf("sep=;\r\na;b\r\n1;2\r\n")
  const rows = yield* read(bytes, { dialect: Csv.sniff(bytes), sizes: [3] })
  assert.deepStrictEqual(summary(rows), ['3 {"a":"1","b":"2"}'])
})

describe("Csv.sniff", () => {
  it.each<[string, string, Csv.CsvOptions, string, string]>([
    ["commas", "id,prompt\n1,a\n", {}, ",", "CSV"],
    ["tabs among commas", "id\tprompt, full\n1\ta, b, c\n2\tHello; you | me\n", {}, "\t", "TSV"],
    ["semicolons among commas", "id;prompt;answer\n1;a, b;c, d\n2;e, f, g;h\n", {}, ";", 'CSV with ";"'],
    ["bars", "id|prompt\n1|a,b\n2|c,d\n", {}, "|", 'CSV with "|"'],
    ["a header whose names have commas", "id;prompt, full;answer, full\n1;a;b\n2;c, d;e\n", {}, ";", 'CSV with ";"'],
    [
      "line ends and delimiters within quotes",
      'id,"prompt"\n1,"a;b\tc\n;;\t\n""x;y"""\n2,"d;e\tf\n"\n',
      {},
      ",",
      "CSV",
    ],
    ["quotes that only one delimiter explains", '"a;b";"c,d"\n"1,2";"3;4"\n', {}, ";", 'CSV with ";"'],
    ["a few bad records", `a,b\n${"1,2\n".repeat(8)}1,2,3\n4\n`, {}, ",", "CSV"],
    ["one column of prose", "prompt\nHello, you\nOne, two; three\nfour\n", {}, "\t", "CSV with one column"],
    [
      "one column of prose that begins with a comma in it",
      "Hello, you\nthree\nfour\n",
      { header: false },
      "\t",
      "CSV with one column, without header",
    ],
    ["one column, quoted", 'prompt\n"Hello, you"\n', {}, ",", "CSV with one column"],
    ["a byte order mark", '\uFEFF"a;b";c\n1;2\n', {}, ";", 'CSV with ";"'],
    ["a record that is cut off", 'a;b\n1;2\n3;"4,\n,,,', {}, ";", 'CSV with ";"'],
    ["a header that is cut off", "a;b;c", {}, ";", 'CSV with ";"'],
    ["nothing", "", {}, ",", "CSV with one column"],
    ["a delimiter by hand", "a,b\n", { delimiter: ";" }, ";", 'CSV with ";"'],
    ["a tab by hand", "a,b\n", { delimiter: "\\t" }, "\t", "TSV"],
    ["TSV by name", "a,b\n", { format: "tsv" }, "\t", "TSV"],
    ["Excel's line, before its delimiter is looked for", "sep=;\na,b;c,d\n", {}, ";", 'CSV with ";"'],
    ["Excel's line in quotes, behind a byte order mark", '\uFEFF"sep=|"\r\na,b;c,d\n', {}, "|", 'CSV with "|"'],
    ["a delimiter by hand, with Excel's line", "sep=;\na,b\n", { delimiter: "," }, ",", "CSV"],
    ["TSV without quoting", 'a\tb\nx\t"y\nz\tw"\nx\ty\n', {}, "\t", "TSV, without quotes"],
    ["TSV without quoting, a quote alone", 'a\tb\nx\t"y\nz\tw\nx\ty\n', {}, "\t", "TSV, without quotes"],
    ["TSV without quoting, with a bad record", 'a\tb\nx\t"y\nz\nz\tw"\n"x\ty\n', {}, "\t", "TSV, without quotes"],
    ["TSV whose quotes enclose lines", 'a\tb\nx\t"y\nz"\n1\t"2\n\t3"\nx\ty\n', {}, "\t", "TSV"],
    ["TSV with quotes, one of them at fault", 'a\tb\n"x"\t"y"\n"z"\t"w\n"x"\ty\n', {}, "\t", "TSV"],
    ["CSV with commas in quoted lines", 'a,b\nx,"y\nz, w"\n', {}, ",", "CSV"],
    ["quotes that are text, by hand", 'a,b\n"x,y"\n', { quote: "none" }, ",", "CSV, without quotes"],
    ["no header", "1;2\n3;4\n", { header: false }, ";", 'CSV with ";", without header'],
  ])("%s", (_, text, options, delimiter, description) => {
    const found = Csv.sniff(bytesOf(text), options)
    assert.deepStrictEqual(
      [found.delimiter, found.header, found.description],
      [delimiter, options.header ?? true, description],
    )
  })

  it("a head that ends within a character", () => {
    assert.strictEqual(Csv.sniff(bytesOf("a;b\n1;2\n3;😀").subarray(0, -1)).delimiter, ";")
  })
})
