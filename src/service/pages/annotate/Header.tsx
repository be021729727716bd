/** The page header shows the item's number, the progress, and the signed-in expert. */
import { isBusy } from "./annotationStep.ts"
import type { AnnotationState } from "./annotationState.ts"
import type { Dispatch } from "./useAnnotationState.ts"

export interface HeaderProps {
  readonly state: AnnotationState
  readonly dispatch: Dispatch
  readonly onKeys: () => void
  readonly onSignOut: () => void
}

export const Header = ({ state, dispatch, onKeys, onSignOut }: HeaderProps) => {
  const { item, progress } = state
  const task = item?.task
  const ofWhat = item?.qualification === true ? "of your qualification" : "in this task"
  return (
    <header class="top">
      <div class="top-where">
        {task === undefined ? (
          <strong>Annotation</strong>
        ) : (
          <>
            <strong class="numbers">
              {item?.qualification === true ? "Qualification: item" : "Item"} {task.number} of {task.prompts}
            </strong>
            <progress
              max={task.prompts}
              value={task.judged}
              aria-label={`Judged by you ${ofWhat}`}
              title={`You have judged ${task.judged} of ${task.prompts} ${ofWhat}`}
            />
            <span class="small muted numbers wide-only">
              {task.judged} judged by you {ofWhat}
            </span>
          </>
        )}
      </div>
      {progress !== null && (
        <dl class="top-counts small numbers">
          <div>
            <dt>Today</dt>
            <dd>{progress.judged_today}</dd>
          </div>
          <div class="wide-only">
            <dt>In all</dt>
            <dd>{progress.judged}</dd>
          </div>
          <div class="wide-only" title="Votes that open tasks still need, from all experts">
            <dt>Votes needed</dt>
            <dd>{progress.needed}</dd>
          </div>
        </dl>
      )}
      <div class="top-actions">
        <button
          type="button"
          class="button plain compact"
          title="Take back the last judgment (U)"
          disabled={progress?.undoable !== true || isBusy(state)}
          onClick={() => dispatch({ _tag: "want", wanted: { _tag: "undo" } })}
        >
          Undo
        </button>
        <button type="button" class="button plain compact wide-only" title="Keys (?)" onClick={onKeys}>
          Keys
        </button>
        <span class="small who wide-only" title={`Signed in as ${state.name}`}>
          <span class="unseen">Signed in as </span>
          <bdi>{state.name}</bdi>
        </span>
        <button type="button" class="button plain compact" title={`Signed in as ${state.name}`} onClick={onSignOut}>
          Sign out
        </button>
      </div>
    </header>
  )
}
