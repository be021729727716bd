/**
 * A prompt or completion in a cell of text: text, unless it is a list of messages as Python writes it.
 *
 * Guarantees: JSON stays text. A list that cannot be read with certainty, such as one that NumPy printed, is refused and not taken for text.
 */
import { Result } from "effect"
import * as Json from "../../io/Json.ts"
import * as PythonText from "../record/PythonText.ts"
import * as Messages from "./Messages.ts"

/** What begins like this is no text, even if it is cut off. */
const beginsWithMessage = /^\s*\[\s*\{\s*(["'])(?:role|content|from|value)\1\s*:/

/** The failure is the reason, and names `path`. A value that is no text, or in no cell, stays as it is. */
export const read = (value: unknown, path: string, isTextual: boolean | undefined): Result.Result<unknown, string> => {
  if (isTextual !== true || typeof value !== "string" || !/^\s*\[/.test(value)) return Result.succeed(value)
  if (Result.isSuccess(Json.parse(value))) return Result.succeed(value)
  return Result.match(PythonText.parse(value), {
    onSuccess: (list) => Result.succeed(Messages.isList(list) ? list : value),
    onFailure: (problem) => {
      if (problem === undefined && !beginsWithMessage.test(value)) return Result.succeed(value)
      const found =
        problem === undefined ? "the beginning of a list of messages" : `a list as NumPy prints it, with ${problem}`
      const advice = "export the data as Parquet or JSON Lines, or the column by json.dumps"
      return Result.fail(`${path}: expected text or a list as JSON, found ${found}; ${advice}`)
    },
  })
}
