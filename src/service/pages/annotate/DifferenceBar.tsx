/** The bar above two compared completions. It names the completions, explains the marks, and shows the similarity. */
import { useId } from "preact/hooks"
import type { Differences } from "./useDifference.ts"

export interface DifferenceBarProps {
  readonly difference: Differences
  readonly marked: number
  readonly count: number
}

export const DifferenceBar = ({ difference, marked, count }: DifferenceBarProps) => {
  const id = useId()
  const { base, state } = difference
  return (
    <div class="row small difference-bar">
      <span class="row tight">
        <label for={id}>
          Completion <strong>{marked + 1}</strong> compared with
        </label>
        <select
          id={id}
          class="input"
          value={String(base)}
          onChange={(event) => difference.setBase(Number(event.currentTarget.value))}
        >
          {Array.from({ length: count }, (_, place) => place)
            .filter((place) => place !== marked)
            .map((place) => (
              <option key={place} value={String(place)}>
                {place + 1}
              </option>
            ))}
        </select>
      </span>
      <span role="status">
        {state === "pending"
          ? "Comparing…"
          : state === "refused"
            ? "These completions are too long or too different to compare word by word."
            : state.same === 1
              ? "Both completions have the same words."
              : `${Math.round(state.same * 100)}% of the words are in both completions.`}
      </span>
      {typeof state !== "string" && (
        <span class="row marks">
          <ins>only in {marked + 1}</ins>
          <del>only in {base + 1}</del>
        </span>
      )}
    </div>
  )
}
