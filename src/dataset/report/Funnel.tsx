/** The steps from records to pairs: how many remain after each step, how many were lost, and why. */
import type { FunnelStep, QualityReport } from "../../domain/QualityReport.ts"
import { count, name, shareOf } from "./format.ts"
import { Bar, Section, Table, ScreenReaderText, textColumn } from "./parts.tsx"
import { describeReason, stepNames } from "./wording.ts"

const Lost = ({ of, step }: { readonly step: FunnelStep; readonly of: number | null }) => {
  const lost = step.lost.filter((each) => each.count > 0).toSorted((a, b) => b.count - a.count)
  if (lost.length === 0) return <span class="muted">{of === null ? "" : "nothing"}</span>
  return (
    <ul class="plain-list">
      {lost.map((each) => (
        <li key={each.reason}>
          <strong>{count(each.count)}</strong> <bdi>{name(describeReason(each.reason))}</bdi>
          {of !== null && <span class="muted"> ({shareOf(each.count, of)})</span>}
        </li>
      ))}
    </ul>
  )
}

const lead = ({ funnel }: QualityReport): string => {
  const first = funnel[0]
  const keptStep = funnel.find(({ step }) => step === "kept")
  if (first === undefined || keptStep === undefined)
    return "This report does not contain the numbers of records and items."
  if (first.count === 0) return "Nothing was read."
  return `Of the ${count(first.count)} records read, ${count(keptStep.count)} (${shareOf(keptStep.count, first.count)}) are items in the dataset.`
}

export const Funnel = ({ report }: { readonly report: QualityReport }) => {
  const { funnel } = report
  const largest = Math.max(1, ...funnel.filter(({ unit }) => unit !== "pairs").map((step) => step.count))
  return (
    <Section id="funnel" title="From records to pairs" lead={lead(report)}>
      <Table
        label="Steps"
        class="funnel"
        columns={[
          textColumn("Step"),
          "Left",
          textColumn(<ScreenReaderText text="As a bar" />, "bars"),
          textColumn("Lost before this step", "lost"),
        ]}
        rows={funnel.map((step, i) => {
          const previousStep = funnel[i - 1]
          const isPairs = previousStep !== undefined && step.unit === "pairs"
          const stepInput =
            previousStep === undefined ? null : step.count + step.lost.reduce((sum, each) => sum + each.count, 0)
          return [
            stepNames[step.step] ?? name(step.step),
            <>
              {count(step.count)} <span class="muted">{step.unit}</span>
            </>,
            isPairs ? (
              <span class="muted small">
                {previousStep.count > 0 && `${(step.count / previousStep.count).toFixed(1)} per item`}
              </span>
            ) : (
              <Bar value={step.count} of={largest} />
            ),
            <Lost step={step} of={isPairs ? null : stepInput} />,
          ]
        })}
      />
    </Section>
  )
}
