/** Shows a text with its differences marked. */
import type { Part } from "./textDifference.ts"

export interface MarkedProps {
  readonly kind: "ins" | "del"
  readonly parts: ReadonlyArray<Part>
}

export const Marked = ({ kind: Kind, parts }: MarkedProps) => (
  <div class="source-text marks" dir="auto">
    {parts.map(({ text, isUnmatched }, index) => (isUnmatched ? <Kind key={index}>{text}</Kind> : text))}
  </div>
)
