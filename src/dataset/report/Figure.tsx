/** Plots and a table with the plots' numbers. For screen readers, each plot is one image with a description. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { type Column, Table } from "./parts.tsx"

export interface PlotSpec {
  readonly title?: string
  readonly description: string
  readonly draw: (width: number) => Element
}

const Canvas = ({ description, draw, title }: PlotSpec) => {
  const container = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = container.current
    if (element === null) return
    let drawnWidth = 0
    const redraw = () => {
      const width = Math.floor(element.clientWidth)
      if (width === drawnWidth || width === 0) return
      drawnWidth = width
      const plot = draw(width)
      // Hides the labels that Observable Plot adds for screen readers, because the container has a description.
      plot.setAttribute("aria-hidden", "true")
      element.replaceChildren(plot)
    }
    redraw()
    const observer = new ResizeObserver(redraw)
    observer.observe(element)
    return () => observer.disconnect()
  }, [draw])
  return (
    <div class="plotted">
      {title !== undefined && <p class="plot-title">{title}</p>}
      <div ref={container} class="canvas" role="img" aria-label={description} />
    </div>
  )
}

export interface FigureProps {
  readonly caption: ComponentChildren
  readonly plots: ReadonlyArray<PlotSpec>
  readonly label: string
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<ReadonlyArray<ComponentChildren>>
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
      <summary class="caption">
        Numbers as a table<span class="unseen">: {label}</span>
      </summary>
      <Table label={label} columns={columns} rows={rows} />
    </details>
  </figure>
)
