/**
 * A CSV file's bytes as records with their cells, in one pass.
 *
 * Guarantees: the same records wherever the chunks' boundaries fall; every byte is in a record, in a reject, or
 * in a line of white space. A cell is text as it is in the file, without the quotes around it and with `""` as
 * `"` (or with all quotes, if `isQuoted` is false); an empty cell without quotes is `null`. A quote that is not first in its cell (`5" pipe`) is a character
 * like any other, as for DuckDB and pandas. A record that is not UTF-8, is larger than the limit, or whose
 * quotes are malformed is a reject; of one that is too large only the beginning is held.
 *
 * After text behind a closing quote (`"abc"def`), the end of the record is uncertain. The record ends at the first LF that is outside
 * quotes by either of two rules: a quote closes only before a delimiter or a line's end; or the number of quotes before
 * the LF is even. A quote that is never closed takes the rest of the file along,
 * into one reject, since its lines may be those of a cell that was cut off. For the same reason a record behind
 * one with malformed quotes is refused if it has a quote within a cell.
 */
import { Result } from "effect"
import type { Reject } from "../../../domain/Reject.ts"
import { decode, notUtf8, RecordBuffer, tooLarge } from "../../../io/RecordBuffer.ts"

export interface CsvRecord {
  /** One-based: the line at which it begins. */
  readonly line: number
  /** As it is in the file, without its line end. */
  readonly raw: string
  readonly cells: ReadonlyArray<string | null>
}

export type RecordResult = Result.Result<CsvRecord, Reject>

export interface CsvReaderOptions {
  readonly file: string
  readonly delimiter: string
  /** Whether quotes have their meaning; else each is a character like any other. Default true. */
  readonly isQuoted?: boolean | undefined
  /** Larger records are rejected. */
  readonly maxLineBytes: number
}

const LF = 10
const CR = 13
const quote = 34

/** Where a cell is, in bytes of its record, without its quotes. */
interface Cell {
  readonly start: number
  readonly end: number
  readonly isQuoted: boolean
  /** Whether it has doubled quotes. */
  readonly isEscaped: boolean
}

/** A fault of quotes. */
interface Fault {
  readonly cell: number
  /** Where quotes closed, or opened if they never close. */
  readonly line: number
  /** Of what follows the closing quote; `undefined` if they never close. */
  readonly offset: number | undefined
}

/** Behind a quote in quotes (`quoteSeen`), the next byte tells what it was; so behind CR after it. */
type State = "cellStart" | "unquoted" | "quoted" | "quoteSeen" | "returnSeen"

export class CsvReader {
  readonly #options: CsvReaderOptions
  readonly #delimiter: number
  /** What opens a quoted cell; no byte if nothing does. */
  readonly #quote: number
  #records: Array<RecordResult> = []
  /** The first bytes, until they tell whether they are a byte order mark. */
  #first: RecordBuffer | undefined = new RecordBuffer(Infinity)
  /** What earlier chunks have of the record. */
  readonly #held: RecordBuffer
  #state: State = "cellStart"
  #line = 1
  /** Of the record. */
  #firstLine = 1
  #cells: Array<Cell> = []
  #fault: Fault | undefined
  /** Whether the record's quotes are odd in number, so far. */
  #isOdd = false
  /** Of the cell, in bytes of the record: where it begins, and the last quote that may close it. */
  #cellAt = 0
  #quoteAt = 0
  #openLine = 1
  #isEscaped = false
  /** Whether the quotes of an earlier record were at fault, and no record without fault has come since. */
  #isDoubtful = false

  constructor(options: CsvReaderOptions) {
    this.#options = options
    this.#delimiter = options.delimiter.charCodeAt(0)
    this.#quote = options.isQuoted === false ? -1 : quote
    this.#held = new RecordBuffer(options.maxLineBytes)
  }

  /** The records completed since the last call. */
  take(): ReadonlyArray<RecordResult> {
    const records = this.#records
    this.#records = []
    return records
  }

