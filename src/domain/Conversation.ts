/**
 * A conversation as one text, for those who take text alone: experts, and formats without roles.
 *
 * Guarantees: `parse` gives back what `render` was given, whatever the messages hold. A prompt
 * that is text stays as it is.
 *
 * Each message begins with a line that names its role in brackets, and is followed by an empty
 * line; lines of a message that look like such a line, or begin with a backslash, get a backslash
 * in front:
 *
 * ```
 * [system]
 * You are terse.
 *
 * [user]
 * Hello
 * ```
 */
import { Array as Arr, Option } from "effect"
import type { Message, Prompt } from "./Message.ts"

/** The text of a prompt; what is text already stays as it is. */
export const render = (prompt: Prompt): string => (typeof prompt === "string" ? prompt : renderMessages(prompt))

const renderMessages = (messages: ReadonlyArray<Message>): string =>
  messages.map(({ content, role }) => `[${role}]\n${content.replace(/^(?=\\|\[[^\]\n]*\]$)/gm, "\\")}`).join("\n\n")

/** The messages of a text that `renderMessages` made; none where it begins with no role. */
export const parse = (text: string): Option.Option<Arr.NonEmptyReadonlyArray<Message>> => {
  const messages = text
    .split(/(?:^|\n\n)(?=\[[^\]\n]*\]\n)/)
    .filter((part) => part !== "")
    .map((part): Message => {
      const end = part.indexOf("]\n")
      return { role: part.slice(1, end), content: part.slice(end + 2).replace(/^\\/gm, "") }
    })
  return text.startsWith("[") && Arr.isReadonlyArrayNonEmpty(messages) ? Option.some(messages) : Option.none()
}
