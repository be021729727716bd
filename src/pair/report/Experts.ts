/** Makes the table of experts, sorted by number of votes. In the last row, `expert` is null: votes without a name. */
import { Option } from "effect"
import * as Cost from "../../domain/Cost.ts"
import * as JudgeUsage from "../../domain/JudgeUsage.ts"
import type { JudgedItem } from "../../domain/Judgment.ts"
import { agreesWithOthers } from "../../domain/Tally.ts"
import type { ExpertRow } from "../../domain/QualityReport.ts"
import type { Consensus } from "../votes/Consensus.ts"
import * as Distribution from "../stats/Distribution.ts"
import { isRight } from "./GoldScore.ts"

const newTally = (expert: string | null) => {
  const row: { -readonly [Member in keyof ExpertRow]: ExpertRow[Member] } = {
    expert,
    kind: null,
    votes: 0,
    mixed_in_votes: 0,
    token_cost: null,
    compared: 0,
    with_others: 0,
    reliability: null,
    gold_votes: 0,
    gold_right: 0,
    median_seconds: null,
    ordered: 0,
    chose_first: 0,
  }
  return { row, seconds: Distribution.make(), tokenCost: undefined as Cost.Decimal | undefined }
}

export const make = () => {
  const tallies = new Map<string | null, ReturnType<typeof newTally>>()
  return {
    add: (item: JudgedItem, { votes }: Pick<Consensus, "votes">): void => {
      const agreements = agreesWithOthers(item.completions, votes)
      for (const [i, vote] of votes.entries()) {
        const tally = tallies.get(vote.expert) ?? newTally(vote.expert)
        tallies.set(vote.expert, tally)
        const { row } = tally
        const agrees = agreements[i]
        row.kind ??= vote.kind ?? null
        row.votes++
        tally.tokenCost = JudgeUsage.plus(tally.tokenCost, Option.getOrUndefined(JudgeUsage.read(vote.details))?.paid)
        if (item.isCheck) row.mixed_in_votes++
        if (agrees !== undefined) row.compared++
        if (agrees === true) row.with_others++
        const right = isRight(item, vote)
        if (right !== undefined) row.gold_votes++
        if (right === true) row.gold_right++
        if (vote.position !== null) {
          row.ordered++
          if (vote.position === 0) row.chose_first++
        }
        if (vote.seconds !== null) tally.seconds.add(vote.seconds)
      }
    },
    finish: (reliabilityOf: (expert: string | null) => number | null): ReadonlyArray<ExpertRow> =>
      Array.from(tallies.values(), ({ row, seconds, tokenCost }) => ({
        ...row,
        token_cost: tokenCost === undefined ? null : Cost.format(Cost.shortest(tokenCost)),
        reliability: reliabilityOf(row.expert),
        median_seconds: seconds.quantile(0.5),
      })).toSorted(
        (a, b) =>
          Number(a.expert === null) - Number(b.expert === null) ||
          b.votes - a.votes ||
          ((a.expert ?? "") < (b.expert ?? "") ? -1 : 1),
      ),
  }
}
