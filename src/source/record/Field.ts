/**
 * Reads a part of an item from a record. A field is a path (`turns[0].content`), a list (`answers[]`, which may be JSON
 * text), a member of each element of a list (`answers[].text`), or a template (`{instruction}\n\n{input}`). In a
 * template, `{{` and `}}` mean braces; `\n`, `\t`, and `\\` mean line feed, tab, and backslash. A template omits
 * each paragraph whose fields are all absent or blank. A template joins the texts of a list with empty lines.
 */
import { Result } from "effect"
import * as FieldPath from "../../io/FieldPath.ts"
import * as Json from "../../io/Json.ts"
import { depthProblem } from "../../io/JsonProblem.ts"
import * as PythonText from "./PythonText.ts"

export type Step = string | number | null

export interface Field {
  readonly text: string
  readonly name: string
  readonly label: string
  readonly isTemplate: boolean
  readonly paths: ReadonlyArray<ReadonlyArray<Step>>
  readonly columns: ReadonlyArray<string>
  readonly get: (record: unknown, isTextual?: boolean) => unknown
  readonly nameAt: (index: number) => string
}

export const parse = (text: string): Result.Result<Field, string> =>
  /[{}]/.test(text.replaceAll(quotedName, "")) ? parseTemplate(text) : parsePath(text)

const quotedName = /\["(?:[^"\\]|\\.)*"\]/gs

export const ofMember = (name: string): string => FieldPath.format([name])

/** Converts plain names of members, such as `Antwort A` or `model.v2`, to field paths. */
export const ofMembers = (text: string, members: ReadonlySet<string>): string => {
  if (members.has(text)) return ofMember(text)
  const [list = "", ...rest] = text.split("[]")
  if (members.has(list)) return [ofMember(list), ...rest].join("[]")
  return text.replaceAll(new RegExp(piece.source, "gs"), (match, path?: string) =>
    path !== undefined && members.has(path) ? `{${ofMember(path)}}` : match,
  )
}

export const columnsOf = (paths: string | ReadonlyArray<string> = []): ReadonlyArray<string> =>
  [paths].flat().flatMap((path) => Result.getOrUndefined(parse(path))?.columns ?? [])

const parsePath = (text: string): Result.Result<Field, string> => {
  const elements = elementsAt(text)
  if (elements === -1) {
    return Result.map(FieldPath.parse(text), (path) => ({
      ...field(text, [path.keys]),
      label: onOneLine(path.keys.length === 1 ? String(path.keys[0]) : text),
      get: (record, isTextual) => getAt(record, path.keys, isTextual),
      nameAt: (index) => `${text}[${index}]`,
    }))
  }
  const listPath = text.slice(0, elements)
  const elementPath = text.slice(elements + 2)
  return Result.flatMap(FieldPath.parse(listPath), (list) =>
    Result.map(FieldPath.parse(`[0]${elementPath}`), (element) => ({
      ...field(text, [[...list.keys, null, ...element.keys.slice(1)]]),
      ...(elementPath === "" && list.keys.length === 1 ? { label: onOneLine(String(list.keys[0])) } : undefined),
      get: (record, isTextual) => {
        const elements = fromText(getAt(record, list.keys, isTextual))
        return Array.isArray(elements)
          ? elements.map((value) => FieldPath.followAll(value, element.keys.slice(1)))
          : elements
      },
      nameAt: (index) => `${listPath}[${index}]${elementPath}`,
    })),
  )
}

const elementsAt = (text: string): number =>
  text.replaceAll(quotedName, (name) => `["${"_".repeat(name.length - 4)}"]`).indexOf("[]")

const field = (text: string, paths: ReadonlyArray<ReadonlyArray<Step>>) => ({
  text,
  name: onOneLine(text),
  label: onOneLine(text),
  isTemplate: false,
  paths,
  columns: [...new Set(paths.map(([column]) => String(column)))],
})

const onOneLine = (text: string): string => text.replaceAll("\n", "\\n")

const getAt = (record: unknown, keys: ReadonlyArray<string | number>, isTextual: boolean | undefined): unknown =>
  isTextual === true && keys.length > 1
    ? FieldPath.followAll(fromText(FieldPath.followAll(record, keys.slice(0, 1))), keys.slice(1))
    : FieldPath.followAll(record, keys)

