/**
 * JSON Lines files of complete items, one object a line: `{prompt, completions, id?, models?, gold?, metadata?}`.
 *
 * Guarantees: every line that is not blank gives one record, in order. Members
 * that an item does not have are left out of it: what is to go along belongs
 * into `metadata`. An `id` may be a string or a safe integer, which counts as its
 * decimal digits.
 *
 * Not checked: that an `id` occurs once.
 */
import { Array, Effect, Result, Stream } from "effect"
import type * as Lines from "../io/Lines.ts"
import * as ItemDecoder from "./item/ItemDecoder.ts"
import * as RowFiles from "./RowFiles.ts"
import { invalidOption, requireFiles } from "./record/SourceError.ts"
import type { Source } from "./record/SourceRecord.ts"

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
        RowFiles.open(file, { ...options, format: "jsonl" }).pipe(
          Effect.map((opened) => opened.rows()),
          Stream.unwrap,
          Stream.mapArray(
            Array.map(
              Result.flatMap(({ isWellFormed, place, value }) =>
                ItemDecoder.decode(value, place, {}, false, isWellFormed),
              ),
            ),
          ),
        ),
      )
    }).pipe(Stream.unwrap),
  }
}
