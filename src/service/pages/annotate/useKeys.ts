/** Listens for the keyboard shortcuts that `keys` defines. */
import { useLayoutEffect, useRef } from "preact/hooks"
import { type Action, actionOf, type Where } from "./keys.ts"

/** If `handle` returns false, the browser handles the key as usual. */
export const useKeys = (handle: (action: Action) => boolean | void): void => {
  const latest = useRef(handle)
  latest.current = handle
  // A layout effect adds the listener before the browser paints the next item. Otherwise, a key that is pressed after
  // the paint could be lost or applied to the previous item.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return
      const action = actionOf(event, whereIs(event.target))
      if (action !== null && latest.current(action) !== false) event.preventDefault()
    }
    window.addEventListener("keydown", listen)
    return () => window.removeEventListener("keydown", listen)
  }, [])
}

const whereIs = (target: EventTarget | null): Where => {
  if (!(target instanceof Element)) return "page"
  const dialog = document.querySelector("dialog[open]")
  if (dialog !== null && !dialog.classList.contains("reader")) return "dialog"
  if (target.closest("textarea, input, select, [contenteditable]") !== null) return "text"
  if (target.closest(".rich [tabindex]") !== null) return "scroller"
  return target.closest("button, a, summary") === null ? "page" : "control"
}
