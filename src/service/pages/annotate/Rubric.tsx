/** Shows the rubric's questions. While one of them has the focus, digit keys do not choose a completion. */
import { maxLength } from "../../pageApi/PageConstants.ts"
import type { RefObject } from "preact"
import { useState } from "preact/hooks"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { Button } from "../shared/Button.tsx"
import * as entries from "./entry.ts"
import { titled } from "./keys.ts"

export interface RubricProps {
  readonly item: HeldItem
  readonly entry: entries.Entry
  readonly marks: RefObject<HTMLDivElement | null>
  readonly ratings: RefObject<HTMLDivElement | null>
  readonly edit: RefObject<HTMLTextAreaElement | null>
  readonly onEdit: (change: (entry: entries.Entry) => entries.Entry) => void
  readonly onMark: (place: number) => void
}

export const isAsked = ({ rubric }: HeldItem): boolean => rubric.flags.length + rubric.aspects.length > 0 || rubric.edit

const allBadLabel = (completions: number): string => (completions === 2 ? "Both bad" : "All bad")

export const Rubric = ({ item, entry, marks, ratings, edit, onEdit, onMark }: RubricProps) => {
  const { rubric } = item
  const answers = entry.said
  const toggleFlag = (flag: string) => onEdit((entry) => entries.toggleFlag(entry, flag))
  return (
    <section class="card stack rubric" aria-label="More about your choice">
      {rubric.aspects.length > 0 && <Ratings {...{ item, entry, ratings, onEdit, onMark }} />}
      {rubric.flags.length > 0 && (
        <div class="stack rubric-part" role="group" aria-labelledby="marks">
          <span id="marks" class="label" title="K, then 1 to 9">
            Mark the problems that apply
          </span>
          <div
            class="row tight"
            ref={marks}
            onKeyDown={(event) => {
              if (!isDigit(event)) return
              event.preventDefault()
              const flag = rubric.flags[Number(event.key) - 1]
              if (flag !== undefined) toggleFlag(flag)
            }}
          >
            {rubric.flags.map((flag, i) => (
              <button
                key={flag}
                type="button"
                class="button compact"
                aria-pressed={answers.flags.includes(flag)}
                onClick={() => toggleFlag(flag)}
              >
                {i < 9 && (
                  <span class="muted numbers" aria-hidden="true">
                    {i + 1}
                  </span>
                )}
                {flag}
              </button>
            ))}
          </div>
        </div>
      )}
      {rubric.edit && <Edit {...{ item, entry, edit, onEdit }} />}
    </section>
  )
}

/** Callers must call `preventDefault` for each digit. Without this call, `useKeys` would choose a completion. */
const isDigit = (event: KeyboardEvent): boolean => /^[0-9]$/.test(event.key) && isPlain(event)

export const LastQuestions = ({ item, entry, onEdit }: Pick<RubricProps, "item" | "entry" | "onEdit">) => {
  const { completions, rubric } = item
  return (
    <div class="row tight last-questions">
      {rubric.strength.length > 0 && (
        <div id="strength" class="joined" role="group" aria-label="How much better is the best?" title="+ and −">
          {rubric.strength.map((label, i) => (
            <Button
              key={label}
              look="compact"
              text={label}
              aria-pressed={entry.said.strength === i + 1}
              onClick={() => onEdit((entry) => entries.setStrength(entry, i + 1))}
            />
          ))}
        </div>
      )}
      {rubric.all_bad && (
        <Button
          look="compact"
          text={allBadLabel(completions.length)}
          aria-pressed={entry.said.all_bad}
          title={titled("Not even the best is good enough", "allBad")}
          onClick={() => onEdit(entries.toggleAllBad)}
        />
      )}
    </div>
  )
}

const isPlain = ({ altKey, ctrlKey, metaKey }: KeyboardEvent): boolean => !altKey && !ctrlKey && !metaKey

