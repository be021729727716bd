/** Copies values, such as a strength, from any path in a result's `annotations` to the member that prefstream reads. */
import { Predicate } from "effect"
import * as Assessment from "../domain/Assessment.ts"
import { type Annotations, rationaleOf } from "../domain/Task.ts"
import * as FieldPath from "../io/FieldPath.ts"

export const members = ["rationale", ...Assessment.names, "flags", "kind"] as const
type Member = (typeof members)[number]

export const isMember = (name: string): name is Member => members.some((member) => member === name)

/** Maps a member to its path in the service's annotations, such as `{ strength: "preference.strength" }`. */
export type AnnotationPaths = { readonly [Name in Member]?: string | undefined }

/** Returns a function that sets members of annotations and votes to the values at `paths`. Ignores invalid paths. */
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
