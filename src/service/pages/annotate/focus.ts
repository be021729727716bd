/** Moves the focus on the annotation page. */

/** Focuses a card. Scrolls only if the card is out of view, so that the text that the expert reads does not move. */
export const focusOn = (card: HTMLElement | null | undefined) => {
  card?.focus({ preventScroll: true })
  const box = card?.getBoundingClientRect()
  if (box !== undefined && (box.bottom < 80 || box.top > innerHeight - 200)) card?.scrollIntoView({ block: "nearest" })
}

export const focusFirst = (within: Element | null | undefined, selector: string): boolean => {
  const element = within?.querySelector<HTMLElement>(selector)
  element?.focus()
  return element !== null && element !== undefined
}
