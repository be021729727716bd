/**
 * A conversation as one text, for those who take text alone: experts, and formats without roles.
 *
 * Guarantees: `parse` gives back what `render` made of messages, whatever they hold. A prompt
 * that is text stays as it is; `parse` takes such a text for a conversation only if it begins
 * with a header.
 *
 * Each message begins with a header, a line that names its role in brackets; the next header
 * follows an empty line:
 *
 * ```
 * [system]
 * You are terse.
 *
 * [user]
 * Hello
 * ```
 *
 * A line in brackets after an empty line of a message, which would be taken for a header, gets a
 * backslash in front, and so does one that already has such backslashes; no other line is touched.
 * In a role, a line feed is written `\n`, a backslash `\\`.
 */
import { Array as Arr, Option } from "effect"
import type { Message, Prompt } from "./Message.ts"

/** The text of a prompt; what is text already stays as it is. */
export const render = (prompt: Prompt): string =>
  typeof prompt === "string" ? prompt : prompt.map(renderMessage).join("\n\n")

const renderMessage = ({ content, role }: Message): string =>
  `[${role.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}]\n${escapeLines(content)}`

/**
 * The prompt column of datasets whose prompts are text: a single user message is its content, as a prompt that
 * is text is what the user says; another conversation is rendered.
 */
export const toText = (prompt: Prompt): string =>
  typeof prompt !== "string" && prompt.length === 1 && prompt[0].role === "user" ? prompt[0].content : render(prompt)

/** What was said, without who said it. */
export const contents = (prompt: Prompt): ReadonlyArray<string> =>
  typeof prompt === "string" ? [prompt] : prompt.map(({ content }) => content)

/** The messages of a text that `render` made of messages; none where it begins with no header. */
export const parse = (text: string): Option.Option<Arr.NonEmptyReadonlyArray<Message>> => {
  const lines = text.split("\n")
  // A header is never a text's last line: the content, though it may be empty, follows it.
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

/** A header after backslashes, of which there may be none. */
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
