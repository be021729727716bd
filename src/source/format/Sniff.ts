/** Detects a format from the first bytes, or else from the name. With a wrong format, every record is rejected. */
import { Result } from "effect"
import * as FileExtensions from "../place/FileExtensions.ts"
import type { FormatName } from "../place/FileExtensions.ts"
import { encodingProblem, formatProblem } from "./Binary.ts"
import * as Json from "../../io/Json.ts"
import { isObject, quoteNames } from "../../io/Values.ts"
import * as JsonRecord from "./json/JsonRecord.ts"

export interface Beginning {
  readonly head: Uint8Array
  readonly isWhole: boolean
  readonly name: string
  readonly isDecoded?: boolean
}

export const headBytes = 64 * 1024

export const sniff = (beginning: Beginning): Result.Result<FormatName, string> => {
  const { head } = beginning
  if (isParquet(head)) return Result.succeed("parquet")
  const problem = formatProblem(head) ?? (beginning.isDecoded === true ? undefined : encodingProblem(head))
  if (problem !== undefined) return Result.fail(problem)
  const formatOfName = FileExtensions.formatOf(pathOf(beginning.name))
  if (head.length > 0 && formatOfName === "parquet") {
    return Result.fail(
      "the file name has the extension of a Parquet file, but the content is not Parquet; download the file again",
    )
  }
  return sniffText(JsonRecord.nanAsNull(textOf(head)), formatOfName === "parquet" ? undefined : formatOfName, beginning)
}

export const check = (format: FormatName, head: Uint8Array, isDecoded = false): Result.Result<FormatName, string> => {
  const pointer = startsWith(head, "version https://git-lfs") ? formatProblem(head) : undefined
  const problem = pointer ?? (format === "parquet" || isDecoded ? undefined : encodingProblem(head))
  return problem === undefined ? Result.succeed(format) : Result.fail(problem)
}

export const isPlainText = (head: Uint8Array): boolean => {
  const text = Result.getOrUndefined(
    Result.try(() => new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true })),
  )
  return text !== undefined && !/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/.test(text)
}

export const isKnownBinary = (head: Uint8Array): boolean => isParquet(head) || formatProblem(head) !== undefined

export const contradictsExtension = (name: string, head: Uint8Array): boolean =>
  head.length > 0 && FileExtensions.isCompressed(pathOf(name)) && !isPlainText(head) && !isKnownBinary(head)

export const hasExtension = (name: string, endings: string): boolean =>
  new RegExp(`\\.(?:${endings})$`, "i").test(pathOf(name))

const pathOf = (name: string): string => (name.includes("://") ? name.replace(/[?#].*$/s, "") : name)

export const isParquet = (head: Uint8Array): boolean => startsWith(head, "PAR1")

const startsWith = (head: Uint8Array, text: string): boolean =>
  new TextEncoder().encode(text).every((byte, i) => head[i] === byte)

const textOf = (head: Uint8Array): string => new TextDecoder().decode(head, { stream: true }).trimStart()

const isJson = (text: string): boolean => Result.isSuccess(Json.parse(text))

const sniffText = (
  text: string,
  formatOfName: FormatName | undefined,
  { head, isWhole }: Beginning,
): Result.Result<FormatName, string> => {
  if (text === "") return Result.succeed(formatOfName ?? "jsonl")
  if (/^<(?:!doctype|html|head|body|\?xml|!--)/i.test(text)) {
    return Result.fail(
      "this is an HTML or XML page, which a server might have sent instead of the file; download the file again",
    )
  }
  if (text.startsWith("[")) return Result.succeed(sniffArray(text, formatOfName))
  if (text.startsWith("{")) return sniffObject(text, formatOfName, isWhole)
  if (formatOfName !== undefined) return Result.succeed(formatOfName === "json" ? "jsonl" : formatOfName)
  if (head.subarray(0, 1024).includes(0)) {
    return Result.fail("this is neither text nor a known format; write it as JSONL, CSV, or Parquet")
  }
  return Result.succeed(hasJsonLines(text, isWhole) ? "jsonl" : "csv")
}

const hasJsonLines = (text: string, isWhole: boolean): boolean => {
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  const completeLines = isWhole || lines.length === 1 ? lines : lines.slice(0, -1)
  return completeLines.filter((line) => line.startsWith("{") && isJson(line)).length * 2 >= completeLines.length
}

const sniffArray = (text: string, formatOfName: FormatName | undefined): FormatName => {
  const line = /^[^\n]*/.exec(text)![0]
  if (line.length < text.trimEnd().length && isJson(line)) return isListOfRecords(JSON.parse(line)) ? "json" : "jsonl"
  if (formatOfName !== "jsonl" && formatOfName !== "csv" && formatOfName !== "tsv") return "json"
  const inner = text.slice(1).trimStart()
  const { end } = outline(inner)
  const isList =
    end === undefined ? Json.isBeginning(inner) : /^\s*[,\]]/.test(inner.slice(end)) && isJson(inner.slice(0, end))
  return inner.startsWith("]") || (inner.startsWith("{") && isList) ? "json" : formatOfName
}

const isListOfRecords = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((element) => isObject(element) && !Object.hasOwn(element, "role") && !Object.hasOwn(element, "from"))

const sniffObject = (
  text: string,
  formatOfName: FormatName | undefined,
  isWhole: boolean,
): Result.Result<FormatName, string> => {
  const line = /^[^\n]*/.exec(text)![0]
  const { end, lists } = outline(text)
  const first = text.slice(0, end)
  const isAlone = end === undefined ? formatOfName !== "jsonl" : isWhole && text.slice(end).trim() === ""
  const isSound = end === undefined ? Json.isBeginning(first) : isJson(first)
  if (isSound && isAlone && lists.length > 0) {
    const [list] = lists
    const quoted = quoteNames(lists)
    return Result.fail(
      lists.length === 1
        ? `the file contains one object, whose member "${list}" is the list of records; extract the list: jq .${list} FILE > NEW.json`
        : `the file contains one object, whose members ${quoted} are lists of records; extract one list (jq .${list} FILE > NEW.json), or all lists (jq '${lists.map((name) => `.${name}`).join(" + ")}' FILE > NEW.json)`,
    )
  }
  if (isJson(line)) return Result.succeed("jsonl")
  const isByItself = first.includes("\n") || (end !== undefined && formatOfName !== "jsonl")
  if (isSound && isByItself) return Result.succeed("json")
  return Result.succeed(formatOfName === "csv" || formatOfName === "tsv" ? formatOfName : "jsonl")
}

const listNames = new Set(
  "data,dataset,rows,records,items,entries,examples,instances,samples,results,questions,prompts,pairs,annotations,train,validation,test".split(
    ",",
  ),
)

const outline = (text: string) => {
  // An unclosed string matches up to the end of the text. Otherwise, each later quote would start a new, slow search.
  const token = /"(?:[^"\\]|\\.?)*(?:"|$)|[{}[\]]/gs
  const listBegins = /\s*:\s*\[\s*\{/y
  let depth = 0
  const lists: Array<string> = []
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [symbol] = match
    if (symbol === "{" || symbol === "[") depth++
    else if (symbol === "}" || symbol === "]") depth--
    else if (depth === 1 && listNames.has(symbol.slice(1, -1))) {
      listBegins.lastIndex = token.lastIndex
      if (listBegins.test(text)) lists.push(symbol.slice(1, -1))
    }
    if (depth <= 0) return { end: token.lastIndex, lists }
  }
  return { end: undefined, lists }
}
