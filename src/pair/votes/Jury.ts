/**
 * Counts the votes of all judges on an item as one vote, because language models often make the same errors. The judges
 * are called a jury, and judges with the same choice are a party. The jury chooses with its largest party. In a tie of
 * parties, the party with the highest reliability decides. A jury is named after its parties:
 * `jury [["a","b"],["c"]]` means that `c` disagrees with `a` and `b`. All juries of one name count as one expert, whose
 * reliability comes from known answers and people's votes (histogram binning: B. Zadrozny and C. Elkan, 2001).
 */
import * as Judge from "../../domain/Judge.ts"
import { isDecided, type ItemVote } from "./ItemVotes.ts"

export interface CountedVote {
  /** The expert's name, or null. The name of a jury is its `pattern`. In a tie, the name also has a party. */
  readonly expert: string | null
  readonly choice: number
  /** `pattern` lists the judges of each party. `parties` is the number of the largest parties, above 1 in a tie. */
  readonly jury?: { readonly pattern: string; readonly parties: number }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const juryOf = (judges: ReadonlyArray<ItemVote>): ReadonlyArray<CountedVote> => {
  const parties = [...Map.groupBy(judges, ({ choice }) => choice)].map(([choice, party]) => {
    const names = party.map(({ expert }) => expert).toSorted((a, b) => compare(a ?? "", b ?? ""))
    return { choice, size: party.length, names: JSON.stringify(names) }
  })
  const ordered = parties.toSorted((a, b) => b.size - a.size || compare(a.names, b.names))
  const pattern = `jury [${ordered.map(({ names }) => names).join()}]`
  const largest = parties.filter(({ size }) => size === ordered[0]!.size).toSorted((a, b) => a.choice - b.choice)
  const jury = { pattern, parties: largest.length }
  return largest.map(({ choice, names }) => {
    const expert = largest.length === 1 ? pattern : `${pattern}, party ${names}`
    return { expert, choice, jury }
  })
}

export const isJudge = ({ expert, kind }: ItemVote): boolean => Judge.roleOf(expert, kind ?? null) === "judge"

/**
 * Leaves out votes without a single best text. If `jury` is true, the judges' votes are replaced by votes of the jury,
 * which come first. In a tie, the jury has several votes.
 */
export const counted = (votes: ReadonlyArray<ItemVote>, jury: boolean): ReadonlyArray<CountedVote> => {
  const decided = votes.filter(isDecided)
  if (!jury) return decided
  const judges = decided.filter(isJudge)
  const others = decided.filter((vote) => !isJudge(vote))
  return judges.length === 0 ? others : [...juryOf(judges), ...others]
}
