/**
 * Shows a text as rendered Markdown or as plain text. No text can run scripts or load anything except allowed images.
 * A worker renders the text, so that the page stays responsive. If rendering fails, the text is shown as plain text.
 */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { chunks } from "./chunks.ts"
import { sanitize } from "./sanitize.ts"
import { render } from "./textClient.ts"

export interface RichTextProps {
  readonly text: string
  readonly source?: boolean
  /** The level of the heading under which the text stands. */
  readonly below: number
}

/** Maximum characters of a text to render. A longer text is shown as it was written. */
const renderLimit = 100_000
/** Maximum characters of rendered HTML. Sanitizing more HTML would block the page. */
const htmlLimit = 500_000
const plainAfterMillis = 200

type State = "pending" | "rendered" | "failed"

export const RichText = ({ text, source = false, below }: RichTextProps) => {
  const tooLong = text.length > renderLimit
  return source || tooLong ? (
    <Source text={text} remark={source ? null : "This text is too long to render. Its source is shown."} />
  ) : (
    <Rendered key={text} text={text} below={below} />
  )
}

const Rendered = ({ text, below }: { readonly text: string; readonly below: number }) => {
  const place = useRef<HTMLDivElement>(null)
  const [state, setState] = useState<State>("pending")
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), plainAfterMillis)
    return () => clearTimeout(timer)
  }, [])
  useLayoutEffect(
    () =>
      render(text, below, {
        done: (html) => {
          if (html.length > htmlLimit) return setState("failed")
          const fragment = sanitize(html)
          const show = () => {
            place.current?.replaceChildren(fragment)
            setState("rendered")
          }
          if (fragment.querySelector(".katex") === null) return show()
          // Formulas are unreadable without KaTeX's styles, so the styles are loaded before the text is shown.
          return void import("katex/dist/katex.min.css").then(show, () => setState("failed"))
        },
        failed: () => setState("failed"),
      }),
    [text, below],
  )
  useEffect(() => {
    // Elements that scroll get a tab stop, so that keyboard users can reach and scroll them.
    if (place.current === null) return undefined
    const wide = [place.current, ...place.current.querySelectorAll<HTMLElement>("pre, .wide")]
    const observer = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0")
        else target.removeAttribute("tabindex")
      }
    })
    for (const element of wide) observer.observe(element)
    return () => observer.disconnect()
  }, [state])
  if (state === "failed") {
    return <Source text={text} remark="This text could not be rendered. Its source is shown." />
  }
  return (
    <>
      {isSlow && state === "pending" && <Source text={text} remark={null} />}
      <div ref={place} class={state === "pending" && !isSlow ? "rich blank" : "rich"} aria-busy={state === "pending"} />
    </>
  )
}

const Source = ({ text, remark }: { readonly text: string; readonly remark: string | null }) => {
  const parts = useMemo(() => chunks(text), [text])
  const [shown, setShown] = useState(1)
  // Shows the first chunk immediately, and then 8 chunks at a time, so that a long text does not block the page.
  useEffect(() => {
    if (shown >= parts.length) return undefined
    const timer = setTimeout(() => setShown(shown + 8), 16)
    return () => clearTimeout(timer)
  }, [shown, parts.length])
  return (
    <div class="source-text">
      {remark !== null && <p class="remark">{remark}</p>}
      {parts.slice(0, shown).map((part, index) => (
        <div key={index} class="chunk" dir="auto">
          {part}
        </div>
      ))}
    </div>
  )
}
