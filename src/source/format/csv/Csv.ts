/**
 * Reads CSV and TSV (RFC 4180). No cell is altered, guessed, or shifted. A record is rejected if it has more or fewer
 * cells than the header. The file is refused if its header is unreadable or repeats a name. Excel's first line `sep=;`
 * sets the delimiter. After a faulty quote, Effect's `Csv` and `csv-parse` 7.0.3 can lose the rest of the file.
 */
import { Effect, Result, Stream } from "effect"
import { reject, type Row, type RowResult } from "../../record/Row.ts"
import { invalidOption, type SourceError, unreadable } from "../../record/SourceError.ts"
import { CsvReader, type CsvRecord, type RecordResult } from "./CsvReader.ts"
import { defaultMaxLineBytes } from "../../../io/Lines.ts"
import { decodeBeginning } from "../../../io/RecordBuffer.ts"
import { plural } from "../../../io/Values.ts"

export interface CsvDialect {
  readonly delimiter: string
  readonly header: boolean
  readonly quote?: "double" | "none"
  readonly hasSeparatorLine?: boolean
  readonly description: string
}

export interface CsvOptions {
  /** One ASCII character, or `\t` for a tab. Default: detected. */
  readonly delimiter?: string | undefined
  /** With `double`, quotes enclose cells and are doubled in them. With `none`, quotes are text. Default: detected. */
  readonly quote?: "double" | "none" | undefined
  /** Whether the first record names the columns. Otherwise, they are `column_1`, `column_2`, … Default: true. */
  readonly header?: boolean | undefined
  /** `tsv` sets the delimiter to a tab. */
  readonly format?: "csv" | "tsv" | undefined
}

const delimiters = [",", "\t", ";", "|"]

const sniffedRecords = 200

/** A delimiter qualifies if at least half of the records have as many cells as the first record. */
export const sniff = (head: Uint8Array, options: CsvOptions = {}, isWhole = true): CsvDialect => {
  const header = options.header ?? true
  const [, separator] = separatorLine.exec(decodeBeginning(head) ?? "") ?? []
  const knownDelimiter =
    options.delimiter === "\\t"
      ? "\t"
      : (options.delimiter ?? separator ?? (options.format === "tsv" ? "\t" : undefined))
  const content = separator === undefined ? head : head.subarray(head.indexOf(LF) + 1)
  const detected = knownDelimiter === undefined ? sniffDelimiter(content, options, isWhole) : undefined
  const delimiter = knownDelimiter ?? detected?.delimiter ?? ","
  const quote = options.quote ?? quoteOf(content, delimiter, isWhole)
  const name = detected?.cells === 1 ? "CSV with one column" : nameOf(delimiter)
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
  const withSeveralCells = candidates.filter(({ cells, share }) => cells > 1 && share >= 0.5)
  const usable =
    withSeveralCells.length > 0 ? withSeveralCells : candidates.map((candidate) => ({ ...candidate, cells: 1 }))
  return usable.reduce((best, candidate) =>
    candidate.share > best.share || (candidate.share === best.share && candidate.cells > best.cells) ? candidate : best,
  )
}

const recordsOf = (head: Uint8Array, delimiter: string, isQuoted: boolean): ReadonlyArray<RecordResult> => {
  const reader = new CsvReader({ file: "", delimiter, isQuoted, maxLineBytes: Infinity })
  reader.push(head)
  reader.end()
  return reader.take()
}

const lengthOf = (record: RecordResult): number => (Result.isFailure(record) ? -1 : record.success.cells.length)

const fit = (records: ReadonlyArray<RecordResult>) => {
  const cells = records.length === 0 ? 0 : lengthOf(records[0]!)
  const fitting = records.filter((record) => lengthOf(record) === cells).length
  return { cells, fitting, share: fitting / Math.max(records.length, 1) }
}

/** Returns `none` if the quotes in TSV are probably text: most cells that begin with a quote do not end with one. */
const quoteOf = (head: Uint8Array, delimiter: string, isWhole: boolean): "none" | undefined => {
  if (delimiter !== "\t") return undefined
  const whole = isWhole ? head : head.subarray(0, head.lastIndexOf(LF) + 1)
  const lines = recordsOf(whole, delimiter, false)
  const { cells, fitting, share } = fit(lines)
  const quoted = fit(recordsOf(whole, delimiter, true))
  if (cells < 2 || fitting <= quoted.fitting || share < quoted.share) return undefined
  const quotedCells = lines
    .flatMap(Result.match({ onFailure: () => [], onSuccess: ({ cells }) => cells }))
    .filter((cell) => cell?.startsWith('"'))
  return quotedCells.filter((cell) => /^"(?:[^"]|"")*"$/.test(cell ?? "")).length * 2 <= quotedCells.length
    ? "none"
    : undefined
}

