/** A button. It does not submit a form unless its `type` is `submit`. */
import type { ComponentChildren, JSX } from "preact"

type Props = Omit<JSX.IntrinsicElements["button"], "class" | "children"> & {
  readonly text: ComponentChildren
  /** CSS classes, such as `compact danger`. The value `link` makes the button look like a link. */
  readonly look?: string
  readonly label?: string | undefined
  /** A busy button is marked as disabled but can still be focused. */
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
