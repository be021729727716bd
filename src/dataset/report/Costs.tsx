/** Costs of the job's votes, by kind of expert. */
import type { QualityReport } from "../../domain/QualityReport.ts"
import { count, plural, shareOf } from "./format.ts"
import { type Fact, Facts, More, Name, Section, Table } from "./parts.tsx"

type Spending = NonNullable<QualityReport["spending"]>

const maxKinds = 50

const lead = ({ budget, committed, left, spent }: Spending): string => {
  const outstanding =
    committed.votes === 0 ? "" : `, ${committed.cost} for ${plural(committed.votes, "vote")} still to come`
  const rest = budget === null || left === null ? "" : `; ${left.cost} of the budget of ${budget} is left`
  return `${spent.cost} was spent on ${plural(spent.votes, "vote")}${outstanding}${rest}. All runs and campaigns of the job count.`
}

const facts = ({
  committed,
  cost_per_pair,
  cost_per_right_vote,
  left,
  over_budget,
  prices,
  spent,
}: Spending): ReadonlyArray<Fact> => [
  { term: "Spent", value: spent.cost, words: plural(spent.votes, "vote") },
  {
    term: "Committed",
    value: committed.cost,
    words: `${plural(committed.votes, "vote")}${Object.keys(prices).length === 0 ? "" : ", at the highest price"}`,
  },
  ...(left === null ? [] : [{ term: "Left", value: left.cost, words: `enough for ${plural(left.votes, "vote")}` }]),
  ...(over_budget.votes === 0
    ? []
    : [
        {
          term: "Beyond the budget",
          value: over_budget.cost,
          words: `${plural(over_budget.votes, "vote")} not planned`,
        },
      ]),
  {
    term: "Per pair",
    value: cost_per_pair ?? "–",
    ...(cost_per_pair === null && { words: "no pairs, or votes of other campaigns" }),
  },
  {
    term: "Per right vote",
    value: cost_per_right_vote ?? "–",
    words: cost_per_right_vote === null ? "no right votes on gold items" : "of results on gold items",
  },
]

export const Costs = ({ report: { spending } }: { readonly report: QualityReport }) => {
  if (spending === null) return <Section id="costs" title="Costs" lead="No price of a vote was given." />
  const { kinds, price, prices } = spending
  return (
    <Section id="costs" title="Costs" lead={lead(spending)}>
      <Facts facts={facts(spending)} />
      {kinds.length > 0 && (
        <Table
          label="Costs by kind of expert"
          class="costs"
          columns={[
            { title: "Kind of expert", isText: true },
            { title: "Price now" },
            { title: "Votes" },
            { title: "Cost" },
            { title: "Right on gold" },
            { title: "Per right vote" },
          ]}
          rows={kinds
            .slice(0, maxKinds)
            .map(({ cost, cost_per_right_vote, gold_right, gold_votes, kind, votes }) => [
              kind === null ? <span class="muted">unknown</span> : <Name text={kind} />,
              (kind !== null && Object.hasOwn(prices, kind) ? prices[kind] : undefined) ?? price,
              count(votes),
              cost,
              gold_votes === 0 ? "–" : `${shareOf(gold_right, gold_votes)} of ${count(gold_votes)}`,
              cost_per_right_vote ?? "–",
            ])}
        />
      )}
      <More shown={maxKinds} of={kinds.length} what="kinds" />
    </Section>
  )
}
