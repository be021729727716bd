/** Dialogs that ask for confirmation. They close when the action succeeds, and show the problem if it fails. */
import type { ComponentChildren } from "preact"
import { useContext, useEffect, useState } from "preact/hooks"
import type { Answer } from "../shared/api.ts"
import { Button } from "../shared/Button.tsx"
import { Dialog } from "../shared/Dialog.tsx"
import { type Values, valuesOf } from "./forms.tsx"
import { Reload, Say, useAction } from "./hooks.ts"
import { Problem } from "./parts.tsx"

interface ConfirmProps<A> {
  readonly title: string
  readonly confirm: string
  readonly danger?: boolean
  readonly keep?: string
  readonly ask: (values: Values) => Promise<Answer<A>>
  readonly success?: string | ((value: A) => string)
  readonly onDone?: (value: A) => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export const Confirm = <A,>(props: ConfirmProps<A>) => {
  const { ask, confirm, danger = false, keep = "Cancel", onClose, onDone, success, title } = props
  const action = useAction()
  const say = useContext(Say)
  const reload = useContext(Reload)
  useEffect(() => say(""), [])
  const act = (values: Values) =>
    void action.run(
      () => ask(values),
      (value) => {
        onClose()
        if (success !== undefined) say(typeof success === "string" ? success : success(value))
        onDone?.(value)
        reload()
      },
    )
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act(valuesOf(event.currentTarget))
        }}
      >
        {props.children}
        <Problem words={action.problem} />
        <div class="row dialog-foot">
          <Button text={keep} autofocus={danger} onClick={onClose} />
          <Button
            type="submit"
            look={danger ? "danger" : "primary"}
            text={confirm}
            autofocus={!danger}
            busy={action.busy}
          />
        </div>
      </form>
    </Dialog>
  )
}

interface ConfirmButtonProps<A> extends Omit<ConfirmProps<A>, "onClose"> {
  readonly text: string
  readonly label?: string | undefined
  readonly look?: string
}

export const ConfirmButton = <A,>({ text, label, look = "compact", ...props }: ConfirmButtonProps<A>) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button text={text} label={label} look={look} onClick={() => setOpen(true)} />
      {isOpen && <Confirm {...props} onClose={() => setOpen(false)} />}
    </>
  )
}
