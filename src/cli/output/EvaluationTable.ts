/** Intervals are 95% intervals. A dash stands for a number that does not exist. */
import type { Evaluation, EvaluationSlice } from "../../domain/Evaluation.ts"
import { count, number, plural } from "../../io/Values.ts"
import { cell, table } from "./AuditTable.ts"

const titles: { readonly [by: string]: string } = {
  length: "length (similar: within 10%)",
  agreement: "the experts' agreement",
}

const decimal = (value: number | null): string => (value === null ? "–" : value.toFixed(3))

const sliceTables = (slices: ReadonlyArray<EvaluationSlice>): ReadonlyArray<string> =>
  [...Map.groupBy(slices, ({ by }) => by)].flatMap(([by, rows]) =>
    table(
      `Accuracy by ${titles[by] ?? by}`,
      ["", "items", "scores", "longer wins"],
      rows.map(({ accuracy, longer, value }) => [
        value ?? "(none)",
        number(accuracy.items),
        cell(accuracy),
        cell(longer),
      ]),
    ),
  )

const overall = ({ overall, unknown_ties, votes }: Evaluation): ReadonlyArray<string> => [
  ...table(
    "Share of pairs in which each method prefers the chosen completion; a random choice gets 50.0%",
    ["", "items", "accuracy"],
    [
      ["scores", number(overall?.accuracy.items ?? 0), cell(overall?.accuracy)],
      ["longer wins", number(overall?.longer.items ?? 0), cell(overall?.longer)],
      ...(votes === null
        ? []
        : [
            ["agreement of the scores and a vote on a pair", number(votes.scores.items), cell(votes.scores)],
            ["agreement of two votes on a pair", number(votes.people.items), cell(votes.people)],
          ]),
    ],
  ),
  ...(unknown_ties === undefined
    ? []
    : [
        `Scores and votes were not compared on ${count(unknown_ties, "pair")}, because values in the column decided_votes are missing. To add the missing values, export the dataset again`,
      ]),
]

export const text = (evaluation: Evaluation): string => {
  const { calibration, disagreements, disputed, items, pairs, slices, ties, unmatched, unscored } = evaluation
  const without = unscored === 0 ? "" : `; ${count(unscored, "pair")} without scores`
  const equal = ties === 0 ? "" : `; ${count(ties, "pair")} with equal scores, which count as half`
  return [
    `${count(pairs, "pair")} of ${count(items, "item")}${without}${equal}`,
    ...(unmatched === undefined
      ? []
      : [
          `${count(unmatched.items, "item")} with scores ${plural(unmatched.items, "has", "have")} no pair: ${unmatched.first.join(", ")}${unmatched.items > unmatched.first.length ? ", …" : ""}`,
        ]),
    ...overall(evaluation),
    ...sliceTables(slices),
    ...table(
      `Calibration: log loss ${decimal(calibration.log_loss)} (0.693 for a random guess), calibration error ${decimal(calibration.error)}`,
      ["probability", "pairs", "predicted", "observed"],
      calibration.bins.map(({ from, observed, pairs, predicted }) => [
        `${from.toFixed(1)} to ${(from + 0.1).toFixed(1)}`,
        number(pairs),
        decimal(predicted),
        decimal(observed),
      ]),
    ),
    ...(disagreements.length === 0
      ? []
      : table(
          `Largest score differences among ${count(disputed.pairs, "pair")} on which scores and experts disagree`,
          ["item", "chosen", "rejected", "score difference", "agreement"],
          disagreements
            .slice(0, 5)
            .map(({ agreement, chosen_index, difference, item_id, rejected_index }) => [
              item_id,
              `completion ${chosen_index}`,
              `completion ${rejected_index}`,
              decimal(difference),
              agreement === null ? "–" : decimal(agreement),
            ]),
          3,
        )),
  ].join("\n")
}
