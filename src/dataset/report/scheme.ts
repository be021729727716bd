/**
 * Light or dark color scheme: the system's, until the reader chooses one.
 *
 * Guarantees: print is always light. The colors are defined once, in the shared style; this file switches the media
 * query of its dark rules.
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