const Ratings = (props: Pick<RubricProps, "item" | "entry" | "ratings" | "onEdit" | "onMark">) => {
  const { entry, ratings, onEdit, onMark } = props
  const { completions, rubric } = props.item
  const rows = completions.flatMap((_, place) => rubric.aspects.map((aspect) => ({ place, aspect })))
  const focusRow = (row: number) =>
    ratings.current?.querySelectorAll<HTMLElement>(".scale")[row]?.querySelector<HTMLElement>("[tabindex='0']")?.focus()
  const onKeyDown = (event: KeyboardEvent, row: number) => {
    if (!isPlain(event)) return
    const { aspect, place } = rows[row]!
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const rating = isDigit(event) ? Number(event.key) : event.key === "Backspace" ? 0 : undefined
    if (move !== undefined) focusRow(Math.min(Math.max(row + move, 0), rows.length - 1))
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const focused = event.target instanceof Element ? event.target : null
      const next = event.key === "ArrowRight" ? focused?.nextElementSibling : focused?.previousElementSibling
      if (next instanceof HTMLElement) next.focus()
    } else if (rating !== undefined) {
      if (rating > aspect.steps) return event.preventDefault()
      onEdit((entry) => entries.rate(entry, aspect.name, place, null))
      if (rating > 0) {
        onEdit((entry) => entries.rate(entry, aspect.name, place, rating))
        focusRow(Math.min(row + 1, rows.length - 1))
      }
    } else return
    event.preventDefault()
  }
  return (
    <div class="grid ratings" ref={ratings}>
      {completions.map((_, place) => (
        <div
          key={place}
          class="stack rubric-part"
          role="group"
          aria-labelledby={`ratings-${place}`}
          onFocusIn={() => onMark(place)}
        >
          <span id={`ratings-${place}`} class="label" title="A, then 1 to 9">
            Rate completion {place + 1}
          </span>
          {rubric.aspects.map((aspect, i) => {
            const rating = entry.said.aspects[aspect.name]?.[place] ?? null
            return (
              <div key={aspect.name} class="row rating">
                <span id={`aspect-${place}-${i}`} class="aspect">
                  {aspect.name}
                  {aspect.required === true && <span class="small muted"> required</span>}
                  {(aspect.low !== undefined || aspect.high !== undefined) && (
                    <span class="small muted">
                      {" "}
                      {[aspect.low && `1 ${aspect.low}`, aspect.high && `${aspect.steps} ${aspect.high}`]
                        .filter(Boolean)
                        .join(", ")}
                    </span>
                  )}
                </span>
                <div
                  class="joined scale numbers"
                  role="radiogroup"
                  aria-labelledby={`ratings-${place} aspect-${place}-${i}`}
                  onKeyDown={(event) => onKeyDown(event, place * rubric.aspects.length + i)}
                >
                  {Array.from({ length: aspect.steps }, (_, step) => (
                    <Button
                      key={step}
                      look="compact"
                      text={step + 1}
                      role="radio"
                      aria-checked={rating === step + 1}
                      tabIndex={(rating ?? 1) === step + 1 ? 0 : -1}
                      onClick={() => onEdit((entry) => entries.rate(entry, aspect.name, place, step + 1))}
                    />
                  ))}
                </div>
              </div>
            )
          })}
        </div>
      ))}
    </div>
  )
}

const Edit = ({ item, entry, edit, onEdit }: Pick<RubricProps, "item" | "entry" | "edit" | "onEdit">) => {
  const best = entries.bestOf(entry)
  const [isOpen, setOpen] = useState(false)
  const original = best === null ? "" : (item.completions[best] ?? "")
  const edited = entries.editOf(entry)
  const isShown = best !== null && (isOpen || edited !== null)
  return (
    <div class="stack rubric-part">
      <div class="row rationale-head">
        {isShown ? (
          <label for="edit" class="label">
            Completion {best + 1}, improved
          </label>
        ) : (
          <span class="label">Improve the best completion</span>
        )}
        {isShown && edited !== null && (
          <Button
            look="plain compact"
            text="Undo the edit"
            onClick={() => onEdit((entry) => entries.edit(entry, best, original, original))}
          />
        )}
        {!isShown && best === null && <span class="small muted">Choose the best completion first</span>}
      </div>
      <textarea
        id="edit"
        ref={edit}
        class={isShown ? "input" : "unseen"}
        tabIndex={isShown ? 0 : -1}
        aria-label={isShown ? undefined : "Improve the best completion"}
        rows={4}
        dir="auto"
        maxLength={maxLength.editedCompletion}
        readOnly={best === null}
        value={edited ?? original}
        onFocus={({ currentTarget }) => {
          setOpen(true)
          // The field becomes visible in the next frame. The page scrolls, because the bottom bar may cover the field.
          requestAnimationFrame(() => currentTarget.scrollIntoView({ block: "nearest" }))
        }}
        onInput={(event) => {
          const text = event.currentTarget.value
          if (best !== null) onEdit((entry) => entries.edit(entry, best, text, original))
        }}
      />
      {!isShown && best !== null && (
        <div class="row tight">
          <Button look="compact" text={`Edit completion ${best + 1}`} title="I" onClick={() => edit.current?.focus()} />
        </div>
      )}
    </div>
  )
}
