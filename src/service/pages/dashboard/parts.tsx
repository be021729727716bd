/** The small pieces that all views are made of. */
import type { ComponentChildren } from "preact"
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks"
import { RichText } from "../shared/RichText.tsx"
import { count, exact, excerpt, relative } from "./format.ts"
import { Now, type Resource, ShowSource } from "./hooks.ts"
import type { Paging } from "./paging.ts"
import type { Label } from "./wording.ts"

/** A page's heading: focused when its page is opened, and the title of the window. */
export const PageHeading = ({
  title,
  code = false,
  children,
}: {
  readonly title: string
  /** Whether the title is an identifier. */
  readonly code?: boolean
  readonly children?: ComponentChildren
}) => {
  useEffect(() => {
    document.title = `${title} · prefstream`
  }, [title])
  return (
    <div class="page-heading">
      <h1 tabIndex={-1} class={code ? "code" : ""}>
        {title}
      </h1>
      {children}
    </div>
  )
}

export const Time = ({ at }: { readonly at: number }) => {
  // Drawn again with each tick; but what was read since the last one is newer than it.
  const now = Math.max(useContext(Now), Date.now())
  return (
    <time dateTime={new Date(at).toISOString()} title={exact(at)}>
      {relative(at, now)}
    </time>
  )
}

export const Badge = ({ label }: { readonly label: Label }) => <span class={`badge ${label.tone}`}>{label.words}</span>

/** `done` of `of`, as a bar and in figures. */
export const Meter = ({ label, done, of }: { readonly label: string; readonly done: number; readonly of: number }) => (
  <span class={done >= of && of > 0 ? "meter full" : "meter"}>
    <progress aria-label={label} value={done} max={Math.max(of, 1)} />
    <span class="figures">
      {count(done)} <span class="of">of {count(of)}</span>
    </span>
  </span>
)

export const Problem = ({ words }: { readonly words: string | undefined }) => (
  <div class="problem-place" role="alert">
    {words !== undefined && <p class="notice bad">{words}</p>}
  </div>
)

let lastFocused: EventTarget | null = null
document.addEventListener("focusin", (event) => {
  lastFocused = event.target
})

/** Whether what had the focus has left the page, such as the button of a row that is gone. */
const isFocusLost = () =>
  document.activeElement === document.body && lastFocused instanceof Node && !lastFocused.isConnected

/**
 * What a resource holds; before it is there, that it comes, or why it does not. Where a new
 * reading takes away what had the focus, its section's heading gets it.
 */
export const Loaded = <A,>({
  resource,
  children,
}: {
  readonly resource: Resource<A>
  readonly children: (data: A) => ComponentChildren
}) => {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isFocusLost()) return
    const heading = place.current?.closest("section")?.querySelector<HTMLElement>("h2[tabindex]")
    ;(heading ?? document.querySelector("h1"))?.focus({ preventScroll: true })
  }, [resource.data])
  return (
    <>
      {resource.problem !== undefined && (
        <div class="notice bad" role="alert">
          <p class="grow">{resource.problem}</p>
          <button type="button" class="button compact" onClick={() => void resource.reload()}>
            Try again
          </button>
        </div>
      )}
      {resource.data === undefined ? (
        resource.problem === undefined && <p class="loading">Loading …</p>
      ) : (
        <div ref={place} class={resource.stale ? "loaded stale" : "loaded"} aria-busy={resource.stale}>
          {children(resource.data)}
        </div>
      )}
    </>
  )
}

const copy = async (text: string): Promise<boolean> => {
  // There is no clipboard over plain HTTP from another machine: the call itself fails.
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement("textarea")
    area.value = text
    area.className = "offscreen"
    const focused = document.activeElement
    // A modal dialog makes all that is outside it inert.
    ;(document.querySelector("dialog:modal") ?? document.body).append(area)
    area.select()
    const copied = document.execCommand("copy")
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return copied
  }
}

