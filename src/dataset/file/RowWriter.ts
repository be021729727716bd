/** The interface that the writers of Parquet and JSON Lines share. */
import type { FileDigest } from "../../node/OutputFile.ts"
import type { EncodedRow } from "./EncodedRow.ts"

export interface RowWriter {
  readonly write: (row: EncodedRow) => void
  /** Waits until the file has reached the disk. Called once, after the last row. */
  readonly finish: () => FileDigest & { readonly rows: number }
  readonly close: () => void
}
