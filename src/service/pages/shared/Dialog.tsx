/** Modal dialogs on the browser's `dialog` element, which keeps the focus inside and closes on Escape. */
import type { ComponentChildren, RefObject } from "preact"
import { useLayoutEffect, useId, useRef } from "preact/hooks"
import { Button } from "./Button.tsx"

export const useModal = (): RefObject<HTMLDialogElement | null> => {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    if (dialog?.open === false) dialog.showModal()
    // `close` returns the focus to the element that had it before, or does nothing if the dialog is already closed.
    return () => dialog?.close()
  }, [])
  return element
}

export interface DialogProps {
  readonly title: string
  /** Called when the user dismisses the dialog. If absent, the user cannot dismiss the dialog. */
  readonly onClose?: () => void
  readonly children: ComponentChildren
  readonly class?: string
}

export const Dialog = ({ title, onClose, children, class: name }: DialogProps) => {
  const element = useModal()
  const id = useId()
  return (
    <dialog
      ref={element}
      class={`dialog ${name ?? ""}`}
      aria-labelledby={id}
      onCancel={(event) => {
        if (onClose === undefined) event.preventDefault()
      }}
      // A browser may close a dialog even after its `cancel` event was prevented. The dialog is then opened again.
      onClose={onClose ?? (() => element.current?.showModal())}
      onClick={(event) => {
        if (event.target === event.currentTarget && isOutside(event, event.currentTarget)) onClose?.()
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose !== undefined && <Button look="plain compact" text="✕" label="Close" onClick={onClose} />}
      </div>
      {children}
    </dialog>
  )
}

const isOutside = (event: MouseEvent, dialog: HTMLElement): boolean => {
  const box = dialog.getBoundingClientRect()
  return event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom
}
