/** The full-screen reader. The page's shortcuts work here, too, except Enter, S, X, A, J, K, and `?`. */
import { useEffect, useRef } from "preact/hooks"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { Button } from "../shared/Button.tsx"
import { useModal } from "../shared/Dialog.tsx"
import { Marked } from "../shared/Marked.tsx"
import { RichText } from "../shared/RichText.tsx"
import * as entries from "./entry.ts"
import { Turns } from "./Turns.tsx"
import { Prompt } from "./Prompt.tsx"
import type { Differences } from "./useDifference.ts"

/** The value of `page` for the prompt. For a completion, `page` is the completion's position, starting at 0. */
export const promptPage = -1

export interface ReaderProps {
  readonly page: number
  readonly item: HeldItem
  readonly entry: entries.Entry
  readonly source: boolean
  readonly difference: Differences
  readonly onMove: (step: 1 | -1) => void
  readonly onPick: () => void
  readonly onClose: () => void
}

export const Reader = ({ page, item, entry, source, difference, onMove, onPick, onClose }: ReaderProps) => {
  const { completions, prompt } = item
  const dialog = useModal()
  const body = useRef<HTMLDivElement>(null)
  useEffect(() => {
    body.current?.scrollTo(0, 0)
    body.current?.focus()
  }, [page])
  const isPrompt = page === promptPage
  const name = isPrompt ? "Prompt" : `Completion ${page + 1} of ${completions.length}`
  const isPicked = entry.mode === "best" ? entry.best === page : (entry.ranks[page] ?? null) !== null
  const text = isPrompt ? prompt : (completions[page] ?? "")
  const turns = isPrompt ? null : (item.completion_turns[page] ?? null)
  const parts = isPrompt ? null : difference.partsOf(page)
  const statement = entries.format(entry)
  return (
    <dialog ref={dialog} class="reader" aria-label="Full screen" onClose={onClose}>
      <header class="row reader-head">
        <h2 aria-live="polite">{name}</h2>
        <span class="small muted numbers statement">
          {statement === "" ? "" : entry.mode === "best" ? `Best: ${statement}` : statement}
        </span>
        <div class="row tight">
          <Button
            look="compact"
            text="←"
            label="Previous"
            title="Previous (←)"
            disabled={isPrompt}
            onClick={() => onMove(-1)}
          />
          <Button
            look="compact"
            text="→"
            label="Next"
            title="Next (→)"
            disabled={page === completions.length - 1}
            onClick={() => onMove(1)}
          />
          {!isPrompt && (
            <Button
              look="compact"
              text={entry.mode === "best" ? "Best" : isPicked ? `Rank ${entry.ranks[page]}` : "Next rank"}
              aria-pressed={isPicked}
              title="Space"
              onClick={onPick}
            />
          )}
          <Button look="plain compact" text="Close" title="Close (Esc)" onClick={onClose} />
        </div>
      </header>
      <div ref={body} class="reader-body" tabIndex={0} role="region" aria-label={name}>
        <div class="reader-text">
          {text.trim() === "" ? (
            <p class="muted">(Empty.)</p>
          ) : isPrompt ? (
            <Prompt item={item} text={prompt} source={source} />
          ) : parts === null && turns !== null && !source ? (
            <Turns turns={turns} below={2} />
          ) : parts === null ? (
            <RichText text={text} source={source} below={2} />
          ) : (
            <Marked {...parts} />
          )}
        </div>
      </div>
    </dialog>
  )
}
