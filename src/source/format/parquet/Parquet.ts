/**
 * Parquet: one record per row, read by `hyparquet` behind checks of our own.
 *
 * Guarantees: as many records as the footer says, or a failure that names the file, and where it is known
 * the row group and column: a file that is cut off or damaged never silently gives fewer rows. Damage is
 * noticed where the writer put checksums, or where what comes out is impossible; other changed bytes are values
 * like any others. A row is a reject where a text of it is not UTF-8, a JSON of it not JSON, or a value of it missing.
 *
 * Memory holds one row group: the columns that are read, compressed and as values. A row group that needs more
 * than `maxRowGroupBytes` is refused.
 *
 * https://github.com/apache/parquet-format
 */
import { Effect, Stream } from "effect"
import type { Input } from "../../place/Input.ts"
import type { RowResult } from "../../record/Row.ts"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import * as Footer from "./Footer.ts"
import * as RowGroup from "./RowGroup.ts"
import * as Schema from "./Schema.ts"

export interface ParquetFile {
  /** Rows, as the footer says. */
  readonly count: number
  /** `Parquet, 1,000 rows`. */
  readonly description: string
  /**
   * `Values` says what values become in JSON.
   *
   * @param columns top-level names; those that the file does not have are ignored
   */
  readonly rows: (columns?: ReadonlyArray<string>) => Stream.Stream<RowResult, SourceError>
}

export interface ParquetOptions {
  /** Row groups whose columns need more memory are refused. Default 1 GiB. */
  readonly maxRowGroupBytes?: number | undefined
}

const defaultMaxRowGroupBytes = 1024 ** 3

/** The input has `size` and `slice`. */
export const open: (input: Input, options?: ParquetOptions) => Effect.Effect<ParquetFile, SourceError> = Effect.fn(
  "Parquet.open",
)(function* ({ name, size, slice }, { maxRowGroupBytes: maxBytes = defaultMaxRowGroupBytes } = {}) {
  if (size === undefined || slice === undefined) {
    return yield* unreadable(name, "Parquet is read from a file, not from a stream")
  }
  const { rows: count, schema, groups } = yield* Footer.read(name, size, slice)
  const parts: Array<RowGroup.Part> = []
  let firstRow = 1
  for (const [i, group] of groups.entries()) {
    if (group.rows > 0) parts.push({ file: name, slice, group, number: i + 1, firstRow, maxBytes })
    firstRow += group.rows
  }
  return {
    count,
    description: `Parquet, ${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"}`,
    rows: (columns) => {
      const fields = Schema.select(schema, columns)
      return Stream.flatMap(Stream.fromArray(parts), (part) => RowGroup.rows(part, fields))
    },
  }
})
