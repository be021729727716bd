/** Parses only a list of messages in Python's notation. Lists in the notation of NumPy are refused. */
import { Result } from "effect"
import * as Json from "../../io/Json.ts"
import * as PythonText from "../record/PythonText.ts"
import * as Messages from "./Messages.ts"

const beginsWithMessage = /^\s*\[\s*\{\s*(["'])(?:role|content|from|value)\1\s*:/

export const read = (value: unknown, path: string, isTextual: boolean | undefined): Result.Result<unknown, string> => {
  if (isTextual !== true || typeof value !== "string" || !/^\s*\[/.test(value)) return Result.succeed(value)
  if (Result.isSuccess(Json.parse(value))) return Result.succeed(value)
  return Result.match(PythonText.parse(value), {
    onSuccess: (list) => Result.succeed(Messages.isList(list) ? list : value),
    onFailure: (problem) => {
      if (problem === undefined && !beginsWithMessage.test(value)) return Result.succeed(value)
      const description =
        problem === undefined ? "an incomplete list of messages" : `a list in NumPy print format, with ${problem}`
      const advice = "export the data as Parquet or JSON Lines, or write the column with json.dumps"
      return Result.fail(`${path}: expected text or a list as JSON, found ${description}; ${advice}`)
    },
  })
}
