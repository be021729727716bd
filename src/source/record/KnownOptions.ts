/** Refuses unknown options and suggests the nearest known name, for programs without a type check. */
import { Effect } from "effect"
import { describeValue, isObject } from "../../io/Values.ts"
import { didYouMean } from "../../io/NearestName.ts"
import { invalidOption, type SourceError } from "./SourceError.ts"

/** The names of all options. The type requires every name. */
export type NamesOf<Options> = { readonly [Name in keyof Required<Options>]: true }

export const check = (options: object, names: object): Effect.Effect<void, SourceError> => {
  if (!isObject(options)) return invalidOption("options", `expected an object, found ${describeValue(options)}`)
  const unknownOption = Object.entries(options).find(
    ([name, value]) => value !== undefined && !Object.hasOwn(names, name),
  )
  if (unknownOption === undefined) return Effect.void
  return invalidOption(unknownOption[0], `no such option${didYouMean(unknownOption[0], Object.keys(names))}`)
}
