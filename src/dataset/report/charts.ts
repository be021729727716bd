/** Sets the style of every chart of the report, and draws the charts with horizontal bars. */
import { barX, plot, type PlotOptions, ruleX, text } from "@observablehq/plot"

const style = {
  fontSize: "12px",
  fontFamily: "inherit",
  color: "var(--ink)",
  background: "none",
  overflow: "visible",
}

export const halo = { stroke: "var(--surface)", strokeWidth: 4, strokeOpacity: 0.85 }

export const baseline = { stroke: "var(--line-strong)" }

type Margins = readonly [top: number, right: number, bottom: number, left: number]

export const chart = (
  width: number,
  height: number,
  [marginTop, marginRight, marginBottom, marginLeft]: Margins,
  options: PlotOptions,
): Element => plot({ width, height, marginTop, marginRight, marginBottom, marginLeft, style, ...options })

interface HorizontalBar {
  readonly label: string
  readonly value: number
  readonly words: string
  readonly fill?: string
}

export const drawBars =
  (bars: ReadonlyArray<HorizontalBar>, rowHeight: number, marginLeft: number, marginRight: number) =>
  (width: number): Element => {
    const rows = bars.map((bar, row) => ({ fill: "var(--accent)", ...bar, row }))
    return chart(width, rowHeight * rows.length + 12, [4, marginRight, 8, marginLeft], {
      x: { axis: null },
      y: {
        label: null,
        domain: rows.map(({ row }) => row),
        tickFormat: (row: number) => rows[row]?.label ?? "",
        tickSize: 0,
      },
      marks: [
        barX(rows, { x: "value", y: "row", fill: "fill", insetTop: 2, insetBottom: 2 }),
        text(rows, { x: "value", y: "row", text: "words", textAnchor: "start", dx: 6, fill: "var(--ink)" }),
        ruleX([0], baseline),
      ],
    })
  }
