/**
 * Renders a conversation as one text, for experts and for formats without roles. `parse(render(messages))` returns the
 * same messages. A prompt that is text stays unchanged. `parse` reads a text as a conversation only if it begins with a
 * header.
 */
import { Array as Arr, Option } from "effect"
import { isJsonObject, type Message, type Prompt, type ToolCall } from "./Message.ts"

/**
 * Renders a prompt as text; a text prompt is returned unchanged. Each message begins with its role in brackets, and an
 * empty line separates messages:
 *
 * ```
 * [system]
 * You are terse.
 *
 * [user]
 * Hello
 * ```
 *
 * A line of content after an empty line could look like a header. A backslash marks such a line: `[user]` becomes
 * `\[user]`, and `\[user]` becomes `\\[user]`. In a role, a line feed becomes `\n`, and a backslash becomes `\\`.
 *
 * Each tool call has a header of its own, above the arguments of the call. A message of the assistant that has only
 * calls gets no header `[assistant]`, unless the message before is also from the assistant. In that case, if there
 * were no header, `parse` would add the calls to the message before.
 *
 * ```
 * [tool call get_weather, id call_1]
 * {"city":"Paris"}
 *
 * [tool result get_weather, id call_1]
 * 22 °C
 * ```
 */
export const render = (prompt: Prompt): string =>
  typeof prompt === "string"
    ? prompt
    : prompt
        .flatMap((message, i) => sectionsOf(message, prompt[i - 1]))
        .map(([header, content]) => `[${header}]\n${escapeLines(content)}`)
        .join("\n\n")

type Section = readonly [header: string, content: string]

const sectionsOf = (message: Message, before: Message | undefined): ReadonlyArray<Section> => {
  const { content, role, tool_calls = [] } = message
  const calls = tool_calls.map((call): Section => [
    toolHeader(callHeader, call.function.name, call.id),
    call.function.arguments,
  ])
  const isImplied = calls.length > 0 && role === caller && content === "" && before?.role !== caller
  return isImplied ? calls : [[headerOf(message), content], ...calls]
}

const caller = "assistant"
const callHeader = "tool call"
const resultHeader = "tool result"
const idMark = ", id "

const headerOf = ({ name, role, tool_call_id }: Message): string =>
  role === "tool" && (name !== undefined || tool_call_id !== undefined)
    ? toolHeader(resultHeader, name, tool_call_id)
    : `${isToolHeader(role) ? "\\" : ""}${escapeName(role)}`

const isToolHeader = (header: string): boolean => header.startsWith(callHeader) || header.startsWith(resultHeader)

const toolHeader = (kind: string, name: string | undefined, id: string | undefined): string =>
  `${kind}${name === undefined ? "" : ` ${escapeName(name).replaceAll(",", "\\,")}`}${id === undefined ? "" : `${idMark}${escapeName(id)}`}`

const escapeName = (name: string): string => name.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")

const unescapeName = (name: string): string =>
  name.replace(/\\(.)/gs, (_, character: string) => (character === "n" ? "\n" : character))

/** The prompt for a text column: the content of a single user message, otherwise the rendered conversation. */
export const toText = (prompt: Prompt): string =>
  typeof prompt !== "string" && prompt.length === 1 && prompt[0].role === "user" ? prompt[0].content : render(prompt)

/** The texts of a prompt: the contents of its messages and the arguments of its tool calls, without roles. */
export const contents = (prompt: Prompt): ReadonlyArray<string> =>
  typeof prompt === "string"
    ? [prompt]
    : prompt.flatMap(({ content, tool_calls = [] }) => [content, ...tool_calls.map((call) => call.function.arguments)])

/** Parses the output of `render`. Returns none if the text does not begin with a header. */
export const parse = (text: string): Option.Option<Arr.NonEmptyReadonlyArray<Message>> => {
  const lines = text.split("\n")
  // A header is never the last line: at least one line, perhaps an empty one, follows it.
  const starts = lines.flatMap((line, i) =>
    isHeader(line) && i < lines.length - 1 && (i === 0 || lines[i - 1] === "") ? [i] : [],
  )
  const messages: Array<Message> = []
  for (const [i, start] of starts.entries()) {
    const end = i + 1 < starts.length ? starts[i + 1]! - 1 : lines.length
    const content = unescapeLines(lines.slice(start + 1, end))
    const header = lines[start]!.slice(1, -1)
    const call = parseCall(header, content)
    const last = messages.at(-1)
    if (call === undefined) messages.push(parseMessage(header, content))
    else if (last?.role !== caller) messages.push({ role: caller, content: "", tool_calls: [call] })
    else messages[messages.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), call] }
  }
  return starts[0] === 0 && Arr.isReadonlyArrayNonEmpty(messages) ? Option.some(messages) : Option.none()
}

const parseTool = (header: string, kind: string) => {
  const parts = header.startsWith(kind)
    ? /^(?: ((?:[^\\,]|\\.)+))?(?:, id (.+))?$/s.exec(header.slice(kind.length))
    : null
  const [, name, id] = parts ?? []
  return {
    ...(name !== undefined && { name: unescapeName(name) }),
    ...(id !== undefined && { id: unescapeName(id) }),
  }
}

const parseCall = (header: string, content: string): ToolCall | undefined => {
  const { id, name } = parseTool(header, callHeader)
  return name === undefined || !isJsonObject(content)
    ? undefined
    : { ...(id !== undefined && { id }), type: "function", function: { name, arguments: content } }
}

const parseMessage = (header: string, content: string): Message => {
  const { id, name } = parseTool(header, resultHeader)
  return name === undefined && id === undefined
    ? { role: unescapeName(header), content }
    : { role: "tool", content, ...(name !== undefined && { name }), ...(id !== undefined && { tool_call_id: id }) }
}

const isHeader = (line: string): boolean => line.startsWith("[") && line.endsWith("]")

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
