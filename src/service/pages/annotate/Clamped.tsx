/** Shows a text, shortened if it is long. Only the beginning of a very long text is rendered until it is expanded. */
import type { ComponentChildren } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { beginning } from "../shared/chunks.ts"

export interface ClampedProps {
  readonly text: string
  readonly expand: boolean
  readonly name: string
  readonly children: (text: string) => ComponentChildren
}

/** A shortened text is rendered up to about these limits. CSS may hide the end of the rendered part. */
const renderLimits = { characters: 8_000, lines: 150 }

export const Clamped = ({ text, expand, name, children }: ClampedProps) => {
  const box = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState(expand)
  const [overflows, setOverflows] = useState(false)
  const start = useMemo(() => beginning(text, renderLimits.characters, renderLimits.lines), [text])
  const isCut = start.length < text.length
  useEffect(() => setOpen(expand), [expand])
  useEffect(() => {
    const element = box.current
    if (element === null || open) return undefined
    const observer = new ResizeObserver(() => setOverflows(element.scrollHeight > element.clientHeight + 4))
    observer.observe(element)
    if (element.firstElementChild !== null) observer.observe(element.firstElementChild)
    return () => observer.disconnect()
  }, [open, text])
  const hides = isCut || overflows
  return (
    <>
      <div
        ref={box}
        class={open ? "text" : hides ? "text clamped hides" : "text clamped"}
        onFocusIn={() => {
          if (!open && hides) setOpen(true)
        }}
      >
        <div>{children(open ? text : start)}</div>
      </div>
      {(open ? isCut || overflows : hides) && (
        <button type="button" class="button plain compact more" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Less" : "More"}
          <span class="unseen"> of {name}</span>
          {!open && ` (${text.length.toLocaleString("en")} characters)`}
        </button>
      )}
    </>
  )
}
