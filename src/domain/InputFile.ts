/**
 * An input file that was read to its end.
 *
 * Guarantees: the digest covers the bytes that were read. A remote file that was read in part has no digest; it has the
 * version that its server reported.
 */
export interface InputFile {
  readonly file: string
  readonly bytes: number
  /** Records read, accepted or rejected. */
  readonly records?: number
  readonly sha256?: string
  /** The ETag as the server sent it, including its quotes. */
  readonly etag?: string
  /** The `Last-Modified` header as the server sent it. */
  readonly last_modified?: string
}
