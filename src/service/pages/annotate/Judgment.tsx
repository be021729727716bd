/** The form of a judgment: choice or ranking, rationale, and the button that submits it. */
import type { RefObject } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { isUnsaved } from "./annotationStep.ts"
import type { AnnotationState } from "./annotationState.ts"
import { maxLength } from "../../pageApi/PageConstants.ts"
import * as entries from "./entry.ts"
import { list, unranked } from "./ranking.ts"

export interface JudgmentProps {
  readonly state: AnnotationState
  readonly entry: entries.Entry
  readonly isBusy: boolean
  readonly rationale: RefObject<HTMLTextAreaElement | null>
  readonly onEdit: (change: (entry: entries.Entry) => entries.Entry) => void
  readonly onPick: (place: number) => void
  readonly onSubmit: () => void
}

export const Judgment = ({ state, entry, isBusy, rationale, onEdit, onPick, onSubmit }: JudgmentProps) => {
  const ranks = entry.mode === "rank"
  const isReady = entries.missing(entry) === null
  const left = maxLength.rationale - entry.rationale.length
  const chips = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // With many completions, the chosen one may be scrolled out of view.
    const chip = entry.best === null ? null : chips.current?.children[entry.best]
    chip?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [entry.best])
  return (
    <section class="judgment" aria-label="Your judgment">
      <div class="rationale">
        <div class="row rationale-head">
          <label for="rationale" class="label">
            Rationale
          </label>
          <span class="small muted" title="E to write, Esc to leave">
            {left < 1_000 ? `${left.toLocaleString("en")} characters left` : keptWords(state)}
          </span>
        </div>
        <textarea
          id="rationale"
          ref={rationale}
          class="input"
          rows={2}
          dir="auto"
          maxLength={maxLength.rationale}
          placeholder="Why? What decided it?"
          value={entry.rationale}
          onInput={(event) => {
            const rationale = event.currentTarget.value
            onEdit((entry) => ({ ...entry, rationale }))
          }}
        />
      </div>
      <div class="dock">
        <div class="dock-choice">
          <div class="joined" role="group" aria-label="How to judge">
            {(["best", "rank"] as const).map((mode) => (
              <button
                key={mode}
                type="button"
                class="button compact"
                aria-pressed={entry.mode === mode}
                title="Change (R)"
                onClick={() => mode !== entry.mode && onEdit(entries.switchMode)}
              >
                {mode === "best" ? "Choose best" : "Rank all"}
              </button>
            ))}
          </div>
          <p class="statement numbers">
            <Statement entry={entry} />
          </p>
        </div>
        <div class="chips" ref={chips} role="group" aria-label={ranks ? "Rank in order" : "Choose the best"}>
          {entry.ranks.map((rank, place) => (
            <button
              key={place}
              type="button"
              class="button chip numbers"
              aria-pressed={ranks ? rank !== null : entry.best === place}
              onClick={() => onPick(place)}
            >
              <span class="unseen">{ranks ? "Completion " : "Choose completion "}</span>
              {place + 1}
              {ranks && (
                <>
                  {" "}
                  <span class="chip-rank">{rank === null ? "–" : `#${rank}`}</span>
                  <span class="unseen">{rank === null ? ": give it the next rank" : ": take its rank away"}</span>
                </>
              )}
            </button>
          ))}
        </div>
        <button
          type="button"
          class="button primary submit"
          aria-disabled={!isReady || isBusy}
          title="Submit (Enter; Ctrl Enter while writing)"
          onClick={() => onSubmit()}
        >
          {!isBusy ? "Submit" : state.trouble === null ? "Sending…" : "Waiting…"}
        </button>
      </div>
      <p class="unseen" role="status">
        {entries.formatForScreenReader(entry)}
      </p>
    </section>
  )
}

const Statement = ({ entry }: { readonly entry: entries.Entry }) => {
  const statement = entries.format(entry)
  if (entry.mode === "best") {
    return statement === "" ? (
      <span class="muted">Nothing chosen</span>
    ) : (
      <>
        Best: <strong>{statement}</strong>
      </>
    )
  }
  const lacks = unranked(entry.ranks)
  if (statement === "") {
    return (
      <span class="muted">
        <span class="for-keys">Keys 1 to 9 rank the marked completion</span>
        <span class="for-touch">Nothing ranked</span>
      </span>
    )
  }
  return (
    <>
      Best first: <strong>{statement}</strong>
      {lacks.length > 0 && <span class="muted"> · not ranked: {list(lacks.map((place) => place + 1))}</span>}
    </>
  )
}

const keptWords = (state: AnnotationState): string => {
  if (state.trouble !== null && isUnsaved(state)) return "Kept on this device"
  if (isUnsaved(state)) return "Saving…"
  return state.saved > 0 ? "Draft saved" : "Optional"
}
