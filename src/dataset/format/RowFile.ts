/**
 * The rows of a file on disk, with their numbers: JSON Lines, or Parquet if its name ends so.
 *
 * Guarantees: rows are read as they are, one after another: of JSON Lines, memory holds a chunk
 * and the longest line; of Parquet, a row group. A line that is not UTF-8 or not JSON is a row that
 * failed. No byte order mark is dropped.
 */
import { Effect, FileSystem, Result, Stream } from "effect"
import * as ReadBack from "../file/ReadBack.ts"

export interface NumberedRow {
  /** One-based. */
  readonly line: number
  /** The line as it stands; of Parquet, empty. */
  readonly text: string
  /** The failure says what was found. */
  readonly row: Result.Result<unknown, string>
}

/** Fails with the file system's error; what can't be read as Parquet is one failed row. */
export const read = (path: string) => (path.endsWith(".parquet") ? readParquet(path) : readLines(path))

const LF = 10

const readLines = (path: string) =>
  FileSystem.FileSystem.pipe(
    Effect.map((fs) => fs.stream(path)),
    Stream.unwrap,
    Stream.mapAccumArray(
      () => new Lines(),
      (lines, chunks) => [lines, chunks.flatMap((chunk) => lines.push(chunk))],
      { onHalt: (lines) => lines.end() },
    ),
  )

class Lines {
  #line = 0
  /** The beginning of a line whose end has not been read. */
  #held: Array<Uint8Array> = []

  push(chunk: Uint8Array): Array<NumberedRow> {
    const rows: Array<NumberedRow> = []
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      rows.push(this.#row(chunk.subarray(start, end)))
      start = end + 1
    }
    if (start < chunk.length) this.#held.push(chunk.slice(start))
    return rows
  }

  /** A last line may lack its end. */
  end(): ReadonlyArray<NumberedRow> {
    return this.#held.length === 0 ? [] : [this.#row(new Uint8Array(0))]
  }

  #row(rest: Uint8Array): NumberedRow {
    const bytes = this.#held.length === 0 ? rest : Buffer.concat([...this.#held, rest])
    this.#held = []
    this.#line++
    const text = Result.try({ try: () => decoder.decode(bytes), catch: () => "bytes that are not UTF-8" })
    return {
      line: this.#line,
      text: Result.getOrElse(text, () => ""),
      row: Result.flatMap(text, parse),
    }
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const parse = (text: string): Result.Result<unknown, string> =>
  Result.try({
    try: (): unknown => JSON.parse(text),
    catch: () => (text.trim() === "" ? "an empty line" : "a line that is not JSON"),
  })

const readParquet = (path: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* fs.access(path)
    const { rows } = yield* ReadBack.parquet(path)
    return Stream.mapAccumArray(
      rows,
      () => 0,
      (count, rows) => [
        count + rows.length,
        rows.map((row, i): NumberedRow => ({ line: count + i + 1, text: "", row: Result.succeed(row) })),
      ],
    )
  }).pipe(
    Stream.unwrap,
    Stream.catchTag("Unreadable", ({ why }) => Stream.succeed(failed(1, `a file that is not read as Parquet: ${why}`))),
  )

const failed = (line: number, found: string): NumberedRow => ({ line, text: "", row: Result.fail(found) })
