/**
 * Where a record was read.
 *
 * Guarantees: `line` or `row` is there, or both: `line` in text, where lines tell records apart;
 * `row` in files whose records are no lines (elements of a JSON array, rows of Parquet).
 */
import { Schema } from "effect"

export const Origin = Schema.Struct({
  /** A path, a URL, or another name that messages have for it. */
  file: Schema.String,
  /** One-based: the line at which the record begins. */
  line: Schema.optionalKey(Schema.Int),
  /** One-based: which of the file's records it is. */
  row: Schema.optionalKey(Schema.Int),
})
export type Origin = typeof Origin.Type

/** `items.jsonl:17`, `items.json:40 (record 3)`, `items.parquet, row 3`. */
export const describe = ({ file, line, row }: Origin): string => {
  if (line === undefined) return row === undefined ? file : `${file}, row ${row}`
  return row === undefined ? `${file}:${line}` : `${file}:${line} (record ${row})`
}
