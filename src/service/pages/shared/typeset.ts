/**
 * Typesets a formula as HTML, with KaTeX. Returns undefined if the formula cannot be parsed, is too long, or has
 * commands that link, load, or write attributes. The Content-Security-Policy forbids `style`, so the HTML has
 * `data-style`, which `sanitize` checks and applies.
 */
import katex from "katex"

const maxCharacters = 5_000

/** The color in which KaTeX prints forbidden commands. `typeset` uses this color to detect such commands. */
const refused = "#f0e1d2"

export const typeset = (tex: string, displayMode: boolean): string | undefined => {
  if (tex.length > maxCharacters) return undefined
  // KaTeX throws if it cannot parse the formula. The JavaScript engine throws if the formula is nested too deeply.
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
