/**
 * Counts the votes of all judges on an item (its jury) as one vote, because language models often make the same errors.
 * Judges with the same choice form a party. The largest party decides. All juries with the same parties, such as
 * `jury [["a","b"],["c"]]`, count as one expert, whose reliability comes from known answers and people's votes.
 */
import * as Judge from "../../domain/Judge.ts"
import { isDecided, type ItemVote } from "./ItemVotes.ts"

export interface CountedVote {
  readonly expert: string | null
  readonly choice: number
  /** `pattern` lists the judges of each party. `parties` counts the parties of the largest size: several in a tie. */
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

/** Leaves out votes that are ties. If several parties of the jury are the largest, the jury has a vote for each. */
export const counted = (votes: ReadonlyArray<ItemVote>, jury: boolean): ReadonlyArray<CountedVote> => {
  const decided = votes.filter(isDecided)
  if (!jury) return decided
  const judges = decided.filter(isJudge)
  const others = decided.filter((vote) => !isJudge(vote))
  return judges.length === 0 ? others : [...juryOf(judges), ...others]
}
