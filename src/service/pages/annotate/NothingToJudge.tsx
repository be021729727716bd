/** Shows why there is no item to judge: the page is loading, the person gets no work, or the queue is empty. */
import { Button } from "../shared/Button.tsx"
import { type AnnotationState, want } from "./annotationState.ts"
import type { Dispatch } from "./useAnnotationState.ts"
import { useKeys } from "./useKeys.ts"

interface NothingToJudgeProps {
  readonly state: AnnotationState
  readonly dispatch: Dispatch
  readonly onKeys: () => void
  readonly onJudgments: () => void
}

export const NothingToJudge = ({ state, dispatch, onKeys, onJudgments }: NothingToJudgeProps) => {
  const undo = () => dispatch(want("undo"))
  useKeys(({ _tag }) => {
    if (_tag === "undo") undo()
    if (_tag === "keys") onKeys()
    if (_tag === "judgments") onJudgments()
  })
  if (!state.isLoaded) {
    return (
      <main class="stack middle">
        {state.trouble === null && state.notice === null ? (
          <p class="muted late">Loading…</p>
        ) : (
          <Button
            text="Try again"
            onClick={() => dispatch(state.trouble === null ? want("next") : { _tag: "retry" })}
          />
        )}
      </main>
    )
  }
  const stopped = state.progress?.stopped ?? null
  if (stopped !== null) {
    return (
      <main class="stack middle">
        <h1>No work for you at present</h1>
        <p>{stopped}</p>
        <p class="muted">This page checks every 15 seconds while it is visible.</p>
      </main>
    )
  }
  const today = state.progress?.judged_today ?? 0
  return (
    <main class="stack middle">
      <h1>Nothing to judge right now</h1>
      <p>
        {today > 0 ? `You have judged ${today} ${today === 1 ? "item" : "items"} today. ` : ""}
        Other experts are judging the remaining items, or no task is open.
      </p>
      <p class="muted">This page checks for new items every 15 seconds while it is visible.</p>
      {state.progress?.undoable === true && (
        <p>
          <Button text="Take back the last judgment" onClick={undo} />
        </p>
      )}
    </main>
  )
}
