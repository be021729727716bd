/** Reads one text from each record, which may be a plain string. A record without text at the path is an error. */
import { Effect, Result, Stream } from "effect"
import * as Origin from "../domain/Origin.ts"
import * as OpenFile from "./OpenFile.ts"
import * as Field from "./record/Field.ts"
import { describeValue } from "../io/Values.ts"
import type { RowResult } from "./record/Row.ts"
import * as Listing from "./place/Listing.ts"
import { invalidOption, unreadable } from "./record/SourceError.ts"

/** @param path the text's path in a record, such as `turns[0].content`, or a template */
export const texts = Effect.fn("Source.texts")(function* (files: ReadonlyArray<string>, path: string = "prompt") {
  yield* Listing.checkNames(files)
  if (typeof path !== "string") return yield* invalidOption("path", `expected a text, found ${describeValue(path)}`)
  const members = OpenFile.membersOf(yield* Effect.scoped(OpenFile.sampledUntilRecords(files, {}, 1)))
  const field = Field.parse(Field.ofMembers(path, members))
  if (Result.isFailure(field)) return yield* invalidOption("path", field.failure)
  const textOf = (row: RowResult) => {
    if (Result.isFailure(row)) return Effect.fail(unreadable(Origin.describe(row.failure), row.failure.reason))
    const { place, value } = row.success
    const text = typeof value === "string" ? value : field.success.get(value)
    return typeof text === "string"
      ? Effect.succeed(text)
      : Effect.fail(unreadable(Origin.describe(place), `${path}: expected a string, found ${describeValue(text)}`))
  }
  const texts = yield* Effect.forEach(files, (file) =>
    OpenFile.open(file).pipe(
      Effect.map((opened) => opened.rows(field.success.columns)),
      Stream.unwrap,
      Stream.mapEffect(textOf),
      Stream.runCollect,
    ),
  )
  return texts.flat()
})
