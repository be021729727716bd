/**
 * An input file that was read to its end.
 *
 * Guarantees: the digest covers the bytes that were read. A remote file that was read in part has no digest; it has the
 * version that its server reported.
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
