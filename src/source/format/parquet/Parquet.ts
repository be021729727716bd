/** Reads Parquet. Damage is detected only by checksums, if the writer added them, or by impossible values. */
import { Effect, Stream } from "effect"
import type { Input } from "../../place/Input.ts"
import { number, plural } from "../../../io/Values.ts"
import type { RowResult } from "../../record/Row.ts"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import * as Footer from "./Footer.ts"
import * as RowGroup from "./RowGroup.ts"
import * as Schema from "./Schema.ts"

export interface ParquetFile {
  readonly count: number
  readonly description: string
  readonly rows: (columns?: ReadonlyArray<string>) => Stream.Stream<RowResult, SourceError>
}

export interface ParquetOptions {
  /** Maximum memory for the columns of a row group. A larger row group is refused. Default: 1 GiB. */
  readonly maxRowGroupBytes?: number | undefined
}

const defaultMaxRowGroupBytes = 1024 ** 3

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
    description: `Parquet, ${number(count)} ${plural(count, "row")}`,
    rows: (columns) => {
      const fields = Schema.select(schema, columns)
      return Stream.flatMap(Stream.fromArray(parts), (part) => RowGroup.rows(part, fields))
    },
  }
})
