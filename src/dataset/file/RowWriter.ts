/** The interface of the writers of Parquet and JSON Lines. */
import type { FileDigest } from "../../node/OutputFile.ts"
import type { EncodedRow } from "./EncodedRow.ts"

/** A format: rows on their way into a file. Calls block, and throw the system's errors. */
export interface RowWriter {
  /** Takes the next row, whose bytes may be used again afterwards. */
  readonly write: (row: EncodedRow) => void
  /** Writes what is still in memory, and waits until the file has reached the disk. Called once, after the last row. */
  readonly finish: () => FileDigest & { readonly rows: number }
  /** Frees the file where it is not finished. */
  readonly close: () => void
}
