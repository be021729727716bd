/** Formats a leaderboard for a terminal, or as CSV (RFC 4180) in full precision. Notes explain missing results. */
import * as CsvField from "../../domain/CsvField.ts"
import * as SpreadsheetCell from "../../io/SpreadsheetCell.ts"
import type { Estimate, Leaderboard, LeaderboardRow } from "../../domain/Leaderboard.ts"
import { minItems } from "../../pair/rating/Accrual.ts"
import type { LeaderboardGroup } from "../../pipeline/Leaderboard.ts"
import { count, number, plural } from "../../io/Values.ts"
import { aligned, percent, present } from "./Text.ts"

export const nothing =
  "no leaderboard: no vote compares two models. Each completion needs a model name: set --model-path, add models to the items, or use one file per model (--completions); prefstream inspect shows the models. At most 500 models can be rated"

const points = (rating: number | null, open: string): string => (rating === null ? open : rating.toFixed(0))

const range = ({ high, low }: Estimate, form: (value: number) => string, open: readonly [string, string]): string =>
  low === null && high === null
    ? "–"
    : `${low === null ? open[0] : form(low)} to ${high === null ? open[1] : form(high)}`

const head = ["rank", "model", "rating", "95% interval", "win rate", "95% interval", "won", "tied", "lost"]

const cellsOf = (row: LeaderboardRow): ReadonlyArray<string> => [
  String(row.rank),
  row.model,
  points(row.rating.value, ""),
  range(row.rating, (value) => value.toFixed(0), ["−∞", "∞"]),
  percent(row.win_rate.value),
  range(row.win_rate, percent, ["", ""]),
  number(row.wins),
  number(row.ties),
  number(row.losses),
]

const maxNeeded = 1_000_000

const describeTopTwo = ({ top_two, votes }: Leaderboard): string | false => {
  if (top_two === null) return false
  const { first, probability, second, votes_needed } = top_two
  const sure = `${first} is better than ${second} in ${percent(probability)} of the resamples`
  if (votes_needed === null) return `${first} and ${second} are equal.`
  if (votes_needed === 0) return `${sure}: the votes are enough to rank these models.`
  const needed =
    votes_needed > maxNeeded ? `over ${number(maxNeeded)} more votes` : `about ${count(votes_needed, "more vote")}`
  return `${sure}: this is not enough to rank these models. If both ratings stay as they are, ranking the models takes ${needed}.${votes_needed > 100 * votes ? " The models may be equally good." : ""}`
}

const cycles = "cycles of results (such as: A beat B, B beat C, and C beat A)"

const extremeOf = ({ extreme, losses, model, wins }: LeaderboardRow) =>
  extreme === "never_lost"
    ? `${model} ${losses > 0 ? `lost only in ${cycles}` : "never lost"}`
    : `${model} ${wins > 0 ? `won only in ${cycles}` : "never won"}`

const notes = (board: Leaderboard): ReadonlyArray<string> => {
  const { accrual, controls, groups, items, method, models, tie_parameter } = board
  const agreement = accrual.points.at(-1)?.agreement ?? null
  const extremes = models.filter(({ extreme }) => extreme !== null)
  return present([
    groups > 1 && `No vote compares models from different groups, so ratings cannot be compared across groups.`,
    method.resamples > 0 &&
      models[0]?.win_rate.low === null &&
      `No intervals: expected at least ${minItems} items, found ${items}.`,
    extremes.length > 0 &&
      `${extremes.map(extremeOf).join("; ")}. The votes alone give ${plural(extremes.length, "this model", "these models")} no finite rating. Therefore, the ${plural(extremes.length, "rating", "ratings")} in the table strongly ${plural(extremes.length, "depends", "depend")} on the prior distribution of ratings (--prior).`,
    ...controls.map(({ coefficient, control, unit }) =>
      control === "length"
        ? `Ratings are estimated as if both completions were equally long. Effect of length: if a completion is longer by a typical difference, its log odds of winning change by ${signed(coefficient.value)} (95% interval: ${range(coefficient, signed, ["", ""])}). Above 0, longer completions win more often. The typical difference is ${unit.toFixed(2)}: the root mean square of (a − b) / (a + b), where a and b are the lengths of two compared completions.`
        : `Ratings are estimated as if the order of the completions had no effect on experts. Effect of the order: if a completion is shown first, its log odds of winning change by ${signed(coefficient.value)} (95% interval: ${range(coefficient, signed, ["", ""])}). Above 0, completions shown first win more often.`,
    ),
    tie_parameter !== null &&
      `Two equally good models tie in ${percent(tie_parameter / (2 + tie_parameter))} of their comparisons.`,
    describeTopTwo(board),
    agreement !== null &&
      `Two votes on an item agree with probability ${percent(agreement.value)} (95% interval: ${range(agreement, percent, ["", ""])}).`,
    method.resamples > 0 &&
      items >= minItems &&
      `With ${number(accrual.next.votes)} more votes, each interval would shrink to about ${percent(accrual.next.factor)} of its current width. The width is proportional to 1/√votes.`,
  ])
}

