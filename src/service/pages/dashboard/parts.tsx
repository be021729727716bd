/** Components that several views share. */
import type { ComponentChildren } from "preact"
import { useContext, useEffect, useRef, useState } from "preact/hooks"
import type { Answer } from "../shared/api.ts"
import { beginning } from "../shared/chunks.ts"
import { RichText } from "../shared/RichText.tsx"
import { count, exact, relative } from "./format.ts"
import { Now, type Resource, Say, ShowSource, useAction } from "./hooks.ts"
import { paging, useTrail } from "./paging.ts"
import { href, type Page, type Query } from "./routes.ts"
import type { Label } from "./wording.ts"

/** A page's heading. It takes the focus when the page opens, and sets the window's title. */
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

/** A part of a page under a heading. The heading takes the focus if the focused element is gone; see `Loaded`. */
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

/** One entry of a `<dl class="facts">`. */
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

export const Time = ({ at }: { readonly at: number }) => {
  // Each tick renders this again, but data loaded since the last tick is newer than that tick.
  const now = Math.max(useContext(Now), Date.now())
  return (
    <time dateTime={new Date(at).toISOString()} title={exact(at)}>
      {relative(at, now)}
    </time>
  )
}

export const Badge = ({ label }: { readonly label: Label }) => <span class={`badge ${label.tone}`}>{label.words}</span>

/** Shows `done` of `of` as a bar and in figures. */
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

/** A button that sends a request to the service. The problem is shown behind it if the request fails. */
export const ActionButton = <A,>({
  ask,
  said,
  onDone,
  children,
  label,
  class: name = "",
}: {
  readonly ask: () => Promise<Answer<A>>
  /** The announcement after the request succeeds. */
  readonly said: string
  readonly onDone: (value: A) => void
  readonly children: string
  /** The accessible name, if the button's text does not say enough. */
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

/** Whether the focused element has left the page, such as the button of a removed row. */
const isFocusLost = () =>
  document.activeElement === document.body && lastFocused instanceof Node && !lastFocused.isConnected

/**
 * Shows the data of a resource; before it is loaded, that it is loading, or why loading failed. If a reload removes the
 * focused element, the heading of its section takes the focus.
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

/**
 * A text that somebody else wrote: Markdown if `below` is given, otherwise plain text, and never trusted markup. Of a
 * long text, only the beginning is shown at first.
 */
export const LongText = ({
  text,
  label,
  below,
  chars = 900,
  lines = 12,
}: {
  readonly text: string
  readonly label: string
  /** The level of the heading above a text that is rendered; if absent, the text is never rendered. */
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
    // The browser keeps the button in place, but readers want to start at the beginning.
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

/** A link to another page of a list. Without `href`, the words keep their place, hidden from screen readers. */
export const PageLink = ({ href, children }: { readonly href: string | undefined; readonly children: string }) =>
  href === undefined ? <span aria-hidden="true">{children}</span> : <a href={href}>{children}</a>

/** Links to the newer and the older page of a list that is newest first. */
export const Pager = ({
  label,
  next,
  page,
  query,
}: {
  readonly label: string
  /** The `before` of the older page; null on the oldest page. */
  readonly next: number | null
  readonly page: Page
  readonly query: Query
}) => {
  const { before, ...list } = query
  const at = before === undefined ? undefined : Number(before)
  const { hasNewer, newer, older } = paging(useTrail(at, JSON.stringify(list)), at, next)
  const to = (before: number | undefined) => href(page, { ...list, before })
  const place = useRef<HTMLElement>(null)
  const shown = useRef(at)
  useEffect(() => {
    if (shown.current === at) return
    shown.current = at
    ;(place.current?.closest("section") ?? document.body).scrollIntoView({ block: "start" })
  }, [at])
  if (!hasNewer && older === undefined) return null
  return (
    <nav ref={place} class="pager" aria-label={label}>
      <PageLink href={hasNewer ? to(newer) : undefined}>← Newer</PageLink>
      <PageLink href={older === undefined ? undefined : to(older)}>Older →</PageLink>
    </nav>
  )
}
