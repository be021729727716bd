/**
 * Splits a CSV file's bytes into records and cells. A quote inside an unquoted cell (`5" pipe`) is text. A record with
 * text behind a closing quote (`"abc"def`) is rejected. An unclosed quote makes the rest of the file one reject.
 */
import { Result } from "effect"
import type { Reject } from "../../../domain/Reject.ts"
import { decode, notUtf8, RecordBuffer, tooLarge } from "../../../io/RecordBuffer.ts"

export interface CsvRecord {
  readonly line: number
  readonly raw: string
  readonly cells: ReadonlyArray<string | null>
}

export type RecordResult = Result.Result<CsvRecord, Reject>

export interface CsvReaderOptions {
  readonly file: string
  readonly delimiter: string
  readonly isQuoted?: boolean | undefined
  readonly maxLineBytes: number
}

const LF = 10
const CR = 13
const quote = 34

interface Cell {
  readonly start: number
  readonly end: number
  readonly isQuoted: boolean
  readonly isEscaped: boolean
}

interface Fault {
  readonly cell: number
  readonly line: number
  readonly offset: number | undefined
}

type State = "cellStart" | "unquoted" | "quoted" | "quoteSeen" | "returnSeen"

export class CsvReader {
  readonly #options: CsvReaderOptions
  readonly #delimiter: number
  readonly #quote: number
  #records: Array<RecordResult> = []
  #first: RecordBuffer | undefined = new RecordBuffer(Infinity)
  readonly #held: RecordBuffer
  #state: State = "cellStart"
  #line = 1
  #firstLine = 1
  #cells: Array<Cell> = []
  #fault: Fault | undefined
  #isOdd = false
  #cellAt = 0
  #quoteAt = 0
  #openLine = 1
  #isEscaped = false
  /** True after malformed quotes, until the next valid record. Meanwhile, a quote in an unquoted cell is ambiguous. */
  #isDoubtful = false

  constructor(options: CsvReaderOptions) {
    this.#options = options
    this.#delimiter = options.delimiter.charCodeAt(0)
    this.#quote = options.isQuoted === false ? -1 : quote
    this.#held = new RecordBuffer(options.maxLineBytes)
  }

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

  #endRecord({ bytes, size }: { readonly bytes: Uint8Array; readonly size: number }): void {
    const { maxLineBytes } = this.#options
    const fault = this.#fault
    const text = size <= maxLineBytes ? decode(bytes) : undefined
    if (size > maxLineBytes) {
      const refusal = tooLarge("a record", bytes, size, maxLineBytes)
      const hint =
        fault === undefined
          ? ""
          : '; check that each quoted cell ends with a quote, and that quotes inside the cell are written as ""'
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
          return this.#refuse(at, "the cell contains CR without LF, but is not in quotes", raw)
        }
        if (this.#isDoubtful && value.includes('"')) {
          const problem = "a quote within the cell is ambiguous, because an earlier record has malformed quotes"
          return this.#refuse(at, problem, raw)
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
      return `expected a closing quote for the quote in line ${line}, found none up to the last line (${this.#line})`
    }
    const rest = decode(bytes.subarray(offset))!.slice(0, 40)
    const quotedRest = JSON.stringify(/^.{1,20}/u.exec(rest)?.[0] ?? rest[0])
    const delimiter = JSON.stringify(this.#options.delimiter)
    return `expected ${delimiter} or a line end after the closing quote in line ${line}, found ${quotedRest}`
  }

  #refuse(cell: number, problem: string, text: string): void {
    const advice = this.#fault === undefined ? "" : '; if quotes are text in this file, set `quote: "none"`'
    const reason = `cell ${cell + 1}: ${problem}${advice}`
    this.#reject({ code: "invalid_csv", reason, raw: text.replace(/\r$/, "") })
  }

  #reject(reject: Omit<Reject, "file" | "line">): void {
    this.#records.push(Result.fail({ file: this.#options.file, line: this.#firstLine, ...reject }))
  }
}

const indexOf = (bytes: Uint8Array, byte: number, from: number): number => {
  const at = bytes.indexOf(byte, from)
  return at === -1 ? bytes.length : at
}
