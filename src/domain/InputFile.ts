/**
 * An input file that was read to its end.
 *
 * Guarantees: the digest is of the bytes that were read. A remote file that was read in part has no digest, but the
 * version that its server reported.
 */
export interface InputFile {
  readonly file: string
  readonly bytes: number
  /** Records read, accepted or rejected. */
  readonly records?: number
  /** Hexadecimal. */
  readonly sha256?: string
  /** As the server sent it, with its quotes. */
  readonly etag?: string
  /** As the server sent it. */
  readonly last_modified?: string
}
