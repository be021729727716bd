/** What other programs write as CSV, and what other programs read in it. */
import { assert, describe, it } from "@effect/vitest"
import { stringify } from "csv-stringify/sync"
import { Effect, FileSystem, Result, Schema, Stream } from "effect"
import { join } from "node:path"
import * as Csv from "../../../../src/source/format/csv/Csv.ts"
import * as readers from "../../../support/datasetReaders.ts"
import { sharedData } from "../../../support/sharedData.ts"
import { test, writeFiles } from "../../support.ts"
import { cut } from "../support.ts"

const read = (bytes: Uint8Array, dialect: Csv.CsvDialect, sizes: ReadonlyArray<number>) =>
  Stream.fromArray(cut(bytes, sizes)).pipe(
    Stream.rechunk(1),
    Csv.rows("f.csv", dialect),
    Stream.runCollect,
    Effect.map((rows) => rows.map((row) => Result.getOrThrow(row).value as Record<string, string | null>)),
  )

/** As DuckDB reads it with everything said but the texts; blobs, since it drops U+FEFF of strings. */
const duckdb = async (file: string, columns: ReadonlyArray<string>) => {
  const types = columns.map((name) => `'${name}': 'VARCHAR'`).join(", ")
  const rows = await readers.query(
    `SELECT ${columns.map((name) => `hex(${name}) AS ${name}`).join(", ")} FROM read_csv('${file}', auto_detect = false,
      header = true, delim = ',', quote = '"', escape = '"', new_line = '\\n', columns = {${types}})`,
  )
  return rows.map((row) =>
    columns.map((name) => (typeof row[name] === "string" ? Buffer.from(row[name], "hex").toString() : "")),
  )
}

const directory = sharedData("llmbar")

describe("CSV of others", () => {
  const Piece = Schema.Literals([...Array.from('aé😀",;\t|\n\r\0 \uFEFF\u2028'), ""])
  const Text = Schema.Array(Piece)
  const Size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 }))

  it.effect.prop(
    "any text that csv-stringify writes comes back, with any delimiter",
    [
      Schema.Literals([",", ";", "\t", "|"]),
      Schema.NonEmptyArray(Schema.Tuple([Text, Text, Schema.NullOr(Text)])),
      Schema.Boolean,
      Schema.Boolean,
      Schema.NonEmptyArray(Size),
    ],
    ([delimiter, records, hasBom, isWindows, sizes]) =>
      Effect.gen(function* () {
        const expected = records.map(([a, b, c]) => ({
          prompt: a.join(""),
          "b\n": b.join(""),
          __c: c === null ? null : c.join(""),
        }))
        const text = stringify(expected, {
          header: true,
          delimiter,
          bom: hasBom,
          record_delimiter: isWindows ? "windows" : "unix",
          quoted_string: true,
        })
        const bytes = new TextEncoder().encode(text)
        const dialect: Csv.CsvDialect = { delimiter, header: true, quote: "double", description: "CSV" }
        assert.deepStrictEqual(
          yield* read(bytes, dialect, sizes),
          expected.map(({ "b\n": b, ...rest }) => ({ ...rest, b })),
        )
        assert.deepStrictEqual(Csv.sniff(bytes).delimiter, delimiter)
      }),
  )

  test.skipIf(directory === undefined)("DuckDB reads the same in LLMBar as CSV (where the data is)", function* () {
    const fs = yield* FileSystem.FileSystem
    for (const name of ["natural", "adversarial-manual", "adversarial-neighbor"]) {
      const items = JSON.parse(yield* fs.readFileString(join(directory!, `${name}.json`))) as Array<
        Record<string, unknown>
      >
      const columns = ["input", "output_1", "output_2", "label"]
      // Quotes where they are needed, as most programs write it.
      const [file] = yield* writeFiles({ [`${name}.csv`]: stringify(items, { header: true, columns }) })
      const bytes = yield* fs.readFile(file!)
      const dialect = Csv.sniff(bytes.subarray(0, 65_536))
      const rows = yield* read(bytes, dialect, [65_536])
      const cells = rows.map((row) => columns.map((column) => row[column] ?? ""))
      assert.deepStrictEqual(cells, yield* Effect.promise(() => duckdb(file!, columns)))
      assert.deepStrictEqual(
        cells,
        items.map((item) => columns.map((column) => String(item[column]))),
      )
    }
  })
})
