/**
 * Measures how much experts agree on items with several votes. Kappa and alpha leave out votes with several first
 * choices. Kappa assumes that random votes on K texts agree with a probability of 1/K. Alpha estimates this probability
 * from all votes: if most of them chose the first completion, for example, the probability is higher.
 */
import { Array as Arr } from "effect"
import { countDifferent } from "../../domain/CompletionTexts.ts"
import type { Agreement } from "../../domain/QualityReport.ts"
import type { Consensus } from "../votes/Consensus.ts"
import { isDecided, isUnanimous } from "../votes/ItemVotes.ts"
import * as FreeMarginalKappa from "../stats/FreeMarginalKappa.ts"
import * as KrippendorffAlpha from "../stats/KrippendorffAlpha.ts"

const tenths = Arr.makeBy(11, (i) => i / 10)

export const make = () => {
  const votesPerItem = new Map<number, number>()
  const counts = Arr.makeBy(10, () => 0)
  const alpha = KrippendorffAlpha.make()
  const kappa = FreeMarginalKappa.make()
  let items = 0
  let unanimous = 0
  let ties = 0
  let sum = 0
  let votesAgainst = 0
  const notMajority = new Map<Agreement["not_majority"][number]["by"], number>()
  let votesOfSeveral = 0
  return {
    add: ({ agreement, by, isMajority, isTie, judgment: { completions }, votes }: Consensus): void => {
      votesPerItem.set(votes.length, (votesPerItem.get(votes.length) ?? 0) + 1)
      if (agreement === null) return
      items++
      sum += agreement
      votesOfSeveral += votes.length
      votesAgainst += (1 - agreement) * votes.length
      counts[Math.min(9, Math.floor(agreement * 10))]!++
      if (isUnanimous(votes)) unanimous++
      if (isTie) ties++
      else if (by !== "majority" && !isMajority) notMajority.set(by, (notMajority.get(by) ?? 0) + 1)
      const chosen = Array.from(completions.keys(), () => 0)
      for (const vote of votes) if (isDecided(vote)) chosen[vote.choice]!++
      alpha.add(chosen)
      kappa.add(countDifferent(completions), chosen)
    },
    disagreement: () => ({ votes: votesOfSeveral, against: votesAgainst }),
    finish: (method: Agreement["method"]): Agreement => ({
      votes_per_item: [...votesPerItem].toSorted(([a], [b]) => a - b).map(([votes, items]) => ({ votes, items })),
      items,
      unanimous,
      ties,
      mean_agreement: items === 0 ? null : sum / items,
      agreement: items === 0 ? { edges: [], counts: [] } : { edges: tenths, counts },
      free_marginal_kappa: kappa.kappa(),
      krippendorff_alpha: alpha.alpha(),
      compared_items: kappa.subjects(),
      method,
      not_majority: [...notMajority].map(([by, items]) => ({ by, items })).toSorted((a, b) => b.items - a.items),
    }),
  }
}