export const rows =
  (file: string, dialect: CsvDialect, options?: { readonly maxLineBytes?: number | undefined }) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<RowResult, E | SourceError, R> => {
    if (!/^[^"\r\n\u0080-\uffff]$/.test(dialect.delimiter)) {
      const delimiter = JSON.stringify(dialect.delimiter)
      return Stream.fail(
        invalidOption("delimiter", `expected one ASCII character other than a quote or a line end, found ${delimiter}`),
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

  read(chunks: ReadonlyArray<Uint8Array | undefined>): Result.Result<ReadonlyArray<RowResult>, SourceError> {
    for (const chunk of chunks) {
      if (chunk === undefined) this.#reader.end()
      else this.#reader.push(chunk)
    }
    const allRecords = this.#reader.take()
    const records = allRecords.slice(this.#skippedRecords)
    this.#skippedRecords -= allRecords.length - records.length
    const [first] = records
    if (!this.#dialect.header || this.#columns !== undefined || first === undefined) {
      return Result.succeed(records.map((record) => this.#toRow(record)))
    }
    if (Result.isFailure(first)) return headerFailure(this.#file, first.failure.line, first.failure.reason)
    const names = namesOf(first.success.cells)
    if (Result.isFailure(names)) return headerFailure(this.#file, first.success.line, names.failure)
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
    if (this.#isAmbiguous(raw, columns.length)) {
      const lines = raw.split("\n").length
      const oneRecord = 'if the lines are one record with quoted cells, set `quote: "double"`'
      const manyRecords = `if the lines are ${lines} separate records, and the quotes belong to the text, set \`quote: "none"\``
      return reject(place, "invalid_csv", `found ${lines} ambiguous lines: ${oneRecord}; ${manyRecords}`)
    }
    if (this.#dialect.header && columns.every((name, at) => name === plainCell(cells[at]))) {
      return reject(
        place,
        "invalid_shape",
        "expected a record, found the header again; the file may be several files in one",
      )
    }
    if (cells.length === columns.length) {
      return Result.succeed<Row>({ place, value: toObject(columns, cells), isTextual: true })
    }
    const reference = this.#dialect.header ? "the header" : `the record in line ${this.#firstLine}`
    return reject(
      place,
      "invalid_shape",
      `expected ${columns.length} ${plural(columns.length, "cell")} as in ${reference}, found ${cells.length}`,
    )
  }

  #isAmbiguous(raw: string, cells: number): boolean {
    const { delimiter, quote } = this.#dialect
    const isUndecided = quote === undefined && delimiter === "\t" && cells > 1 && raw.includes("\n")
    return isUndecided && raw.split("\n").every((line) => line.split("\t").length === cells)
  }
}

const headerFailure = (file: string, line: number | undefined, problem: string): Result.Result<never, SourceError> =>
  Result.fail(unreadable(file, `unusable header in line ${line}: ${problem}`))

const plainCell = (cell: string | null | undefined): string | undefined => cell?.replace(/^\uFEFF"?|"$/g, "").trim()

const columnName = (_: unknown, at: number): string => `column_${at + 1}`

const namesOf = (cells: CsvRecord["cells"]): Result.Result<ReadonlyArray<string>, string> => {
  const names = cells.map((cell, at) => cell?.trim() || columnName(cell, at))
  const places = new Map<string, number>()
  for (const [at, name] of names.entries()) {
    const first = places.get(name)
    const quoted = JSON.stringify(name.slice(0, 60))
    if (first !== undefined) {
      return Result.fail(
        `expected distinct names, found ${quoted} in cells ${first + 1} and ${at + 1}; rename one column`,
      )
    }
    if (name.includes("\0")) return Result.fail(`expected names without NUL, found ${quoted}; save the file as UTF-8`)
    places.set(name, at)
  }
  return Result.succeed(names)
}

const toObject = (columns: ReadonlyArray<string>, cells: CsvRecord["cells"]): Record<string, string | null> =>
  Object.fromEntries(columns.map((name, at) => [name, cells[at]!]))
