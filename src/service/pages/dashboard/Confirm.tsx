/**
 * A confirmation dialog for irreversible actions.
 *
 * Guarantees: closes when the action succeeds, and shows the problem if it fails; the focus returns to where it was.
 */
import type { ComponentChildren } from "preact"
import { useContext, useEffect } from "preact/hooks"
import type { Answer } from "../shared/api.ts"
import { Dialog } from "../shared/Dialog.tsx"
import { Say, useAction } from "./hooks.ts"
import { Problem } from "./parts.tsx"

export const Confirm = <A,>({
  title,
  confirm,
  danger = false,
  keep = "Cancel",
  ask,
  onDone,
  onClose,
  children,
}: {
  readonly title: string
  readonly confirm: string
  readonly danger?: boolean
  /** What the button says that leaves all as it is. */
  readonly keep?: string
  readonly ask: () => Promise<Answer<A>>
  readonly onDone: (value: A) => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}) => {
  const action = useAction()
  const say = useContext(Say)
  // What was said is of another action.
  useEffect(() => say(""), [])
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void action.run(ask, (value) => {
            onClose()
            onDone(value)
          })
        }}
      >
        {children}
        <Problem words={action.problem} />
        <div class="dialog-foot">
          <button type="button" class="button" autofocus={danger} onClick={onClose}>
            {keep}
          </button>
          <button
            type="submit"
            class={danger ? "button danger" : "button primary"}
            autofocus={!danger}
            aria-disabled={action.busy}
          >
            {confirm}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
