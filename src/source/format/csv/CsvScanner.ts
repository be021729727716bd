/**
 * Where the records of a CSV file end, found in its bytes.
 *
 * Guarantees: the same ends wherever the chunks' boundaries fall. Within RFC 4180 a record ends with
 * the first LF outside quotes; a quote opens only as the first byte of a cell.
 *
 * After the fault of text behind a closing quote (`"abc"def`, `"say "hi" now"`) nothing says for
 * certain where the record ends. It is taken to end with the first LF that stands outside quotes
 * when a quote closes only before a delimiter or a line's end, or before which the quotes are even
 * in number. The whole of it is one faulty record.
 */
const LF = 10
const CR = 13
const quote = 34

const recordStart = 0
const cellStart = 1
const unquoted = 2
const quoted = 3
/** Behind a quote in a quoted cell: the next byte tells what it was. */
const quoteSeen = 4
/** Behind a closing quote and CR. */
const carriageReturn = 5

export class CsvScanner {
  /** Whether the record that was scanned last, to its end or so far, is faulty. */
  isFaulty = false
  readonly #delimiter: number
  #state = recordStart
  /** Of the quotes of a faulty record. */
  #isOdd = false
  // Where the next ones stand in these bytes, once looked for.
  #quoteAt = -1
  #lineFeedAt = -1

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0)
  }

  /** Whether what was scanned ends within quotes. */
  get isQuoted(): boolean {
    return this.#state === quoted
  }

  /** The index behind the LF with which the record ends; -1 if its end is not in these bytes. From 0 they are new ones. */
  endOf(bytes: Uint8Array, from: number): number {
    if (from === 0) {
      this.#quoteAt = -1
      this.#lineFeedAt = -1
    }
    const length = bytes.length
    let at = from
    while (at < length) {
      if (this.#state < quoted) {
        if (this.#state === recordStart) {
          this.isFaulty = false
          this.#isOdd = false
        }
        if (this.#quoteAt < at) this.#quoteAt = indexOf(bytes, quote, at)
        if (this.#lineFeedAt < at) this.#lineFeedAt = indexOf(bytes, LF, at)
        if (this.#lineFeedAt < this.#quoteAt) return this.#end(this.#lineFeedAt + 1)
        at = this.#passUnquoted(bytes, at)
      } else if (this.#state === quoted && !this.isFaulty) {
        const next = bytes.indexOf(quote, at)
        if (next === -1) break
        at = next + 1
        this.#state = quoteSeen
        this.#isOdd = false
      } else if (this.#pass(bytes[at++]!)) return this.#end(at)
    }
    return -1
  }

  #end(at: number): number {
    this.#state = recordStart
    return at
  }

  /** To behind the next quote, or to the end; no line ends before that. */
  #passUnquoted(bytes: Uint8Array, from: number): number {
    const at = this.#quoteAt
    const isStart = at === from ? this.#state !== unquoted : bytes[at - 1] === this.#delimiter
    if (at === bytes.length) this.#state = isStart ? cellStart : unquoted
    else {
      this.#state = isStart ? quoted : unquoted
      if (isStart) this.#isOdd = !this.#isOdd
    }
    return at + 1
  }

  /** A byte within quotes or behind them; true if the record ends with it. */
  #pass(byte: number): boolean {
    if (byte === LF && (this.#state !== quoted || !this.#isOdd)) return true
    if (byte === quote) this.#isOdd = !this.#isOdd
    if (this.#state === quoted) {
      if (byte === quote) this.#state = quoteSeen
    } else if (this.#state === quoteSeen && byte === this.#delimiter) this.#state = cellStart
    else if (this.#state === quoteSeen && byte === CR) this.#state = carriageReturn
    else if (this.#state === quoteSeen && byte === quote) this.#state = quoted
    else {
      this.#state = byte === quote ? quoteSeen : quoted
      this.isFaulty = true
    }
    return false
  }
}

/** The length where there is none. */
const indexOf = (bytes: Uint8Array, byte: number, from: number): number => {
  const at = bytes.indexOf(byte, from)
  return at === -1 ? bytes.length : at
}
