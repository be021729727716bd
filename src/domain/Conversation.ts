/**
 * Renders a conversation as one text, for readers that take text only: experts, and formats without roles.
 *
 * Guarantees: `parse(render(messages))` gives the messages back. A prompt that is text stays unchanged; `parse` reads a
 * text as a conversation only if it begins with a header.
 */
import { Array as Arr, Option } from "effect"
import type { Message, Prompt } from "./Message.ts"

/**
 * The text of a prompt; a prompt that is text is returned unchanged. Each message begins with its role in brackets;
 * an empty line separates messages:
 *
 * ```
 * [system]
 * You are terse.
 *
 * [user]
 * Hello
 * ```
 *
 * A content line that `parse` would read as a header (in brackets, after an empty line) is prefixed with a backslash,
 * as is such a line that already has backslashes. In a role, a line feed is written `\n`, a backslash `\\`.
 */
export const render = (prompt: Prompt): string =>
  typeof prompt === "string" ? prompt : prompt.map(renderMessage).join("\n\n")

const renderMessage = ({ content, role }: Message): string =>
  `[${role.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}]\n${escapeLines(content)}`

/** The prompt as a text column has it: the content of a single user message, else the rendered conversation. */
export const toText = (prompt: Prompt): string =>
  typeof prompt !== "string" && prompt.length === 1 && prompt[0].role === "user" ? prompt[0].content : render(prompt)

/** The contents of the messages, without their roles. */
export const contents = (prompt: Prompt): ReadonlyArray<string> =>
  typeof prompt === "string" ? [prompt] : prompt.map(({ content }) => content)

/** The messages of a text that `render` produced; none if it does not begin with a header. */
export const parse = (text: string): Option.Option<Arr.NonEmptyReadonlyArray<Message>> => {
  const lines = text.split("\n")
  // A header is never the last line: a content, possibly empty, follows it.
  const starts = lines.flatMap((line, i) =>
    isHeader(line) && i < lines.length - 1 && (i === 0 || lines[i - 1] === "") ? [i] : [],
  )
  const messages = starts.map((start, i): Message => ({
    role: lines[start]!.slice(1, -1).replace(/\\(.)/g, (_, character) => (character === "n" ? "\n" : character)),
    content: unescapeLines(lines.slice(start + 1, i + 1 < starts.length ? starts[i + 1]! - 1 : lines.length)),
  }))
  return starts[0] === 0 && Arr.isReadonlyArrayNonEmpty(messages) ? Option.some(messages) : Option.none()
}

const isHeader = (line: string): boolean => line.startsWith("[") && line.endsWith("]")

/** A header, with or without leading backslashes. */
const isEscapable = (line: string): boolean => isHeader(line.replace(/^\\+/, ""))

const escapeLines = (content: string): string =>
  content
    .split("\n")
    .map((line, i, lines) => (lines[i - 1] === "" && isEscapable(line) ? `\\${line}` : line))
    .join("\n")

const unescapeLines = (lines: ReadonlyArray<string>): string =>
  lines
    .map((line, i) => (lines[i - 1] === "" && line.startsWith("\\") && isEscapable(line) ? line.slice(1) : line))
    .join("\n")
