/**
 * The judges (language models) of an item are its jury. The jury has one vote, because judges often make the same
 * errors. Judges with the same choice are a party. The largest party decides. If several parties are equally large, the
 * most reliable of these parties decides. A jury's name lists its parties: in `jury [["a","b"],["c"]]`, judges a and b
 * agree, and c does not. All juries with the same name count as one expert. This expert's reliability is estimated from
 * known answers and people's votes (histogram binning: B. Zadrozny and C. Elkan, 2001).
 */
import * as Judge from "../../domain/Judge.ts"
import { isDecided, type ItemVote } from "./ItemVotes.ts"

export interface CountedVote {
  readonly expert: string | null
  readonly choice: number
  /** `pattern` is the jury's name. `parties` is the number of parties that are tied for the largest size, usually 1. */
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

/** Leaves out ties. If `jury` is true, one vote per party of the largest size replaces the judges' votes. */
export const counted = (votes: ReadonlyArray<ItemVote>, jury: boolean): ReadonlyArray<CountedVote> => {
  const decided = votes.filter(isDecided)
  if (!jury) return decided
  const judges = decided.filter(isJudge)
  const others = decided.filter((vote) => !isJudge(vote))
  return judges.length === 0 ? others : [...juryOf(judges), ...others]
}