export const fromText = (cell: unknown): unknown => {
  if (typeof cell !== "string" || !/^\s*[[{]/.test(cell)) return cell
  const value = Result.getOrUndefined(Result.orElse(Json.parse(cell), () => PythonText.parse(cell)))
  return value === undefined || depthProblem(value, "") !== undefined ? cell : value
}

type Piece = string | FieldPath.FieldPath

interface Paragraph {
  readonly gap: string
  readonly pieces: ReadonlyArray<Piece>
}

const parseTemplate = (text: string): Result.Result<Field, string> =>
  Result.map(parsePieces(text), (pieces) => {
    const paths = pieces.filter((piece) => typeof piece !== "string")
    const paragraphs = toParagraphs(pieces)
    return {
      ...field(
        text,
        paths.map(({ keys }) => keys),
      ),
      isTemplate: true,
      get: (record, isTextual) => {
        const values = new Map<Piece, unknown>()
        for (const path of paths) {
          const fieldValue = getAt(record, path.keys, isTextual) ?? ""
          const value = isTexts(fieldValue) ? fieldValue.join("\n\n") : fieldValue
          if (typeof value === "object") return { [path.text]: value }
          values.set(path, value)
        }
        return fillParagraphs(paragraphs, (path) => String(values.get(path)))
      },
      nameAt: (index) => `${onOneLine(text)}[${index}]`,
    }
  })

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((text) => typeof text === "string")

const fillParagraphs = (
  paragraphs: ReadonlyArray<Paragraph>,
  valueOf: (path: FieldPath.FieldPath) => string,
): string | undefined => {
  let text = ""
  let isFilled = false
  for (const { gap, pieces } of paragraphs) {
    const values = pieces.flatMap((piece) => (typeof piece === "string" ? [] : [valueOf(piece)]))
    const hasText = values.some((value) => value.trim() !== "")
    if (!hasText && values.length > 0) continue
    isFilled ||= hasText
    const paragraph = pieces.map((piece) => (typeof piece === "string" ? piece : valueOf(piece))).join("")
    text += text === "" ? paragraph : gap + paragraph
  }
  return isFilled ? text : undefined
}

// In a field in braces, `["…"]` is always a quoted name. The name may contain braces.
const piece = /\{\{|\}\}|\{((?:\["(?:[^"\\]|\\.)*"\]|[^{}[]|\[(?!"(?:[^"\\]|\\.)*"\]))*)\}|\\[nt\\]|[^{}\\]+|\\/sy

const literals: Readonly<Record<string, string>> = { "{{": "{", "}}": "}", "\\n": "\n", "\\t": "\t", "\\\\": "\\" }

const parsePieces = (text: string): Result.Result<ReadonlyArray<Piece>, string> => {
  const problem = (at: number, expected: string) =>
    Result.fail(`not a template: ${JSON.stringify(text)}: ${expected} at character ${at + 1}`)
  const pieces: Array<Piece> = []
  for (let at = 0; at < text.length; at = piece.lastIndex) {
    piece.lastIndex = at
    const match = piece.exec(text)
    if (match === null) {
      return problem(
        at,
        text[at] === "{" ? 'expected a field and "}" after "{"' : 'for a brace in the text, write "}}" instead of "}"',
      )
    }
    const [matched, path] = match
    if (path === undefined) {
      pieces.push(literals[matched] ?? matched)
      continue
    }
    const parsed = FieldPath.parse(path)
    if (Result.isFailure(parsed)) return problem(at + 1, parsed.failure)
    pieces.push(parsed.success)
  }
  return pieces.some((piece) => typeof piece !== "string")
    ? Result.succeed(pieces)
    : problem(0, "expected a field in braces, found none")
}

const toParagraphs = (pieces: ReadonlyArray<Piece>): ReadonlyArray<Paragraph> => {
  const paragraphs: Array<{ gap: string; pieces: Array<Piece> }> = [{ gap: "", pieces: [] }]
  const joinedPieces = pieces.reduce<Array<Piece>>((all, piece) => {
    const last = all.at(-1)
    if (typeof piece === "string" && typeof last === "string") all[all.length - 1] = last + piece
    else all.push(piece)
    return all
  }, [])
  for (const piece of joinedPieces) {
    if (typeof piece !== "string") {
      paragraphs.at(-1)!.pieces.push(piece)
      continue
    }
    piece.split(/(\n{2,})/).forEach((part, i) => {
      if (i % 2 === 1) paragraphs.push({ gap: part, pieces: [] })
      else if (part !== "") paragraphs.at(-1)!.pieces.push(part)
    })
  }
  return paragraphs
}
