/**
 * Suggests the known name with the fewest edits, among those that begin with the misspelled name or differ from it in
 * at most half of the characters.
 */

const nearest = (name: string, knownNames: ReadonlyArray<string>): string | undefined => {
  const ranked = knownNames
    .map((candidate) => ({ candidate, changes: editsBetween(name, candidate) }))
    .filter(
      ({ candidate, changes }) => candidate.startsWith(name) || changes <= Math.max(name.length, candidate.length) / 2,
    )
    .toSorted((a, b) => a.changes - b.changes)
  return ranked[0]?.candidate
}

export const didYouMean = (name: string, knownNames: ReadonlyArray<string>): string => {
  const candidate = nearest(name, knownNames)
  return candidate === undefined ? "" : ` (did you mean ${candidate}?)`
}

/** Computes the Levenshtein distance row by row. */
export const editsBetween = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}
