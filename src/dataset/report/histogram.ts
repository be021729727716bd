/**
 * Histograms: each bar is a bin, as high as its share of all values.
 *
 * Guarantees: what is not drawn, because it lies far out, is said in words.
 */
import { axisX, plot, rectY, ruleX, ruleY, text } from "@observablehq/plot"
import type { Distribution, Histogram } from "../../domain/QualityReport.ts"
import { axisOf, isEven, type Unit } from "./axis.ts"
import { count, length, plural, seconds, shareOf, shortShare } from "./format.ts"

export interface Bin {
  readonly from: number
  readonly to: number
  readonly count: number
}

export const binsOf = ({ counts, edges }: Histogram): ReadonlyArray<Bin> => {
  const bins = counts.map((count, i) => ({ from: edges[i] ?? 0, to: edges[i + 1] ?? 0, count }))
  // All values are the same.
  return bins.map((bin) => (bin.to > bin.from ? bin : { ...bin, from: bin.from - 0.5, to: bin.to + 0.5 }))
}

const total = (bins: ReadonlyArray<Bin>): number => bins.reduce((sum, bin) => sum + bin.count, 0)

/** Whether there is something to draw: values that differ. */
export const isSpread = ({ histogram, max, min }: Distribution): boolean =>
  histogram.counts.length > 0 && min !== null && max !== null && min < max

/**
 * Without the ends that would take the room of the rest: bins much wider than those between them,
 * and, of bins of one width, those in which next to nothing lies.
 */
const worthDrawing = (bins: ReadonlyArray<Bin>, unit: Unit): ReadonlyArray<Bin> => {
  const inner = bins.slice(1, -1)
  if (unit === "share" || inner.length < 3 || !isEven(edgesOf(inner))) return bins
  const few = total(bins) * 0.005
  let first = isEven(edgesOf(bins.slice(0, -1))) ? 0 : 1
  let last = isEven(edgesOf(bins.slice(1))) ? bins.length : bins.length - 1
  const within = bins.slice(first, last)
  for (let left = few; first < last && (left -= bins[first]?.count ?? 0) >= 0;) first++
  for (let left = few; last > first && (left -= bins[last - 1]?.count ?? 0) >= 0;) last--
  return last > first && last - first < bins.length / 2 ? bins.slice(first, last) : within
}

const edgesOf = (bins: ReadonlyArray<Bin>): ReadonlyArray<number> => [
  ...bins.map(({ from }) => from),
  bins.at(-1)?.to ?? 1,
]

const values: Record<Unit, (value: number) => string> = { characters: length, seconds, share: shortShare }

/** What the picture leaves out; empty where it is nothing. */
export const leftOut = (histogram: Histogram, unit: Unit): string => {
  const all = binsOf(histogram)
  const drawn = worthDrawing(all, unit)
  const rest = total(all) - total(drawn)
  const first = drawn[0]
  const last = drawn.at(-1)
  if (first === undefined || last === undefined || drawn.length === all.length) return ""
  return ` Drawn from ${values[unit](first.from)} to ${values[unit](last.to)}; ${plural(rest, "value")} beyond.`
}

/** Rows of a table: the bins that are not empty. */
export const rowsOf = (histogram: Histogram, unit: Unit): ReadonlyArray<ReadonlyArray<string>> => {
  const bins = binsOf(histogram)
  const all = total(bins)
  return bins
    .filter((bin) => bin.count > 0)
    .map((bin) => [`${values[unit](bin.from)} – ${values[unit](bin.to)}`, count(bin.count), shareOf(bin.count, all)])
}

export interface HistogramOptions {
  readonly unit: Unit
  /** Of the horizontal axis; null where that of the plot below says it. */
  readonly label: string | null
  readonly fill: string
  readonly height?: number
  /** Lines across, with what they mark. */
  readonly marks?: ReadonlyArray<{ readonly at: number; readonly words: string; readonly dashed?: boolean }>
  /** Where the axis begins and ends, if not with the bins: for plots to be compared. */
  readonly extent?: Extent
  /** Edges that say which kind of axis it is, if not its own. */
  readonly like?: ReadonlyArray<number> | undefined
}

type Extent = readonly [low: number, high: number]

const extentOf = (bins: ReadonlyArray<Bin>): Extent => [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1]

/** Of all histograms together, as far as they are drawn. */
export const commonExtent = (histograms: ReadonlyArray<Histogram>, unit: Unit): Extent => {
  const drawn = histograms.filter(({ counts }) => counts.length > 0).map((each) => worthDrawing(binsOf(each), unit))
  const extents = drawn.map(extentOf)
  return [Math.min(...extents.map(([low]) => low)), Math.max(...extents.map(([, high]) => high))]
}

/** The edges by which all histograms have one kind of axis: those of one whose bins grow, if there is one. */
export const commonEdges = (histograms: ReadonlyArray<Histogram>, unit: Unit): ReadonlyArray<number> | undefined =>
  histograms
    .filter(({ counts }) => counts.length > 0)
    .map((each) => edgesOf(worthDrawing(binsOf(each), unit)))
    .find((edges) => !isEven(edges))

/** A line that is seen on bars too. */
export const halo = { stroke: "var(--surface)", strokeWidth: 4, strokeOpacity: 0.85 }

export const style = {
  fontSize: "12px",
  fontFamily: "inherit",
  color: "var(--ink)",
  background: "none",
  overflow: "visible",
}

/** A picture of the histogram, which has values; `fill` is a colour. */
export const drawHistogram =
  (histogram: Histogram, { extent, fill, height = 200, label, like, marks = [], unit }: HistogramOptions) =>
  (width: number): Element => {
    const bins = worthDrawing(binsOf(histogram), unit)
    const all = total(binsOf(histogram))
    const margins = {
      marginLeft: 44,
      marginRight: 16,
      marginTop: marks.length > 0 ? 26 : 14,
      marginBottom: label === null ? 24 : 42,
    }
    const [low, high] = extent ?? extentOf(bins)
    const { format, scale, ticks } = axisOf(
      like ?? edgesOf(bins),
      [low, high],
      unit,
      width - margins.marginLeft - margins.marginRight,
    )
    const visible = marks.filter(({ at }) => at >= low && at <= high)
    return plot({
      width,
      height,
      ...margins,
      style,
      x: { ...scale, label: null },
      y: { label: null, grid: true, ticks: 3, tickFormat: shortShare, nice: true },
      marks: [
        axisX(ticks, { text: format, label }),
        rectY(bins, {
          x1: "from",
          x2: "to",
          y: (bin: Bin) => bin.count / all,
          fill,
          inset: bins.length > width / 6 ? 0 : 0.5,
          title: (bin: Bin) =>
            `${values[unit](bin.from)} – ${values[unit](bin.to)}\n${count(bin.count)} (${shareOf(bin.count, all)})`,
          tip: true,
        }),
        ruleY([0], { stroke: "var(--line-strong)" }),
        visible.map(({ at }) => ruleX([at], halo)),
        visible.map(({ at, dashed }) =>
          ruleX([at], { stroke: "var(--ink)", strokeWidth: 1.5, ...(dashed === true && { strokeDasharray: "4 3" }) }),
        ),
        text(visible, { x: "at", text: "words", frameAnchor: "top", dy: -16, fontWeight: 600, fill: "var(--ink)" }),
      ],
    })
  }
