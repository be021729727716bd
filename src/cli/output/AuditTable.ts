/** One row for each judge, the jury, and people. Intervals are 95% intervals. A dash stands for a missing number. */
import type { Audit, AuditAgreement, AuditPolicies, AuditPolicy } from "../../domain/Audit.ts"
import type { Estimate } from "../../domain/Leaderboard.ts"
import { count, number } from "../../io/Values.ts"
import { minItems } from "../../pair/stats/Bootstrap.ts"
import { aligned, percent } from "./Text.ts"

export const nothing = ({ items, raters }: Audit): string => {
  const has = (role: string) => raters.some((rater) => rater.role === role && rater.votes > 0)
  const missing = !has("people")
    ? "a vote by a person"
    : !has("judge")
      ? "a vote by an automatic judge"
      : "votes by both a person and a judge"
  return `no audit: ${count(items, "item has", "items have")} votes, but none has ${missing}. An audit needs items on which both people and automatic judges voted. To treat another expert as a judge, set --judge EXPERT`
}

const decimal = (value: number): string => (Math.round(value * 1000) / 1000 + 0).toFixed(3).replace("-", "−")
const signed = (value: number): string => `${value <= -0.0005 ? "−" : "+"}${percent(Math.abs(value))}`

export const cell = (estimate: Estimate | null | undefined, form: (value: number) => string = percent): string => {
  if (estimate === null || estimate === undefined) return "–"
  const { high, low, value } = estimate
  return low === null || high === null ? form(value) : `${form(value)} (${form(low)} to ${form(high)})`
}

type Cells = ReadonlyArray<string>

export const table = (title: string, head: Cells, rows: ReadonlyArray<Cells>, texts = 1): Cells => [
  "",
  title,
  ...aligned([head, ...rows], (column) => column < texts).map((line) => `  ${line}`),
]

const agreementCells = (agreement: AuditAgreement | null): Cells => [
  number(agreement?.share.items ?? 0),
  cell(agreement?.share),
  cell(agreement?.kappa, decimal),
]

const sliceTables = ({ raters }: Audit): Cells =>
  [...new Set(raters.flatMap(({ slices }) => slices.map(({ by }) => by)))].flatMap((name) =>
    table(
      `Agreement by ${titles[name] ?? name}`,
      ["", "", "items", "agreement", "kappa"],
      raters.flatMap(({ rater, slices }) =>
        slices.flatMap((slice) =>
          slice.by === name ? [[rater, slice.value ?? "(none)", ...agreementCells(slice)]] : [],
        ),
      ),
      2,
    ),
  )

const titles: { readonly [by: string]: string } = {
  length: "length of the chosen completion, compared with the mean of the others (near equal: at most 10% difference)",
  position: "position at which the expert saw the chosen completion",
}

const references = {
  gold: { items: "a known answer", answer: "the known answer" },
  people: { items: "votes by several people", answer: "the majority of the other people who voted on the item" },
}

const advice = ({ cheapest, items: all, policies, within }: AuditPolicies): string => {
  const people = policies.at(-1)!
  const best = policies.find(({ policy }) => policy === cheapest)
  const points = percent(within).replace("%", " percentage points")
  const items = best?.accuracy.items ?? all
  const few =
    items < minItems ? ` Only ${count(items, "item was", "items were")} compared: too few for an interval.` : ""
  if (best === undefined || best.policy === people.policy)
    return `All policies that are cheaper than people alone are less accurate than people by more than ${points}.${few}`
  const needs = ({ cost, judge_votes, people_votes }: AuditPolicy) =>
    cost === null
      ? `${decimal(people_votes)} votes by people and ${decimal(judge_votes)} by judges`
      : `a cost of ${cost}`
  const low = best.difference.low ?? 0
  const doubt =
    low < -within
      ? ` However, this is uncertain: the true difference may be more than ${points}, because the lower bound of the 95% interval of "difference from people" is ${signed(low)}. More items would make the interval narrower.`
      : few
  return `The cheapest policy that is at most ${points} less accurate than people is ${best.policy}, with ${needs(best)} per item. For people alone: ${needs(people)} per item.${doubt}`
}

const policyTable = (compared: AuditPolicies): Cells => {
  const { items, policies, reference } = compared
  const people = policies.at(-1)!
  const costOf = (cost: string | null) => (people.cost === null ? [] : [cost ?? ""])
  return [
    ...table(
      `Policies (ways to decide which completion of an item is best), compared on ${count(items, "item")}. Votes and costs are means per item. Accuracy is the share of decisions that agree with ${references[reference].answer}`,
      ["", "items", "accuracy", "difference from people", "judges' votes", "people's votes", ...costOf("cost")],
      policies.map(({ accuracy, cost, difference, judge_votes, people_votes, policy }) => [
        policy,
        number(accuracy.items),
        cell(accuracy),
        policy === people.policy ? "" : cell(difference, signed),
        decimal(judge_votes),
        decimal(people_votes),
        ...costOf(cost),
      ]),
    ),
    "",
    advice(compared),
  ]
}

const policyTables = ({ policies }: Audit): Cells => {
  const most = Math.max(...policies.map(({ items }) => items))
  return policies.flatMap((table) =>
    table.items >= minItems || table.items === most
      ? policyTable(table)
      : [
          "",
          `Policies were not compared on items with ${references[table.reference].items}: expected at least ${minItems} such items, found ${table.items}.`,
        ],
  )
}

export const text = (audit: Audit): string =>
  [
    `${count(audit.items, "item")}, ${number(audit.compared)} with votes from both judges and people; ${count(audit.people, "person", "people")}`,
    ...table(
      'Agreement: probability that a judge and a person give the same answer to an item. Row "people": two people. A tie is an answer',
      ["", "votes", "items", "agreement", "kappa"],
      audit.raters.map(({ agreement, rater, votes }) => [rater, number(votes), ...agreementCells(agreement)]),
    ),
    ...table(
      "Consistency, biases (50.0%: no bias), and accuracy on known answers",
      ["", "same answer in both orders of completions", "chose the longer", "chose the first shown", "right"],
      audit.raters.map(({ chose_first, chose_longer, gold_accuracy, rater, swap_consistency }) => [
        rater,
        ...[swap_consistency, chose_longer, chose_first, gold_accuracy].map((share) => cell(share)),
      ]),
    ),
    ...sliceTables(audit),
    ...(audit.policies.length === 0
      ? [
          "",
          "Policies (ways to decide which completion of an item is best) were not compared, because no item has enough votes. An item needs votes by a judge and two people. If the item has a known answer, votes by a judge and one person are enough.",
        ]
      : policyTables(audit)),
  ].join("\n")
