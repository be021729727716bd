/** The small pieces that all views are made of. */
import type { ComponentChildren } from "preact"
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks"
import type { Answer } from "../shared/api.ts"
import { beginning } from "../shared/chunks.ts"
import { RichText } from "../shared/RichText.tsx"
import { count, exact, relative } from "./format.ts"
import { Now, type Resource, Say, ShowSource, useAction } from "./hooks.ts"
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
    <div class="row heading">
      <h1 tabIndex={-1} class={code ? "code" : ""}>
        {title}
      </h1>
      {children}
    </div>
  )
}

/** A part of a page under a heading, which takes the focus where what had it is gone; see `Loaded`. */
export const Section = ({
  id,
  title,
  children,
}: {
  readonly id: string
  readonly title: string
  readonly children: ComponentChildren
}) => (
  <section class="section" aria-labelledby={id}>
    <h2 id={id} tabIndex={-1}>
      {title}
    </h2>
    {children}
  </section>
)

/** One entry of `<dl class="facts">`. */
export const Fact = ({
  label,
  class: name,
  title,
  children,
}: {
  readonly label: string
  readonly class?: string
  readonly title?: string
  readonly children: ComponentChildren
}) => (
  <div>
    <dt>{label}</dt>
    <dd class={name} title={title}>
      {children}
    </dd>
  </div>
)

export interface Column<A> {
  /** Empty: the column of buttons. */
  readonly label: string
  /** Null: there is nothing to show in this row. */
  readonly cell: (row: A) => ComponentChildren
  /** Shown where `cell` is null. Default "none". */
  readonly nothing?: string
  readonly class?: string
}

/** Rows under column headings; on a narrow page each row is a card. The first column names the row. */
export const Table = <A,>({
  label,
  columns: [head, ...columns],
  rows,
  keyOf,
  class: name = "",
}: {
  readonly label: string
  readonly columns: readonly [Column<A>, ...ReadonlyArray<Column<A>>]
  readonly rows: ReadonlyArray<A>
  readonly keyOf: (row: A) => string
  readonly class?: string
}) => (
  // Roles, since a table that is laid out as blocks is none to some screen readers.
  <table class={`cards ${name}`} role="table" aria-label={label}>
    <thead role="rowgroup">
      <tr role="row">
        {[head, ...columns].map(({ label }) => (
          <th key={label} role="columnheader">
            {label === "" ? <span class="unseen">Actions</span> : label}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      {rows.map((row) => (
        <tr key={keyOf(row)} role="row">
          <th role="rowheader" scope="row" class={head.class}>
            {head.cell(row)}
          </th>
          {columns.map(({ cell, class: name = "", label, nothing = "none" }) => {
            const content = cell(row)
            return label === "" ? (
              <td key={label} role="cell" class="actions">
                {content}
              </td>
            ) : (
              <td key={label} role="cell" data-label={label} class={content === null ? "none" : name}>
                {content ?? <span class="muted">{nothing}</span>}
              </td>
            )
          })}
        </tr>
      ))}
    </tbody>
  </table>
)

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
    <span>
      {count(done)} <span class="muted">of {count(of)}</span>
    </span>
  </span>
)

export const Problem = ({ words }: { readonly words: string | undefined }) => (
  <div class="problem-place" role="alert">
    {words !== undefined && <p class="notice bad">{words}</p>}
  </div>
)

/** A button that asks the service for something, with what went wrong behind it. */
export const ActionButton = <A,>({
  ask,
  said,
  onDone,
  children,
  label,
  class: name = "",
}: {
  readonly ask: () => Promise<Answer<A>>
  /** Announced when it is done. */
  readonly said: string
  readonly onDone: (value: A) => void
  readonly children: string
  /** Its accessible name, where its words are too few. */
  readonly label?: string
  readonly class?: string
}) => {
  const action = useAction()
  const say = useContext(Say)
  return (
    <>
      <button
        type="button"
        class={`button ${name}`}
        aria-label={label}
        aria-disabled={action.busy}
        onClick={() =>
          void action.run(ask, (value) => {
            say(said)
            onDone(value)
          })
        }
      >
        {children}
      </button>
      <Problem words={action.problem} />
    </>
  )
}

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
        resource.problem === undefined && <p class="muted late">Loading …</p>
      ) : (
        <div ref={place} class={resource.stale ? "stack stale" : "stack"} aria-busy={resource.stale}>
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
    <section class="stack secret" aria-labelledby={id}>
      <Heading id={id}>{title}</Heading>
      <div class="row">
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
      {children}
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
  const shown = beginning(text, chars, lines)
  const drawn = (part: string) => (below === undefined || source ? part : <RichText text={part} below={below} />)
  const words = open ? "Show less" : `Show all ${count(text.length)} characters`
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The browser keeps the button where it is; but one wants to read from the start.
    if (open) place.current?.scrollIntoView({ block: "nearest" })
  }, [open])
  if (text.trim() === "") return <p class="text muted">{text === "" ? "(empty)" : "(only spaces)"}</p>
  if (shown.length === text.length) {
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
        class={open ? "text open" : "text"}
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

/** A link to another page of a list; without an address its words keep their place. */
export const PageLink = ({ href, children }: { readonly href: string | undefined; readonly children: string }) =>
  href === undefined ? <span aria-hidden="true">{children}</span> : <a href={href}>{children}</a>

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
      <PageLink href={paging.hasNewer ? href(paging.newer) : undefined}>← Newer</PageLink>
      <PageLink href={paging.older === undefined ? undefined : href(paging.older)}>Older →</PageLink>
    </nav>
  )
}
