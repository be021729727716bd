/** Lists at most 20 findings per file and counts the others. */
import type { Finding } from "./file/Finding.ts"

const maxPerFile = 20

export const make = () => {
  const findings: Array<Finding> = []
  const counts = new Map<string, number>()
  return {
    add: ({
      expected,
      field = null,
      file,
      found,
      row = null,
      severity = "error",
    }: Pick<Finding, "file" | "expected" | "found"> & Partial<Finding>) => {
      const count = (counts.get(file) ?? 0) + 1
      counts.set(file, count)
      if (count <= maxPerFile) findings.push({ file, row, field, expected, found, severity })
    },
    all: (): ReadonlyArray<Finding> => [
      ...findings,
      ...[...counts]
        .filter(([, count]) => count > maxPerFile)
        .map(([file, count]): Finding => ({
          file,
          row: null,
          field: null,
          expected: `at most ${maxPerFile} findings in this file`,
          found: `${count - maxPerFile} more`,
          severity: "error",
        })),
    ],
  }
}

export type Findings = ReturnType<typeof make>

const maxCharacters = 60

export const describe = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing"
  return text.length > maxCharacters
    ? `${text.slice(0, maxCharacters).toWellFormed()}… (${text.length} characters)`
    : text
}
