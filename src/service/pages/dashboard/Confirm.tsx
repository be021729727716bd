/**
 * Dialogs that ask for confirmation before an action.
 *
 * Guarantees: a dialog closes when the action succeeds, and shows the problem if it fails; the focus returns to where
 * it was.
 */
import type { ComponentChildren } from "preact"
import { useContext, useEffect, useState } from "preact/hooks"
import type { Answer } from "../shared/api.ts"
import { Dialog } from "../shared/Dialog.tsx"
import { type Values, valuesOf } from "./forms.tsx"
import { Say, useAction } from "./hooks.ts"
import { Problem } from "./parts.tsx"

export interface ConfirmProps<A> {
  readonly title: string
  /** The label of the button that runs the action. */
  readonly confirm: string
  /** Whether the action can't be undone. */
  readonly danger?: boolean
  /** The label of the button that cancels. */
  readonly keep?: string
  /** Runs the action, with the values of the fields among `children`. */
  readonly ask: (values: Values) => Promise<Answer<A>>
  /** The announcement after the action succeeds. */
  readonly said?: string | ((value: A) => string)
  readonly onDone: (value: A) => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export const Confirm = <A,>(props: ConfirmProps<A>) => {
  const { ask, confirm, danger = false, keep = "Cancel", onClose, onDone, said, title } = props
  const action = useAction()
  const say = useContext(Say)
  // An earlier announcement could be mistaken for the one of this action.
  useEffect(() => say(""), [])
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          const values = valuesOf(event.currentTarget)
          void action.run(
            () => ask(values),
            (value) => {
              onClose()
              if (said !== undefined) say(typeof said === "string" ? said : said(value))
              onDone(value)
            },
          )
        }}
      >
        {props.children}
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

/** A button that opens a `Confirm` dialog. */
export const ConfirmButton = <A,>({
  button,
  label,
  class: name = "compact",
  ...props
}: Omit<ConfirmProps<A>, "onClose"> & {
  readonly button: string
  /** The accessible name, if the button's text does not say enough. */
  readonly label?: string | undefined
  readonly class?: string
}) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        class={name === "link" ? name : `button ${name}`}
        aria-label={label}
        onClick={() => setOpen(true)}
      >
        {button}
      </button>
      {isOpen && <Confirm {...props} onClose={() => setOpen(false)} />}
    </>
  )
}
