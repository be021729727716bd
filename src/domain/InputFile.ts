/**
 * An input file whose records were all read.
 *
 * Guarantees: the digest covers the bytes that were read. If a remote file was read in slices, there is no digest;
 * `etag` and `last_modified` then identify the version of the file.
 */
import { Schema } from "effect"

const header = Schema.optionalKey(Schema.String)

export const InputFile = Schema.Struct({
  file: Schema.String,
  bytes: Schema.Int,
  /** Number of records read, both accepted and rejected. */
  records: Schema.optionalKey(Schema.Int),
  /** The file's SHA-256 digest in hexadecimal digits. */
  sha256: Schema.optionalKey(Schema.String),
  /** The ETag as the server sent it, including its quotes. */
  etag: header,
  /** The `Last-Modified` header as the server sent it. */
  last_modified: header,
})
export type InputFile = typeof InputFile.Type
