/**
 * Converts untrusted Markdown to HTML. HTML in the text is shown as text. Links lead only to http, https, and mailto.
 * The result has no `style`, `id`, or event handler, and `sanitize` checks it again. Some texts take long, so callers
 * run this in a worker with a timeout (`textClient`).
 */
import highlight from "highlight.js/lib/common"
import MarkdownIt, { type Token } from "markdown-it"
import { type Allowed, isShown } from "./images.ts"
import { formulaOf, isMath, math, setHtml } from "./math.ts"

const highlightLimit = 30_000
/** Maximum characters of HTML for all formulas in a text. The formulas after that are shown as they were written. */
const formulasLimit = 300_000

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

markdown.use(math)

markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
const isLink = (url: string) => /^(https?:\/\/|mailto:)/i.test(url.trim())
markdown.validateLink = (url) => isLink(url) || /^data:image\//i.test(url)

const { rules } = markdown.renderer

rules["link_open"] = (tokens, index, options, _env, renderer) => {
  const token = tokens[index]
  if (token !== undefined && isLink(attribute(token, "href"))) outward(token)
  else if (token !== undefined) {
    // A link with a `data:` address becomes a `span`, because only images may have such an address.
    const close = tokens.slice(index).find(({ level, type }) => type === "link_close" && level === token.level)
    for (const end of [token, close]) if (end !== undefined) Object.assign(end, { tag: "span", attrs: null })
  }
  return renderer.renderToken(tokens, index, options)
}

const hiddenImage = "hidden_image"
const descriptionOf = (token: Token | undefined) => markdown.utils.escapeHtml(textOf(token?.children).trim())

rules["image"] = (tokens, index) => {
  const source = markdown.utils.escapeHtml(attribute(tokens[index], "src"))
  return `<img src="${source}" alt="${descriptionOf(tokens[index])}" loading="lazy">`
}

rules[hiddenImage] = (tokens, index) => {
  const words = descriptionOf(tokens[index])
  const address = attribute(tokens[index], "src")
  const source = markdown.utils.escapeHtml(address.length > 200 ? `${address.slice(0, 200)}…` : address)
  return `<span class="image">Image${words === "" ? "" : `: ${words}`}${source === "" ? "" : ` (${source})`}</span>`
}

// Alignment becomes a class, because the page allows no inline style.
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

rules["math"] = (tokens, index) => formulaHtml(tokens[index])
rules["math_block"] = (tokens, index) => `<p>${formulaHtml(tokens[index])}</p>\n`

const formulaHtml = (token: Token | undefined): string =>
  token === undefined
    ? ""
    : (formulaOf(token).html ?? markdown.utils.escapeHtml(formulaOf(token).source).replaceAll("\n", "<br>\n"))

const attribute = (token: Token | undefined, name: string): string => String(token?.attrGet(name) ?? "")

const outward = (token: Token) => {
  token.attrSet("target", "_blank")
  token.attrSet("rel", "noopener noreferrer nofollow")
  // The link's title shows where the link leads, because the link's text may say something else.
  token.attrSet("title", attribute(token, "href"))
}

const textOf = (tokens: ReadonlyArray<Token> | null | undefined): string =>
  (tokens ?? []).map((token) => (token.type === "image" ? textOf(token.children) : token.content)).join("")

/** Returns the text without formulas, because a formula has its own writing direction. */
const proseOf = (token: Token): string => textOf(token.children?.filter((child) => !isMath(child)))

const leaves = new Set(["p", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"])
/** A container gets the direction of its first letter, because `dir="auto"` ignores child elements with a `dir`. */
const containers = new Set(["ul", "ol", "blockquote", "table"])

const rightToLeft = new RegExp(
  `[${["Adlam", "Arabic", "Hebrew", "Mandaic", "Nko", "Samaritan", "Syriac", "Thaana"].map((script) => `\\p{Script=${script}}`).join("")}]`,
  "u",
)

// Renumbers headings, starting one level below the page's heading. The class `heading-N` has the original level.
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
    if (written !== undefined && token.nesting !== 0) token.tag = `h${Math.min(Number(env["level"]) + open.length, 6)}`
    const letter = token.type === "inline" && undirected.length > 0 ? /\p{L}/u.exec(proseOf(token))?.[0] : undefined
    if (letter !== undefined) {
      for (const each of undirected) each.attrSet("dir", rightToLeft.test(letter) ? "rtl" : "ltr")
      undirected = []
    } else if (token.nesting === -1 && containers.has(token.tag)) undirected.pop()
  }
})

const typesetAll = (tokens: ReadonlyArray<Token>, typeset: (tex: string, display: boolean) => string | undefined) => {
  let left = formulasLimit
  for (const token of tokens) {
    const { tex, display } = formulaOf(token)
    const html = typeset(tex, display)
    if (html === undefined) continue
    // KaTeX hides its HTML from screen readers, so they read the formula's source.
    const label = markdown.utils.escapeHtml(tex)
    const whole = `<span class="formula${display ? " wide" : ""}" dir="ltr" role="math" aria-label="${label}">${html}</span>`
    left -= whole.length
    if (left < 0) return
    setHtml(token, whole)
  }
}

const loadNow = <A>(module: Promise<A>): Promise<A> => module

/** @param level the level of the page's heading above the text. If it is 3, `# Title` becomes an `h4`. */
export const renderMarkdown = async (
  text: string,
  level = 3,
  load = loadNow,
  images: Allowed = { hosts: [], handles: null },
): Promise<string> => {
  const env = { level }
  const tokens = markdown.parse(text, env)
  const all = tokens.flatMap((token) => [token, ...(token.children ?? [])])
  for (const token of all) {
    if (token.type === "image" && !isShown(attribute(token, "src"), images)) token.type = hiddenImage
  }
  const formulas = all.filter(isMath)
  const loaded = formulas.length === 0 ? undefined : await load(import("./typeset.ts")).catch(() => undefined)
  if (loaded !== undefined) typesetAll(formulas, loaded.typeset)
  return markdown.renderer.render(tokens, markdown.options, env)
}
