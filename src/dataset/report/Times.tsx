/** Shows how long tasks and votes took. */
import type { Distribution } from "../../domain/Distribution.ts"
import type { QualityReport } from "../../domain/QualityReport.ts"
import { count, plural, seconds } from "./format.ts"
import { Figure } from "./Figure.tsx"
import { drawHistogram, isSpread, leftOut, rowsOf } from "./histogram.ts"
import { Section } from "./parts.tsx"

const Times = ({
  times,
  title,
  what,
  fill,
}: {
  readonly times: Distribution
  readonly title: string
  readonly what: string
  readonly fill: string
}) => (
  <Figure
    plots={[
      {
        title,
        description: `Histogram of times; the median is ${seconds(times.p50)}.`,
        draw: drawHistogram(times.histogram, {
          unit: "seconds",
          label: "time →",
          fill,
          marks: times.p50 === null ? [] : [{ at: times.p50, words: `median ${seconds(times.p50)}`, dashed: true }],
        }),
      },
    ]}
    caption={`${plural(times.count, what)}. The median time is ${seconds(times.p50)}, 95% of the times are at most ${seconds(times.p95)}, and the longest time is ${seconds(times.max)}.${leftOut(times.histogram, "seconds")}`}
    label={title}
    columns={["Time", "Number", "Share"]}
    rows={rowsOf(times.histogram, "seconds")}
  />
)

const lead = ({ turnaround, vote_seconds }: QualityReport): string => {
  const tasks =
    turnaround.count === 0
      ? "Turnaround is unknown, because no task that was sent has a result yet."
      : turnaround.count === 1
        ? `The only task had a result within ${seconds(turnaround.p50)}.`
        : `Half of the ${count(turnaround.count)} tasks had a result within ${seconds(turnaround.p50)}, and 95% within ${seconds(turnaround.p95)}.`
  const votes =
    vote_seconds.count === 0
      ? "The service does not say how long experts took per vote."
      : `A vote took ${seconds(vote_seconds.p50)} (median).`
  return `${tasks} ${votes}`
}

export const Turnaround = ({ report }: { readonly report: QualityReport }) => {
  const { turnaround, vote_seconds: votes } = report
  return (
    <Section id="turnaround" title="Turnaround" lead={lead(report)}>
      {(isSpread(turnaround) || isSpread(votes)) && (
        <div class="grid columns">
          {isSpread(turnaround) && (
            <Times times={turnaround} title="From sending a task to its result" what="task" fill="var(--accent)" />
          )}
          {isSpread(votes) && <Times times={votes} title="Time per vote" what="vote" fill="var(--accent)" />}
        </div>
      )}
    </Section>
  )
}
