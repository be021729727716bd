/** A text with its differences marked. */
import type { Part } from "./difference.ts"

export interface MarkedProps {
  /** What is only here counts as added to, or as missing from, the text it is compared with. */
  readonly kind: "ins" | "del"
  readonly parts: ReadonlyArray<Part>
}

export const Marked = ({ kind: Kind, parts }: MarkedProps) => (
  <div class="source-text marks" dir="auto">
    {parts.map(({ text, only }, index) => (only ? <Kind key={index}>{text}</Kind> : text))}
  </div>
)
