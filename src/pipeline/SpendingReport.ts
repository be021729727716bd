/** The cost of a job's votes, from the ledger. After an export, also the cost per pair and the cost per right vote. */
import { Effect, Option } from "effect"
import * as Cost from "../domain/Cost.ts"
import * as Prices from "../domain/Prices.ts"
import type { ExpertRow, GoldReport } from "../domain/QualityReport.ts"
import * as Voters from "../domain/Voters.ts"
import type { SpendingReport, VotesCost } from "../domain/SpendingReport.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import * as Charges from "../task/ledger/reads/Charges.ts"
import type { Spending } from "../task/ledger/writes/Spending.ts"

export type { SpendingReport, VotesCost }

export const costOf = (price: Cost.Decimal, votes: number): VotesCost => ({
  votes,
  cost: Cost.format(Cost.times(price, votes)),
})

export const textOf = ({ cost, votes }: Charges.Charge): VotesCost => ({ votes, cost: Cost.format(cost) })

type GoldVotes = Pick<GoldReport, "results" | "right">
type GoldKinds = GoldVotes & Pick<GoldReport, "kinds">

const costPerRight = ({ cost, votes }: Charges.Charge, { results, right }: GoldVotes): string | null =>
  Cost.dividedBy(Cost.times(cost, results), votes * right)

const costPerRightOf = (
  spent: Charges.Charge,
  kinds: Spending["kinds"],
  { kinds: goldKinds, results, right }: GoldKinds,
): string | null => {
  let [cost, divisor, counted] = [Cost.times(spent.cost, 0), 1n, 0]
  for (const gold of goldKinds) {
    const charge = kinds.find(({ kind, votes }) => kind === gold.kind && votes > 0) ?? spent
    const votes = BigInt(charge.votes)
    cost = Cost.plus(Cost.times(cost, votes), Cost.times(Cost.times(charge.cost, gold.results), divisor))
    divisor *= votes
    counted += gold.results
  }
  return Cost.dividedBy(Cost.times(cost, results), divisor * BigInt(right) * BigInt(counted))
}

const tokenCost = (experts: ReadonlyArray<Pick<ExpertRow, "token_cost">>): string | null => {
  const costs = experts.flatMap(({ token_cost }) => Option.toArray(Cost.parseExact(token_cost ?? "")))
  return costs.length === 0 ? null : Cost.format(costs.reduce(Cost.plus, Cost.zero))
}

export interface ExportCounts {
  readonly pairs?: number | undefined
  /** The campaign of the pairs; undefined for all campaigns. */
  readonly ofCampaign?: number | undefined
  readonly gold?: Pick<GoldReport, "results" | "right" | "kinds"> | undefined
  readonly experts?: ReadonlyArray<Pick<ExpertRow, "kind" | "token_cost">> | undefined
}

interface OverBudget {
  readonly items: number
  readonly votes: number
  readonly voters: Voters.Voters | null
}

export const read = Effect.fn("SpendingReport.read")(function* (dataset: ExportCounts, over?: OverBudget) {
  const ledger = yield* LedgerReader
  const last = Option.match(yield* ledger.lastRun, {
    onNone: () => ({ items: 0, votes: 1, voters: null }),
    onSome: ({ overBudget, voters, votes }) => ({ items: overBudget, votes, voters }),
  })
  // The cost is for all campaigns. If the pairs are from only one of several campaigns, the cost per pair is null.
  const isOfAll = dataset.ofCampaign === undefined || (yield* ledger.campaigns).length === 1
  const paidPairs = isOfAll ? dataset : { ...dataset, pairs: 0 }
  return Option.map(yield* ledger.spending, (spending) => make(spending, over ?? last, paidPairs))
})

const make = (
  { budget, committed, held, heldItems, kinds, prices, spent, votesLeft }: Spending,
  over: OverBudget,
  { experts = [], gold, pairs = 0 }: ExportCounts,
): SpendingReport => {
  const used = Cost.plus(spent.cost, committed.cost)
  const { default: price, ...own } = Prices.toRecord(prices)
  return {
    price,
    prices: own,
    budget: Option.getOrNull(Option.map(budget, Cost.format)),
    spent: textOf(spent),
    committed: textOf(committed),
    left: Option.getOrNull(
      Option.map(budget, (budget) => ({ votes: votesLeft, cost: Cost.format(Cost.minus(budget, used)) })),
    ),
    over_budget: {
      items: over.items + heldItems,
      ...textOf(
        Charges.sum([{ votes: over.items * over.votes, price: Voters.priceOf(prices, over.voters) }], prices, held),
      ),
    },
    cost_per_pair: Cost.dividedBy(spent.cost, pairs),
    cost_per_right_vote: gold === undefined ? null : costPerRightOf(spent, kinds, gold),
    kinds: kinds.map(({ kind, ...charge }) => {
      const goldOfKind = gold?.kinds.find((gold) => gold.kind === kind)
      return {
        kind,
        ...textOf(charge),
        gold_votes: goldOfKind?.votes ?? 0,
        gold_right: goldOfKind?.right ?? 0,
        cost_per_right_vote: goldOfKind === undefined ? null : costPerRight(charge, goldOfKind),
        token_cost: tokenCost(experts.filter((expert) => expert.kind === kind)),
      }
    }),
  }
}

export const isOver = ({ over_budget }: SpendingReport): boolean => over_budget.votes > 0
