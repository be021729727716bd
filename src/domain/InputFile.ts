/** A file of the input that was read to its end. */
export interface InputFile {
  readonly file: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}
