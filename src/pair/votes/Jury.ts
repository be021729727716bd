/**
 * Counts an item's judges as one vote of a jury, because language models often make the same errors. Each pattern of
 * agreement (who votes with whom) is one expert in the model of `stats/DawidSkene`, measured by known answers and
 * people's votes (histogram binning: B. Zadrozny and C. Elkan, 2001, "Obtaining calibrated probability estimates").
 * Judges with the same choice are a party, and the largest party votes. If several parties are the largest, each votes
 * with its own reliability within the pattern. The more reliable party then decides; equally reliable ones are a tie.
 * Votes with several texts at the top are left out.
 */
import * as Judge from "../../domain/Judge.ts"
import { isDecided, type ItemVote } from "./ItemVotes.ts"

export interface CountedVote {
  /** The expert's name, or null. A jury's name is its pattern or a party of it, a text that no expert has as name. */
  readonly expert: string | null
  readonly choice: number
  /** `parties` is the number of parties that vote. */
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

/** The votes with one text at the top. If `jury`, votes of the largest parties replace the judges', and come first. */
export const counted = (votes: ReadonlyArray<ItemVote>, jury: boolean): ReadonlyArray<CountedVote> => {
  const decided = votes.filter(isDecided)
  if (!jury) return decided
  const judges = decided.filter(isJudge)
  const others = decided.filter((vote) => !isJudge(vote))
  return judges.length === 0 ? others : [...juryOf(judges), ...others]
}
