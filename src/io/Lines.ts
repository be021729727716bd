/** Splits bytes into numbered lines (LF or CR LF). Skips blank lines and a byte order mark, unless `isVerbatim`. */
import { Result, Stream } from "effect"
import type { Reject } from "../domain/Reject.ts"
import { decode, RecordBuffer, notUtf8, tooLarge } from "./RecordBuffer.ts"

export interface Line {
  readonly number: number
  readonly text: string
}

export type LineResult = Result.Result<Line, Reject>

export interface LinesOptions {
  /** Longer lines are rejected. Default 32 MiB. */
  readonly maxLineBytes?: number | undefined
  readonly isVerbatim?: boolean | undefined
}

export const defaultMaxLineBytes = 32 * 1024 * 1024

interface Splitter<A> {
  push(chunk: Uint8Array): void
  end(): void
  take(): ReadonlyArray<A>
}

export const split =
  <A>(make: () => Splitter<A>) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<A, E, R> =>
    Stream.mapAccumArray(
      bytes,
      make,
      (splitter, chunks) => {
        for (const chunk of chunks) splitter.push(chunk)
        return [splitter, splitter.take()]
      },
      {
        onHalt: (splitter) => {
          splitter.end()
          return splitter.take()
        },
      },
    )

export const fromBytes = (file: string, options?: LinesOptions) => split(() => new LineSplitter(file, options))

const LF = 10

/** Lines of at least 1 KiB are not decoded together: one character outside Latin-1 would double the memory of all. */
const minLongLine = 1024

/** A caller must call `skip` for each line that it does not push, so that line numbers stay right. */
export class LineSplitter {
  readonly #file: string
  readonly #maxLineBytes: number
  readonly #isVerbatim: boolean
  #lines: Array<LineResult> = []
  #number = 0
  readonly #held: RecordBuffer

  constructor(file: string, options: LinesOptions | undefined) {
    this.#file = file
    this.#maxLineBytes = options?.maxLineBytes ?? defaultMaxLineBytes
    this.#isVerbatim = options?.isVerbatim ?? false
    this.#held = new RecordBuffer(this.#maxLineBytes)
  }

  take(): ReadonlyArray<LineResult> {
    const lines = this.#lines
    this.#lines = []
    return lines
  }

  push(chunk: Uint8Array): void {
    const lastEnd = chunk.lastIndexOf(LF)
    if (lastEnd === -1) return this.#held.add(chunk)
    let start = 0
    if (this.#held.size > 0) {
      start = chunk.indexOf(LF) + 1
      this.#held.add(chunk.subarray(0, start - 1))
      this.#addHeld()
    }
    if (start <= lastEnd) this.#addWhole(chunk.subarray(start, lastEnd))
    this.#held.add(chunk.subarray(lastEnd + 1))
  }

  end(): void {
    if (this.#held.size > 0) this.#addHeld()
  }

  skip(): number {
    return ++this.#number
  }

  #addHeld(): void {
    const { bytes, size } = this.#held.take()
    this.#addLine(bytes, size)
  }

  #addWhole(bytes: Uint8Array): void {
    const isShort = bytes.length <= this.#maxLineBytes && bytes.indexOf(LF) < minLongLine
    const text = isShort ? decode(bytes) : undefined
    if (text !== undefined) {
      for (const line of text.split("\n")) this.#addText(line)
      return
    }
    for (let start = 0; start <= bytes.length;) {
      const end = bytes.indexOf(LF, start)
      const line = bytes.subarray(start, end === -1 ? bytes.length : end)
      this.#addLine(line, line.length)
      start += line.length + 1
    }
  }

  #addLine(bytes: Uint8Array, size: number): void {
    if (size > this.#maxLineBytes) return this.#addReject(tooLarge("a line", bytes, size, this.#maxLineBytes))
    const text = decode(bytes)
    if (text === undefined) this.#addReject(notUtf8(bytes))
    else this.#addText(text)
  }

  #addReject(reject: Omit<Reject, "file" | "line">): void {
    this.#number++
    this.#lines.push(Result.fail({ file: this.#file, line: this.#number, ...reject }))
  }

  #addText(line: string): void {
    const number = ++this.#number
    const start = number === 1 && !this.#isVerbatim && line.startsWith("\uFEFF") ? 1 : 0
    const text = line.slice(start, line.endsWith("\r") ? -1 : undefined)
    if (this.#isVerbatim || /\S/.test(text)) this.#lines.push(Result.succeed({ number, text }))
  }
}