const signed = (value: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`

export const ofDataset =
  "each item of the dataset counted as one vote: prefstream derived this vote from the item's pairs. Ties, strengths, and votes against the majority were not counted. To count all votes, use --dir JOB"

export const text = (groups: ReadonlyArray<LeaderboardGroup>, by: string | undefined): string =>
  groups
    .map(({ group, items, leaderboard }) =>
      [
        ...(by === undefined ? [] : [`${group === null ? `no ${by}` : `${by}: ${group}`} (${count(items, "item")})`]),
        leaderboard === null ? "no vote compares two models" : boardText(leaderboard),
      ].join("\n"),
    )
    .join("\n\n")

const boardText = (board: Leaderboard): string => {
  const { comparisons, groups, items, method, models, ties, votes } = board
  const options = present([
    method.ties !== "davidson" &&
      ties > 0 &&
      (method.ties === "half" ? "each tie counts as half a win for both models" : "ties do not count"),
    method.weighted && "in ratings, votes of reliable experts weigh more; in win rates, each vote counts once",
  ])
  const rows = aligned([head, ...models.map(cellsOf)], (column) => column === 1)
  return [
    `${count(models.length, "model")}: ${count(votes, "vote")} on ${count(items, "item")}, ${count(comparisons, "comparison")}, ${count(ties, "tie")}${options.map((each) => `; ${each}`).join("")}`,
    "",
    ...rows.flatMap((line, i) => {
      const group = models[i - 1]?.group
      const isFirst = groups > 1 && group !== undefined && group !== models[i - 2]?.group
      return [...(isFirst ? [`group ${group}`] : []), `  ${line}`]
    }),
    "",
    ...notes(board),
  ].join("\n")
}

const columns: ReadonlyArray<readonly [name: string, of: (row: LeaderboardRow) => string | number | null]> = [
  ["group", ({ group }) => group],
  ["rank", ({ rank }) => rank],
  ["model", ({ model }) => model],
  ["rating", ({ rating }) => rating.value],
  ["rating_low", ({ rating }) => rating.low],
  ["rating_high", ({ rating }) => rating.high],
  ["rating_at_equal_length", (row) => row.rating_at_equal_length],
  ["win_rate", ({ win_rate }) => win_rate.value],
  ["win_rate_low", ({ win_rate }) => win_rate.low],
  ["win_rate_high", ({ win_rate }) => win_rate.high],
  ["items", ({ items }) => items],
  ["wins", ({ wins }) => wins],
  ["ties", ({ ties }) => ties],
  ["losses", ({ losses }) => losses],
  ["extreme", ({ extreme }) => extreme],
]

const forSpreadsheet = <A>(cell: A | string, isRaw: boolean): A | string =>
  typeof cell === "string" && !isRaw ? SpreadsheetCell.neutralize(cell) : cell

export const csv = (groups: ReadonlyArray<LeaderboardGroup>, by: string | undefined, isRaw: boolean): string =>
  [
    [...(by === undefined ? [] : [by]), ...columns.map(([name]) => name)],
    ...groups.flatMap(({ group, leaderboard }) =>
      (leaderboard?.models ?? []).map((row) => [
        ...(by === undefined ? [] : [group]),
        ...columns.map(([, of]) => of(row)),
      ]),
    ),
  ]
    .map((cells) => cells.map((cell) => CsvField.encode(forSpreadsheet(cell, isRaw))).join(","))
    .join("\n")
