/** The accuracy of a reward model's scores. Only reports of the command `evaluate` have this section. */
import type { AuditEstimate } from "../../domain/Audit.ts"
import type { QualityReport } from "../../domain/QualityReport.ts"
import { count, decimal, plural, share } from "./format.ts"
import { Name, Section, Table, textColumn } from "./parts.tsx"

const interval = ({ high, low, value }: AuditEstimate): string =>
  low === null || high === null ? share(value) : `${share(value)} (${share(low)} to ${share(high)})`

const titles: { readonly [by: string]: string } = {
  length: "Length (similar: within 10%)",
  agreement: "Agreement of the experts",
  strength: "Strength",
  models: "Models",
}

const thousandths = (value: number | null): string => (value === null ? "–" : decimal(value, 3))

export const EvaluationSection = ({ report: { evaluation } }: { readonly report: QualityReport }) => {
  const overall = evaluation?.overall ?? null
  if (evaluation === undefined || overall === null) return null
  const { calibration, items, pairs, slices, unknown_ties, unscored, votes } = evaluation
  return (
    <Section
      id="evaluation"
      title="Reward model"
      lead={`The scores prefer the chosen completion in ${share(overall.accuracy.value)} of ${plural(pairs, "pair")} (from ${plural(items, "item")}). The longer completion is the chosen one in ${share(overall.longer.value)}.${unscored === 0 ? "" : ` ${plural(unscored, "pair")} without scores.`}`}
    >
      <Table
        label="Accuracy of the scores"
        columns={[textColumn("Part"), "Items", "Scores", "Longer wins"]}
        rows={[
          ["All", count(overall.accuracy.items), interval(overall.accuracy), interval(overall.longer)],
          ...slices.map(({ accuracy, by, longer, value }) => [
            <>
              {titles[by] ?? by}: <Name text={value ?? "(none)"} chars={60} />
            </>,
            count(accuracy.items),
            interval(accuracy),
            interval(longer),
          ]),
        ]}
      />
      {votes !== null && (
        <p>
          The scores and a random vote on the same pair agree with probability {interval(votes.scores)}. Two random
          votes on the same pair agree with probability {interval(votes.people)}. These numbers come from{" "}
          {plural(votes.scores.items, "item")} with several votes.
        </p>
      )}
      {unknown_ties !== undefined && (
        <p class="muted small">
          The scores were not compared with the votes on {plural(unknown_ties, "pair")}, because values in the column
          decided_votes are missing. To add the missing values, export the dataset again.
        </p>
      )}
      <Table
        label="Calibration of the scores"
        columns={[textColumn("Probability"), "Pairs", "Predicted", "Observed"]}
        rows={calibration.bins.map(({ from, observed, pairs, predicted }) => [
          `${from.toFixed(1)} to ${(from + 0.1).toFixed(1)}`,
          count(pairs),
          thousandths(predicted),
          thousandths(observed),
        ])}
      />
      <p class="muted small">
        A random choice has an accuracy of 50%. Intervals are 95% Wilson intervals. If an item has several pairs, it
        counts as one observation. The second table is about how often experts choose the completion with the higher
        score. “Predicted” is the mean of the logistic function of the score difference. “Observed” is the share of
        pairs whose chosen completion has the higher score. Log loss: {thousandths(calibration.log_loss)} (0.693 for a
        random choice). Calibration error: {thousandths(calibration.error)}.
      </p>
    </Section>
  )
}
