/**
 * A formula to HTML, by KaTeX.
 *
 * Guarantees: undefined for what KaTeX can't read, for a formula that is too long, and for commands that link, load, or
 * write attributes. Size and macro expansion are bounded; no formula defines a macro for another one. Styles are written as
 * `data-style`, which `sanitize` checks and applies, since the page's Content-Security-Policy forbids `style`.
 */
import katex from "katex"

/** Longer formulas are not rendered. */
const maxCharacters = 5_000

/** The color of commands that are refused, to know them by; no formula is likely to name it. */
const refused = "#f0e1d2"

export const typeset = (tex: string, displayMode: boolean): string | undefined => {
  if (tex.length > maxCharacters) return undefined
  // KaTeX throws what it cannot parse, and the engine what is nested too deeply.
  try {
    const html = katex.renderToString(tex, {
      displayMode,
      output: "html",
      throwOnError: true,
      errorColor: refused,
      strict: "ignore",
      trust: false,
      maxSize: 20,
      maxExpand: 500,
    })
    return html.includes(refused) ? undefined : html.replaceAll(' style="', ' data-style="')
  } catch {
    return undefined
  }
}
