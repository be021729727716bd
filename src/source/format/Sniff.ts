/**
 * Detects a file's format by its first bytes, and if they are ambiguous, by its name.
 *
 * Guarantees: returns a supported format, or why there is none and what to do. In a wrong format, records are rejects;
 * none is dropped. An invalid line does not change the format of a file named `.jsonl`.
 */
import { Result } from "effect"
import * as FileExtensions from "../place/FileExtensions.ts"
import type { FormatName } from "../place/FileExtensions.ts"
import { encodingRefusal, refusal } from "./Binary.ts"
import * as Json from "../../io/Json.ts"
import { isObject, quoteNames } from "../../io/Values.ts"
import * as JsonRecord from "./json/JsonRecord.ts"

export { type FormatName, formatNames } from "../place/FileExtensions.ts"

export interface Beginning {
  /** The first bytes, unpacked. */
  readonly head: Uint8Array
  /** Whether they are the whole file. */
  readonly isWhole: boolean
  /** A path or URL, with or without the ending of a compression. */
  readonly name: string
  /** Whether its encoding is known, and the bytes are UTF-8, or meant to be. */
  readonly isDecoded?: boolean
}

/** How many bytes are inspected. */
export const headBytes = 64 * 1024

/** The failure says what the file is, and what to do. */
export const sniff = (beginning: Beginning): Result.Result<FormatName, string> => {
  const { head } = beginning
  if (isParquet(head)) return Result.succeed("parquet")
  const problem = refusal(head) ?? (beginning.isDecoded === true ? undefined : encodingRefusal(head))
  if (problem !== undefined) return Result.fail(problem)
  const named = FileExtensions.formatOf(pathOf(beginning.name))
  if (head.length > 0 && named === "parquet") {
    return Result.fail("by its name it is Parquet, but it does not begin like that; get it again")
  }
  return sniffText(JsonRecord.nanAsNull(textOf(head)), named === "parquet" ? undefined : named, beginning)
}

/** Whether a file can be read in a format that was chosen for it. */
export const check = (format: FormatName, head: Uint8Array, isDecoded = false): Result.Result<FormatName, string> => {
  const pointer = startsWith(head, "version https://git-lfs") ? refusal(head) : undefined
  const problem = pointer ?? (format === "parquet" || isDecoded ? undefined : encodingRefusal(head))
  return problem === undefined ? Result.succeed(format) : Result.fail(problem)
}

/** Whether these are characters of UTF-8, none of them a control character but white space. The last may be cut off. */
export const isPlainText = (head: Uint8Array): boolean => {
  const text = Result.getOrUndefined(
    Result.try(() => new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true })),
  )
  return text !== undefined && !/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/.test(text)
}

export const isKnownBinary = (head: Uint8Array): boolean => isParquet(head) || refusal(head) !== undefined

/** Whether a file has the extension of a compressed one, but is neither compressed nor text. */
export const contradictsExtension = (name: string, head: Uint8Array): boolean =>
  head.length > 0 && FileExtensions.isCompressed(pathOf(name)) && !isPlainText(head) && !isKnownBinary(head)

export const hasEnding = (name: string, endings: string): boolean =>
  new RegExp(`\\.(?:${endings})$`, "i").test(pathOf(name))

