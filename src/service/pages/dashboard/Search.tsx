/** A field that searches a list by part of a text. */
import { useId, useState } from "preact/hooks"

export const Search = ({
  label,
  text,
  onSearch,
}: {
  readonly label: string
  /** What the list is searched for now. */
  readonly text: string | undefined
  readonly onSearch: (text: string | undefined) => void
}) => {
  const id = useId()
  const [typed, setTyped] = useState(text ?? "")
  return (
    <form
      class="line-form"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(typed.trim() || undefined)
      }}
    >
      <div class="field">
        <label for={id}>{label}</label>
        <input
          class="input"
          id={id}
          type="search"
          maxLength={200}
          placeholder="Part of its name"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </div>
      <button type="submit" class="button">
        Search
      </button>
    </form>
  )
}
