/** Shows whether experts prefer completions at certain positions. */
import { barY, ruleY, text } from "@observablehq/plot"
import type { Position, QualityReport } from "../../domain/QualityReport.ts"
import { baseline, chart, halo } from "./charts.ts"
import { count, plural, share, shareOf, shortShare } from "./format.ts"
import { Figure, type PlotSpec } from "./Figure.tsx"
import { Section } from "./parts.tsx"
import { describePValue } from "./wording.ts"

type Choices = Position["by_completions"][number]

const maxPlots = 6

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((a, b) => a + b, 0)

const lead = ({ first_half, known, p_value, second_half }: Position): string => {
  if (known === 0) return "Position bias is unknown, because the order in which completions were shown is unknown."
  const halves = first_half + second_half
  if (halves === 0 || p_value === null) return `The order is known for ${plural(known, "vote")}.`
  const summary = `On ${shareOf(first_half, halves)} of ${plural(halves, "item")}, the completions in the first half of the order got more votes than those in the second half (50% is expected)`
  return `${summary}; ${describePValue(p_value)}. Items on which both halves got equally many votes are not counted.`
}

const draw =
  ({ chosen, completions }: Choices) =>
  (width: number) => {
    const all = sum(chosen)
    const bars = chosen.map((n, i) => ({ position: i + 1, n, share: n / all }))
    const highest = Math.max(1 / completions, ...bars.map((bar) => bar.share))
    const hasRoom = (width - 50) / bars.length >= 46
    const label = (bar: (typeof bars)[number]) => share(bar.share)
    const [inside, above] = [
      bars.filter((bar) => bar.share > highest / 6),
      bars.filter((bar) => bar.share <= highest / 6),
    ]
    return chart(width, 190, [20, 8, 40, 44], {
      x: { label: "position shown →", type: "band", tickSize: 0, padding: 0.2 },
      y: { label: null, domain: [0, highest * 1.1], ticks: 3, tickFormat: shortShare, grid: true },
      marks: [
        barY(bars, {
          x: "position",
          y: "share",
          fill: "var(--accent)",
          title: (bar) => `position ${bar.position}\n${count(bar.n)} (${share(bar.share)})`,
          tip: true,
        }),
        text(hasRoom ? inside : [], { x: "position", y: 0, text: label, dy: -10, fill: "var(--on-accent)" }),
        text(hasRoom ? above : [], { x: "position", y: "share", text: label, dy: -8, fill: "var(--ink)" }),
        ruleY([0], baseline),
        ruleY([1 / completions], halo),
        ruleY([1 / completions], { stroke: "var(--ink)", strokeDasharray: "5 4", strokeWidth: 1.5 }),
      ],
    })
  }

const toPlot = (choices: Choices): PlotSpec => {
  const all = sum(choices.chosen)
  const shares = choices.chosen.map((n, i) => `position ${i + 1}: ${shareOf(n, all)}`).join(", ")
  return {
    title: `${choices.completions} completions · ${plural(all, "vote")} · expected ${share(1 / choices.completions)}`,
    description: `Position of the chosen completion among ${choices.completions} completions: ${shares}. Without position bias, each share would be ${share(1 / choices.completions)}.`,
    draw: draw(choices),
  }
}

export const ChosenPosition = ({ report: { position } }: { readonly report: QualityReport }) => {
  const groups = position.by_completions.filter(({ chosen, completions }) => completions > 0 && sum(chosen) > 0)
  const largest = groups.toSorted((a, b) => sum(b.chosen) - sum(a.chosen)).slice(0, maxPlots)
  const drawn = largest.toSorted((a, b) => a.completions - b.completions)
  return (
    <Section id="position" title="Chosen position" lead={lead(position)}>
      {drawn.length > 0 && (
        <Figure
          sideBySide
          plots={drawn.map(toPlot)}
          caption={`How many votes chose the completion shown at each position. Dashed: the share expected without bias.${
            groups.length > drawn.length ? ` The ${drawn.length} largest groups are shown.` : ""
          }`}
          label="Chosen positions"
          columns={["Completions", "Position", "Chosen", "Share", "Expected"]}
          rows={groups.flatMap(({ chosen, completions }) =>
            chosen.map((n, i) => [
              count(completions),
              count(i + 1),
              count(n),
              shareOf(n, sum(chosen)),
              share(1 / completions),
            ]),
          )}
        />
      )}
    </Section>
  )
}
