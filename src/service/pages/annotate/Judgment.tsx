/** The form for a judgment: choice or ranking, rationale, and submit button. */
import type { RefObject } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { Button } from "../shared/Button.tsx"
import { isUnsaved } from "./annotationStep.ts"
import type { AnnotationState } from "./annotationState.ts"
import { maxLength } from "../../pageApi/PageConstants.ts"
import * as entries from "./entry.ts"
import { list, unranked } from "./ranking.ts"
import { LastQuestions } from "./Rubric.tsx"
import { titled } from "./keys.ts"

export interface JudgmentProps {
  readonly state: AnnotationState
  readonly item: HeldItem
  readonly entry: entries.Entry
  readonly isBusy: boolean
  readonly rationale: RefObject<HTMLTextAreaElement | null>
  readonly onEdit: (change: (entry: entries.Entry) => entries.Entry) => void
  readonly onPick: (place: number) => void
  readonly onSubmit: () => void
}

export const Judgment = ({ state, item, entry, isBusy, rationale, onEdit, onPick, onSubmit }: JudgmentProps) => {
  const ranks = entry.mode === "rank"
  const { rubric } = item
  const missing = entries.missing(entry, rubric)
  const answered = entries.progress(entry, rubric)
  const charactersLeft = maxLength.rationale - entry.rationale.length
  const chips = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The buttons scroll if there are many completions, so the chosen completion's button may be out of view.
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
            {charactersLeft < 1_000
              ? `${charactersLeft.toLocaleString("en")} characters left`
              : draftWords(state, rubric.required.includes("rationale"))}
          </span>
        </div>
        <textarea
          id="rationale"
          ref={rationale}
          class="input"
          rows={2}
          dir="auto"
          maxLength={maxLength.rationale}
          placeholder="What decided your judgment?"
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
              <Button
                key={mode}
                look="compact"
                text={mode === "best" ? "Choose best" : "Rank all"}
                aria-pressed={entry.mode === mode}
                title={titled("Change", "mode")}
                onClick={() => mode !== entry.mode && onEdit(entries.switchMode)}
              />
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
                  <span class="unseen">{rank === null ? ": assign the next rank" : ": remove the rank"}</span>
                </>
              )}
            </button>
          ))}
        </div>
        {answered !== null && (
          <span id="answered" class="small muted numbers answered">
            {answered}
          </span>
        )}
        {(rubric.strength.length > 0 || rubric.all_bad) && <LastQuestions item={item} entry={entry} onEdit={onEdit} />}
        <Button
          look="primary submit"
          text={!isBusy ? "Submit" : state.trouble === null ? "Sending…" : "Waiting…"}
          busy={missing !== null || isBusy}
          title={missing?.words ?? "Submit (Enter; Ctrl Enter while writing)"}
          aria-describedby={answered === null ? undefined : "answered"}
          onClick={onSubmit}
        />
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
        <span class="for-keys">Press 1–9 to rank the marked completion</span>
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

const draftWords = (state: AnnotationState, isRequired: boolean): string => {
  const words = isRequired ? "Required" : "Optional"
  if (state.item?.corrects !== null) return words
  if (isUnsaved(state)) return state.trouble === null ? "Saving…" : "Draft kept on this device, not sent yet"
  return state.saved > 0 ? "Draft saved" : words
}
