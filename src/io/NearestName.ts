/**
 * Suggests the known name that needs the fewest edits. The known name must begin with the misspelled name, or differ
 * from it in at most a third of the characters.
 */

/** Allows at least one edit. */
export const maxEdits = (name: string, candidate = name): number =>
  Math.max(1, Math.max(name.length, candidate.length) / 3)

const nearest = (name: string, knownNames: ReadonlyArray<string>): string | undefined => {
  const ranked = knownNames
    .map((candidate) => ({ candidate, changes: editsBetween(name, candidate) }))
    .filter(({ candidate, changes }) => candidate.startsWith(name) || changes <= maxEdits(name, candidate))
    .toSorted((a, b) => a.changes - b.changes)
  return ranked[0]?.candidate
}

export const didYouMean = (name: string, knownNames: ReadonlyArray<string>): string => {
  const candidate = nearest(name, knownNames)
  return candidate === undefined ? "" : ` (did you mean ${candidate}?)`
}

/**
 * Computes the Levenshtein distance row by row. Two exchanged neighbors, such as in `prot` for `port`, are one edit.
 */
export const editsBetween = (a: string, b: string): number => {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const [row, next] = [rows[i - 1]!, [i]]
    for (let j = 1; j <= b.length; j++) {
      const isExchanged = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, replaced, isExchanged ? rows[i - 2]![j - 2]! + 1 : Infinity))
    }
    rows.push(next)
  }
  return rows[a.length]![b.length]!
}
