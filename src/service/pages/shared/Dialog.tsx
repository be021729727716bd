/**
 * A modal dialog: the browser's own, so focus stays inside, Escape closes it, and focus
 * goes back to where it was.
 */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useId, useRef } from "preact/hooks"

export interface DialogProps {
  /** Its name, shown as the heading. */
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** For another size than a form's. */
  readonly class?: string
}

/** Is open as long as it is drawn. */
export const Dialog = ({ title, onClose, children, class: name }: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const dialog = element.current
    const before = document.activeElement
    if (dialog !== null && !dialog.open) dialog.showModal()
    return () => {
      if (dialog?.open === true) dialog.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={`dialog ${name ?? ""}`}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        // The backdrop is the dialog itself; what is inside covers the rest of it.
        if (event.target === element.current && isOutside(event, element.current)) onClose()
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="button plain compact" aria-label="Close" onClick={onClose}>
          <span aria-hidden="true">✕</span>
        </button>
      </div>
      {children}
    </dialog>
  )
}

const isOutside = (event: MouseEvent, dialog: HTMLElement | null): boolean => {
  if (dialog === null) return false
  const box = dialog.getBoundingClientRect()
  return event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom
}
