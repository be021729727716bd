/**
 * A formula to HTML, by KaTeX.
 *
 * Guarantees: undefined for what KaTeX cannot read, for a formula that is too long, and for one with
 * a command that would link, load, or write attributes: such a formula is shown as it was written.
 * No formula draws anything larger than `maxSize`, expands more than `maxExpand` macros, or defines a
 * macro for another one.
 *
 * Does not write `style`, which the page's Content-Security-Policy forbids: `data-style` instead,
 * which `sanitise` checks and applies.
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
