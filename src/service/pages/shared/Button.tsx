/** A button that acts at once; `text` is its content. Buttons that submit a form are in the forms. */
import type { ComponentChildren, JSX } from "preact"

type Props = Omit<JSX.IntrinsicElements["button"], "class" | "children"> & {
  readonly text: ComponentChildren
  /** The classes of its look, such as `compact danger`, or `link` for one that looks like a link. */
  readonly look?: string
  readonly label?: string | undefined
  /** A busy button can still be focused. */
  readonly busy?: boolean
}

export const Button = ({ text, look = "", label, busy, ...button }: Props) => (
  <button
    type="button"
    class={look === "link" ? "bare link" : `button ${look}`}
    aria-label={label}
    aria-disabled={busy}
    {...button}
  >
    {text}
  </button>
)
