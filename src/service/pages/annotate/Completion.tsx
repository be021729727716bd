/** Shows one completion: its number, its text, and its rank in the judgment. */
import { Button } from "../shared/Button.tsx"
import { RichText } from "../shared/RichText.tsx"
import { Marked, type MarkedProps } from "../shared/Marked.tsx"
import { Clamped } from "./Clamped.tsx"
import { type Conversation, Turns } from "./Turns.tsx"
import type { Entry } from "./entry.ts"
import * as ranking from "./ranking.ts"
import { titled } from "./keys.ts"

export interface CompletionProps {
  readonly place: number
  readonly text: string
  readonly turns: Conversation | null
  readonly entry: Entry
  readonly isMarked: boolean
  readonly source: boolean
  readonly expand: boolean
  readonly parts: MarkedProps | null
  readonly element: (element: HTMLElement | null) => void
  readonly onMark: () => void
  readonly onPick: () => void
  readonly onRank: (change: (ranks: ranking.Ranks) => ranking.Ranks) => void
  readonly onRead: () => void
}

const rankButtons = [
  { sign: "↑", title: "Better (B)", label: "better", change: ranking.raise },
  {
    sign: "=",
    title: "Tie with the completion ranked just above (T)",
    label: "tied with the completion ranked just above",
    change: ranking.tie,
  },
  { sign: "↓", title: "Worse (W)", label: "worse", change: ranking.lower },
]

export const Completion = (props: CompletionProps) => {
  const { place, text, turns, entry, isMarked, source, parts, onMark, onPick, onRank, onRead } = props
  const number = place + 1
  const isBest = entry.mode === "best" && entry.best === place
  const rank = entry.mode === "rank" ? (entry.ranks[place] ?? null) : null
  const isTied = rank !== null && entry.ranks.filter((each) => each === rank).length > 1
  return (
    <article
      ref={props.element}
      class={`card completion${isMarked ? " marked" : ""}${isBest || rank === 1 ? " best" : ""}`}
      tabIndex={isMarked ? 0 : -1}
      aria-label={`Completion ${number}`}
      aria-describedby={`standing-${place}`}
      // Keyboard focus (`:focus-visible`) marks the completion. A mouse press does not: if the press changed the
      // layout, the click could miss its target.
      onFocusIn={(event) => {
        if (event.target instanceof Element && event.target.matches(":focus-visible")) onMark()
      }}
      onClick={onMark}
    >
      <header class="row completion-head">
        <h3 class="number numbers">
          {/* In ranking mode, a number alone could look like a rank. Therefore, the word “Completion” is visible. */}
          <span class={entry.mode === "rank" ? "" : "unseen"}>Completion </span>
          {number}
        </h3>
        <span id={`standing-${place}`} class="standing">
          {isBest && <span class="badge accent">Best</span>}
          {rank !== null && (
            <span class={rank === 1 ? "badge accent" : "badge"}>
              Rank {rank}
              {isTied ? ", tied" : ""}
            </span>
          )}
        </span>
        <div class="row tight">
          <Button
            look="plain compact"
            text={[<span class="long">Full screen</span>, <span class="short">⤢</span>]}
            title={titled("Full screen", "reader")}
            label={`Read completion ${number} in full screen`}
            onClick={onRead}
          />
          {entry.mode === "best" ? (
            <Button
              look="compact"
              text="Best"
              label={`Completion ${number} is best`}
              aria-pressed={isBest}
              onClick={onPick}
            />
          ) : (
            <div class="joined" role="group" aria-label={`Rank of completion ${number}`}>
              {rankButtons.map(({ sign, title, label, change }) => (
                <Button
                  key={sign}
                  look="compact"
                  text={sign}
                  title={title}
                  label={`Completion ${number} ${label}`}
                  onClick={() => onRank((ranks) => change(ranks, place))}
                />
              ))}
            </div>
          )}
        </div>
      </header>
      <Clamped text={text} expand={props.expand || parts !== null} name={`completion ${number}`}>
        {(visible) =>
          text.trim() === "" ? (
            <p class="muted">(This completion is empty.)</p>
          ) : parts === null && turns !== null && !source && visible === text ? (
            <Turns turns={turns} below={3} />
          ) : parts === null ? (
            <RichText text={visible} source={source} below={3} />
          ) : (
            <Marked {...parts} />
          )
        }
      </Clamped>
    </article>
  )
}
