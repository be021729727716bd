/**
 * One text of each line of JSON Lines files: the prompts of an evaluation, say.
 *
 * Guarantees: all lines are read, or none: a line that has no text where it is looked for is an error that
 * names file, line and field. A line may also be the text itself, as a JSON string.
 */
import { Effect, Result, Stream } from "effect"
import * as FieldPath from "./layout/FieldPath.ts"
import * as Json from "./format/Json.ts"
import * as Lines from "./format/Lines.ts"
import { FileUnreadable, invalidOption, requireFiles, SourceError } from "./SourceError.ts"

const unusable = (file: string, line: number, problem: string): SourceError =>
  new SourceError({ reason: new FileUnreadable({ file: `${file}:${line}`, problem }) })

const kindOf = (value: unknown): string =>
  value === undefined
    ? "nothing"
    : value === null
      ? "null"
      : Array.isArray(value)
        ? "an array"
        : `a value of type ${typeof value}`

/** @param path where the text stands in a line's object, such as `turns[0].content` */
export const texts = Effect.fn("Source.texts")(function* (files: ReadonlyArray<string>, path = "prompt") {
  const field = FieldPath.parse(path)
  if (Result.isFailure(field)) return yield* invalidOption("path", field.failure)
  yield* requireFiles(files)
  const textOf = (file: string) => (line: Lines.LineResult) => {
    if (Result.isFailure(line)) return Effect.fail(unusable(file, line.failure.line ?? 0, line.failure.reason))
    const { number, text } = line.success
    const parsed = Json.parse(text)
    if (Result.isFailure(parsed)) return Effect.fail(unusable(file, number, parsed.failure))
    const value = typeof parsed.success === "string" ? parsed.success : field.success.get(parsed.success)
    return typeof value === "string"
      ? Effect.succeed(value)
      : Effect.fail(unusable(file, number, `${path}: expected a string, found ${kindOf(value)}`))
  }
  const found = yield* Effect.forEach(files, (file) =>
    Lines.read(file).pipe(Stream.mapEffect(textOf(file)), Stream.runCollect),
  )
  return found.flat()
})
