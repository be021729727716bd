/** Shows a text with its differences marked. */
import type { Part } from "./difference.ts"

export interface MarkedProps {
  /** The element that marks parts that the other text lacks. */
  readonly kind: "ins" | "del"
  readonly parts: ReadonlyArray<Part>
}

export const Marked = ({ kind: Kind, parts }: MarkedProps) => (
  <div class="source-text marks" dir="auto">
    {parts.map(({ text, isUnmatched }, index) => (isUnmatched ? <Kind key={index}>{text}</Kind> : text))}
  </div>
)
