/**
 * The kind of expert who gave a vote. The built-in service has `person`, `judge` (a language model), and `automatic` (a
 * rule or gold file). Other services may have any name. A value that is not a short text counts as unknown.
 */
import { Predicate } from "effect"

const maxLength = 100

export const isBuiltIn = (value: unknown): boolean => value === "person" || value === "judge" || value === "automatic"

export const of = (value: unknown): string | null => {
  const name = Predicate.isString(value) ? value.trim() : ""
  return name === "" || name.length > maxLength ? null : name
}

export const inWhole = (annotations: unknown, at: (members: object) => unknown): string | null =>
  Predicate.isObject(annotations) ? of(at(annotations)) : null

export const inAnnotations = (annotations: unknown, at: (members: object) => unknown): ReadonlyArray<string | null> => {
  if (!Predicate.isObject(annotations)) return [null]
  const whole = inWhole(annotations, at)
  const votes = "votes" in annotations ? annotations.votes : undefined
  return Array.isArray(votes) && votes.length > 0
    ? votes.map((vote: unknown) => (Predicate.isObject(vote) ? of(at(vote)) : null) ?? whole)
    : [whole]
}
