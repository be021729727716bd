/**
 * Modal dialogs by the browser's `dialog` element: focus stays inside, Escape closes, and the focus returns afterwards.
 */
import type { ComponentChildren, RefObject } from "preact"
import { useLayoutEffect, useId, useRef } from "preact/hooks"

/** The `ref` of a `<dialog>` that is open as long as it is drawn. */
export const useModal = (): RefObject<HTMLDialogElement | null> => {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    if (dialog?.open === false) dialog.showModal()
    // The browser returns the focus, at once: one that has closed before leaves alone what has it since.
    return () => dialog?.close()
  }, [])
  return element
}

export interface DialogProps {
  readonly title: string
  /** Without it the dialog can't be dismissed. */
  readonly onClose?: () => void
  readonly children: ComponentChildren
  /** For another look than a form's. */
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
      // A browser may close a dialog that refused to be canceled.
      onClose={onClose ?? (() => element.current?.showModal())}
      onClick={(event) => {
        // The backdrop is the dialog itself; what is inside covers the rest of it.
        if (event.target === event.currentTarget && isOutside(event, event.currentTarget)) onClose?.()
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose !== undefined && (
          <button type="button" class="button plain compact" aria-label="Close" onClick={onClose}>
            <span aria-hidden="true">✕</span>
          </button>
        )}
      </div>
      {children}
    </dialog>
  )
}

const isOutside = (event: MouseEvent, dialog: HTMLElement): boolean => {
  const box = dialog.getBoundingClientRect()
  return event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom
}
