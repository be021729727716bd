/** Suggests a name that begins with the misspelled one, or differs from it in at most a third of the characters. */

export const maxEdits = (name: string, candidate = name): number =>
  Math.max(1, Math.max(name.length, candidate.length) / 3)

export const didYouMean = (name: string, knownNames: ReadonlyArray<string>): string => {
  const [nearest] = knownNames
    .map((candidate) => ({ candidate, changes: editsBetween(name, candidate) }))
    .filter(({ candidate, changes }) => candidate.startsWith(name) || changes <= maxEdits(name, candidate))
    .toSorted((a, b) => a.changes - b.changes)
  return nearest === undefined ? "" : ` (did you mean ${nearest.candidate}?)`
}

/** Levenshtein distance, with two exchanged neighbors (`prot` for `port`) as one edit. */
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
