/** JSON Lines: each line that is not blank gives one record, in order. */
import { Array, Result, Stream } from "effect"
import { reject, type RowResult } from "../../record/Row.ts"
import * as Lines from "../../../io/Lines.ts"
import * as JsonRecord from "./JsonRecord.ts"

export const rows =
  (file: string, options?: Lines.LinesOptions) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<RowResult, E, R> =>
    bytes.pipe(Lines.fromBytes(file, options), Stream.mapArray(Array.map((line) => toRow(file, line))))

export const toRow = (file: string, line: Lines.LineResult): RowResult => {
  if (Result.isFailure(line)) return Result.fail(line.failure)
  const { number, text } = line.success
  const place = { file, line: number, raw: text }
  return Result.match(JsonRecord.parse(text), {
    onFailure: (problem) => reject(place, "invalid_json", problem),
    onSuccess: ({ json, value }) => Result.succeed({ place, value, json, isWellFormed: !text.includes("\\u") }),
  })
}
