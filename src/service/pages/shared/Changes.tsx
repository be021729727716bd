/** Shows two versions of a text, side by side or one above the other, with their differences marked. */
import { useEffect, useState } from "preact/hooks"
import type { Difference, Part } from "./textDifference.ts"
import { Marked } from "./Marked.tsx"
import { compare } from "./textClient.ts"

export interface ChangesProps {
  readonly before: { readonly name: string; readonly text: string }
  readonly after: { readonly name: string; readonly text: string }
}

const whole = (text: string): ReadonlyArray<Part> => [{ text, isUnmatched: false }]

export const Changes = ({ before, after }: ChangesProps) => {
  const [difference, setDifference] = useState<Difference | "pending" | "refused">("pending")
  useEffect(() => {
    setDifference("pending")
    return compare(before.text, after.text, {
      done: (result) => setDifference(result ?? "refused"),
      failed: () => setDifference("refused"),
    })
  }, [before.text, after.text])
  const sides = typeof difference === "string" ? { left: whole(before.text), right: whole(after.text) } : difference
  return (
    <div class="grid changes" aria-busy={difference === "pending"}>
      <Side kind="del" name={before.name} parts={sides.left} />
      <Side kind="ins" name={after.name} parts={sides.right} />
      {difference === "refused" && (
        <p class="muted small">The changes could not be marked: the texts are too long or too different.</p>
      )}
    </div>
  )
}

const Side = ({
  kind,
  name,
  parts,
}: {
  readonly kind: "ins" | "del"
  readonly name: string
  readonly parts: ReadonlyArray<Part>
}) => (
  <div>
    <p class="small muted">{name}</p>
    <div class="changes-text" tabIndex={0} role="group" aria-label={name}>
      {parts.every(({ text }) => text.trim() === "") ? (
        <p class="muted">(empty)</p>
      ) : (
        <Marked kind={kind} parts={parts} />
      )}
    </div>
  </div>
)