  push(chunk: Uint8Array): void {
    if (this.#first === undefined) return this.#scan(chunk)
    this.#first.add(chunk)
    if (this.#first.size >= 3) this.#scanFirst(this.#first.take().bytes)
  }

  end(): void {
    if (this.#first !== undefined) this.#scanFirst(this.#first.take().bytes)
    const { size } = this.#held
    if (size === 0) return
    if (this.#state === "quoted") {
      this.#fault ??= { cell: this.#cells.length, line: this.#openLine, offset: undefined }
    } else this.#endCell(size)
    this.#endRecord(this.#held.take())
  }

  #scanFirst(bytes: Uint8Array): void {
    this.#first = undefined
    const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    this.#scan(hasMark ? bytes.subarray(3) : bytes)
  }

  #scan(chunk: Uint8Array): void {
    /** Where the record begins, which earlier chunks may have begun. */
    let start = -this.#held.size
    let delimiterAt = -1
    let lineFeedAt = -1
    const endRecord = (at: number) => {
      this.#held.add(chunk.subarray(Math.max(start, 0), at))
      this.#endRecord(this.#held.take())
      this.#line++
      this.#firstLine = this.#line
      start = at + 1
    }
    for (let at = 0; at < chunk.length;) {
      if (this.#state === "cellStart") {
        this.#cellAt = at - start
        this.#state = chunk[at] === this.#quote ? "quoted" : "unquoted"
        if (this.#state === "quoted") {
          this.#isOdd = !this.#isOdd
          this.#isEscaped = false
          this.#openLine = this.#line
          at++
        }
      } else if (this.#state === "unquoted") {
        if (delimiterAt < at) delimiterAt = indexOf(chunk, this.#delimiter, at)
        if (lineFeedAt < at) lineFeedAt = indexOf(chunk, LF, at)
        at = Math.min(delimiterAt, lineFeedAt)
        if (at === chunk.length) break
        this.#endCell(at - start)
        if (at === lineFeedAt) endRecord(at)
        at++
      } else if (this.#state === "quoted" && this.#fault === undefined) {
        const end = indexOf(chunk, quote, at)
        for (let line = chunk.indexOf(LF, at); line !== -1 && line < end; line = chunk.indexOf(LF, line + 1)) {
          this.#line++
        }
        if (end < chunk.length) this.#seeQuote(end - start)
        at = end + 1
      } else {
        if (this.#endsRecord(chunk[at]!, at - start)) endRecord(at)
        at++
      }
    }
    this.#held.add(chunk.subarray(Math.max(start, 0)))
  }

  #seeQuote(offset: number): void {
    this.#isOdd = !this.#isOdd
    this.#quoteAt = offset
    this.#state = "quoteSeen"
  }

  /** Takes a byte behind a quote in quotes, or in a record whose quotes are at fault. */
  #endsRecord(byte: number, offset: number): boolean {
    const state = this.#state
    if (byte === LF && (state !== "quoted" || !this.#isOdd)) {
      if (this.#fault === undefined) this.#endCell(offset)
      return true
    }
    if (byte === LF) this.#line++
    if (state === "quoted") {
      if (byte === quote) this.#seeQuote(offset)
    } else if (state === "quoteSeen" && byte === this.#delimiter) this.#endCell(offset)
    else if (state === "quoteSeen" && byte === CR) this.#state = "returnSeen"
    else if (state === "quoteSeen" && byte === quote) {
      this.#isOdd = !this.#isOdd
      this.#isEscaped = true
      this.#state = "quoted"
    } else {
      this.#fault ??= { cell: this.#cells.length, line: this.#line, offset: this.#quoteAt + 1 }
      this.#state = "quoted"
      if (byte === quote) this.#seeQuote(offset)
    }
    return false
  }

  /** `offset` is that of the delimiter or line end behind it. */
  #endCell(offset: number): void {
    const isQuoted = this.#state === "quoteSeen" || this.#state === "returnSeen"
    if (offset <= this.#options.maxLineBytes) {
      const start = this.#state === "cellStart" ? offset : this.#cellAt
      this.#cells.push(
        isQuoted
          ? { start: start + 1, end: this.#quoteAt, isQuoted, isEscaped: this.#isEscaped }
          : { start, end: offset, isQuoted, isEscaped: false },
      )
    }
    this.#state = "cellStart"
  }

  /** `size` is that of the record, of which `bytes` may be only the beginning. */
  #endRecord({ bytes, size }: { readonly bytes: Uint8Array; readonly size: number }): void {
    const { maxLineBytes } = this.#options
    const fault = this.#fault
    const text = size <= maxLineBytes ? decode(bytes) : undefined
    if (size > maxLineBytes) {
      const refusal = tooLarge("a record", bytes, size, maxLineBytes)
      const hint = fault === undefined ? "" : ": its quotes are not closed, or not doubled"
      this.#reject({ ...refusal, reason: refusal.reason + hint })
    } else if (text === undefined) this.#reject(notUtf8(bytes))
    else if (fault === undefined) this.#addRecord(text, bytes)
    else this.#refuse(fault.cell, this.#describe(fault, bytes), text)
    if (fault !== undefined) this.#isDoubtful = true
    this.#fault = undefined
    this.#cells = []
    this.#isOdd = false
    this.#state = "cellStart"
  }

  #addRecord(text: string, bytes: Uint8Array): void {
    const isAscii = text.length === bytes.length
    const raw = text.replace(/\r$/, "")
    const cells: Array<string | null> = []
    for (const [at, { start, end, isEscaped, isQuoted }] of this.#cells.entries()) {
      const cell = isAscii ? text.slice(start, end) : decode(bytes.subarray(start, end))!
      if (isQuoted) cells.push(isEscaped ? cell.replaceAll('""', '"') : cell)
      else {
        const value = at === this.#cells.length - 1 ? cell.replace(/\r$/, "") : cell
        if (value.includes("\r")) {
          return this.#refuse(at, "expected LF behind CR, or quotes around the cell, found neither", raw)
        }
        if (this.#isDoubtful && value.includes('"')) {
          const why = "since those of the record above are at fault"
          return this.#refuse(at, `expected no quote within a cell, ${why}, found one`, raw)
        }
        cells.push(value === "" ? null : value)
      }
    }
    if (this.#cells.length === 1 && !this.#cells[0]!.isQuoted && !/\S/.test(raw)) return
    this.#isDoubtful = false
    this.#records.push(Result.succeed({ line: this.#firstLine, raw, cells }))
  }

  #describe({ line, offset }: Fault, bytes: Uint8Array): string {
    if (offset === undefined) {
      return `expected a quote that closes the one in line ${line}, found none up to the end, line ${this.#line}`
    }
    const rest = decode(bytes.subarray(offset))!.slice(0, 40)
    const found = JSON.stringify(/^.{1,20}/u.exec(rest)?.[0] ?? rest[0])
    const delimiter = JSON.stringify(this.#options.delimiter)
    return `expected ${delimiter} or the line's end behind the quote that closes in line ${line}, found ${found}`
  }

  #refuse(cell: number, problem: string, text: string): void {
    const advice = this.#fault === undefined ? "" : "; if quotes are text in this file, set --quote none"
    const reason = `cell ${cell + 1}: ${problem}${advice}`
    this.#reject({ code: "invalid_csv", reason, raw: text.replace(/\r$/, "") })
  }

  #reject(reject: Omit<Reject, "file" | "line">): void {
    this.#records.push(Result.fail({ file: this.#options.file, line: this.#firstLine, ...reject }))
  }
}

/** The length where there is none. */
const indexOf = (bytes: Uint8Array, byte: number, from: number): number => {
  const at = bytes.indexOf(byte, from)
  return at === -1 ? bytes.length : at
}
