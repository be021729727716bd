/** Indents JSON for reading. Only white space between tokens changes; numbers and escapes stay as they are. */

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
      indented = /[[{]\s*$/.test(indented) ? indented.trimEnd() + token : indented + newLine() + token
    } else indented += token === "," ? token + newLine() : token === ":" ? ": " : token
  }
  return indented
}

const isJson = (text: string): boolean => {
  // `JSON.parse` throws if the text is not JSON.
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