/** Of a URL, without query. */
const pathOf = (name: string): string => (name.includes("://") ? name.replace(/[?#].*$/s, "") : name)

export const isParquet = (head: Uint8Array): boolean => startsWith(head, "PAR1")

const startsWith = (head: Uint8Array, text: string): boolean =>
  new TextEncoder().encode(text).every((byte, i) => head[i] === byte)

/** Without byte order mark; what is not UTF-8 becomes U+FFFD. */
const textOf = (head: Uint8Array): string => new TextDecoder().decode(head, { stream: true }).trimStart()

const isJson = (text: string): boolean => Result.isSuccess(Json.parse(text))

const sniffText = (
  text: string,
  named: FormatName | undefined,
  { head, isWhole }: Beginning,
): Result.Result<FormatName, string> => {
  if (text === "") return Result.succeed(named ?? "jsonl")
  if (/^<(?:!doctype|html|head|body|\?xml|!--)/i.test(text)) {
    return Result.fail("it is a page of HTML or XML, as servers send in place of a file; get the file again")
  }
  if (text.startsWith("[")) return Result.succeed(sniffArray(text, named))
  if (text.startsWith("{")) return sniffObject(text, named, isWhole)
  if (named !== undefined) return Result.succeed(named === "json" ? "jsonl" : named)
  if (head.subarray(0, 1024).includes(0)) {
    return Result.fail("it is neither text nor a known format; write it as JSONL, CSV or Parquet")
  }
  return Result.succeed(hasJsonLines(text, isWhole) ? "jsonl" : "csv")
}

/** Whether half of the whole lines, or more, are JSON objects. */
const hasJsonLines = (text: string, isWhole: boolean): boolean => {
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  const whole = isWhole || lines.length === 1 ? lines : lines.slice(0, -1)
  return whole.filter((line) => line.startsWith("{") && isJson(line)).length * 2 >= whole.length
}

/** A list of records, or lines of which each is a list, or no JSON at all. */
const sniffArray = (text: string, named: FormatName | undefined): FormatName => {
  const line = /^[^\n]*/.exec(text)![0]
  // Several lists of records, one after the other, are read as one.
  if (line.length < text.trimEnd().length && isJson(line)) return isListOfRecords(JSON.parse(line)) ? "json" : "jsonl"
  if (named !== "jsonl" && named !== "csv" && named !== "tsv") return "json"
  const inner = text.slice(1).trimStart()
  const { end } = outline(inner)
  const isList =
    end === undefined ? Json.isBeginning(inner) : /^\s*[,\]]/.test(inner.slice(end)) && isJson(inner.slice(0, end))
  return inner.startsWith("]") || (inner.startsWith("{") && isList) ? "json" : named
}

/** A conversation is a list of objects, too, but one record. */
const isListOfRecords = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((element) => isObject(element) && !Object.hasOwn(element, "role") && !Object.hasOwn(element, "from"))

/** An object a line, or objects over several lines, or no JSON at all; or an object around the list of records. */
const sniffObject = (
  text: string,
  named: FormatName | undefined,
  isWhole: boolean,
): Result.Result<FormatName, string> => {
  const line = /^[^\n]*/.exec(text)![0]
  const { end, lists } = outline(text)
  const first = text.slice(0, end)
  const isAlone = end === undefined ? named !== "jsonl" : isWhole && text.slice(end).trim() === ""
  const isSound = end === undefined ? Json.isBeginning(first) : isJson(first)
  if (isSound && isAlone && lists.length > 0) {
    const [list] = lists
    const quoted = quoteNames(lists)
    return Result.fail(
      lists.length === 1
        ? `it holds one object, the member "${list}" of which is the list of records; write that alone: jq .${list} FILE > NEW.json`
        : `it holds one object, the members ${quoted} of which are lists of records; write one alone (jq .${list} FILE > NEW.json), or all (jq '${lists.map((name) => `.${name}`).join(" + ")}' FILE > NEW.json)`,
    )
  }
  if (isJson(line)) return Result.succeed("jsonl")
  const isByItself = first.includes("\n") || (end !== undefined && named !== "jsonl")
  if (isSound && isByItself) return Result.succeed("json")
  return Result.succeed(named === "csv" || named === "tsv" ? named : "jsonl")
}

/** What an object around a list of records calls the list. */
const listNames = new Set(
  "data,dataset,rows,records,items,entries,examples,instances,samples,results,questions,prompts,pairs,annotations,train,validation,test".split(
    ",",
  ),
)

interface Outline {
  /** Where the text's first object or array ends, if it does. */
  readonly end: number | undefined
  /** Which members of that object are lists of objects, and are called like lists of records. */
  readonly lists: ReadonlyArray<string>
}

const outline = (text: string): Outline => {
  // A quote that nothing closes takes the rest: from each in it, one would look for its end again.
  const token = /"(?:[^"\\]|\\.?)*(?:"|$)|[{}[\]]/gs
  const listBegins = /\s*:\s*\[\s*\{/y
  let depth = 0
  const lists: Array<string> = []
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found] = match
    if (found === "{" || found === "[") depth++
    else if (found === "}" || found === "]") depth--
    else if (depth === 1 && listNames.has(found.slice(1, -1))) {
      listBegins.lastIndex = token.lastIndex
      if (listBegins.test(text)) lists.push(found.slice(1, -1))
    }
    if (depth <= 0) return { end: token.lastIndex, lists }
  }
  return { end: undefined, lists }
}
