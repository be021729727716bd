/**
 * Parses formulas in Markdown: `$$…$$` and `\[…\]` on lines of their own, `$…$` and `\(…\)` within text. `isFormula`
 * checks the characters next to a `$`, so that `$5 or $6` and `$HOME/$USER` stay text. Parsing takes linear time.
 */
import type { MarkdownIt, Token } from "markdown-it"

const closers: Readonly<Record<string, string>> = { $$: "$$", $: "$", "\\[": "\\]", "\\(": "\\)" }

const openerAt = (text: string, at: number): string | undefined => {
  const two = text.slice(at, at + 2)
  return two in closers ? two : text[at] === "$" ? "$" : undefined
}

/** Finds the end of a formula. `from` is the start of its content. Returns the closing delimiter's index, or -1. */
const closing = (text: string, from: number, opener: string): number => {
  for (let at = from; at < text.length; at += 1) {
    const character = text[at]
    if (character === "`") return -1
    if (character === "\n" && /^[ \t]*(\n|$)/.test(text.slice(at + 1, at + 80))) return -1
    if (character !== "$" && character !== "\\") continue
    if (text.startsWith(closers[opener] ?? "", at)) return at
    if (openerAt(text, at) !== undefined) return -1
    if (character === "\\") at += 1
  }
  return -1
}

const isFormula = (opener: string, content: string, before: string, after: string): boolean => {
  if (content.trim() === "") return false
  if (opener === "$") return !/[A-Za-z0-9]/.test(before) && !/^\s|\s$/.test(content) && !/[0-9A-Z_{]/.test(after)
  return opener !== "\\[" || /[\\^_=<>+*/]/.test(content)
}

interface Formula {
  readonly tex: string
  readonly display: boolean
  readonly source: string
  readonly html?: string
}

export const isMath = ({ type }: Token): boolean => type === "math" || type === "math_block"

const formulas = new WeakMap<Token, Formula>()

const set = (token: Token, opener: string, content: string) => {
  token.content = content.trim()
  formulas.set(token, {
    tex: token.content,
    display: opener === "$$" || opener === "\\[",
    source: `${opener}${content}${closers[opener] ?? ""}`,
  })
}

export const formulaOf = (token: Token): Formula =>
  formulas.get(token) ?? { tex: token.content, display: false, source: token.content }

export const setHtml = (token: Token, html: string): void => {
  formulas.set(token, { ...formulaOf(token), html })
}

export const math = (markdown: MarkdownIt): void => {
  markdown.inline.ruler.before("escape", "math", (state, silent) => {
    const { pos, src } = state
    const opener = openerAt(src, pos)
    if (opener === undefined) return false
    const from = pos + opener.length
    const end = closing(src, from, opener)
    if (end < 0) return false
    const next = end + opener.length
    const content = src.slice(from, end)
    if (next > state.posMax || !isFormula(opener, content, src.slice(pos - 1, pos), src.slice(next, next + 1)))
      return false
    if (!silent) set(state.push("math", "", 0), opener, content)
    state.pos = next
    return true
  })

  markdown.block.ruler.before(
    "fence",
    "math_block",
    (state, startLine, endLine, silent) => {
      const start = (state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0)
      const opener = openerAt(state.src, start)
      if (opener !== "$$" && opener !== "\\[") return false
      const end = closing(state.src, start + 2, opener)
      if (end < 0) return false
      let line = startLine
      while ((state.eMarks[line] ?? Infinity) < end) {
        line += 1
        if (line >= endLine || (state.sCount[line] ?? 0) < state.blkIndent) return false
      }
      if (state.src.slice(end + 2, state.eMarks[line]).trim() !== "") return false
      const source = state.getLines(startLine, line + 1, state.blkIndent, false).trim()
      if (source.slice(2, -2).trim() === "") return false
      if (silent) return true
      const token = state.push("math_block", "", 0)
      set(token, opener, source.slice(2, -2))
      token.block = true
      token.map = [startLine, line + 1]
      state.line = line + 1
      return true
    },
    { alt: ["paragraph", "reference", "blockquote", "list"] },
  )
}
