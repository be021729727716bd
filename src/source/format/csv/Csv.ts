/**
 * CSV and TSV (RFC 4180): a record has as many cells as the header, and each cell is text.
 *
 * Guarantees: no cell is altered, guessed or shifted. A record with more or fewer cells than the header is a
 * reject; `CsvReader` says what else is. Lines end with LF or CR LF, quoted cells hold any characters. A byte
 * order mark at the file's start and lines of white space are ignored.
 *
 * Names of columns lose the white space around them; one without a name is `column_2`, by its place. A header
 * that names two columns alike, or cannot be read, ends the reading: so do files whose lines end with CR alone.
 * Quotes have their meaning in TSV too, as for pandas and DuckDB, unless the beginning shows that the
 * file was written without quoting (`quoteOf`). Where a later record may be several lines without quoting, it is a
 * reject. A first line `sep=;`, as Excel has it, names the delimiter.
 *
 * The reader is ours because after a fault of quotes Effect's `Csv` ends, and `csv-parse` 7.0.3 ends or skips
 * the rest of the file. Both take text, so that a record of bytes that are not UTF-8 cannot be rejected alone.
 * Effect's gives `""` and nothing alike, and no text for the reject; `csv-parse` counts CR LF within quotes as
 * two lines, and is 2 to 7 times slower (`test/bench/csv.ts`).
 */
import { Effect, Result, Stream } from "effect"
import { reject, type Row, type RowResult } from "../../record/Row.ts"
import { FileUnreadable, invalidOption, SourceError } from "../../record/SourceError.ts"
import { CsvReader, type CsvRecord, type RecordResult } from "./CsvReader.ts"
import { defaultMaxLineBytes } from "../../../io/Lines.ts"
import { decodeBeginning } from "../../../io/RecordBuffer.ts"

export interface CsvDialect {
  /** One ASCII character. */
  readonly delimiter: string
  /** Whether the first record names the columns; else they are `column_1`, `column_2`, … */
  readonly header: boolean
  /** Whether quotes have their meaning. Undefined: they have, but a record that may as well be several is a reject. */
  readonly quote?: "double" | "none"
  /** Whether the first line is Excel's `sep=;`. */
  readonly hasSeparatorLine?: boolean
  /** For messages: `CSV`, `CSV with ";"`, `CSV with one column`, `TSV, without header`. */
  readonly description: string
}

export interface CsvOptions {
  /** One ASCII character, a tab also as `\t`. Default: detected. */
  readonly delimiter?: string | undefined
  /** Quotes around cells, doubled within them; or none, so that each quote is text. Default: detected. */
  readonly quote?: "double" | "none" | undefined
  /** Default true. */
  readonly header?: boolean | undefined
  /** Of `tsv` the delimiter is a tab. */
  readonly format?: "csv" | "tsv" | undefined
}

/** The first wins among equals. */
const delimiters = [",", "\t", ";", "|"]

/** How many records tell which delimiter it is. */
const sniffedRecords = 200

/**
 * Detects the dialect from the first bytes: the delimiter is the one that gives the most records as many cells
 * as the first one has, if these are at least half.
 */
export const sniff = (head: Uint8Array, options: CsvOptions = {}, isWhole = true): CsvDialect => {
  const header = options.header ?? true
  const [, separator] = separatorLine.exec(decodeBeginning(head) ?? "") ?? []
  const chosen =
    options.delimiter === "\\t"
      ? "\t"
      : (options.delimiter ?? separator ?? (options.format === "tsv" ? "\t" : undefined))
  const content = separator === undefined ? head : head.subarray(head.indexOf(LF) + 1)
  const found = chosen === undefined ? sniffDelimiter(content, options, isWhole) : undefined
  const delimiter = chosen ?? found?.delimiter ?? ","
  const quote = options.quote ?? quoteOf(content, delimiter, isWhole)
  const name = found?.cells === 1 ? "CSV with one column" : nameOf(delimiter)
  return {
    delimiter,
    header,
    ...(quote !== undefined && { quote }),
    ...(separator !== undefined && { hasSeparatorLine: true }),
    description: [name, ...(quote === "none" ? ["without quotes"] : []), ...(header ? [] : ["without header"])].join(
      ", ",
    ),
  }
}

const LF = 0x0a

/** In a cell of its own, too. */
const separatorLine = /^\uFEFF?"?sep=([^"\r\n])"?\r?\n/i