export const CopyButton = ({ text, what }: { readonly text: string; readonly what: string }) => {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle")
  useEffect(() => {
    if (state === "idle") return
    const timer = setTimeout(() => setState("idle"), 4000)
    return () => clearTimeout(timer)
  }, [state])
  return (
    <span class="copy">
      <button
        type="button"
        class="button compact"
        aria-label={`Copy ${what}`}
        onClick={() => void copy(text).then((copied) => setState(copied ? "copied" : "failed"))}
      >
        Copy
      </button>
      <span class="copied" role="status">
        {state === "copied" && "Copied"}
        {state === "failed" && "Select it and press Ctrl+C"}
      </span>
    </span>
  )
}

/** Shell lines to be copied. */
export const Lines = ({ text, what }: { readonly text: string; readonly what: string }) => (
  <div class="lines">
    <pre tabIndex={0} role="region" aria-label={what}>
      {text}
    </pre>
    <CopyButton text={text} what={what} />
  </div>
)

/** A secret that was just made. Takes the focus, for it is in no other place. */
export const Secret = ({
  title,
  heading: Heading = "h3",
  label,
  what,
  value,
  children,
  onDone,
}: {
  readonly title: string
  readonly heading?: "h2" | "h3"
  /** Of the field. */
  readonly label: string
  /** What the button copies. */
  readonly what: string
  readonly value: string
  readonly children: ComponentChildren
  readonly onDone: () => void
}) => {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [value])
  return (
    <section class="secret" aria-labelledby={id}>
      <Heading id={id}>{title}</Heading>
      <div class="secret-row">
        <input
          ref={field}
          class="input code"
          aria-label={label}
          readOnly
          value={value}
          spellcheck={false}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={value} what={what} />
      </div>
      <div class="secret-words">{children}</div>
      <button type="button" class="button" onClick={onDone}>
        Done
      </button>
    </section>
  )
}

/** A text that somebody else wrote: shown as it is, never as markup; the start of it, where it is long. */
export const LongText = ({
  text,
  label,
  below,
  chars = 900,
  lines = 12,
}: {
  readonly text: string
  readonly label: string
  /** The level of the heading that it stands under, for a text that is rendered; absent: it never is. */
  readonly below?: number
  readonly chars?: number
  readonly lines?: number
}) => {
  const [open, setOpen] = useState(false)
  const source = useContext(ShowSource)
  const { shown, cut } = excerpt(text, chars, lines)
  const drawn = (part: string) => (below === undefined || source ? part : <RichText text={part} below={below} />)
  const words = open ? "Show less" : `Show all ${count(text.length)} characters`
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The browser keeps the button where it is; but one wants to read from the start.
    if (open) place.current?.scrollIntoView({ block: "nearest" })
  }, [open])
  if (text.trim() === "") return <p class="text blank">{text === "" ? "(empty)" : "(only spaces)"}</p>
  if (!cut) {
    return (
      <div class="text" dir="auto">
        {drawn(shown)}
      </div>
    )
  }
  return (
    <>
      <div
        ref={place}
        class={open ? "text open" : "text cut"}
        dir="auto"
        {...(open ? { tabIndex: 0, role: "region", "aria-label": label } : {})}
      >
        {drawn(open ? text : shown)}
        {!open && " …"}
      </div>
      <button
        type="button"
        class="link more"
        aria-expanded={open}
        aria-label={`${words} of ${label}`}
        onClick={() => setOpen(!open)}
      >
        {words}
      </button>
    </>
  )
}

export const Pager = ({
  label,
  at,
  paging,
  href,
}: {
  readonly label: string
  /** The `before` of the page shown. */
  readonly at: number | undefined
  readonly paging: Paging
  readonly href: (before: number | undefined) => string
}) => {
  const place = useRef<HTMLElement>(null)
  const shown = useRef(at)
  useEffect(() => {
    if (shown.current === at) return
    shown.current = at
    ;(place.current?.closest("section") ?? document.body).scrollIntoView({ block: "start" })
  }, [at])
  if (!paging.hasNewer && paging.older === undefined) return null
  return (
    <nav ref={place} class="pager" aria-label={label}>
      {paging.hasNewer ? <a href={href(paging.newer)}>← Newer</a> : <span aria-hidden="true">← Newer</span>}
      {paging.older !== undefined ? <a href={href(paging.older)}>Older →</a> : <span aria-hidden="true">Older →</span>}
    </nav>
  )
}
