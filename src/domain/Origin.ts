/** Where a record was read: `line` in text files, `row` if records are not lines (JSON array, Parquet). */
import { Schema } from "effect"

/** The place of a record in the input. */
export const Origin = Schema.Struct({
  /** A path, a URL without secrets, or the name of a source. */
  file: Schema.String,
  /** One-based number of the line at which the record begins. */
  line: Schema.optionalKey(Schema.Int),
  /** One-based number of the record in its file. */
  row: Schema.optionalKey(Schema.Int),
})
export type Origin = typeof Origin.Type

/** Describes the place, such as `items.jsonl:17`, `items.json:40 (record 3)`, or `items.parquet, row 3`. */
export const describe = ({ file, line, row }: Origin): string => {
  if (line === undefined) return row === undefined ? file : `${file}, row ${row}`
  return row === undefined ? `${file}:${line}` : `${file}:${line} (record ${row})`
}
