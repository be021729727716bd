/**
 * A form of one field, the name of something that is to be made, with what went wrong below it.
 */
import { useState } from "preact/hooks"
import type { Answer } from "../shared/api.ts"
import { useAction } from "./hooks.ts"
import { Problem } from "./parts.tsx"

export const NameForm = <A,>({
  id,
  form,
  label,
  placeholder,
  hint,
  submit,
  make,
  onMade,
}: {
  /** Of the field. */
  readonly id: string
  /** What the form is for, as its accessible name. */
  readonly form: string
  readonly label: string
  readonly placeholder: string
  readonly hint: string
  /** The button's words. */
  readonly submit: string
  readonly make: (name: string) => Promise<Answer<A>>
  readonly onMade: (made: A) => void
}) => {
  const [name, setName] = useState("")
  const action = useAction()
  return (
    <form
      class="line-form"
      aria-label={form}
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(
          () => make(name.trim()),
          (made) => {
            setName("")
            onMade(made)
          },
        )
      }}
    >
      <div class="field">
        <label for={id}>{label}</label>
        <input
          class="input"
          id={id}
          type="text"
          placeholder={placeholder}
          required
          pattern=".*\S.*"
          title={hint}
          maxLength={100}
          autocomplete="off"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </div>
      <button type="submit" class="button primary" aria-disabled={action.busy}>
        {submit}
      </button>
      <Problem words={action.problem} />
    </form>
  )
}
