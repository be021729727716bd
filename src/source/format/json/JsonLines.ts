/** Reads JSON Lines. Each line that is not blank becomes one record. */
import { Array, Result, Stream } from "effect"
import type { RowResult } from "../../record/Row.ts"
import * as Lines from "../../../io/Lines.ts"
import * as JsonRecord from "./JsonRecord.ts"

export const rows =
  (file: string, options?: Lines.LinesOptions) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<RowResult, E, R> =>
    bytes.pipe(Lines.fromBytes(file, options), Stream.mapArray(Array.map((line) => toRow(file, line))))

export const toRow = (file: string, line: Lines.LineResult): RowResult => {
  if (Result.isFailure(line)) return Result.fail(line.failure)
  const { number, text } = line.success
  return JsonRecord.toRow({ file, line: number, raw: text }, text, undefined, !text.includes("\\u"))
}