const nameOf = (delimiter: string): string => {
  if (delimiter === "\t") return "TSV"
  return delimiter === "," ? "CSV" : `CSV with ${JSON.stringify(delimiter)}`
}

const sniffDelimiter = (
  head: Uint8Array,
  { quote }: CsvOptions,
  isWhole: boolean,
): { readonly delimiter: string; readonly cells: number } => {
  const candidates = delimiters.map((delimiter) => ({
    delimiter,
    ...fit(
      recordsOf(head, delimiter, (quote ?? quoteOf(head, delimiter, isWhole)) !== "none").slice(0, sniffedRecords),
    ),
  }))
  const several = candidates.filter(({ cells, share }) => cells > 1 && share >= 0.5)
  // One column: the delimiter is the one that is not in it.
  const usable = several.length > 0 ? several : candidates.map((candidate) => ({ ...candidate, cells: 1 }))
  return usable.reduce((best, one) =>
    one.share > best.share || (one.share === best.share && one.cells > best.cells) ? one : best,
  )
}

const recordsOf = (head: Uint8Array, delimiter: string, isQuoted: boolean): ReadonlyArray<RecordResult> => {
  const reader = new CsvReader({ file: "", delimiter, isQuoted, maxLineBytes: Infinity })
  reader.push(head)
  reader.end()
  return reader.take()
}

const lengthOf = (record: RecordResult): number => (Result.isFailure(record) ? -1 : record.success.cells.length)

/** How many cells the first record has, and how many of the records have as many and no fault. */
const fit = (records: ReadonlyArray<RecordResult>) => {
  const cells = records.length === 0 ? 0 : lengthOf(records[0]!)
  const fitting = records.filter((record) => lengthOf(record) === cells).length
  return { cells, fitting, share: fitting / Math.max(records.length, 1) }
}

/**
 * `none` where more lines of a TSV than records by quotes have as many cells as its header, and no smaller share; and of
 * the cells that begin with a quote at most half end with one. With commas that is no evidence, since texts have them.
 */
const quoteOf = (head: Uint8Array, delimiter: string, isWhole: boolean): "none" | undefined => {
  if (delimiter !== "\t") return undefined
  const whole = isWhole ? head : head.subarray(0, head.lastIndexOf(LF) + 1)
  const lines = recordsOf(whole, delimiter, false)
  const { cells, fitting, share } = fit(lines)
  const quoted = fit(recordsOf(whole, delimiter, true))
  if (cells < 2 || fitting <= quoted.fitting || share < quoted.share) return undefined
  const opened = lines
    .flatMap(Result.match({ onFailure: () => [], onSuccess: ({ cells }) => cells }))
    .filter((cell) => cell?.startsWith('"'))
  return opened.filter((cell) => /^"(?:[^"]|"")*"$/.test(cell ?? "")).length * 2 <= opened.length ? "none" : undefined
}

