/**
 * Light or dark, as the system says until the reader says otherwise.
 *
 * Guarantees: paper is always light. The colors stand once, in the shared style: what changes
 * is on which media its dark part applies.
 */
export type Scheme = "system" | "light" | "dark"

const dark = "(prefers-color-scheme: dark)"
const media: Record<Scheme, string> = { system: `screen and ${dark}`, light: "not all", dark: "screen" }

const darkRules = [...document.styleSheets]
  .flatMap((sheet) => [...sheet.cssRules])
  .filter((rule) => rule instanceof CSSMediaRule)
  .filter((rule) => rule.media.mediaText === dark)

export const isSystemDark = (): boolean => matchMedia(dark).matches

export const showScheme = (scheme: Scheme): void => {
  for (const rule of darkRules) rule.media.mediaText = media[scheme]
  // Of scroll bars and fields, which the browser draws.
  document.documentElement.dataset["scheme"] = scheme
}
