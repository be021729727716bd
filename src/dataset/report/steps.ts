/**
 * Answers on a scale of few whole numbers as bars, side by side for several series: the height is the share of the series.
 *
 * Does not draw scales of other numbers: see `histogram.ts`.
 */
import { axisFx, barY, plot, ruleY } from "@observablehq/plot"
import type { Distribution } from "../../domain/Distribution.ts"
import { count, shareOf, shortShare } from "./format.ts"
import { style } from "./histogram.ts"

export interface Series {
  readonly title: string
  readonly fill: string
  readonly values: Distribution
}

const maxSteps = 12

/** The steps of a scale with the number of answers in each series; undefined if they are not few whole numbers. */
export const stepsOf = (
  series: ReadonlyArray<Series>,
): ReadonlyArray<{ readonly step: number; readonly counts: ReadonlyArray<number> }> | undefined => {
  const filled = series.map(({ values }) => values).filter(({ count }) => count > 0)
  const isWhole = ({ histogram: { edges }, min }: Distribution) =>
    Number.isInteger(min) && edges.every((edge, i) => Number.isInteger(edge) && (i === 0 || edges[i - 1] === edge - 1))
  // A histogram of whole numbers ends above the greatest.
  if (!filled.every((each) => isWhole(each) && each.histogram.edges.at(-1)! > each.max!)) return undefined
  const least = Math.min(...filled.map(({ min }) => min!))
  const greatest = Math.max(...filled.map(({ max }) => max!))
  if (filled.length === 0 || greatest - least >= maxSteps) return undefined
  return Array.from({ length: greatest - least + 1 }, (_, i) => ({
    step: least + i,
    counts: series.map(({ values: { histogram } }) => histogram.counts[histogram.edges.indexOf(least + i)] ?? 0),
  }))
}

export const drawSteps =
  (series: ReadonlyArray<Series>, steps: NonNullable<ReturnType<typeof stepsOf>>, label: string) =>
  (width: number): Element => {
    const bars = steps.flatMap(({ counts, step }) =>
      counts.map((answers, i) => {
        const { fill, title, values } = series[i]!
        return { step, i, fill, title, answers, of: values.count, share: values.count > 0 ? answers / values.count : 0 }
      }),
    )
    return plot({
      width,
      height: 170,
      marginLeft: 44,
      marginRight: 16,
      marginTop: 12,
      marginBottom: 42,
      style,
      fx: { domain: steps.map(({ step }) => step), label: null, axis: null, padding: series.length > 1 ? 0.2 : 0.1 },
      x: { domain: series.map((_, i) => i), axis: null, padding: 0 },
      y: { label: null, grid: true, ticks: 3, tickFormat: shortShare, nice: true },
      marks: [
        axisFx({ anchor: "bottom", label, tickSize: 0 }),
        barY(bars, {
          fx: "step",
          x: "i",
          y: "share",
          fill: "fill",
          insetLeft: 0.5,
          insetRight: 0.5,
          title: ({ answers, of, step, title }: (typeof bars)[number]) =>
            `${title}: ${step}\n${count(answers)} (${shareOf(answers, of)})`,
          tip: true,
        }),
        ruleY([0], { stroke: "var(--line-strong)" }),
      ],
    })
  }
