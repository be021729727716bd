/**
 * The kind of expert who gave a vote, as the service reports it. The built-in service reports `person`, `judge` (a
 * language model), or `automatic` (a rule or gold file); another service can report any name.
 *
 * Guarantees: a value that is not a short text counts as unknown and never causes a failure.
 */
import { Predicate } from "effect"

/** Maximum length of a kind in UTF-16 code units. A longer text counts as unknown. */
const maxLength = 100

export const isBuiltIn = (value: unknown): boolean => value === "person" || value === "judge" || value === "automatic"

/** Reads a kind; null if it is unknown. */
export const of = (value: unknown): string | null => {
  const name = Predicate.isString(value) ? value.trim() : ""
  return name === "" || name.length > maxLength ? null : name
}

/** Returns the kind that `at` reads from the annotations, without reading their votes; null if the kind is unknown. */
export const inWhole = (annotations: unknown, at: (members: object) => unknown): string | null =>
  Predicate.isObject(annotations) ? of(at(annotations)) : null

/**
 * Returns the kind of each vote in a result's annotations. A vote without a kind gets the kind of the annotations. If
 * there are no votes, the list contains only the kind of the annotations.
 *
 * @param at reads the kind from a vote or from annotations
 */
export const inAnnotations = (annotations: unknown, at: (members: object) => unknown): ReadonlyArray<string | null> => {
  if (!Predicate.isObject(annotations)) return [null]
  const whole = inWhole(annotations, at)
  const votes = "votes" in annotations ? annotations.votes : undefined
  return Array.isArray(votes) && votes.length > 0
    ? votes.map((vote: unknown) => (Predicate.isObject(vote) ? of(at(vote)) : null) ?? whole)
    : [whole]
}
