/**
 * A rejected record, with everything needed to correct it.
 *
 * Guarantees: `raw` is the record's text as it was read. Bytes that are not UTF-8 are in `raw_base64` instead. Of an
 * oversized record only the beginning is included, and `raw_bytes` is its full size.
 *
 * Reasons are worded where a record is read: `io/RecordBuffer`, `io/Json`, `source/format`, `source/item`.
 */
import { Schema } from "effect"
import { Origin } from "./Origin.ts"

/** Why a record was rejected; `reason` is the message. */
export const RejectCode = Schema.Literals([
  "invalid_json",
  "invalid_csv",
  "invalid_shape",
  "invalid_utf8",
  "oversized_line",
  "no_match",
  "duplicate_key",
  "conflicting_id",
  "too_large",
  "too_many_completions",
  "too_long",
  "not_imported",
  "refused_by_service",
  "given_up",
])
export type RejectCode = typeof RejectCode.Type

/** One line of the rejects file. */
export const Reject = Schema.Struct({
  ...Origin.fields,
  /** The kind of reason, for programs. */
  code: RejectCode,
  /** One line: the field, what was expected, what was found. */
  reason: Schema.String,
  /** The record's text, or its beginning (`raw_bytes`). */
  raw: Schema.optionalKey(Schema.String),
  /** In place of `raw`, if the bytes are not UTF-8. */
  raw_base64: Schema.optionalKey(Schema.String),
  /** Size of the record in bytes, if `raw` holds only its beginning. */
  raw_bytes: Schema.optionalKey(Schema.Int),
})
export type Reject = typeof Reject.Type
