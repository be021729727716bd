/** Accuracy of experts on gold items. */
import { dot, ruleY, text } from "@observablehq/plot"
import type { GoldReport, QualityReport } from "../../domain/QualityReport.ts"
import { chart } from "./charts.ts"
import { count, plural, share, shortShare } from "./format.ts"
import { Figure } from "./Figure.tsx"
import { Name, Section } from "./parts.tsx"
import { Comparison } from "./Texts.tsx"
import { list } from "./wording.ts"

const origin = ({ in_input, mixed_in }: GoldReport): string => {
  const parts = [
    mixed_in > 0 ? `${plural(mixed_in, "gold item")} added to the input` : "",
    in_input > 0 ? `${plural(in_input, "input item")} with a known answer` : "",
  ].filter((part) => part !== "")
  return list(parts)
}

const lead = (gold: GoldReport): string => {
  const from = origin(gold)
  if (from === "") return "No item has a known answer, so the accuracy of the experts is unknown."
  if (gold.votes === 0 || gold.accuracy === null)
    return `The accuracy of the experts is unknown, because no expert chose a single best completion on ${from}.`
  return `${count(gold.right)} of ${plural(gold.votes, "vote")} on ${from} ${gold.right === 1 ? "was" : "were"} right (${share(gold.accuracy)}). Votes for several completions at once are not counted.`
}

const draw = (accuracy: number, low: number, high: number) => (width: number) =>
  chart(width, 84, [24, 24, 32, 16], {
    x: { domain: [0, 1], ticks: 4, tickFormat: shortShare, label: null, grid: true },
    y: { axis: null, domain: [""] },
    marks: [
      ruleY([{ low, high }], { x1: "low", x2: "high", y: () => "", stroke: "var(--accent)", strokeWidth: 4 }),
      dot([accuracy], {
        x: (d: number) => d,
        y: () => "",
        r: 7,
        fill: "var(--accent)",
        stroke: "var(--surface)",
        strokeWidth: 2,
      }),
      text([accuracy], { x: (d: number) => d, y: () => "", text: share, dy: -18, fontWeight: 600, fill: "var(--ink)" }),
    ],
  })

const Wrong = ({ gold }: { readonly gold: GoldReport }) => (
  <details class="wrong">
    <summary>
      {plural(gold.wrong_items, "item")} with a wrong choice
      {gold.wrong_items > gold.wrong.length && ` (the first ${count(gold.wrong.length)} are shown)`}
    </summary>
    {gold.wrong.map((each, i) => (
      <article key={i} class="stack example">
        <h3>
          <span class="code">
            <Name text={each.item_id} />
          </span>
        </h3>
        <Comparison
          label={`gold item ${i + 1}`}
          prompt={each.prompt}
          rationale={each.rationale}
          answers={[
            { title: "Right answer", text: each.expected, tone: "chosen" },
            { title: "Chosen instead", text: each.chosen, tone: "rejected" },
          ]}
        />
      </article>
    ))}
  </details>
)

export const Gold = ({ report: { gold } }: { readonly report: QualityReport }) => {
  const { accuracy, high, low } = gold
  const interval = low === null || high === null ? "" : `${share(low)} to ${share(high)}`
  return (
    <Section id="gold" title="Gold items" lead={lead(gold)}>
      {accuracy !== null && low !== null && high !== null && (
        <Figure
          plots={[
            { description: `Accuracy ${share(accuracy)}, interval ${interval}.`, draw: draw(accuracy, low, high) },
          ]}
          caption={`The dot shows the share of right votes, ${share(accuracy)}. The bar shows its 95% interval, ${interval} (Wilson interval).`}
          label="Gold votes"
          columns={["Votes", "Right", "Accuracy", "95% interval"]}
          rows={[[count(gold.votes), count(gold.right), share(accuracy), interval]]}
        />
      )}
      {gold.wrong.length > 0 && <Wrong gold={gold} />}
    </Section>
  )
}
