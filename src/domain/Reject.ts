/** A rejected record, with its text in `raw`, or its bytes in `raw_base64` if they are not UTF-8. */
import { Schema } from "effect"
import { Origin } from "./Origin.ts"

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
  /** The machine-readable reason. */
  code: RejectCode,
  /** The reason in one line: the field, the expected value, and the actual value. Options to set are in backticks. */
  reason: Schema.String,
  /** The record's text, or only its beginning if `raw_bytes` is present. */
  raw: Schema.optionalKey(Schema.String),
  /** The record's bytes in base64, in place of `raw` if they are not UTF-8. */
  raw_base64: Schema.optionalKey(Schema.String),
  /** Size of the record in bytes, if `raw` holds only its beginning. */
  raw_bytes: Schema.optionalKey(Schema.Int),
})
export interface Reject extends Schema.Schema.Type<typeof Reject> {}

export const toLine = (reject: Reject, reword: (reason: string) => string): string =>
  `${JSON.stringify(reject, (name, value: unknown) => (name === "reason" ? reword(reject.reason) : value))}\n`
