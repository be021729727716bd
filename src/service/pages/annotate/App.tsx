/** The annotation page: sign-in state, the current item, and notices. */
import { useState } from "preact/hooks"
import type { Desk } from "./deskState.ts"
import { Header } from "./Header.tsx"
import { KeysDialog } from "./KeysDialog.tsx"
import { Notices } from "./Notices.tsx"
import { SignedOut } from "./SignedOut.tsx"
import { SignOutDialog } from "./SignOutDialog.tsx"
import { type Dispatch, useDesk } from "./useDesk.ts"
import { useKeys } from "./useKeys.ts"
import { Workbench } from "./Workbench.tsx"

export const App = () => {
  const [desk, dispatch] = useDesk()
  const [dialog, setDialog] = useState<"keys" | "signOut" | null>(null)
  const showKeys = () => setDialog("keys")
  if (desk.phase === "signedOut") return <SignedOut why={desk.signedOut} />
  return (
    <>
      {desk.phase === "working" && (
        <Header desk={desk} dispatch={dispatch} onKeys={showKeys} onSignOut={() => setDialog("signOut")} />
      )}
      <Notices desk={desk} dispatch={dispatch} />
      {desk.item !== null && desk.entry !== null ? (
        <Workbench
          key={`${desk.item.item_id} ${desk.item.undone}`}
          desk={desk}
          item={desk.item}
          entry={desk.entry}
          dispatch={dispatch}
          onKeys={showKeys}
        />
      ) : (
        <Nothing desk={desk} dispatch={dispatch} onKeys={showKeys} />
      )}
      {dialog === "keys" && <KeysDialog onClose={() => setDialog(null)} />}
      {dialog === "signOut" && (
        <SignOutDialog
          onClose={() => setDialog(null)}
          onSignOut={() => {
            setDialog(null)
            dispatch({ _tag: "want", wanted: { _tag: "signOut" } })
          }}
        />
      )}
    </>
  )
}

interface NothingProps {
  readonly desk: Desk
  readonly dispatch: Dispatch
  readonly onKeys: () => void
}

const Nothing = ({ desk, dispatch, onKeys }: NothingProps) => {
  const undo = () => dispatch({ _tag: "want", wanted: { _tag: "undo" } })
  useKeys(({ _tag }) => {
    if (_tag === "undo") undo()
    if (_tag === "keys") onKeys()
  })
  if (!desk.isLoaded) {
    return (
      <main class="middle">
        {desk.trouble === null && desk.notice === null ? (
          <p class="muted late">Loading…</p>
        ) : (
          <button
            type="button"
            class="button"
            onClick={() =>
              dispatch(desk.trouble === null ? { _tag: "want", wanted: { _tag: "next" } } : { _tag: "retry" })
            }
          >
            Try again
          </button>
        )}
      </main>
    )
  }
  const today = desk.progress?.judged_today ?? 0
  return (
    <main class="middle">
      <h1>Nothing to judge right now</h1>
      <p>
        {today > 0 ? `You have judged ${today} ${today === 1 ? "item" : "items"} today. ` : ""}
        What remains is with other experts, or there are no open tasks.
      </p>
      <p class="muted">This page looks again by itself every 15 seconds, while it is open in front of you.</p>
      {desk.progress?.undoable === true && (
        <p>
          <button type="button" class="button" onClick={undo}>
            Take back the last judgment
          </button>
        </p>
      )}
    </main>
  )
}
