/**
 * JSON for people: an object or a list with a line for each member.
 *
 * Guarantees: only white space between tokens changes, so digits and escapes stay as they are.
 */

/** Undefined where the text is no object or list, or is no JSON. */
export const indentJson = (text: string): string | undefined => {
  if (!/^\s*[[{]/.test(text) || !isJson(text)) return undefined
  let indented = ""
  let depth = 0
  const newLine = () => `\n${"  ".repeat(depth)}`
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    if (token === "{" || token === "[") {
      depth++
      indented += token + newLine()
    } else if (token === "}" || token === "]") {
      depth--
      // An empty object or list stays on its line.
      indented = /[[{]\s*$/.test(indented) ? indented.trimEnd() + token : indented + newLine() + token
    } else indented += token === "," ? token + newLine() : token === ":" ? ": " : token
  }
  return indented
}

const isJson = (text: string): boolean => {
  // The parser says by throwing that it is none.
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
