/** A problem in a file of a dataset: where it is, what was expected, and what was found. */

export interface Finding {
  /** Its path; from `verify`, relative to the dataset's folder, with `/`. */
  readonly file: string
  /** One-based: of the line, or of the row in a Parquet file. Null where it is about the file. */
  readonly row: number | null
  /** The path in the row, such as `prompt[0].role`. Null if the finding is about the row itself. */
  readonly field: string | null
  /** In words, such as `text`. */
  readonly expected: string
  /** In words; texts are quoted in part. */
  readonly found: string
  /** An error stops the trainer or makes it drop or mistake the row; a warning is for a person to judge. */
  readonly severity: "error" | "warning"
}

/** `data/train.jsonl:3: prompt: expected text, found nothing`, in one line. */
export const format = ({ expected, field, file, found, row }: Finding): string =>
  [
    row === null ? file : `${file}:${row}`,
    ...(field === null ? [] : [field]),
    `expected ${expected}, found ${found}`,
  ].join(": ")
