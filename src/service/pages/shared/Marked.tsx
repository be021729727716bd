/** Shows a text with its differences marked. */
import type { Part } from "./difference.ts"

export interface MarkedProps {
  /** The element for text that is only here: inserted, or deleted, compared with the other text. */
  readonly kind: "ins" | "del"
  readonly parts: ReadonlyArray<Part>
}

export const Marked = ({ kind: Kind, parts }: MarkedProps) => (
  <div class="source-text marks" dir="auto">
    {parts.map(({ text, only }, index) => (only ? <Kind key={index}>{text}</Kind> : text))}
  </div>
)
