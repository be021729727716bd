/** Checks the arguments of `write`, because programs in JavaScript can pass values of any type. */
import { Effect } from "effect"
import * as PairBytes from "../domain/PairBytes.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { describeValue, isObject } from "../io/Values.ts"
import { DatasetError, OptionInvalid } from "./file/DatasetError.ts"

/** Fails unless the options are an object with a directory. */
export const checkOptions = (options: { readonly directory: unknown }): Effect.Effect<void, DatasetError> => {
  const [option, value] = isObject(options) ? ["directory", options.directory] : ["options", options]
  if (option === "directory" && typeof value === "string" && value !== "") return Effect.void
  const expected = option === "directory" ? "the path of a folder" : "an object with `directory`"
  return new DatasetError({ reason: new OptionInvalid({ option, expected, found: describeValue(value) }) })
}

/** Checks that a pair's texts are texts, since untyped code can pass other values. Texts as bytes are not checked. */
export const wrongText = (pair: PreferencePair, at: number): OptionInvalid | undefined => {
  if (PairBytes.of(pair) !== undefined) return undefined
  const isRight = (name: "prompt" | "chosen" | "rejected") =>
    typeof pair[name] === "string" || (name === "prompt" && Array.isArray(pair[name]))
  const name = (["prompt", "chosen", "rejected"] as const).find((name) => !isRight(name))
  if (name === undefined) return undefined
  return new OptionInvalid({ option: `pairs[${at}].${name}`, expected: "a text", found: describeValue(pair[name]) })
}