/** `file` is the name in places, rejects and errors. A header that cannot be used is `FileUnreadable`. */
export const rows =
  (file: string, dialect: CsvDialect, options?: { readonly maxLineBytes?: number | undefined }) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<RowResult, E | SourceError, R> => {
    if (!/^[^"\r\n\u0080-\uffff]$/.test(dialect.delimiter)) {
      const found = JSON.stringify(dialect.delimiter)
      return Stream.fail(
        invalidOption("delimiter", `expected one ASCII character other than a quote or a line end, found ${found}`),
      )
    }
    return bytes.pipe(
      Stream.concat(Stream.succeed(undefined)),
      Stream.mapAccumArrayEffect(
        () => new RowReader(file, dialect, options?.maxLineBytes ?? defaultMaxLineBytes),
        (reader, chunks) => Effect.map(Effect.fromResult(reader.read(chunks)), (rows) => [reader, rows] as const),
      ),
    )
  }

class RowReader {
  readonly #file: string
  readonly #dialect: CsvDialect
  readonly #reader: CsvReader
  /** Known once the first record is read, the line of which is then `#firstLine`. */
  #columns: ReadonlyArray<string> | undefined
  #firstLine = 0
  #skippedRecords: number

  constructor(file: string, dialect: CsvDialect, maxLineBytes: number) {
    this.#file = file
    this.#dialect = dialect
    this.#skippedRecords = dialect.hasSeparatorLine === true ? 1 : 0
    this.#reader = new CsvReader({
      file,
      delimiter: dialect.delimiter,
      isQuoted: dialect.quote !== "none",
      maxLineBytes,
    })
  }

  /** `undefined`: the file's end. */
  read(chunks: ReadonlyArray<Uint8Array | undefined>): Result.Result<ReadonlyArray<RowResult>, SourceError> {
    for (const chunk of chunks) {
      if (chunk === undefined) this.#reader.end()
      else this.#reader.push(chunk)
    }
    const taken = this.#reader.take()
    const records = taken.slice(this.#skippedRecords)
    this.#skippedRecords -= taken.length - records.length
    const [first] = records
    if (!this.#dialect.header || this.#columns !== undefined || first === undefined) {
      return Result.succeed(records.map((record) => this.#toRow(record)))
    }
    if (Result.isFailure(first)) return unusable(this.#file, first.failure.line, first.failure.reason)
    const names = namesOf(first.success.cells)
    if (Result.isFailure(names)) return unusable(this.#file, first.success.line, names.failure)
    this.#setColumns(names.success, first.success.line)
    return Result.succeed(records.slice(1).map((record) => this.#toRow(record)))
  }

  #setColumns(columns: ReadonlyArray<string>, line: number): void {
    this.#columns = columns
    this.#firstLine = line
  }

  #toRow(record: RecordResult): RowResult {
    if (Result.isFailure(record)) return Result.fail(record.failure)
    const { line, raw, cells } = record.success
    if (this.#columns === undefined) this.#setColumns(cells.map(columnName), line)
    const columns = this.#columns!
    const place = { file: this.#file, line, raw }
    if (this.#mayBeSeveral(raw, columns.length)) {
      const ways = "one record if quotes enclose cells (--quote double), several if they are text (--quote none)"
      return reject(
        place,
        "invalid_csv",
        `expected a record in one way, found ${raw.split("\n").length} lines that are ${ways}`,
      )
    }
    if (this.#dialect.header && columns.every((name, at) => name === plainCell(cells[at]))) {
      return reject(
        place,
        "invalid_shape",
        "expected a record, found the header again; were several files put together?",
      )
    }
    if (cells.length === columns.length) {
      return Result.succeed<Row>({ place, value: toObject(columns, cells), isTextual: true })
    }
    const like = this.#dialect.header ? "the header" : `the record in line ${this.#firstLine}`
    const expected = `${columns.length} ${columns.length === 1 ? "cell" : "cells"}`
    return reject(place, "invalid_shape", `expected ${expected} as in ${like}, found ${cells.length}`)
  }

  /** Whether each line of a TSV's record has as many cells as the header. */
  #mayBeSeveral(raw: string, cells: number): boolean {
    const { delimiter, quote } = this.#dialect
    const isOpen = quote === undefined && delimiter === "\t" && cells > 1 && raw.includes("\n")
    return isOpen && raw.split("\n").every((line) => line.split("\t").length === cells)
  }
}

const unusable = (file: string, line: number | undefined, problem: string): Result.Result<never, SourceError> =>
  Result.fail(
    new SourceError({
      reason: new FileUnreadable({ file, problem: `the header in line ${line} is unusable: ${problem}` }),
    }),
  )

const plainCell = (cell: string | null | undefined): string | undefined => cell?.replace(/^\uFEFF"?|"$/g, "").trim()

const columnName = (_: unknown, at: number): string => `column_${at + 1}`

/** The failure says what is wrong. */
const namesOf = (cells: CsvRecord["cells"]): Result.Result<ReadonlyArray<string>, string> => {
  const names = cells.map((cell, at) => cell?.trim() || columnName(cell, at))
  const places = new Map<string, number>()
  for (const [at, name] of names.entries()) {
    const first = places.get(name)
    const quoted = JSON.stringify(name.slice(0, 60))
    if (first !== undefined) {
      return Result.fail(`expected names that differ, found ${quoted} in cells ${first + 1} and ${at + 1}; rename one`)
    }
    if (name.includes("\0")) return Result.fail(`expected names without NUL, found ${quoted}; save the file as UTF-8`)
    places.set(name, at)
  }
  return Result.succeed(names)
}

const toObject = (columns: ReadonlyArray<string>, cells: CsvRecord["cells"]): Record<string, string | null> =>
  // Not by assignment: a column may be called `__proto__`.
  Object.fromEntries(columns.map((name, at) => [name, cells[at]!]))
