/**
 * What is wrong with a dataset, place by place.
 *
 * Guarantees: of each file at most 20 places are named, and the number of the others.
 */

export interface Finding {
  /** Relative to the dataset's directory. */
  readonly file: string
  /** One-based: of the line, or of the row in a Parquet file. Null where it is about the file. */
  readonly row: number | null
  readonly field: string | null
  readonly expected: string
  readonly found: string
}

export interface Findings {
  readonly add: (finding: Pick<Finding, "file" | "expected" | "found"> & Partial<Finding>) => void
  readonly all: () => ReadonlyArray<Finding>
}

const shownPerFile = 20

export const make = (): Findings => {
  const findings: Array<Finding> = []
  const counts = new Map<string, number>()
  return {
    add: ({ expected, field = null, file, found, row = null }) => {
      const count = (counts.get(file) ?? 0) + 1
      counts.set(file, count)
      if (count <= shownPerFile) findings.push({ file, row, field, expected, found })
    },
    all: () => [
      ...findings,
      ...[...counts]
        .filter(([, count]) => count > shownPerFile)
        .map(([file, count]) => ({
          file,
          row: null,
          field: null,
          expected: "no more findings",
          found: `${count - shownPerFile} more`,
        })),
    ],
  }
}

const shown = 60

/** A value in a few words, on one line. */
export const describe = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing"
  return text.length > shown ? `${text.slice(0, shown).toWellFormed()}… (${text.length} characters)` : text
}

/** One line: the row is a line where the file has lines. */
export const format = ({ expected, field, file, found, row }: Finding): string => {
  const place = row === null ? [] : [`${file.endsWith(".parquet") ? "row" : "line"} ${row}`]
  return `${[file, ...place, ...(field === null ? [] : [field])].join(", ")}: expected ${expected}, found ${found}`
}
