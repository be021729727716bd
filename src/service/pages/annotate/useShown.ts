/** Detects when all texts inside an element are shown, either rendered or as plain text (see `RichText`). */
import type { RefObject } from "preact"
import { useLayoutEffect, useState } from "preact/hooks"

/** Returns false until all texts are shown, and true from then on, even if a text is rendered again. */
export const useShown = (within: RefObject<HTMLElement | null>): boolean => {
  const [isShown, setShown] = useState(false)
  useLayoutEffect(() => {
    const element = within.current
    if (element === null) return undefined
    const observer = new MutationObserver(() => check())
    const check = () => {
      if (element.querySelector(".rich.blank") !== null) return
      observer.disconnect()
      setShown(true)
    }
    observer.observe(element, { subtree: true, childList: true, attributeFilter: ["class"] })
    check()
    return () => observer.disconnect()
  }, [])
  return isShown
}
