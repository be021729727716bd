/**
 * Counts the votes of an item's judges as one vote, that of the jury.
 *
 * Language models often make the same errors, so the product of their reliabilities overstates how certain a jury is.
 * Here each pattern of agreement (who votes with whom) counts as one expert, whose reliability is estimated from known
 * answers and from people's votes on the same items: histogram binning (B. Zadrozny and C. Elkan, 2001, "Obtaining
 * calibrated probability estimates from decision trees and naive Bayesian classifiers", ICML) in the model of
 * `stats/DawidSkene`. Nothing is assumed about how judges depend on each other.
 *
 * Guarantees: the same votes give the same pattern and choice. Judges whose votes do not decide are left out.
 */
import * as Judge from "../../domain/Judge.ts"
import { isDecided, type ItemVote } from "./ItemVotes.ts"

/** A vote that decides, of an expert or of the jury. */
export interface CountedVote {
  /** The expert's name, or null. The jury's is its pattern, as a list that no name equals. */
  readonly expert: string | null
  readonly choice: number
  /** Set for the vote of a jury. */
  readonly isJury?: true
}

const byName = (a: ItemVote, b: ItemVote): number => ((a.expert ?? "") < (b.expert ?? "") ? -1 : 1)

/** The choice of most judges, or of those among them that the first judge by name belongs to. */
const juryOf = (judges: ReadonlyArray<ItemVote>): CountedVote => {
  const parties = [...Map.groupBy(judges.toSorted(byName), ({ choice }) => choice)].toSorted(
    ([, a], [, b]) => b.length - a.length,
  )
  const names = parties.map(([, party]) => party.map(({ expert }) => expert))
  return { expert: `jury ${JSON.stringify(names)}`, choice: parties[0]![0], isJury: true }
}

export const isJudge = ({ expert, kind }: ItemVote): boolean => Judge.roleOf(expert, kind ?? null) === "judge"

/** The votes that decide; with `jury`, those of judges as one. */
export const counted = (votes: ReadonlyArray<ItemVote>, jury: boolean): ReadonlyArray<CountedVote> => {
  const decided = votes.filter(isDecided)
  if (!jury) return decided
  const judges = decided.filter(isJudge)
  const others = decided.filter((vote) => !isJudge(vote))
  return judges.length === 0 ? others : [juryOf(judges), ...others]
}
