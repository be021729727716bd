/**
 * The cells of CSV records, read from text.
 *
 * Guarantees: a cell is text as it stands in the file, without the quotes around it and with `""` as
 * `"`; nothing is trimmed or guessed. An empty cell without quotes is `null`, one with quotes the
 * empty string. A quote that does not stand first in its cell (`5" pipe`) is a character like any
 * other, as for DuckDB and pandas. What has no sound reading is a problem of its record.
 */
const LF = 10
const CR = 13
const quote = 34

export interface CsvRecord {
  /** One-based: the line at which it begins. */
  readonly line: number
  /** As it stands in the file, without its line end. */
  readonly raw: string
  readonly cells: ReadonlyArray<string | null>
}

export interface CsvProblem extends CsvRecord {
  readonly problem: string
  /** Zero-based: the cell that has it. */
  readonly problemAt: number
}

export const isBlank = ({ raw, cells: [first, second] }: CsvRecord): boolean =>
  second === undefined && (first === null || (first === raw && !/\S/.test(raw)))

export class CellReader {
  /** One-based: the line of what is read next. */
  line: number
  /** Whether a quote in a cell without quotes is a problem. */
  refusesStrayQuotes = false
  readonly #text: string
  readonly #delimiter: string
  #at = 0
  // Where the next ones stand, once looked for.
  #delimiterAt = -1
  #lineFeedAt = -1
  #carriageReturnAt = -1
  #problem: Pick<CsvProblem, "problem" | "problemAt"> | undefined

  /** `text` begins with a record; `line` is its line. */
  constructor(text: string, delimiter: string, line: number) {
    this.#text = text
    this.#delimiter = delimiter
    this.line = line
  }

  /** Behind a closing quote that something else follows, reading goes on with the next line. */
  next(): CsvRecord | CsvProblem | undefined {
    const text = this.#text
    const delimiter = this.#delimiter.charCodeAt(0)
    const line = this.line
    const start = this.#at
    if (start >= text.length) return undefined
    const cells: Array<string | null> = []
    let at = start
    while (true) {
      if (text.charCodeAt(at) === quote) {
        const open = at
        const openLine = this.line
        let isEscaped = false
        at = text.indexOf('"', at + 1)
        while (at !== -1 && text.charCodeAt(at + 1) === quote) {
          isEscaped = true
          at = text.indexOf('"', at + 2)
        }
        if (at === -1) {
          cells.push(text.slice(open))
          this.#countLines(text.slice(open))
          this.#note(
            cells,
            `expected a quote that closes the one in line ${openLine}, found none up to the end, line ${this.line}`,
          )
          at = text.length
          break
        }
        const cell = text.slice(open + 1, at++)
        this.#countLines(cell)
        cells.push(isEscaped ? cell.replaceAll('""', '"') : cell)
        if (text.charCodeAt(at) !== delimiter) {
          if (!this.#isLineEnd(at)) this.#note(cells, this.#misplaced(at))
          break
        }
        at++
      } else {
        const lineFeedAt = this.#nextLineFeed(at)
        if (this.#delimiterAt < at) this.#delimiterAt = indexOf(text, this.#delimiter, at)
        const end = Math.min(this.#delimiterAt, lineFeedAt)
        if (this.#carriageReturnAt < at) this.#carriageReturnAt = indexOf(text, "\r", at)
        const hasReturn = this.#carriageReturnAt < end
        const isEnd = hasReturn && this.#carriageReturnAt + 1 === end && end === lineFeedAt
        const cell = text.slice(at, isEnd ? end - 1 : end)
        cells.push(cell === "" ? null : cell)
        if (hasReturn && !isEnd) this.#note(cells, "expected LF behind CR, or quotes around the cell, found neither")
        if (this.refusesStrayQuotes && cell.includes('"')) {
          this.#note(cells, "expected no quote within a cell, since those of the record above are at fault, found one")
        }
        at = end
        if (end === lineFeedAt) break
        at++
      }
    }
    const lineFeedAt = this.#nextLineFeed(at)
    this.#at = lineFeedAt + 1
    this.line++
    const end = text.charCodeAt(lineFeedAt - 1) === CR && lineFeedAt > start ? lineFeedAt - 1 : lineFeedAt
    const raw = text.slice(start, end)
    const problem = this.#problem
    this.#problem = undefined
    return problem === undefined ? { line, raw, cells } : { line, raw, cells, ...problem }
  }

  /** Of the last of the cells; a record's first problem counts. */
  #note(cells: ReadonlyArray<unknown>, problem: string): void {
    this.#problem ??= { problem, problemAt: cells.length - 1 }
  }

  /** The end of the text counts as one. */
  #nextLineFeed(at: number): number {
    if (this.#lineFeedAt < at) this.#lineFeedAt = indexOf(this.#text, "\n", at)
    return this.#lineFeedAt
  }

  #isLineEnd(at: number): boolean {
    const text = this.#text
    if (text.charCodeAt(at) === CR) at++
    return at === text.length || text.charCodeAt(at) === LF
  }

  #misplaced(at: number): string {
    const found = /^.{1,20}/u.exec(this.#text.slice(at, at + 40))?.[0] ?? this.#text[at]
    return `expected ${JSON.stringify(this.#delimiter)} or the line's end behind the quote that closes in line ${this.line}, found ${JSON.stringify(found)}`
  }

  #countLines(cell: string): void {
    for (let at = cell.indexOf("\n"); at !== -1; at = cell.indexOf("\n", at + 1)) this.line++
  }
}

/** The text's length where there is none. */
const indexOf = (text: string, what: string, from: number): number => {
  const at = text.indexOf(what, from)
  return at === -1 ? text.length : at
}
