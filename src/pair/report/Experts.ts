/**
 * Computes the table of experts: number of votes, agreement with others, and accuracy on gold items.
 *
 * Guarantees: all votes without an expert's name are in the last row (`null`). The other rows are sorted by number of
 * votes.
 */
import { Option } from "effect"
import * as Cost from "../../domain/Cost.ts"
import * as JudgeUsage from "../../domain/JudgeUsage.ts"
import type { JudgedItem } from "../../domain/Judgment.ts"
import { agreesWithOthers } from "../../domain/Tally.ts"
import type { ExpertRow } from "../../domain/QualityReport.ts"
import type { Consensus } from "../votes/Consensus.ts"
import * as Distribution from "../stats/Distribution.ts"
import { isRight } from "./GoldScore.ts"

interface ExpertTally {
  kind: string | null
  votes: number
  mixedInVotes: number
  compared: number
  withOthers: number
  goldVotes: number
  goldRight: number
  ordered: number
  choseFirst: number
  tokenCost: Cost.Decimal | undefined
  readonly seconds: Distribution.Summary
}

const newRow = (): ExpertTally => ({
  kind: null,
  votes: 0,
  mixedInVotes: 0,
  compared: 0,
  withOthers: 0,
  goldVotes: 0,
  goldRight: 0,
  ordered: 0,
  choseFirst: 0,
  tokenCost: undefined,
  seconds: Distribution.make(),
})

export const make = () => {
  const rows = new Map<string | null, ExpertTally>()
  const rowOf = (expert: string | null): ExpertTally => {
    const row = rows.get(expert) ?? newRow()
    rows.set(expert, row)
    return row
  }
  return {
    add: (item: JudgedItem, { votes }: Pick<Consensus, "votes">): void => {
      const agreements = agreesWithOthers(item.completions, votes)
      for (const [i, vote] of votes.entries()) {
        const row = rowOf(vote.expert)
        const agrees = agreements[i]
        row.kind ??= vote.kind ?? null
        row.votes++
        row.tokenCost = JudgeUsage.plus(row.tokenCost, Option.getOrUndefined(JudgeUsage.read(vote.details))?.paid)
        if (item.isCheck) row.mixedInVotes++
        if (agrees !== undefined) row.compared++
        if (agrees === true) row.withOthers++
        const right = isRight(item, vote)
        if (right !== undefined) row.goldVotes++
        if (right === true) row.goldRight++
        if (vote.position !== null) {
          row.ordered++
          if (vote.position === 0) row.choseFirst++
        }
        if (vote.seconds !== null) row.seconds.add(vote.seconds)
      }
    },
    /** @param reliabilityOf returns the estimated probability that a vote of the expert is right */
    finish: (reliabilityOf: (expert: string | null) => number | null): ReadonlyArray<ExpertRow> =>
      [...rows]
        .map(([expert, row]) => ({
          expert,
          kind: row.kind,
          votes: row.votes,
          mixed_in_votes: row.mixedInVotes,
          token_cost: row.tokenCost === undefined ? null : Cost.format(Cost.shortest(row.tokenCost)),
          compared: row.compared,
          with_others: row.withOthers,
          reliability: reliabilityOf(expert),
          gold_votes: row.goldVotes,
          gold_right: row.goldRight,
          median_seconds: row.seconds.quantile(0.5),
          ordered: row.ordered,
          chose_first: row.choseFirst,
        }))
        .toSorted(
          (a, b) =>
            Number(a.expert === null) - Number(b.expert === null) ||
            b.votes - a.votes ||
            ((a.expert ?? "") < (b.expert ?? "") ? -1 : 1),
        ),
  }
}
