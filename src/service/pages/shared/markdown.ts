/**
 * Markdown to HTML, for text that nobody vouches for.
 *
 * Guarantees: HTML in the text stays text; links go to http, https and mailto addresses only,
 * and tell the page they lead to nothing; images are links with their description; no `style`,
 * `id` or handler is ever written. `sanitise` goes over the result once more, in the browser.
 *
 * Line breaks are kept as they were written. Code is coloured where its language is named, up
 * to a length. Some texts take long: run it in a worker with a deadline (`textClient`).
 */
import highlight from "highlight.js/lib/common"
import MarkdownIt, { type Token } from "markdown-it"

/** Longer code is not coloured. */
const highlightLimit = 30_000

const markdown = new MarkdownIt({
  html: false,
  breaks: true,
  linkify: true,
  langPrefix: "language-",
  highlight: (code, language) =>
    code.length <= highlightLimit && highlight.getLanguage(language) !== undefined
      ? highlight.highlight(code, { language, ignoreIllegals: true }).value
      : "",
})

// Only what is written as an address: "example.com" and "me@example.com" are words.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
markdown.validateLink = (url) => /^(https?:\/\/|mailto:)/i.test(url.trim())

const { rules } = markdown.renderer

rules["link_open"] = (tokens, index, options, _env, renderer) => {
  const token = tokens[index]
  if (token !== undefined) outward(token)
  return renderer.renderToken(tokens, index, options)
}

rules["image"] = (tokens, index) => {
  const token = tokens[index]
  const words = markdown.utils.escapeHtml(token === undefined ? "" : textOf(token).trim())
  const source = markdown.utils.escapeHtml(attribute(token, "src"))
  return `<a class="image" href="${source}" title="${source}" target="_blank" rel="noopener noreferrer nofollow">Image${words === "" ? "" : `: ${words}`}</a>`
}

// Alignment as a class: the page allows no inline style.
for (const cell of ["th_open", "td_open"]) {
  rules[cell] = (tokens, index, options, _env, renderer) => {
    const token = tokens[index]
    const aligned = /text-align:(left|center|right)/.exec(attribute(token, "style"))?.[1]
    if (token !== undefined) {
      token.attrs = (token.attrs ?? []).filter(([name]) => name !== "style")
      if (aligned !== undefined) token.attrJoin("class", `align-${aligned}`)
    }
    return renderer.renderToken(tokens, index, options)
  }
}
rules["table_open"] = (tokens, index, options, _env, renderer) =>
  `<div class="wide">${renderer.renderToken(tokens, index, options)}`
rules["table_close"] = () => `</table></div>\n`

const attribute = (token: Token | undefined, name: string): string => String(token?.attrGet(name) ?? "")

const outward = (token: Token) => {
  token.attrSet("target", "_blank")
  token.attrSet("rel", "noopener noreferrer nofollow")
  // Where it leads, whatever its text says.
  token.attrSet("title", attribute(token, "href"))
}

const textOf = (token: Token): string =>
  (token.children ?? []).map((child) => (child.type === "image" ? textOf(child) : child.content)).join("")

/** Blocks of which each has the direction of its own text. */
const leaves = new Set(["p", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"])
/**
 * Blocks with blocks inside, which have the direction of the first letter in them: on these,
 * `auto` would see nothing of the blocks inside that have a direction of their own.
 */
const containers = new Set(["ul", "ol", "blockquote", "table"])

const rightToLeft = new RegExp(
  `[${["Adlam", "Arabic", "Hebrew", "Mandaic", "Nko", "Samaritan", "Syriac", "Thaana"].map((script) => `\\p{Script=${script}}`).join("")}]`,
  "u",
)

// Headings stand below that of the page, each at most one level below the one before, and keep their size by class.
markdown.core.ruler.push("blocks", ({ env, tokens }) => {
  let undirected: Array<Token> = []
  const open: Array<number> = []
  for (const token of tokens) {
    const written = /^h([1-6])$/.exec(token.tag)?.[1]
    if (token.nesting === 1) {
      if (leaves.has(token.tag)) token.attrSet("dir", "auto")
      if (containers.has(token.tag)) undirected.push(token)
      if (written !== undefined) {
        while ((open.at(-1) ?? 0) >= Number(written)) open.pop()
        open.push(Number(written))
        token.attrJoin("class", `heading-${written}`)
      }
    }
    if (written !== undefined && token.nesting !== 0) token.tag = `h${Math.min(Number(env["below"]) + open.length, 6)}`
    const letter = token.type === "inline" && undirected.length > 0 ? /\p{L}/u.exec(textOf(token))?.[0] : undefined
    if (letter !== undefined) {
      for (const each of undirected) each.attrSet("dir", rightToLeft.test(letter) ? "rtl" : "ltr")
      undirected = []
    } else if (token.nesting === -1 && containers.has(token.tag)) undirected.pop()
  }
})

/** @param below the level of the page's heading that the text stands under */
export const renderMarkdown = (text: string, below = 3): string => markdown.render(text, { below })
