/** The annotation page: the current item and notices, or why nobody is signed in. */
import { useState } from "preact/hooks"
import { Button } from "../shared/Button.tsx"
import { type AnnotationState, want } from "./annotationState.ts"
import { isBusy } from "./annotationStep.ts"
import { GuidelinesChanged } from "./GuidelinesChanged.tsx"
import { Header } from "./Header.tsx"
import { KeysDialog } from "./KeysDialog.tsx"
import { Notices } from "./Notices.tsx"
import { SignedOut } from "./SignedOut.tsx"
import { SignOutDialog } from "./SignOutDialog.tsx"
import { type Dispatch, useAnnotationState } from "./useAnnotationState.ts"
import { useKeys } from "./useKeys.ts"
import { Workbench } from "./Workbench.tsx"

export const App = () => {
  const [state, dispatch] = useAnnotationState()
  const [dialog, setDialog] = useState<"keys" | "signOut" | null>(null)
  const showKeys = () => setDialog("keys")
  if (state.phase === "signedOut") return <SignedOut why={state.signedOut} />
  return (
    <>
      {state.phase === "working" && (
        <Header state={state} dispatch={dispatch} onKeys={showKeys} onSignOut={() => setDialog("signOut")} />
      )}
      <Notices state={state} dispatch={dispatch} />
      {state.item !== null && state.item.guidelines_change !== null ? (
        <GuidelinesChanged item={state.item} isBusy={isBusy(state)} onContinue={() => dispatch(want("guidelines"))} />
      ) : state.item !== null && state.entry !== null ? (
        <Workbench
          key={`${state.item.item_id} ${state.item.undone}`}
          state={state}
          item={state.item}
          entry={state.entry}
          dispatch={dispatch}
          onKeys={showKeys}
        />
      ) : (
        <Nothing state={state} dispatch={dispatch} onKeys={showKeys} />
      )}
      {dialog === "keys" && <KeysDialog onClose={() => setDialog(null)} />}
      {dialog === "signOut" && (
        <SignOutDialog
          onClose={() => setDialog(null)}
          onSignOut={() => {
            setDialog(null)
            dispatch(want("signOut"))
          }}
        />
      )}
    </>
  )
}

interface NothingProps {
  readonly state: AnnotationState
  readonly dispatch: Dispatch
  readonly onKeys: () => void
}

const Nothing = ({ state, dispatch, onKeys }: NothingProps) => {
  const undo = () => dispatch(want("undo"))
  useKeys(({ _tag }) => {
    if (_tag === "undo") undo()
    if (_tag === "keys") onKeys()
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
