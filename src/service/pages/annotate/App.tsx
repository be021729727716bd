/** The annotation page shows the current item and notices. If nobody is signed in, the page says why. */
import { useEffect, useRef, useState } from "preact/hooks"
import { KeysDialog } from "../shared/KeysDialog.tsx"
import { type SignedOut as WhySignedOut, want } from "./annotationState.ts"
import { isBusy } from "./annotationStep.ts"
import { Header } from "./Header.tsx"
import { JudgmentsDialog } from "./JudgmentsDialog.tsx"
import { help } from "./keys.ts"
import { NothingToJudge } from "./NothingToJudge.tsx"
import { Notices } from "./Notices.tsx"
import { useAnnotationState } from "./useAnnotationState.ts"
import { Workbench } from "./Workbench.tsx"
import { Button } from "../shared/Button.tsx"
import { Dialog } from "../shared/Dialog.tsx"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { Changes } from "../shared/Changes.tsx"
import { RichText } from "../shared/RichText.tsx"

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

interface SignOutDialogProps {
  readonly onClose: () => void
  readonly onSignOut: () => void
}

/** Asks for confirmation before signing out, because signing in again needs a new invitation. */
const SignOutDialog = ({ onClose, onSignOut }: SignOutDialogProps) => (
  <Dialog title="Sign out?" onClose={onClose}>
    <p>To come back, you will need a new invitation link. To take a break, close this page: you stay signed in.</p>
    <div class="row dialog-foot">
      <Button text="Stay" onClick={onClose} />
      <Button look="danger" text="Sign out" onClick={onSignOut} />
    </div>
  </Dialog>
)

interface GuidelinesChangedProps {
  readonly item: HeldItem
  readonly isBusy: boolean
  readonly onContinue: () => void
}

const GuidelinesChanged = ({ item, isBusy, onContinue }: GuidelinesChangedProps) => {
  const { guidelines, guidelines_change, guidelines_version } = item
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [guidelines_version])
  if (guidelines_change === null) return null
  const { before, from } = guidelines_change
  return (
    <main class="stack bench">
      <section class="card changed stack">
        <h1 tabIndex={-1} ref={heading}>
          Guidelines changed: version {guidelines_version}
        </h1>
        <p class="muted">Judge your next items by this version. Each item shows the guidelines.</p>
        <Changes
          before={{ name: `Version ${from}`, text: before }}
          after={{ name: `Version ${guidelines_version}`, text: guidelines ?? "" }}
        />
        <p>
          <Button look="primary" text="Continue with the next item" busy={isBusy} onClick={onContinue} />
        </p>
        {guidelines !== null && (
          <details>
            <summary>The new version in full</summary>
            <RichText text={guidelines} below={1} />
          </details>
        )}
      </section>
    </main>
  )
}

const signedOutTexts: Readonly<Record<WhySignedOut, { readonly title: string; readonly text: ReadonlyArray<string> }>> =
  {
    never: {
      title: "Open your invitation",
      text: [
        "You are not signed in. Open your invitation link in this browser.",
        "If you have no link, or you used it in another browser, ask the people who run this service for a new link.",
      ],
    },
    ended: {
      title: "Your session has ended",
      text: [
        "Ask the people who run this service for a new link, and open it in this browser.",
        "What you entered last is kept on this device. It reappears if you get the same item after you sign in.",
      ],
    },
    invitation: {
      title: "This invitation cannot be used",
      text: [
        "The link is incomplete, has already been used, has expired, or was replaced by a newer one.",
        "If you opened the link in another browser, continue there. Otherwise, ask the person who sent it for a new link.",
      ],
    },
    left: {
      title: "You are signed out",
      text: ["To come back, ask the people who run this service for a new link, and open it in this browser."],
    },
  }

const SignedOut = ({ why }: { readonly why: WhySignedOut }) => (
  <main class="stack middle">
    <h1>{signedOutTexts[why].title}</h1>
    {signedOutTexts[why].text.map((text) => (
      <p key={text}>{text}</p>
    ))}
  </main>
)
