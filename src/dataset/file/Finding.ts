/** A problem in a file of a dataset: where it is, what was expected, and what was found. */

export interface Finding {
  /** The file's path. In results of `verify`, it is relative to the dataset's folder, with `/` as separator. */
  readonly file: string
  /** One-based number of the line, or of the row in a Parquet file. Null if the finding is about the file. */
  readonly row: number | null
  /** The path in the row, such as `prompt[0].role`. Null if the finding is about the row itself. */
  readonly field: string | null
  /** A description of the expected value, such as `text`. */
  readonly expected: string
  /** A description of the value that was found; long texts are shortened. */
  readonly found: string
  /** An error stops the trainer, or makes it drop or misread the row. A warning is for a person to judge. */
  readonly severity: "error" | "warning"
}

/** The finding in one line, such as `data/train.jsonl:3: prompt: expected text, found nothing`. */
export const format = ({ expected, field, file, found, row }: Finding): string =>
  [
    row === null ? file : `${file}:${row}`,
    ...(field === null ? [] : [field]),
    `expected ${expected}, found ${found}`,
  ].join(": ")
