/** Costs of the job's votes, by kind of expert. */
import type { QualityReport } from "../../domain/QualityReport.ts"
import { type Fact, Facts } from "../../service/pages/shared/Facts.tsx"
import { count, plural, shareOf } from "./format.ts"
import { More, Name, Section, Table, textColumn } from "./parts.tsx"

type Spending = NonNullable<QualityReport["spending"]>

const maxKinds = 50

const lead = ({ budget, committed, left, spent }: Spending): string => {
  const outstanding =
    committed.votes === 0
      ? ""
      : `, and ${committed.cost} is committed for ${plural(committed.votes, "outstanding vote")}`
  const rest = budget === null || left === null ? "" : `; ${left.cost} of the budget of ${budget} is left`
  return `${spent.cost} was spent on ${plural(spent.votes, "vote")}${outstanding}${rest}. These costs include all runs and campaigns of the job.`
}

const facts = (spending: Spending): ReadonlyArray<Fact | false> => {
  const { committed, cost_per_pair, cost_per_right_vote, left, over_budget, prices, spent } = spending
  const priceNote =
    Object.keys(prices).length === 0
      ? ""
      : "; if the experts who may vote have different prices, the highest one is assumed"
  return [
    ["Spent", spent.cost, plural(spent.votes, "vote")],
    ["Committed", committed.cost, `${plural(committed.votes, "vote")}${priceNote}`],
    left !== null && ["Left", left.cost, `enough for ${plural(left.votes, "vote")}`],
    over_budget.votes > 0 && [
      "Beyond the budget",
      over_budget.cost,
      `${plural(over_budget.votes, "vote")} not planned`,
    ],
    [
      "Per pair",
      cost_per_pair ?? "–",
      cost_per_pair === null
        ? "unknown: the dataset has no pairs, or the costs include campaigns whose pairs are not in the dataset"
        : undefined,
    ],
    [
      "Per correct vote",
      cost_per_right_vote ?? "–",
      cost_per_right_vote === null
        ? "no correct votes on gold items"
        : "computed from votes on gold items (items with a known answer)",
    ],
  ]
}

export const Costs = ({ report: { spending } }: { readonly report: QualityReport }) => {
  if (spending === null) return <Section id="costs" title="Costs" lead="No price per vote was set." />
  const { kinds, price, prices } = spending
  return (
    <Section id="costs" title="Costs" lead={lead(spending)}>
      <Facts facts={facts(spending)} />
      {kinds.length > 0 && (
        <Table
          label="Costs by kind of expert"
          class="costs"
          columns={[
            textColumn("Kind of expert"),
            "Price now",
            "Votes",
            "Cost",
            "Token cost",
            "Correct on gold",
            "Per correct vote",
          ]}
          rows={kinds
            .slice(0, maxKinds)
            .map(({ cost, cost_per_right_vote, gold_right, gold_votes, kind, token_cost, votes }) => [
              kind === null ? <span class="muted">unknown</span> : <Name text={kind} />,
              (kind !== null && Object.hasOwn(prices, kind) ? prices[kind] : undefined) ?? price,
              count(votes),
              cost,
              token_cost ?? "–",
              gold_votes === 0 ? "–" : `${shareOf(gold_right, gold_votes)} of ${count(gold_votes)}`,
              cost_per_right_vote ?? "–",
            ])}
        />
      )}
      <More shown={maxKinds} of={kinds.length} what="kinds" />
    </Section>
  )
}
