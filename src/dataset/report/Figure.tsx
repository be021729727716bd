/**
 * One or several plots with a caption, and the same numbers as a table.
 *
 * Guarantees: plots are redrawn when their width changes; for screen readers a plot is one image with a description,
 * and the table contains all of its numbers.
 */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { type Column, Table } from "./parts.tsx"

export interface PlotSpec {
  readonly title?: string
  /** The description for screen readers. */
  readonly description: string
  readonly draw: (width: number) => Element
}

const Canvas = ({ description, draw, title }: PlotSpec) => {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = place.current
    if (element === null) return
    let drawn = 0
    const show = () => {
      const width = Math.floor(element.clientWidth)
      if (width === drawn || width === 0) return
      drawn = width
      const plot = draw(width)
      // The library labels parts that have no role.
      plot.setAttribute("aria-hidden", "true")
      element.replaceChildren(plot)
    }
    show()
    const observer = new ResizeObserver(show)
    observer.observe(element)
    return () => observer.disconnect()
  }, [draw])
  return (
    <div class="plotted">
      {title !== undefined && <p class="plot-title">{title}</p>}
      <div ref={place} class="canvas" role="img" aria-label={description} />
    </div>
  )
}

export interface FigureProps {
  readonly caption: ComponentChildren
  readonly plots: ReadonlyArray<PlotSpec>
  /** Of what the table is: "Differences in length". */
  readonly label: string
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<ReadonlyArray<ComponentChildren>>
  /** Side by side, where there is room. */
  readonly sideBySide?: boolean
}

export const Figure = ({ sideBySide = false, caption, columns, label, plots, rows }: FigureProps) => (
  <figure>
    <div class={sideBySide ? "plots side-by-side" : "plots"}>
      {plots.map((plot, i) => (
        <Canvas key={plot.title ?? i} {...plot} />
      ))}
    </div>
    <figcaption>{caption}</figcaption>
    <details>
      <summary>
        Numbers as a table<span class="unseen">: {label}</span>
      </summary>
      <Table label={label} columns={columns} rows={rows} />
    </details>
  </figure>
)
