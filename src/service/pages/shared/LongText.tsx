/** Shows an untrusted text. Only the beginning of a long text is visible until the user expands the text. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"

interface Props {
  readonly text: string
  readonly beginning: string
  readonly label: string
  readonly characters: number
  readonly draw?: (text: string) => ComponentChildren
}

export const LongText = ({ text, beginning, label, characters, draw = (text) => text }: Props) => {
  const [isOpen, setOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // After a click, the browser keeps the button in view, so the page must scroll back to the beginning of the text.
    if (isOpen) place.current?.scrollIntoView({ block: "nearest" })
  }, [isOpen])
  if (text.trim() === "") return <p class="text muted">{text === "" ? "(empty)" : "(only spaces)"}</p>
  const isCut = beginning.length < text.length
  const words = isOpen ? "Show less" : `Show all ${characters.toLocaleString("en")} characters`
  return (
    <>
      <div
        ref={place}
        class={isOpen ? "text open" : "text"}
        dir="auto"
        {...(isOpen ? { tabIndex: 0, role: "region", "aria-label": label } : {})}
      >
        {draw(isOpen ? text : beginning)}
        {isCut && !isOpen && " …"}
      </div>
      {isCut && (
        <button
          type="button"
          class="bare link more"
          aria-expanded={isOpen}
          aria-label={`${words} of ${label}`}
          onClick={() => setOpen(!isOpen)}
        >
          {words}
        </button>
      )}
    </>
  )
}
