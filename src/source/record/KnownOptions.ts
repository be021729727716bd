/** For programs without a type check: refuses unknown options, and values of the wrong kind. */
import { Effect } from "effect"
import * as Kinds from "../../io/SettingKinds.ts"
import { isObject } from "../../io/Values.ts"
import { didYouMean } from "../../io/NearestName.ts"
import { invalidOption, type SourceError } from "./SourceError.ts"

export const check = (options: object, kinds: Kinds.Kinds): Effect.Effect<void, SourceError> => {
  const unknownOption = Object.entries(isObject(options) ? options : {}).find(
    ([name, value]) => value !== undefined && !Object.hasOwn(kinds, name),
  )
  if (unknownOption !== undefined) {
    return invalidOption(unknownOption[0], `no such option${didYouMean(unknownOption[0], Object.keys(kinds))}`)
  }
  const wrong = Kinds.wrongIn(options, kinds)
  return wrong === undefined
    ? Effect.void
    : invalidOption(wrong.setting, `expected ${wrong.expected}, found ${wrong.found}`)
}
