/**
 * Reads the elements of JSON arrays, or JSON values in sequence. Memory: the current element. A malformed element is a
 * reject. If a bracket or quote is missing, the rest of the file is one reject. If the file seems truncated, reading
 * fails after this reject. Effect's `JsonArray` stops at a malformed element.
 */
import { Result, Stream } from "effect"
import type { Reject } from "../../../domain/Reject.ts"
import type { RowResult } from "../../record/Row.ts"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import { decode, decodeBeginning, RecordBuffer, notUtf8, rawMembers, tooLarge } from "../../../io/RecordBuffer.ts"
import * as Json from "../../../io/Json.ts"
import { defaultMaxLineBytes, type LinesOptions, split } from "../../../io/Lines.ts"
import * as JsonRecord from "./JsonRecord.ts"

export const rows =
  (file: string, options?: LinesOptions) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<RowResult, E | SourceError, R> =>
    Stream.suspend(() => {
      const scanner = new ElementScanner(file, options?.maxLineBytes ?? defaultMaxLineBytes)
      const end = Stream.suspend(() =>
        scanner.openLine === 0 ? Stream.empty : Stream.fail(truncated(file, scanner.openLine)),
      )
      return Stream.concat(split(() => scanner)(bytes), end)
    })

const truncated = (file: string, line: number) =>
  unreadable(file, `line ${line}: the JSON ends too early, so the file may be truncated; download it again`)

const { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } = Json
const LF = 0x0a
const COMMA = 0x2c

const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf)

const noBytes = new Uint8Array(0)

const isSpace = (byte: number): boolean => byte === 0x20 || byte === LF || byte === 0x0d || byte === 0x09

const trimEnd = (bytes: Uint8Array): Uint8Array => {
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
  #passedBytes = 0
  #markBytes = 0
  #isElementDue = false

  #lineEnds = 0
  #countedTo = 0

  #line = 0
  #start = 0
  readonly #held: RecordBuffer
  #braces = 0
  #brackets = 0
  #isInString = false
  #isEscaped = false
  #isBare = false
  #isLost = false
  /** The number of the line where the unfinished record begins, if the file may be truncated. Otherwise 0. */
  openLine = 0

  constructor(file: string, maxBytes: number) {
    this.#file = file
    this.#maxBytes = maxBytes
    this.#held = new RecordBuffer(maxBytes)
  }

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
      this.openLine = this.#lineEnds + 1
      this.#addMissing(this.#isElementDue ? "a value" : '"," or "]"', "the end of the file", this.openLine)
    }
  }

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

  #passByte(chunk: Uint8Array, at: number, byte: number): void {
    if (this.#line === 0 && this.#isBetween(chunk, at, byte)) return
    if (byte === QUOTE) this.#isInString = !this.#isBare
    else if (byte === OPEN_BRACE) this.#braces++
    else if (byte === OPEN_BRACKET) this.#brackets++
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === COMMA) this.#passEnd(chunk, at, byte)
  }

  #isBetween(chunk: Uint8Array, at: number, byte: number): boolean {
    if (this.#phase === "start") {
      if (byte === byteOrderMark[this.#markBytes] && this.#passedBytes + at === this.#markBytes) {
        this.#markBytes++
        return true
      }
      this.#phase = byte === OPEN_BRACKET ? "array" : "values"
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

  #passEnd(chunk: Uint8Array, at: number, byte: number): void {
    const isOutermost = this.#braces === 0 && this.#brackets === 0
    if (this.#phase === "array" && isOutermost && byte !== CLOSE_BRACE) {
      this.#finish(chunk, at)
      this.#endInArray(byte)
    } else if (byte === CLOSE_BRACE && this.#braces > 0) this.#braces--
    else if (byte === CLOSE_BRACKET && this.#brackets > 0) this.#brackets--
    else if (byte === CLOSE_BRACKET && this.#phase === "array") this.#isLost = true
    const isClosed = !isOutermost && this.#braces === 0 && this.#brackets === 0
    if (isClosed && this.#phase === "values" && !this.#isBare) this.#finish(chunk, at + 1)
  }

  #countLines(chunk: Uint8Array, to: number): number {
    for (let at = chunk.indexOf(LF, this.#countedTo); at !== -1 && at < to; at = chunk.indexOf(LF, at + 1)) {
      this.#lineEnds++
    }
    this.#countedTo = to
    return this.#lineEnds + 1
  }

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
    const text = decode(trimEnd(bytes))
    if (text === undefined) return this.#addReject(notUtf8(bytes))
    const place = { file: this.#file, line: this.#line, row: ++this.#row, raw: text }
    this.#rows.push(JsonRecord.toRow(place, text, "the end of the record"))
  }

  #addReject(reject: Omit<Reject, "file" | "line" | "row">, line = this.#line): void {
    this.#rows.push(Result.fail({ file: this.#file, line, row: ++this.#row, ...reject }))
  }

  #addMissing(expected: string, actual: string, line: number): void {
    this.#addReject({ code: "invalid_json", reason: `expected ${expected}, found ${actual}`, raw: "" }, line)
  }

  #addRest(): void {
    const { bytes, size } = this.#held.take()
    const rawText = rawMembers(bytes, size)
    const beginning = (rawText.raw ?? decodeBeginning(bytes))?.trimEnd()
    const isTruncated = this.#phase !== "behind the array" && beginning !== undefined && Json.isBeginning(beginning)
    if (isTruncated) this.openLine = this.#line
    const rest = `the rest of the file (${size.toLocaleString("en")} bytes) cannot be split into records`
    this.#addReject({ code: "invalid_json", reason: `${this.#faultOfRest(rawText)}; ${rest}`, ...rawText })
  }

  #faultOfRest({ raw, raw_bytes }: Pick<Reject, "raw" | "raw_bytes">): string {
    if (this.#phase === "behind the array") {
      const isSecondFile = raw?.startsWith("\uFEFF") === true
      return `expected the end of the file after "]", found ${isSecondFile ? "a byte order mark (probably the start of another file)" : "more content"}`
    }
    if (raw === undefined) return "expected UTF-8, found other bytes (see raw_base64)"
    const end = raw_bytes === undefined ? "the end of the file" : "the end of the excerpt"
    return Result.getOrElse(Result.flip(Json.parse(raw, end)), () => "expected one value, found more")
  }
}
