/**
 * A JSON array, or several one after the other, an element at a time; or JSON values one after the other, over as many
 * lines as they take.
 *
 * Guarantees: the file is never held as a whole, only the record being read. Each element gives one record, in
 * order, with the line it begins at and its ordinal, wherever the chunks' boundaries fall. An element that is
 * not JSON, not UTF-8 or larger than the limit is a reject, and the next ones are read. Where brackets or quotes
 * are missing, so that its end is unknown, all the rest is one reject; so is anything else behind an array. A file
 * that ends within the array gives a reject where it ends.
 *
 * Effect's `JsonArray` and other parsers of JSON streams end at the first broken element, and give neither its
 * text nor its line. Here a scan finds where elements end (outside strings, it counts brackets), and the
 * engine's own parser judges them.
 */
import { Result } from "effect"
import type { Reject } from "../../../domain/Reject.ts"
import { reject, type RowResult } from "../../record/Row.ts"
import { decode, RecordBuffer, notUtf8, rawMembers, tooLarge } from "../../../io/RecordBuffer.ts"
import * as Json from "../../../io/Json.ts"
import { defaultMaxLineBytes, type LinesOptions, split } from "../../../io/Lines.ts"
import * as JsonRecord from "./JsonRecord.ts"

/** `file` is the name in places and rejects. */
export const rows = (file: string, options?: LinesOptions) =>
  split(() => new ElementScanner(file, options?.maxLineBytes ?? defaultMaxLineBytes))

const { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } = Json
const LF = 0x0a
const COMMA = 0x2c

const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf)

const noBytes = new Uint8Array(0)

const isSpace = (byte: number): boolean => byte === 0x20 || byte === LF || byte === 0x0d || byte === 0x09

const trimmedEnd = (bytes: Uint8Array): Uint8Array => {
  let end = bytes.length
  while (end > 0 && isSpace(bytes[end - 1]!)) end--
  return bytes.subarray(0, end)
}

class ElementScanner {
  readonly #file: string
  readonly #maxBytes: number
  #rows: Array<RowResult> = []
  #row = 0
  #phase: "start" | "array" | "values" | "behind the array" = "start"
  /** In the chunks before this one. */
  #passedBytes = 0
  /** How many bytes of the byte order mark were found at the file's start. */
  #markBytes = 0
  /** In an array: whether a comma came, so that an element has to. */
  #isElementDue = false

  /** Line ends before `#countedTo` in the chunk, and in all chunks before it. */
  #lineEnds = 0
  #countedTo = 0

  /** The line at which the element that is being read begins; 0 if there is none. */
  #line = 0
  /** Where its part in the chunk begins; what came before is held. */
  #start = 0
  readonly #held: RecordBuffer
  #braces = 0
  #brackets = 0
  #isInString = false
  /** Whether the last chunk ended with a backslash that escapes what comes next. */
  #isEscaped = false
  /** Of values: neither an object nor an array, so that it ends with its line. */
  #isBare = false
  /** Set once its end is unknown: all that follows belongs to the element. */
  #isLost = false

  constructor(file: string, maxBytes: number) {
    this.#file = file
    this.#maxBytes = maxBytes
    this.#held = new RecordBuffer(maxBytes)
  }

