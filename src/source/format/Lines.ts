/**
 * A file's bytes as numbered lines, in arrays: one array for each chunk read.
 *
 * Guarantees: a line is the same wherever the chunks' boundaries fall. Lines end
 * with LF or CR LF, the last one may lack its end, a byte order mark at the file's
 * start is no part of the first line. Lines that hold only white space are passed
 * over, but counted. A line that is not UTF-8 or is larger than the limit is a
 * `Reject`; of one that is too large no more is held than the beginning that the
 * reject shows.
 *
 * Bytes are decoded and split a chunk at a time, which is several times faster than
 * line by line; the line that straddles two chunks is put together alone, once its
 * end is read.
 */
import { Effect, FileSystem, Option, Result, Stream } from "effect"
import { Base64 } from "effect/encoding"
import type { Reject } from "../../domain/Reject.ts"
import { logged } from "../InputLog.ts"
import { fromPlatformError, type SourceError } from "../SourceError.ts"

export interface Line {
  /** One-based. */
  readonly number: number
  /** Without its line end. */
  readonly text: string
}

export type LineResult = Result.Result<Line, Reject>

export interface LinesOptions {
  /** Longer lines are refused. Default 32 MiB. */
  readonly maxLineBytes?: number | undefined
}

export const read = (
  file: string,
  options?: LinesOptions,
): Stream.Stream<LineResult, SourceError, FileSystem.FileSystem> =>
  FileSystem.FileSystem.pipe(
    Effect.map((fs) => fs.stream(file)),
    Stream.unwrap,
    logged(file),
    Stream.mapError((error) => fromPlatformError(file, error)),
    fromBytes(file, options),
  )

/** The same for bytes from elsewhere; `file` is their name in rejects. */
export const fromBytes =
  (file: string, options?: LinesOptions) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<LineResult, E, R> =>
    Stream.mapAccumArray(
      bytes,
      () => new LineSplitter(file, options?.maxLineBytes ?? 32 * 1024 * 1024),
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

const LF = 10

/** How much of a line that is too large stands in its reject. */
const shownBytes = 64 * 1024

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decode = (bytes: Uint8Array): Option.Option<string> => Result.getSuccess(Result.try(() => decoder.decode(bytes)))

/** As much of the bytes as are whole characters. */
const decodeBeginning = (bytes: Uint8Array): Option.Option<string> =>
  Result.getSuccess(
    Result.try(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })),
  )

const concat = (parts: ReadonlyArray<Uint8Array>, limit: number): Uint8Array => {
  const whole = new Uint8Array(
    Math.min(
      limit,
      parts.reduce((size, part) => size + part.length, 0),
    ),
  )
  let at = 0
  for (const part of parts) {
    whole.set(part.subarray(0, whole.length - at), at)
    at = Math.min(at + part.length, whole.length)
  }
  return whole
}

class LineSplitter {
  readonly #file: string
  readonly #maxLineBytes: number
  #lines: Array<LineResult> = []
  #number = 0
  /** The beginning of a line whose end has not been read: its pieces, and their size before any was let go. */
  #held: Array<Uint8Array> = []
  #heldBytes = 0

  constructor(file: string, maxLineBytes: number) {
    this.#file = file
    this.#maxLineBytes = maxLineBytes
  }

  /** The lines completed since the last call. */
  take(): ReadonlyArray<LineResult> {
    const lines = this.#lines
    this.#lines = []
    return lines
  }

  push(chunk: Uint8Array): void {
    const lastEnd = chunk.lastIndexOf(LF)
    if (lastEnd === -1) return this.#hold(chunk)
    let start = 0
    if (this.#heldBytes > 0) {
      start = chunk.indexOf(LF) + 1
      this.#hold(chunk.subarray(0, start - 1))
      this.#addHeld()
    }
    if (start <= lastEnd) this.#addWhole(chunk.subarray(start, lastEnd))
    this.#hold(chunk.subarray(lastEnd + 1))
  }

  end(): void {
    if (this.#heldBytes > 0) this.#addHeld()
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
    if (this.#heldBytes > this.#maxLineBytes) this.#held = [concat(this.#held, shownBytes)]
  }

  #addHeld(): void {
    this.#addLine(concat(this.#held, Infinity), this.#heldBytes)
    this.#held = []
    this.#heldBytes = 0
  }

  /** Whole lines, without the end of the last one. */
  #addWhole(bytes: Uint8Array): void {
    const text = bytes.length <= this.#maxLineBytes ? decode(bytes) : Option.none()
    if (Option.isSome(text)) {
      for (const line of text.value.split("\n")) this.#addText(line)
      return
    }
    for (let start = 0; start <= bytes.length;) {
      const end = bytes.indexOf(LF, start)
      const line = bytes.subarray(start, end === -1 ? bytes.length : end)
      this.#addLine(line, line.length)
      start += line.length + 1
    }
  }

  /** `size` is that of the line, of which `bytes` may be only the beginning. */
  #addLine(bytes: Uint8Array, size: number): void {
    if (size > this.#maxLineBytes) {
      const shown = bytes.subarray(0, shownBytes)
      const text = decodeBeginning(shown)
      this.#addReject({
        code: "oversized_line",
        reason: `expected a line of at most ${this.#maxLineBytes} bytes, found ${size}`,
        ...(Option.isSome(text) ? { raw: text.value } : { raw_base64: Base64.encode(shown) }),
        raw_bytes: size,
      })
      return
    }
    const text = decode(bytes)
    if (Option.isSome(text)) this.#addText(text.value)
    else {
      this.#addReject({
        code: "invalid_utf8",
        reason: "expected UTF-8, found bytes that are not; see raw_base64",
        raw_base64: Base64.encode(bytes),
      })
    }
  }

  #addReject(reject: Omit<Reject, "file" | "line">): void {
    this.#number++
    this.#lines.push(Result.fail({ file: this.#file, line: this.#number, ...reject }))
  }

  #addText(line: string): void {
    const number = ++this.#number
    const start = number === 1 && line.startsWith("\uFEFF") ? 1 : 0
    const text = line.slice(start, line.endsWith("\r") ? -1 : undefined)
    if (/\S/.test(text)) this.#lines.push(Result.succeed({ number, text }))
  }
}
