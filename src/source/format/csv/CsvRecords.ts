/**
 * A CSV file's bytes as records, in arrays: one array for each chunk read.
 *
 * Guarantees: every byte of the file is in a record, in a reject, or in a line that was passed over
 * since it holds only white space. A record that is not UTF-8, is larger than the limit, or whose
 * quotes are at fault is a reject; the next ones are read. Of what is too large no more is held
 * than the beginning that the reject shows.
 *
 * A quote that is never closed takes the rest of the file along, into one reject. The lines in it are
 * not read as records: in a file that was cut off within a long cell they would be that cell's lines,
 * of which some have as many delimiters as a record. For the same reason a record that follows one
 * whose quotes are at fault is refused if it has a quote within a cell.
 *
 * A chunk's whole records are decoded at once; the one that straddles two chunks is put together
 * alone, once its end is read.
 */
import { Result } from "effect"
import type { Reject } from "../../../domain/Reject.ts"
import { CellReader, type CsvProblem, type CsvRecord, isBlank } from "./CsvCells.ts"
import { CsvScanner } from "./CsvScanner.ts"
import { decode, RecordBuffer, notUtf8, tooLarge } from "../../../io/RecordBuffer.ts"

export type RecordResult = Result.Result<CsvRecord, Reject>

export interface RecordOptions {
  readonly file: string
  readonly delimiter: string
  /** Larger records are refused. */
  readonly maxLineBytes: number
}

const LF = 10

const countLineFeeds = (bytes: Uint8Array): number => {
  let count = 0
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === LF) count++
  return count
}

const hasProblem = (record: CsvRecord | CsvProblem): record is CsvProblem => "problem" in record

const describe = ({ problem, problemAt }: CsvProblem): string => `cell ${problemAt + 1}: ${problem}`

/** The bytes of one record, of which only the beginning may be there. */
interface RecordBytes {
  /** Without its line end's LF. */
  readonly bytes: Uint8Array
  readonly size: number
  readonly lineFeeds: number
  readonly isFaulty: boolean
}

export class RecordSplitter {
  readonly #options: RecordOptions
  readonly #scanner: CsvScanner
  #records: Array<RecordResult> = []
  /** The first bytes, until they tell whether they are a byte order mark. */
  #first: RecordBuffer | undefined = new RecordBuffer(Infinity)
  /** The line at which the next record begins. */
  #line = 1
  /** Whether the quotes of the last record were at fault. */
  #isDoubtful = false
  /** The beginning of a record whose end has not been read. */
  readonly #held: RecordBuffer
  #heldLineFeeds = 0

  constructor(options: RecordOptions) {
    this.#options = options
    this.#scanner = new CsvScanner(options.delimiter)
    this.#held = new RecordBuffer(options.maxLineBytes)
  }

  /** The records completed since the last call. */
  take(): ReadonlyArray<RecordResult> {
    const records = this.#records
    this.#records = []
    return records
  }

  push(chunk: Uint8Array): void {
    if (this.#first === undefined) return this.#split(chunk)
    this.#first.add(chunk)
    if (this.#first.size >= 3) this.#splitFirst(this.#first.take().bytes)
  }

  end(): void {
    if (this.#first !== undefined) this.#splitFirst(this.#first.take().bytes)
    if (this.#held.size > 0) this.#addHeld()
  }

  #splitFirst(bytes: Uint8Array): void {
    this.#first = undefined
    const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    this.#split(hasMark ? bytes.subarray(3) : bytes)
  }

  #split(chunk: Uint8Array): void {
    const scanner = this.#scanner
    /** Where the whole records begin that are not added yet, and where each of them ends. */
    let start = 0
    let ends: Array<number> = []
    let from = 0
    for (let end = scanner.endOf(chunk, 0); end !== -1; end = scanner.endOf(chunk, end)) {
      if (this.#held.size > 0) {
        this.#hold(chunk.subarray(0, end - 1))
        this.#heldLineFeeds++
        this.#addHeld()
        start = end
      } else if (scanner.isFaulty) {
        this.#addWhole(chunk, start, ends)
        this.#addOne(chunk.subarray(from, end - 1), true)
        start = end
        ends = []
      } else ends.push(end)
      from = end
    }
    this.#addWhole(chunk, start, ends)
    this.#hold(chunk.subarray(from))
  }

  #hold(bytes: Uint8Array): void {
    this.#held.add(bytes)
    this.#heldLineFeeds += countLineFeeds(bytes)
  }

  #addHeld(): void {
    const isFaulty = this.#scanner.isFaulty || this.#scanner.isQuoted
    this.#add({ ...this.#held.take(), lineFeeds: this.#heldLineFeeds, isFaulty })
    this.#heldLineFeeds = 0
  }

  /** Records without fault, from `start` to the last of their ends. */
  #addWhole(chunk: Uint8Array, start: number, ends: ReadonlyArray<number>): void {
    const bytes = chunk.subarray(start, ends.at(-1) ?? start)
    const text = bytes.length <= this.#options.maxLineBytes ? decode(bytes) : undefined
    if (text !== undefined) this.#addText(text)
    else {
      let from = start
      for (const end of ends) {
        this.#addOne(chunk.subarray(from, end - 1), false)
        from = end
      }
    }
  }

  #addOne(bytes: Uint8Array, isFaulty: boolean): void {
    this.#add({ bytes, size: bytes.length, lineFeeds: countLineFeeds(bytes) + 1, isFaulty })
  }

  #add({ bytes, size, lineFeeds, isFaulty }: RecordBytes): void {
    const { maxLineBytes } = this.#options
    const line = this.#line
    const text = size <= maxLineBytes ? decode(bytes) : undefined
    if (size > maxLineBytes) {
      const refusal = tooLarge("a record", bytes, size, maxLineBytes)
      const hint = isFaulty ? ": its quotes are not closed, or not doubled" : ""
      this.#reject(line, { ...refusal, reason: refusal.reason + hint })
    } else if (text === undefined) this.#reject(line, notUtf8(bytes))
    else if (isFaulty) {
      const record = new CellReader(text, this.#options.delimiter, line).next()
      const reason = record !== undefined && hasProblem(record) ? describe(record) : "expected closed quotes"
      this.#reject(line, { code: "invalid_csv", reason, raw: text.replace(/\r$/, "") })
    } else this.#addText(text)
    if (isFaulty) this.#isDoubtful = true
    this.#line = line + lineFeeds
  }

  #addText(text: string): void {
    const reader = new CellReader(text, this.#options.delimiter, this.#line)
    while (true) {
      reader.refusesStrayQuotes = this.#isDoubtful
      const record = reader.next()
      if (record === undefined) break
      if (hasProblem(record)) {
        this.#reject(record.line, { code: "invalid_csv", reason: describe(record), raw: record.raw })
      } else if (!isBlank(record)) {
        this.#isDoubtful = false
        this.#records.push(Result.succeed(record))
      }
    }
    this.#line = reader.line
  }

  #reject(line: number, reject: Omit<Reject, "file" | "line">): void {
    this.#records.push(Result.fail({ file: this.#options.file, line, ...reject }))
  }
}
