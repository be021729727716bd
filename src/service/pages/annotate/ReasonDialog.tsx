/** Asks the expert for the reason of a skip or a flag. */
import { useId, useRef, useState } from "preact/hooks"
import { Button } from "../shared/Button.tsx"
import { Dialog } from "../shared/Dialog.tsx"
import { flagKinds, otherReason } from "../shared/flags.ts"
import type { Wanted } from "./annotationState.ts"

const kinds = {
  skip: {
    title: "Skip this item",
    about: "The item goes to another expert and does not come back to you.",
    presets: [
      "I don't know enough about the subject",
      "It is in a language I don't read well",
      "I can't make up my mind",
      "I'd rather not read this",
    ],
    action: "Skip",
  },
  flag: {
    title: "Flag a problem",
    about:
      "The item goes to another expert. Your reason is shown to the people who run this service and to those who sent the task.",
    presets: flagKinds.map(({ words }) => words),
    action: "Flag",
  },
} as const

/** Maximum characters of the typed text. Together with a preset reason, the text stays within the API's limit. */
const limit = 1_800

export interface ReasonDialogProps {
  readonly kind: keyof typeof kinds
  readonly onClose: () => void
  readonly onReason: (wanted: Extract<Wanted, { readonly _tag: "skip" | "flag" }>) => void
}

export const ReasonDialog = ({ kind, onClose, onReason }: ReasonDialogProps) => {
  const { title, about, presets, action } = kinds[kind]
  const id = useId()
  // The chosen reason. It is null before the choice, and empty if the expert wants to type another reason.
  const [preset, setPreset] = useState<string | null>(null)
  const [words, setWords] = useState("")
  const field = useRef<HTMLTextAreaElement>(null)
  const reason = [preset ?? "", words.trim()].filter((part) => part !== "").join(": ")
  const done = () => {
    if (reason === "") return
    const { kind: problem } = flagKinds.find((each) => each.words === preset) ?? { kind: "other" }
    onReason(
      kind === "skip" ? { _tag: "skip", reason } : { _tag: "flag", flag: { kind: problem, comment: words.trim() } },
    )
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          done()
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) done()
        }}
      >
        <p class="muted">{about}</p>
        <fieldset class="choices">
          <legend class="unseen">Reason</legend>
          {[...presets, ""].map((each, index) => (
            <label key={each}>
              <input
                type="radio"
                name={id}
                autofocus={index === 0}
                checked={preset === each}
                onChange={() => setPreset(each)}
                // Arrow keys also fire `click`, with `detail` 0. They must not move the focus to the text field.
                onClick={(event) => {
                  if (each === "" && event.detail > 0) field.current?.focus()
                }}
                onKeyDown={(event) => {
                  if (each !== "" || event.key !== " ") return
                  event.preventDefault()
                  setPreset("")
                  field.current?.focus()
                }}
              />
              {each === "" ? otherReason : each}
            </label>
          ))}
        </fieldset>
        <div class="stack field">
          <label for={`${id}-words`}>
            {(preset ?? "") === "" ? "In your own words" : "In your own words (optional)"}
          </label>
          <textarea
            id={`${id}-words`}
            ref={field}
            class="input"
            rows={3}
            maxLength={limit}
            dir="auto"
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </div>
        <div class="row dialog-foot">
          <Button text="Cancel" onClick={onClose} />
          <Button type="submit" look="primary" text={action} disabled={reason === ""} />
        </div>
      </form>
    </Dialog>
  )
}
