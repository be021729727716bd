/**
 * Refuses options that a source does not have: programs run without a type check, too.
 *
 * Guarantees: an unknown option that is set is an `InvalidOption` with its name and the nearest known one.
 */
import { Effect } from "effect"
import { didYouMean } from "../../io/NearestName.ts"
import { invalidOption, type SourceError } from "./SourceError.ts"

/** The names of all options, which the type keeps complete. */
export type NamesOf<Options> = { readonly [Name in keyof Required<Options>]: true }

export const check = (options: object, names: object): Effect.Effect<void, SourceError> => {
  const unknown = Object.entries(options).find(([name, value]) => value !== undefined && !Object.hasOwn(names, name))
  if (unknown === undefined) return Effect.void
  return Effect.fail(invalidOption(unknown[0], `no such option${didYouMean(unknown[0], Object.keys(names))}`))
}
