/** Formats a preview of a run for a terminal: the records of the input, and the tasks and costs of the run. */
import type { Inspection } from "../../pipeline/Inspection.ts"
import type { Preview } from "../../pipeline/Preview.ts"
import { count, number } from "../../io/Values.ts"
import { overBudget, perVote, votesCost } from "./SpendingSummary.ts"
import { duplicates, rejectCount } from "./Summary.ts"
import { duration, present, type Rows, rowsOf, table } from "./Text.ts"

export const counts = ({
  items,
  known,
  rejected,
  ...others
}: Pick<Inspection, "items" | "known" | "rejected" | "duplicates" | "reordered">): string =>
  present([
    count(items, "item"),
    known > 0 && `${number(known)} known`,
    duplicates(others),
    `${number(rejected)} rejected`,
  ]).join(" + ")

const spending = ({
  before,
  budget,
  left,
  new: added,
  over_budget,
  ...prices
}: NonNullable<Preview["spending"]>): Rows => {
  const isExact = Object.keys(prices.prices).length === 0
  return [
    [
      "cost",
      `${count(added.votes, "vote")} (${isExact ? "" : "at most "}${added.cost}), at ${perVote(prices)}${before.votes === 0 ? "" : `; earlier runs: ${votesCost(before)}`}`,
    ],
    ["budget", budget !== null && `${budget}; ${left} left after this run`],
    ["", over_budget.votes > 0 && overBudget(over_budget)],
  ]
}

const inAll = ({ cost, people, requests, votes }: NonNullable<Preview["in_all"]>): Rows => {
  const within = <A>({ max, min }: { readonly min: A; readonly max: A }, format: (value: A) => string) =>
    `at least ${format(min)}, at most ${format(max)}`
  return [
    ["in all", `${within(votes, number)} votes, depending on the results`],
    ["", `${within(requests, number)} requests`],
    ["", cost !== null && `cost ${within(cost, String)}`],
    [
      "people",
      people !== null &&
        `at most ${count(people.votes, "vote")}${people.cost === null ? "" : ` (${people.cost})`}, on items whose answer is still uncertain after the automatic judges have voted`,
    ],
  ]
}

export const text = (preview: Preview): string => {
  const { in_all, new_votes, over_budget, planned, read, rejects, requests, sending_seconds, stopped, tasks, votes } =
    preview
  const items = preview.items - over_budget
  const gold = new_votes / votes - items
  return [
    "Nothing was sent or recorded.",
    "",
    ...table([
      ["records", `${number(read)} = ${counts(preview)}`],
      ["", stopped && "all records so far were rejected, so reading stopped"],
      ...rowsOf("rejected", rejects.map(rejectCount)),
      [
        "to send",
        `${count(tasks, "task")} with ${count(items, "item")}${votes === 1 ? "" : `, ${number(votes)} votes per item`}`,
      ],
      ["", gold > 0 && `and ${count(gold, "gold item")} mixed in`],
      ["", planned > 0 && `and ${count(planned, "unsent task")} from earlier runs`],
      [
        "sending",
        sending_seconds !== null &&
          `${count(requests, "request")}, at least ${duration(sending_seconds)} at the rate limit`,
      ],
      ...(preview.spending === null ? [] : spending(preview.spending)),
      ...(in_all === null ? [] : inAll(in_all)),
    ]),
  ].join("\n")
}