  /** The records completed since the last call. */
  take(): ReadonlyArray<RowResult> {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  push(chunk: Uint8Array): void {
    this.#countedTo = 0
    this.#start = 0
    let at = 0
    while (at < chunk.length && !this.#isLost) {
      if (this.#isInString) at = this.#passString(chunk, at)
      else {
        const byte = chunk[at]!
        if (!isSpace(byte)) this.#passByte(chunk, at, byte)
        else if (byte === LF && this.#isBare) this.#finish(chunk, at)
        at++
      }
    }
    if (this.#line > 0) this.#held.add(chunk.subarray(this.#start))
    this.#countLines(chunk, chunk.length)
    this.#passedBytes += chunk.length
  }

  end(): void {
    const isOpen = this.#braces > 0 || this.#brackets > 0 || this.#isInString || this.#isLost
    if (this.#line > 0 && isOpen) return this.#addRest()
    if (this.#line > 0) this.#finish(noBytes, 0)
    if (this.#phase === "array") {
      this.#addMissing(this.#isElementDue ? "a value" : '"," or "]"', "the end of the file", this.#lineEnds + 1)
    }
  }

  /** Where the string that is being read ends, or the chunk. */
  #passString(chunk: Uint8Array, at: number): number {
    const quote = chunk.indexOf(QUOTE, at)
    const end = quote === -1 ? chunk.length : quote
    let beforeBackslashes = end
    while (beforeBackslashes > at && chunk[beforeBackslashes - 1] === BACKSLASH) beforeBackslashes--
    const carried = beforeBackslashes === at && this.#isEscaped ? 1 : 0
    const isEscaped = (end - beforeBackslashes + carried) % 2 === 1
    this.#isEscaped = quote === -1 && isEscaped
    this.#isInString = quote === -1 || isEscaped
    return end + 1
  }

  /** A byte outside strings that is no space. */
  #passByte(chunk: Uint8Array, at: number, byte: number): void {
    if (this.#line === 0 && this.#isBetween(chunk, at, byte)) return
    if (byte === QUOTE) this.#isInString = !this.#isBare
    else if (byte === OPEN_BRACE) this.#braces++
    else if (byte === OPEN_BRACKET) this.#brackets++
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === COMMA) this.#passEnd(chunk, at, byte)
  }

  /** Whether a byte that comes while no element is being read belongs to none. Else it begins one. */
  #isBetween(chunk: Uint8Array, at: number, byte: number): boolean {
    if (this.#phase === "start") {
      if (byte === byteOrderMark[this.#markBytes] && this.#passedBytes + at === this.#markBytes) {
        this.#markBytes++
        return true
      }
      this.#phase = byte === OPEN_BRACKET ? "array" : "values"
      // Part of a mark is no mark.
      if (this.#markBytes % 3 > 0) this.#held.add(byteOrderMark.subarray(0, this.#markBytes))
      else if (byte === OPEN_BRACKET) return true
    }
    if (this.#phase === "behind the array" && byte === OPEN_BRACKET) {
      this.#phase = "array"
      return true
    }
    const line = this.#countLines(chunk, at)
    if (this.#phase === "array" && (byte === COMMA || byte === CLOSE_BRACKET)) {
      if (byte === COMMA || this.#isElementDue) this.#addMissing("a value", byte === COMMA ? '","' : '"]"', line)
      this.#endInArray(byte)
      return true
    }
    this.#line = line
    this.#start = at
    this.#isElementDue = false
    this.#isBare = this.#phase === "values" && byte !== OPEN_BRACE && byte !== OPEN_BRACKET
    this.#isLost = this.#phase === "behind the array"
    return false
  }

  #endInArray(byte: number): void {
    this.#isElementDue = byte === COMMA
    if (byte === CLOSE_BRACKET) this.#phase = "behind the array"
  }

  /** A byte that may end the element: a closing bracket of its own, or what comes behind it in an array. */
  #passEnd(chunk: Uint8Array, at: number, byte: number): void {
    const isOutermost = this.#braces === 0 && this.#brackets === 0
    if (this.#phase === "array" && isOutermost && byte !== CLOSE_BRACE) {
      this.#finish(chunk, at)
      this.#endInArray(byte)
    } else if (byte === CLOSE_BRACE && this.#braces > 0) this.#braces--
    else if (byte === CLOSE_BRACKET && this.#brackets > 0) this.#brackets--
    // An object is open that is closed nowhere, or the bracket is one too many: who can tell.
    else if (byte === CLOSE_BRACKET && this.#phase === "array") this.#isLost = true
    const isClosed = !isOutermost && this.#braces === 0 && this.#brackets === 0
    if (isClosed && this.#phase === "values" && !this.#isBare) this.#finish(chunk, at + 1)
  }

  /** The line of the chunk's byte at `to`. */
  #countLines(chunk: Uint8Array, to: number): number {
    for (let at = chunk.indexOf(LF, this.#countedTo); at !== -1 && at < to; at = chunk.indexOf(LF, at + 1)) {
      this.#lineEnds++
    }
    this.#countedTo = to
    return this.#lineEnds + 1
  }

  /** The element ends before the chunk's byte at `end`. */
  #finish(chunk: Uint8Array, end: number): void {
    const part = chunk.subarray(this.#start, end)
    if (this.#held.size === 0) this.#add(part, part.length)
    else {
      this.#held.add(part)
      const { bytes, size } = this.#held.take()
      this.#add(bytes, size)
    }
    this.#line = 0
    this.#braces = 0
    this.#brackets = 0
    this.#isBare = false
  }

  #add(bytes: Uint8Array, size: number): void {
    if (size > this.#maxBytes) return this.#addReject(tooLarge("a record", bytes, size, this.#maxBytes))
    const text = decode(trimmedEnd(bytes))
    if (text === undefined) return this.#addReject(notUtf8(bytes))
    const place = { file: this.#file, line: this.#line, row: ++this.#row, raw: text }
    this.#rows.push(
      Result.match(JsonRecord.parse(text, "the end of the record"), {
        onFailure: (problem) => reject(place, "invalid_json", problem),
        onSuccess: ({ json, value }) => Result.succeed({ place, value, json }),
      }),
    )
  }

  #addReject(found: Omit<Reject, "file" | "line" | "row">, line = this.#line): void {
    this.#rows.push(Result.fail({ file: this.#file, line, row: ++this.#row, ...found }))
  }

  #addMissing(expected: string, found: string, line: number): void {
    this.#addReject({ code: "invalid_json", reason: `expected ${expected}, found ${found}`, raw: "" }, line)
  }

  #addRest(): void {
    const { bytes, size } = this.#held.take()
    const shown = rawMembers(bytes, size)
    const rest = `the rest of the file, ${size.toLocaleString("en")} bytes from here on, cannot be split into records`
    this.#addReject({ code: "invalid_json", reason: `${this.#faultOfRest(shown)}; ${rest}`, ...shown })
  }

  #faultOfRest({ raw, raw_bytes }: Pick<Reject, "raw" | "raw_bytes">): string {
    if (this.#phase === "behind the array") {
      const isSecondFile = raw?.startsWith("\uFEFF") === true
      return `expected the end of the file behind "]", found ${isSecondFile ? "a byte order mark, as of a second file" : "more"}`
    }
    if (raw === undefined) return "expected UTF-8, found bytes that are not; see raw_base64"
    const end = raw_bytes === undefined ? "the end of the file" : "no end of it"
    return Result.getOrElse(Result.flip(Json.parse(raw, end)), () => "expected one value, found more")
  }
}
