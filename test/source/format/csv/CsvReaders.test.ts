/** What other programs write as CSV. */
import { assert, describe, it } from "@effect/vitest"
import { stringify } from "csv-stringify/sync"
import { Effect, Result, Schema, Stream } from "effect"
import * as Csv from "../../../../src/source/format/csv/Csv.ts"
import { cut } from "../support.ts"

const read = (bytes: Uint8Array, dialect: Csv.CsvDialect, sizes: ReadonlyArray<number>) =>
  Stream.fromArray(cut(bytes, sizes)).pipe(
    Stream.rechunk(1),
    Csv.rows("f.csv", dialect),
    Stream.runCollect,
    Effect.map((rows) => rows.map((row) => Result.getOrThrow(row).value as Record<string, string | null>)),
  )

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
})
