/**
 * Where a part of an item is in a record: a path to a value or the elements of a list, or a template of several.
 *
 * ```
 * turns[0].content             a field path
 * answers[].text               of each element of a list
 * answers[]                    a list, which may be there as JSON text
 * {instruction}\n\n{input}     a template: fields in braces
 * ```
 *
 * In a template `{{` and `}}` are braces; `\n`, `\t` and `\\`, written out, are line feed, tab and backslash. A paragraph in
 * which all fields are absent, null or blank is left out; where all fields of a template are, nothing is there. A list of
 * texts is these texts with empty lines between.
 */
import { Result } from "effect"
import * as FieldPath from "../../io/FieldPath.ts"
import * as Json from "../../io/Json.ts"
import { depthProblem } from "../../io/JsonProblem.ts"
import * as PythonText from "./PythonText.ts"

/** The name of a member, an index, or, as null, each element of a list. */
export type Step = string | number | null

export interface Field {
  /** As it was written. */
  readonly text: string
  /** On one line, as rejects name it. */
  readonly name: string
  /** For people: of a path that is one member, the member's own name. */
  readonly label: string
  readonly isTemplate: boolean
  /** What it reads. */
  readonly paths: ReadonlyArray<ReadonlyArray<Step>>
  /** The top-level members of these. */
  readonly columns: ReadonlyArray<string>
  /**
   * `undefined` where nothing is there. A template in which a field is neither text, a list of texts, number nor boolean
   * gives an object, which is no text.
   *
   * @param isTextual whether a list or object may be in a top-level member as JSON text
   */
  readonly get: (record: unknown, isTextual?: boolean) => unknown
  /** What rejects call an element of the list that it gives. */
  readonly nameAt: (index: number) => string
}

/** The failure says what is wrong with the text, and where. */
export const parse = (text: string): Result.Result<Field, string> =>
  /[{}]/.test(text.replaceAll(quotedName, "")) ? parseTemplate(text) : parsePath(text)

const quotedName = /\["(?:[^"\\]|\\.)*"\]/gs

/** A path as `parse` reads it, of one member. */
export const ofMember = (name: string): string => FieldPath.format([name])

/**
 * The text as `parse` reads it, where names of members may be as they are: `Antwort A` and `model.v2`, also in a template's
 * braces, mean the member of this name where there is one.
 *
 * @param members the names that records have at their top
 */
export const ofMembers = (text: string, members: ReadonlySet<string>): string => {
  if (members.has(text)) return ofMember(text)
  const [list = "", ...rest] = text.split("[]")
  if (members.has(list)) return [ofMember(list), ...rest].join("[]")
  return text.replaceAll(new RegExp(piece.source, "gs"), (written, path?: string) =>
    path !== undefined && members.has(path) ? `{${ofMember(path)}}` : written,
  )
}

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
  const before = text.slice(0, elements)
  const after = text.slice(elements + 2)
  return Result.flatMap(FieldPath.parse(before), (list) =>
    // What follows the elements is read as what follows an index is.
    Result.map(FieldPath.parse(`[0]${after}`), (element) => ({
      ...field(text, [[...list.keys, null, ...element.keys.slice(1)]]),
      ...(after === "" && list.keys.length === 1 ? { label: onOneLine(String(list.keys[0])) } : undefined),
      get: (record, isTextual) => {
        const elements = fromText(getAt(record, list.keys, isTextual))
        return Array.isArray(elements)
          ? elements.map((value) => FieldPath.followAll(value, element.keys.slice(1)))
          : elements
      },
      nameAt: (index) => `${before}[${index}]${after}`,
    })),
  )
}

/** Where `[]` is outside of quoted names; -1 if nowhere. */
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

/**
 * The list or object that a cell's text is, as JSON or as Python writes it, unless it is nested too deeply; any other value
 * as it is.
 */
export const fromText = (cell: unknown): unknown => {
  if (typeof cell !== "string" || !/^\s*[[{]/.test(cell)) return cell
  const value = Result.getOrUndefined(Result.orElse(Json.parse(cell), () => PythonText.parse(cell)))
  return value === undefined || depthProblem(value, "") !== undefined ? cell : value
}

/** Texts and fields in turns. */
type Piece = string | FieldPath.FieldPath

interface Paragraph {
  /** The line feeds that part it from the one before. */
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
          const given = getAt(record, path.keys, isTextual) ?? ""
          const value = isTexts(given) ? given.join("\n\n") : given
          if (typeof value === "object") return { [path.text]: value }
          values.set(path, value)
        }
        return write(paragraphs, (path) => String(values.get(path)))
      },
      nameAt: (index) => `${onOneLine(text)}[${index}]`,
    }
  })

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((text) => typeof text === "string")

const write = (
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

// A bracket that begins a quoted name is read as nothing else, so that there is one way to read each text.
const piece = /\{\{|\}\}|\{((?:\["(?:[^"\\]|\\.)*"\]|[^{}[]|\[(?!"(?:[^"\\]|\\.)*"\]))*)\}|\\[nt\\]|[^{}\\]+|\\/sy

const literals: { readonly [written: string]: string } = {
  "{{": "{",
  "}}": "}",
  "\\n": "\n",
  "\\t": "\t",
  "\\\\": "\\",
}

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
        text[at] === "{" ? 'expected a field and "}" after "{"' : 'expected "}}" for a brace, found "}"',
      )
    }
    const [written, path] = match
    if (path === undefined) {
      pieces.push(literals[written] ?? written)
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
  // Pieces of text that follow each other make one, so that an empty line is seen whole.
  const joined = pieces.reduce<Array<Piece>>((all, piece) => {
    const last = all.at(-1)
    if (typeof piece === "string" && typeof last === "string") all[all.length - 1] = last + piece
    else all.push(piece)
    return all
  }, [])
  for (const piece of joined) {
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
