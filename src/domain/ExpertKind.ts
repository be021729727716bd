/**
 * The kind of expert who gave a vote, as the service tells it: `person` or `automatic` of the built-in service, any name of
 * another one.
 *
 * Guarantees: what is no short text counts as unknown, and stops nothing.
 */
import { Predicate } from "effect"

/** Code units of a name; a longer text is something else. */
const maxLength = 100

/** Null if it is unknown. */
export const of = (value: unknown): string | null => {
  const name = Predicate.isString(value) ? value.trim() : ""
  return name === "" || name.length > maxLength ? null : name
}

/**
 * Of each vote in the annotations of a result, or of the result itself where it lists none. A vote that tells no kind has
 * that of the result.
 *
 * @param at finds the kind in a vote, and in annotations
 */
export const inAnnotations = (annotations: unknown, at: (members: object) => unknown): ReadonlyArray<string | null> => {
  if (!Predicate.isObject(annotations)) return [null]
  const whole = of(at(annotations))
  const votes = "votes" in annotations ? annotations.votes : undefined
  return Array.isArray(votes) && votes.length > 0
    ? votes.map((vote: unknown) => (Predicate.isObject(vote) ? of(at(vote)) : null) ?? whole)
    : [whole]
}
