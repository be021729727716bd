/** Bar charts of answers on a short scale, such as 1 to 5. A bar's height is the answer's share of its series. */
import { axisFx, barY, ruleY } from "@observablehq/plot"
import type { Distribution } from "../../domain/Distribution.ts"
import { baseline, chart } from "./charts.ts"
import { count, shareOf, shortShare } from "./format.ts"

export interface Series {
  readonly title: string
  readonly fill: string
  readonly values: Distribution
}

const maxSteps = 12

export const stepsOf = (
  series: ReadonlyArray<Series>,
): ReadonlyArray<{ readonly step: number; readonly counts: ReadonlyArray<number> }> | undefined => {
  const distributions = series.map(({ values }) => values).filter(({ count }) => count > 0)
  const isWhole = ({ histogram: { edges }, min }: Distribution) =>
    Number.isInteger(min) && edges.every((edge, i) => Number.isInteger(edge) && (i === 0 || edges[i - 1] === edge - 1))
  if (!distributions.every((each) => isWhole(each) && each.histogram.edges.at(-1)! > each.max!)) return undefined
  const minimum = Math.min(...distributions.map(({ min }) => min!))
  const maximum = Math.max(...distributions.map(({ max }) => max!))
  if (distributions.length === 0 || maximum - minimum >= maxSteps) return undefined
  return Array.from({ length: maximum - minimum + 1 }, (_, i) => ({
    step: minimum + i,
    counts: series.map(({ values: { histogram } }) => histogram.counts[histogram.edges.indexOf(minimum + i)] ?? 0),
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
    return chart(width, 170, [12, 16, 42, 44], {
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
        ruleY([0], baseline),
      ],
    })
  }
