/**
 * Counts the votes of an item's judges as one vote of a jury.
 *
 * Language models often make the same errors, so the product of their reliabilities overstates how certain a jury is.
 * Here each pattern of agreement (who votes with whom) counts as one expert in the model of `stats/DawidSkene`. The
 * pattern's reliability is estimated from known answers and from people's votes on the same items. This is histogram
 * binning (B. Zadrozny and C. Elkan, 2001, "Obtaining calibrated probability estimates from decision trees and naive
 * Bayesian classifiers", ICML). Nothing is assumed about how judges depend on each other.
 *
 * Judges with the same choice are a party, and the largest party votes. If several parties have the largest size, each
 * of them votes. Each has its own reliability within the pattern, so the more reliable party decides. If none is more
 * reliable, the jury's vote is a tie.
 *
 * Guarantees: the votes of the jury depend on its judges' votes alone, and not on the judges' names or their order.
 * If a judge's vote has several texts at the top, the vote is left out.
 */
import * as Judge from "../../domain/Judge.ts"
import { isDecided, type ItemVote } from "./ItemVotes.ts"

/** A vote for exactly one text, by an expert or by a jury. */
export interface CountedVote {
  /**
   * The expert's name, or null. For a jury, a text that identifies the pattern, or one party of the pattern. No expert
   * has this text as name.
   */
  readonly expert: string | null
  readonly choice: number
  /** Set only for the vote of a jury. `parties` is the number of parties that vote. */
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
 * Leaves out votes with several texts at the top. If `jury` is true, the votes of judges are replaced: each of the
 * largest parties has one vote. These votes come first.
 */
export const counted = (votes: ReadonlyArray<ItemVote>, jury: boolean): ReadonlyArray<CountedVote> => {
  const decided = votes.filter(isDecided)
  if (!jury) return decided
  const judges = decided.filter(isJudge)
  const others = decided.filter((vote) => !isJudge(vote))
  return judges.length === 0 ? others : [...juryOf(judges), ...others]
}
