/**
 * Typesets a formula as HTML, by KaTeX.
 *
 * Guarantees: the result is undefined for what KaTeX can't parse, for a formula that is too long, and for commands that
 * link, load, or write attributes. Size and macro expansion are bounded; no formula defines a macro for another one.
 * Styles are written as `data-style`, which `sanitize` checks and applies, because the page's Content-Security-Policy
 * forbids `style`.
 */
import katex from "katex"

const maxCharacters = 5_000

/** KaTeX writes refused commands in this color, which identifies them in its HTML. A formula is unlikely to name it. */
const refused = "#f0e1d2"

export const typeset = (tex: string, displayMode: boolean): string | undefined => {
  if (tex.length > maxCharacters) return undefined
  // KaTeX throws if it cannot parse the formula, and the engine throws if the formula is nested too deeply.
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
