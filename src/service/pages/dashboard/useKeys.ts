/** Keyboard shortcuts of a page. In a text field, only Escape and Ctrl+Enter work. In a dialog, no shortcut works. */
import { useEffect, useRef } from "preact/hooks"
import { isDialogOpen } from "./hooks.ts"

const shortcutOf = (event: KeyboardEvent): string | undefined => {
  const { altKey, ctrlKey, defaultPrevented, isComposing, key, metaKey, repeat, target } = event
  if (defaultPrevented || altKey || isComposing || repeat || isDialogOpen()) return undefined
  if (ctrlKey || metaKey) return key === "Enter" ? key : undefined
  const isOn = (selector: string) => target instanceof Element && target.closest(selector) !== null
  if (isOn("textarea, input, select")) return key === "Escape" ? key : undefined
  if (key === "Enter" && isOn("a, summary, button:not([aria-pressed=true])")) return undefined
  return key.length === 1 ? key.toLowerCase() : key
}

/** If `handle` returns false, the browser handles the key as usual. */
export const useKeys = (handle: (key: string) => boolean | void): void => {
  const latest = useRef(handle)
  latest.current = handle
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const key = shortcutOf(event)
      if (key !== undefined && latest.current(key) !== false) event.preventDefault()
    }
    addEventListener("keydown", listen)
    return () => removeEventListener("keydown", listen)
  }, [])
}
