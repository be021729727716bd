/** Formats the cost of a job's votes for a terminal. */
import { count, excerpt, number } from "../../io/Values.ts"
import type { RunReport } from "../../pipeline/RunReport.ts"
import type { SpendingReport, VotesCost } from "../../pipeline/SpendingReport.ts"
import { type Rows, rowsOf } from "./Text.ts"

export const votesCost = ({ cost, votes }: VotesCost): string => `${count(votes, "vote")} (${cost})`

export const hasRoom = ({ spending, votes }: RunReport): boolean =>
  spending !== null && Object.keys(spending.prices).length > 0 && (spending.left?.votes ?? 0) >= votes

export const perVote = ({ price, prices }: Pick<SpendingReport, "price" | "prices">): string =>
  [`${price} per vote`, ...Object.entries(prices).map(([kind, price]) => `${nameOf(kind)} ${price}`)].join(", ")

const nameOf = (kind: string): string => excerpt(kind, 40)

const maxKinds = 5

const kindCost = ({ cost_per_right_vote, kind, token_cost, ...votes }: SpendingReport["kinds"][number]): string =>
  `${kind === null ? "experts of unknown kind (each vote is counted at the price of the most expensive expert who could vote)" : nameOf(kind)}: ${votesCost(votes)}${cost_per_right_vote === null ? "" : `, ${cost_per_right_vote} per correct vote`}${token_cost === null ? "" : `; its tokens cost ${token_cost}`}`

const byKind = ({ kinds, prices }: Pick<SpendingReport, "kinds" | "prices">): ReadonlyArray<string> =>
  kinds.every(({ kind }) => kind === null) && Object.keys(prices).length === 0
    ? []
    : [
        ...kinds.slice(0, maxKinds).map(kindCost),
        ...(kinds.length > maxKinds ? [`and ${count(kinds.length - maxKinds, "other kind")}`] : []),
      ]

export const spending = ({
  budget,
  committed,
  cost_per_pair,
  cost_per_right_vote,
  kinds,
  left,
  over_budget,
  spent,
  ...prices
}: SpendingReport): Rows => [
  ["cost", `${votesCost(spent)} spent, ${votesCost(committed)} committed, at ${perVote(prices)}`],
  ...rowsOf("by kind", byKind({ kinds, ...prices })),
  [
    "",
    cost_per_pair !== null &&
      `${cost_per_pair} per pair${cost_per_right_vote === null ? "" : `, ${cost_per_right_vote} per correct vote on gold items`}`,
  ],
  ["budget", left !== null && `${budget}; ${left.cost} left, enough for ${count(left.votes, "vote")}`],
  ["", over_budget.votes > 0 && overBudget(over_budget)],
]

export const routing = ({ routing }: Pick<RunReport, "routing">): Rows => {
  if (routing === null) return []
  const { items, known_answers: goldItems, people_cost, people_votes, people_when, to_people } = routing
  const cost = people_cost === null ? "" : ` (${people_cost})`
  const rule = people_when === null ? "" : ` by ${people_when}`
  return [
    [
      "people",
      `${number(to_people)} of ${count(items, "item")} to people${rule}: ${count(people_votes, "vote")}${cost}`,
    ],
    [
      "",
      goldItems > 0 &&
        `${count(goldItems, "item has", "items have")} a known answer: used to measure the judges, and not sent to people`,
    ],
  ]
}

export const overBudget = ({ cost, items, votes }: SpendingReport["over_budget"]): string =>
  items === 0
    ? `more votes are needed, but the budget does not cover them: ${votesCost({ cost, votes })}`
    : `${count(items, "item")} beyond the budget: ${votesCost({ cost, votes })}`
