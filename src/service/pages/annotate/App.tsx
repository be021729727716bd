/** The annotation page shows the current item and notices. If nobody is signed in, the page says why. */
import { useState } from "preact/hooks"
import { KeysDialog } from "../shared/KeysDialog.tsx"
import { want } from "./annotationState.ts"
import { isBusy } from "./annotationStep.ts"
import { GuidelinesChanged } from "./GuidelinesChanged.tsx"
import { Header } from "./Header.tsx"
import { JudgmentsDialog } from "./JudgmentsDialog.tsx"
import { help } from "./keys.ts"
import { NothingToJudge } from "./NothingToJudge.tsx"
import { Notices } from "./Notices.tsx"
import { SignedOut } from "./SignedOut.tsx"
import { SignOutDialog } from "./SignOutDialog.tsx"
import { useAnnotationState } from "./useAnnotationState.ts"
import { Workbench } from "./Workbench.tsx"

export const App = () => {
  const [state, dispatch] = useAnnotationState()
  const [dialog, setDialog] = useState<"judgments" | "keys" | "signOut" | null>(null)
  const showKeys = () => setDialog("keys")
  const showJudgments = () => setDialog("judgments")
  if (state.phase === "signedOut") return <SignedOut why={state.signedOut} />
  return (
    <>
      {state.phase === "working" && (
        <Header
          state={state}
          dispatch={dispatch}
          onKeys={showKeys}
          onJudgments={showJudgments}
          onSignOut={() => setDialog("signOut")}
        />
      )}
      <Notices state={state} dispatch={dispatch} />
      {state.item !== null && state.item.guidelines_change !== null ? (
        <GuidelinesChanged item={state.item} isBusy={isBusy(state)} onContinue={() => dispatch(want("guidelines"))} />
      ) : state.item !== null && state.entry !== null ? (
        <Workbench
          key={`${state.item.item_id} ${state.item.undone} ${state.item.corrects}`}
          state={state}
          item={state.item}
          entry={state.entry}
          dispatch={dispatch}
          onKeys={showKeys}
          onJudgments={showJudgments}
        />
      ) : (
        <NothingToJudge state={state} dispatch={dispatch} onKeys={showKeys} onJudgments={showJudgments} />
      )}
      {dialog === "judgments" && (
        <JudgmentsDialog
          onClose={() => setDialog(null)}
          onOpen={(itemId) => {
            setDialog(null)
            dispatch({ _tag: "want", wanted: { _tag: "correct", itemId } })
          }}
        />
      )}
      {dialog === "keys" && <KeysDialog groups={help} onClose={() => setDialog(null)} />}
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
