/**
 * A file of the input that was read to its end.
 *
 * Guarantees: a digest is one of the bytes that were read. A remote file of which only parts were read has
 * none: what its server said of it stands in its place.
 */
export interface InputFile {
  readonly file: string
  readonly bytes: number
  /** Read from it, usable or not. */
  readonly records?: number
  /** Hexadecimal. */
  readonly sha256?: string
  /** As the server sent it, with its quotes. */
  readonly etag?: string
  /** As the server sent it. */
  readonly last_modified?: string
}
