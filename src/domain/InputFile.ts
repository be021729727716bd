/**
 * An input file whose records were all read. The digest covers the bytes that were read. A remote file that was read in
 * slices has none; `etag` and `last_modified` then identify its version.
 */
import { Schema } from "effect"

const header = Schema.optionalKey(Schema.String)

export const InputFile = Schema.Struct({
  file: Schema.String,
  bytes: Schema.Int,
  /** Accepted and rejected records. */
  records: Schema.optionalKey(Schema.Int),
  sha256: Schema.optionalKey(Schema.String),
  /** Unchanged from the server, with its quotes. */
  etag: header,
  /** Unchanged from the server. */
  last_modified: header,
})
export type InputFile = typeof InputFile.Type
