/**
 * Counts an item's judges as one vote of a jury, because language models often make the same errors. Judges with the
 * same choice are a party. The largest party decides; if several are equally large, the most reliable of these decides.
 * Each division into parties, such as `jury [["a","b"],["c"]]`, has a reliability, like an expert. The reliability is
 * estimated from known answers and people's votes (histogram binning: B. Zadrozny and C. Elkan, 2001).
 */
import * as Judge from "../../domain/Judge.ts"
import { isDecided, type ItemVote } from "./ItemVotes.ts"

export interface CountedVote {
  /** The expert's name, or null. The name of a jury says which judges voted together. */
  readonly expert: string | null
  readonly choice: number
  /** `pattern` groups judges by their choice. `parties`: number of choices with the most judges; above 1 in a tie. */
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

/** Leaves out tied votes. If `jury` is true, votes of a jury replace the judges' votes and come first. */
export const counted = (votes: ReadonlyArray<ItemVote>, jury: boolean): ReadonlyArray<CountedVote> => {
  const decided = votes.filter(isDecided)
  if (!jury) return decided
  const judges = decided.filter(isJudge)
  const others = decided.filter((vote) => !isJudge(vote))
  return judges.length === 0 ? others : [...juryOf(judges), ...others]
}
