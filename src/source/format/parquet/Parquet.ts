/**
 * Parquet: a record a row.
 *
 * Guarantees: as many records as the footer says, or a failure that names the file, and where it is known
 * the row group and column: a file that is cut off or damaged never gives fewer rows in silence. Bytes that
 * were changed are told where the writer put checksums, or where what comes out cannot be; else they are
 * values like any other. A row is refused where a text of it is no UTF-8, or a JSON of it no JSON. Column
 * chunks that are not asked for are not read, and those that stand together are read at once.
 *
 * Memory holds, whatever the size of a row group: of compressed bytes 32 MiB, but 1 MiB for each column that
 * is read; of each column a page unpacked (1 MB from most writers, 100 MB from some; more than 256 MiB are
 * refused) and its dictionary; and an array of rows.
 *
 * `hyparquet` parses the footer. Pages are taken apart here: it reads a row group whole, loses members
 * called `__proto__` and digits of decimals, and loops on pages that were made for that.
 *
 * https://github.com/apache/parquet-format
 */
import { Effect, Stream } from "effect"
import type { Input } from "../../place/Input.ts"
import type { RowResult } from "../../record/Row.ts"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import * as Footer from "./ParquetFooter.ts"
import * as RowGroup from "./ParquetRowGroup.ts"
import * as Schema from "./ParquetSchema.ts"

export interface ParquetFile {
  /** Rows, as the footer says. */
  readonly count: number
  /** `Parquet, 1,000 rows`. */
  readonly description: string
  /**
   * What values become in JSON, `ParquetValues` says.
   *
   * @param columns top-level names; those that the file does not have are not there
   */
  readonly rows: (columns?: ReadonlyArray<string>) => Stream.Stream<RowResult, SourceError>
}

/** The input has `size` and `slice`. */
export const open: (input: Input) => Effect.Effect<ParquetFile, SourceError> = Effect.fn("Parquet.open")(function* ({
  name,
  size,
  slice,
}) {
  if (size === undefined || slice === undefined) {
    return yield* unreadable(name, "Parquet is read from a file, not from a stream")
  }
  const { rows: count, schema, groups } = yield* Footer.read(name, size, slice)
  const parts: Array<RowGroup.Part> = []
  let firstRow = 1
  for (const [i, group] of groups.entries()) {
    if (group.rows > 0) parts.push({ file: name, slice, group, number: i + 1, firstRow })
    firstRow += group.rows
  }
  return {
    count,
    description: `Parquet, ${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"}`,
    rows: (columns) => {
      const fields = Schema.select(schema, columns)
      return Stream.flatMap(Stream.fromArray(parts), (part) => RowGroup.rows(part, schema.fields, fields))
    },
  }
})
