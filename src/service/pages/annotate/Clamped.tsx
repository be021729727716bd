/**
 * A text that is shortened if it is long, with a button to expand it.
 *
 * Guarantees: of a very long text only the beginning is rendered until it is expanded. Focus in the hidden part expands
 * it.
 */
import type { ComponentChildren } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { beginning } from "../shared/chunks.ts"

export interface ClampedProps {
  readonly text: string
  /** Whether to show all, unless the button says otherwise. */
  readonly expand: boolean
  /** Of what the text is: "completion 1". */
  readonly name: string
  readonly children: (text: string) => ComponentChildren
}

/** Characters and lines of which a shortened text is drawn; the height cuts it further. */
const drawn = { characters: 8_000, lines: 150 }

export const Clamped = ({ text, expand, name, children }: ClampedProps) => {
  const box = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState(expand)
  const [overflows, setOverflows] = useState(false)
  const start = useMemo(() => beginning(text, drawn.characters, drawn.lines), [text])
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
