/**
 * Where another service says in `annotations` what prefstream's own says in members of a fixed name. The contract shows
 * no member but `rationale`.
 *
 * Guarantees: without paths, annotations are read as they are; a path that leads nowhere changes nothing. Paths are
 * followed in the annotations, and in each of `annotations.votes`.
 */
import { Predicate } from "effect"
import { type Annotations, rationaleOf } from "../domain/Task.ts"
import * as FieldPath from "../io/FieldPath.ts"

export const members = ["rationale", "strength", "all_bad", "flags", "edited", "aspects", "kind"] as const
type Member = (typeof members)[number]

export const isMember = (name: string): name is Member => members.some((member) => member === name)

/** By member, the path in the service's annotations, such as `{ strength: "preference.strength" }`. */
export type AnnotationPaths = { readonly [Name in Member]?: string | undefined }

/** Reads annotations by these paths; a path that can't be parsed leads nowhere. */
export const reader = (paths: AnnotationPaths = {}): ((annotations: Annotations) => Annotations) => {
  const parsed = members.flatMap((member) => {
    const path = paths[member]
    const result = path === undefined ? undefined : FieldPath.parse(path)
    return result === undefined || result._tag === "Failure" ? [] : [[member, result.success] as const]
  })
  if (parsed.length === 0) return (annotations) => annotations
  const found = (value: { readonly [name: string]: unknown }) =>
    Object.fromEntries(
      parsed.flatMap(([member, path]) => {
        const there = path.get(value)
        if (there === undefined || there === null) return []
        return [[member, member === "rationale" ? rationaleOf(there) : there]]
      }),
    )
  return (annotations) => {
    const { votes } = annotations
    return {
      ...annotations,
      ...(Array.isArray(votes) && {
        votes: votes.map((vote: unknown) => (Predicate.isObject(vote) ? { ...vote, ...found({ ...vote }) } : vote)),
      }),
      ...found(annotations),
    }
  }
}
