/** A form with one field and its error message. */
import type { ComponentProps } from "preact"
import { useState } from "preact/hooks"
import type { Answer } from "../shared/api.ts"
import { useAction } from "./hooks.ts"
import { Problem } from "./parts.tsx"

export interface FieldFormProps<A> {
  /** Of the field. */
  readonly id: string
  /** What the form is for, as its accessible name. */
  readonly form: string
  readonly label: string
  /** The button's words. */
  readonly submit: string
  readonly input: ComponentProps<"input">
  /** What the service has: the form edits it, and does nothing while it is unchanged. Without it the form makes something new. */
  readonly saved?: string
  /** Gets the text without blanks around it. */
  readonly ask: (text: string) => Promise<Answer<A>>
  readonly onDone: (value: A) => void
}

export const FieldForm = <A,>({ id, form, label, submit, input, saved, ask, onDone }: FieldFormProps<A>) => {
  const [text, setText] = useState(saved ?? "")
  const action = useAction()
  const isUnchanged = saved !== "" && text.trim() === saved
  return (
    <form
      class="line-form"
      aria-label={form}
      onSubmit={(event) => {
        event.preventDefault()
        if (isUnchanged) return
        void action.run(
          () => ask(text.trim()),
          (value) => {
            if (saved === undefined) setText("")
            onDone(value)
          },
        )
      }}
    >
      <div class="field">
        <label for={id}>{label}</label>
        <input
          {...input}
          class="input"
          id={id}
          required
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <button type="submit" class={saved ? "button" : "button primary"} aria-disabled={action.busy || isUnchanged}>
        {submit}
      </button>
      <Problem words={action.problem} />
    </form>
  )
}

/** The form for the name of something that is to be made. */
export const NameForm = <A,>({
  placeholder,
  hint,
  ...form
}: Omit<FieldFormProps<A>, "input" | "saved"> & { readonly placeholder: string; readonly hint: string }) => (
  <FieldForm
    {...form}
    input={{ type: "text", placeholder, title: hint, pattern: String.raw`.*\S.*`, maxLength: 100 }}
  />
)
