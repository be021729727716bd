/**
 * Files of complete items, one JSON object a line: `{prompt, completions, id?, gold?, metadata?}`.
 *
 * Guarantees: every line that is not blank gives one record, in order. Members
 * that an item does not have are left out of it: what is to go along belongs
 * into `metadata`. An `id` may be a string or a safe integer, which counts as its
 * decimal digits.
 *
 * Not checked: that an `id` occurs once.
 */
import { Array, Effect, Result, Stream } from "effect"
import * as ItemDecoder from "./ItemDecoder.ts"
import * as Json from "./Json.ts"
import * as Lines from "./Lines.ts"
import { invalidOption, requireFiles } from "./SourceError.ts"
import type { Source, SourceRecord } from "./SourceRecord.ts"

export interface JsonLinesOptions extends Lines.LinesOptions {}

/** Several files are read one after the other. Fails before the first record if one of them is missing. */
export const jsonl = (files: string | ReadonlyArray<string>, options?: JsonLinesOptions): Source => {
  const all = typeof files === "string" ? [files] : files
  return {
    description: all.length === 1 ? `${all[0]}` : `${all.length} JSONL files`,
    records: Effect.gen(function* () {
      if (all.length === 0) return yield* invalidOption("files", "expected at least one file, found none")
      yield* requireFiles(all)
      return Stream.flatMap(Stream.fromArray(all), (file) =>
        Lines.read(file, options).pipe(Stream.mapArray(Array.map((line) => toRecord(file, line)))),
      )
    }).pipe(Stream.unwrap),
  }
}

const toRecord = (file: string, line: Lines.LineResult): SourceRecord => {
  if (Result.isFailure(line)) return Result.fail(line.failure)
  const { number, text } = line.success
  const place = { file, line: number, raw: text }
  const value = Json.parse(text)
  return Result.isSuccess(value)
    ? ItemDecoder.decode(value.success, place)
    : ItemDecoder.reject(place, "invalid_json", value.failure)
}
