/** Histograms. A bar's height is its bin's share of all values. The axis is logarithmic if the bins differ in width. */
import { axisX, type AxisXOptions, rectY, ruleX, ruleY, text } from "@observablehq/plot"
import type { Distribution, Histogram } from "../../domain/Distribution.ts"
import { baseline, chart, halo } from "./charts.ts"
import { count, length, plural, seconds, shareOf, short, shortShare } from "./format.ts"

export type Unit = "characters" | "seconds" | "share" | "number"

interface Bin {
  readonly from: number
  readonly to: number
  readonly count: number
}

const binsOf = ({ counts, edges }: Histogram): ReadonlyArray<Bin> =>
  counts.map((count, i) => ({ from: edges[i] ?? 0, to: edges[i + 1] ?? 0, count }))

const total = (bins: ReadonlyArray<Bin>): number => bins.reduce((sum, bin) => sum + bin.count, 0)

export const isSpread = ({ histogram, max, min }: Distribution): boolean =>
  histogram.counts.length > 0 && min !== null && max !== null && min < max

const isEven = (bins: ReadonlyArray<Bin>): boolean => {
  const widths = bins.map(({ from, to }) => to - from)
  return Math.max(...widths) <= 1.5 * Math.min(...widths)
}

const drawnBins = (histogram: Histogram, unit: Unit): ReadonlyArray<Bin> => {
  const bins = binsOf(histogram)
  const inner = bins.slice(1, -1)
  if (unit === "share" || inner.length < 3 || !isEven(inner)) return bins
  const few = total(bins) * 0.005
  let first = isEven(bins.slice(0, -1)) ? 0 : 1
  let last = isEven(bins.slice(1)) ? bins.length : bins.length - 1
  const within = bins.slice(first, last)
  for (let left = few; first < last && (left -= bins[first]?.count ?? 0) >= 0;) first++
  for (let left = few; last > first && (left -= bins[last - 1]?.count ?? 0) >= 0;) last--
  return last > first && last - first < bins.length / 2 ? bins.slice(first, last) : within
}

const values: Record<Unit, (value: number) => string> = {
  characters: length,
  seconds,
  share: shortShare,
  number: (value) => String(value),
}

export const leftOut = (histogram: Histogram, unit: Unit): string => {
  const drawn = drawnBins(histogram, unit)
  const [first, last] = [drawn[0], drawn.at(-1)]
  if (first === undefined || last === undefined || drawn.length === histogram.counts.length) return ""
  const rest = total(binsOf(histogram)) - total(drawn)
  return ` Chart range: ${values[unit](first.from)} to ${values[unit](last.to)}; ${plural(rest, "value")} outside this range.`
}

export const rowsOf = (histogram: Histogram, unit: Unit): ReadonlyArray<ReadonlyArray<string>> => {
  const bins = binsOf(histogram)
  const all = total(bins)
  return bins
    .filter((bin) => bin.count > 0)
    .map((bin) => [`${values[unit](bin.from)} – ${values[unit](bin.to)}`, count(bin.count), shareOf(bin.count, all)])
}

const timeSteps = [
  1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000,
]

export const ticksOf = (
  unit: Unit,
  isLog: boolean,
  [low, high]: readonly [number, number],
  width: number,
): readonly [ticks: ReadonlyArray<number> | undefined, options: AxisXOptions] => {
  if (unit !== "seconds") {
    return [
      undefined,
      { tickFormat: unit === "share" ? shortShare : unit === "number" ? String : short, tickSpacing: isLog ? 120 : 64 },
    ]
  }
  const maxTicks = width / 68
  if (!isLog) {
    return [
      undefined,
      { interval: timeSteps.find((step) => (high - low) / step <= maxTicks) ?? 1e7, tickFormat: seconds },
    ]
  }
  const ratio = (high / low) ** (1 / maxTicks)
  const ticks: Array<number> = []
  for (const step of timeSteps) {
    if (step >= low && step <= high && step >= (ticks.at(-1) ?? 0) * ratio) ticks.push(step)
  }
  return [ticks, { text: seconds }]
}

export interface HistogramOptions {
  readonly unit: Unit
  readonly label: string | null
  readonly fill: string
  readonly height?: number
  readonly marks?: ReadonlyArray<{ readonly at: number; readonly words: string; readonly dashed?: boolean }>
  readonly sharedAxis?: ReadonlyArray<Histogram>
}

export const drawHistogram =
  (
    histogram: Histogram,
    { sharedAxis = [histogram], fill, height = 200, label, marks = [], unit }: HistogramOptions,
  ): ((width: number) => Element) =>
  (width) => {
    const shared = sharedAxis.map((each) => drawnBins(each, unit))
    const edges = shared.flatMap((bins) => bins.flatMap(({ from, to }) => [from, to]))
    const isLog = edges.every((edge) => edge >= 0) && shared.some((bins) => !isEven(bins))
    // A logarithmic axis has no 0, so it begins at half of the smallest edge above 0.
    const low = isLog
      ? Math.min(...edges.map((edge) => edge || Infinity)) / (edges.includes(0) ? 2 : 1)
      : Math.min(...edges)
    const domain: [number, number] = [low, Math.max(...edges)]
    const all = total(binsOf(histogram))
    const bins = drawnBins(histogram, unit)
    const visible = marks.filter(({ at }) => at >= domain[0] && at <= domain[1])
    const [marginLeft, marginRight] = [44, 16]
    const [ticks, axis] = ticksOf(unit, isLog, domain, width - marginLeft - marginRight)
    return chart(width, height, [marks.length > 0 ? 26 : 14, marginRight, label === null ? 24 : 42, marginLeft], {
      x: { type: isLog ? "log" : "linear", domain, label: null },
      y: { label: null, grid: true, ticks: 3, tickFormat: shortShare, nice: true },
      marks: [
        axisX(ticks, { ...axis, label }),
        rectY(bins, {
          x1: (bin: Bin) => Math.max(bin.from, domain[0]),
          x2: "to",
          y: (bin: Bin) => bin.count / all,
          fill,
          inset: bins.length > width / 6 ? 0 : 0.5,
          title: (bin: Bin) =>
            `${values[unit](bin.from)} – ${values[unit](bin.to)}\n${count(bin.count)} (${shareOf(bin.count, all)})`,
          tip: true,
        }),
        ruleY([0], baseline),
        visible.map(({ at }) => ruleX([at], halo)),
        visible.map(({ at, dashed }) =>
          ruleX([at], { stroke: "var(--ink)", strokeWidth: 1.5, ...(dashed === true && { strokeDasharray: "4 3" }) }),
        ),
        text(visible, { x: "at", text: "words", frameAnchor: "top", dy: -16, fontWeight: 600, fill: "var(--ink)" }),
      ],
    })
  }
