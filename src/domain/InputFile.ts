/**
 * An input file whose records were all read. `sha256` covers the bytes that were read. A remote file that was read in
 * slices has no digest: `etag` and `last_modified` identify the version.
 */
import { Schema } from "effect"

const header = Schema.optionalKey(Schema.String)

export const InputFile = Schema.Struct({
  file: Schema.String,
  bytes: Schema.Int,
  /** Number of records, accepted or rejected. */
  records: Schema.optionalKey(Schema.Int),
  sha256: Schema.optionalKey(Schema.String),
  /** The server's `ETag` header, unchanged, with its quotes. */
  etag: header,
  last_modified: header,
})
export type InputFile = typeof InputFile.Type
