/** Reads rows unchanged and in order. Memory holds one chunk and the longest line, or one Parquet row group. */
import { Array, Effect, FileSystem, Result, Stream } from "effect"
import * as Json from "../../io/Json.ts"
import * as Lines from "../../io/Lines.ts"
import * as ReadBack from "../file/ReadBack.ts"

export interface NumberedRow {
  readonly line: number
  readonly text: string
  readonly row: Result.Result<unknown, string>
}

export const read = (path: string) => (path.endsWith(".parquet") ? readParquet(path) : readLines(path))

const readLines = (path: string) =>
  FileSystem.FileSystem.pipe(
    Effect.map((fs) => fs.stream(path)),
    Stream.unwrap,
    Lines.fromBytes(path, { maxLineBytes: Infinity, isVerbatim: true }),
    Stream.mapArray(Array.map(toRow)),
  )

const toRow = (line: Lines.LineResult): NumberedRow => {
  if (Result.isFailure(line)) return failedRow(line.failure.line ?? 0, "bytes that are not UTF-8")
  const { number, text } = line.success
  const row = Result.mapError(Json.parse(text), (problem) =>
    text.trim() === "" ? "an empty line" : `invalid JSON (${problem})`,
  )
  return { line: number, text, row }
}

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
    Stream.catchTag("Unreadable", ({ why }) =>
      Stream.succeed(failedRow(1, `a file that cannot be read as Parquet: ${why}`)),
    ),
  )

const failedRow = (line: number, found: string): NumberedRow => ({ line, text: "", row: Result.fail(found) })
