/** The page header shows the item's number, the progress, and the signed-in expert. */
import { Button } from "../shared/Button.tsx"
import { isBusy } from "./annotationStep.ts"
import { type AnnotationState, want } from "./annotationState.ts"
import type { Dispatch } from "./useAnnotationState.ts"
import { titled } from "./keys.ts"

export interface HeaderProps {
  readonly state: AnnotationState
  readonly dispatch: Dispatch
  readonly onKeys: () => void
  readonly onJudgments: () => void
  readonly onSignOut: () => void
}

export const Header = ({ state, dispatch, onKeys, onJudgments, onSignOut }: HeaderProps) => {
  const { item, progress } = state
  const task = item?.task
  const ofWhat = item?.qualification === true ? "in your qualification" : "in this task"
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
              title={`You have judged ${task.judged} of ${task.prompts} items ${ofWhat}`}
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
          <div class="wide-only" title="Votes still missing on open tasks, from you or from others">
            <dt>Votes needed</dt>
            <dd>{progress.needed}</dd>
          </div>
        </dl>
      )}
      <div class="top-actions">
        <Button
          look="plain compact"
          text="Undo"
          title={titled("Take back the last judgment", "undo")}
          disabled={progress?.undoable !== true || isBusy(state)}
          onClick={() => dispatch(want("undo"))}
        />
        <Button
          look="plain compact"
          text="Judgments"
          title={titled("Your last judgments", "judgments")}
          onClick={onJudgments}
        />
        <Button look="plain compact wide-only" text="Keys" title="Keys (?)" onClick={onKeys} />
        <span class="small who wide-only" title={`Signed in as ${state.name}`}>
          <span class="unseen">Signed in as </span>
          <bdi>{state.name}</bdi>
        </span>
        <Button look="plain compact" text="Sign out" title={`Signed in as ${state.name}`} onClick={onSignOut} />
      </div>
    </header>
  )
}
