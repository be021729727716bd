/**
 * Typesets a formula as HTML, with KaTeX. Undefined if it cannot be parsed, is too long, or has commands that link,
 * load, or write attributes. Styles are `data-style`, which `sanitize` checks, because the policy forbids `style`.
 */
import katex from "katex"

const maxCharacters = 5_000

/** KaTeX gives refused commands this color, so that `typeset` can find them. Formulas are unlikely to use the color. */
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
