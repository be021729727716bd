/** Components that several views share. */
import type { ComponentChildren } from "preact"
import { useContext, useEffect, useRef } from "preact/hooks"
import type { Answer } from "../shared/api.ts"
import { Button } from "../shared/Button.tsx"
import { beginning } from "../shared/chunks.ts"
import { type Fact, Facts } from "../shared/Facts.tsx"
import * as Shared from "../shared/LongText.tsx"
import { RichText } from "../shared/RichText.tsx"
import { useHandles } from "../shared/useHandles.ts"
import { count, exact, percent, relative } from "./format.ts"
import { Now, Reload, type Resource, Say, ShowSource, useAction } from "./hooks.ts"
import { paging, useTrail } from "./paging.ts"
import { href, type Page, type Query } from "./routes.ts"
import type { Label } from "./wording.ts"

interface PageHeadingProps {
  readonly title: string
  readonly code?: boolean
  readonly under?: readonly [title: string, href: string]
  readonly children?: ComponentChildren
}

export const PageHeading = ({ title, code = false, under, children }: PageHeadingProps) => {
  useEffect(() => {
    document.title = `${title} · prefstream`
  }, [title])
  return (
    <>
      {under !== undefined && (
        <p class="trail">
          <a href={under[1]}>{under[0]}</a>
        </p>
      )}
      <div class="row heading">
        <h1 tabIndex={-1} class={code ? "code" : ""}>
          {title}
        </h1>
        {children}
      </div>
    </>
  )
}

interface SectionProps {
  readonly id: string
  readonly title: ComponentChildren
  readonly beside?: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

export const Section = ({ id, title, beside, class: name = "stack section", children }: SectionProps) => (
  <section class={name} aria-labelledby={id}>
    <div class="row heading">
      <h2 id={id} tabIndex={-1}>
        {title}
      </h2>
      {beside}
    </div>
    {children}
  </section>
)

interface SummaryProps {
  readonly facts: ReadonlyArray<Fact | false | null>
  readonly actions?: ComponentChildren
  readonly children?: ComponentChildren
}

export const Summary = ({ facts, actions, children }: SummaryProps) => (
  <section class="card padded stack" aria-label="Summary">
    <div class="row summary-head">
      <Facts facts={facts} />
      {actions}
    </div>
    {children}
  </section>
)

export const Time = ({ at }: { readonly at: number }) => {
  // `Now` is updated every ten seconds. If the data was loaded after the last update, `at` may be later than `Now`.
  const now = Math.max(useContext(Now), Date.now())
  return (
    <time dateTime={new Date(at).toISOString()} title={exact(at)}>
      {relative(at, now)}
    </time>
  )
}

export const NameLink = ({ to, name }: { readonly to: string; readonly name: string }) => (
  <a href={to}>
    <bdi>{name}</bdi>
  </a>
)

export const commas = (elements: ReadonlyArray<ComponentChildren>) =>
  elements.flatMap((element, i) => (i === 0 ? [element] : [", ", element]))

export const Badge = ({ label }: { readonly label: Label }) => <span class={`badge ${label.tone}`}>{label.words}</span>

export const shareOf = (part: number, of: number) =>
  of === 0 ? null : (
    <span class="nowrap">
      {percent(part, of)}{" "}
      <span class="muted small">
        {count(part)} of {count(of)}
      </span>
    </span>
  )

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

interface ActionButtonProps<A> {
  readonly text: string
  readonly ask: () => Promise<Answer<A>>
  readonly success?: string
  readonly onDone?: (value: A) => void
  readonly label?: string
  readonly look?: string
}

export const ActionButton = <A,>({ text, ask, success, onDone, ...button }: ActionButtonProps<A>) => {
  const action = useAction()
  const say = useContext(Say)
  const reload = useContext(Reload)
  const act = () =>
    void action.run(ask, (value) => {
      if (success !== undefined) say(success)
      onDone?.(value)
      reload()
    })
  return (
    <>
      <Button text={text} busy={action.busy} onClick={act} {...button} />
      <Problem words={action.problem} />
    </>
  )
}

let lastFocused: EventTarget | null = null
document.addEventListener("focusin", (event) => {
  lastFocused = event.target
})

const isFocusLost = () =>
  document.activeElement === document.body && lastFocused instanceof Node && !lastFocused.isConnected

interface LoadedProps<A> {
  readonly resource: Resource<A>
  readonly children: (data: A) => ComponentChildren
}

/** Actions in `children` reload the data. If new data removes the focused element, a heading gets the focus. */
export const Loaded = <A,>({ resource, children }: LoadedProps<A>) => {
  const place = useRef<HTMLDivElement>(null)
  const reloadAround = useContext(Reload)
  const reload = () => {
    void resource.reload()
    reloadAround()
  }
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
          <Button look="compact" text="Try again" onClick={() => void resource.reload()} />
        </div>
      )}
      {resource.data === undefined ? (
        resource.problem === undefined && <p class="muted late">Loading …</p>
      ) : (
        <div ref={place} class={resource.stale ? "stack stale" : "stack"} aria-busy={resource.stale}>
          <Reload.Provider value={reload}>{children(resource.data)}</Reload.Provider>
        </div>
      )}
    </>
  )
}

interface LongTextProps {
  readonly text: string
  readonly label: string
  /** If set, the text is rendered as Markdown, below a heading of this level. */
  readonly below?: number
  readonly chars?: number
  readonly lines?: number
}

export const LongText = ({ text, label, below, chars = 900, lines = 12 }: LongTextProps) => {
  const isPlain = useContext(ShowSource) || below === undefined
  const shown = useHandles(text, (text, shorten) => shorten(text))
  return (
    <Shared.LongText
      text={shown}
      beginning={beginning(shown, chars, lines)}
      label={label}
      characters={shown.length}
      draw={(part) => (isPlain ? part : <RichText text={part} below={below} />)}
    />
  )
}

interface PageLinksProps {
  readonly label: string
  /** Links to the previous and next pages. Without `href`, the words are shown, but hidden from screen readers. */
  readonly links: ReadonlyArray<readonly [words: string, href: string | undefined]>
}

export const PageLinks = ({ label, links }: PageLinksProps) => (
  <nav class="row pager" aria-label={label}>
    {links.map(([words, href]) =>
      href === undefined ? <span aria-hidden="true">{words}</span> : <a href={href}>{words}</a>,
    )}
  </nav>
)

interface PagerProps {
  readonly label: string
  readonly next: number | null
  readonly page: Page
  readonly query: Query
}

export const Pager = ({ label, next, page, query }: PagerProps) => {
  const { before, ...list } = query
  const at = before === undefined ? undefined : Number(before)
  const { hasNewer, newer, older } = paging(useTrail(at, JSON.stringify(list)), at, next)
  const to = (before: number | undefined) => href(page, { ...list, before })
  const place = useRef<HTMLDivElement>(null)
  const shown = useRef(at)
  useEffect(() => {
    if (shown.current === at) return
    shown.current = at
    ;(place.current?.closest("section") ?? document.body).scrollIntoView({ block: "start" })
  }, [at])
  if (!hasNewer && older === undefined) return null
  return (
    <div ref={place}>
      <PageLinks
        label={label}
        links={[
          ["← Newer", hasNewer ? to(newer) : undefined],
          ["Older →", older === undefined ? undefined : to(older)],
        ]}
      />
    </div>
  )
}
