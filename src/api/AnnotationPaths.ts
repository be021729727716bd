/** Copies values in a result's `annotations` to the members that prefstream reads. Settings give the values' paths. */
import { Predicate } from "effect"
import * as Assessment from "../domain/Assessment.ts"
import { type Annotations, rationaleOf } from "../domain/Task.ts"
import * as FieldPath from "../io/FieldPath.ts"

export const members = ["rationale", ...Assessment.names, "flags", "kind"] as const
type Member = (typeof members)[number]

export const isMember = (name: string): name is Member => members.some((member) => member === name)

/** Maps a member to its path in the service's annotations, such as `{ strength: "preference.strength" }`. */
export type AnnotationPaths = { readonly [Name in Member]?: string | undefined }

export const reader = (paths: AnnotationPaths = {}): ((annotations: Annotations) => Annotations) => {
  const parsed = members.flatMap((member) => {
    const path = paths[member]
    const result = path === undefined ? undefined : FieldPath.parse(path)
    return result === undefined || result._tag === "Failure" ? [] : [[member, result.success] as const]
  })
  if (parsed.length === 0) return (annotations) => annotations
  const membersOf = (value: { readonly [name: string]: unknown }) =>
    Object.fromEntries(
      parsed.flatMap(([member, path]) => {
        const content = path.get(value)
        if (content === undefined || content === null) return []
        return [[member, member === "rationale" ? rationaleOf(content) : content]]
      }),
    )
  return (annotations) => {
    const { votes } = annotations
    return {
      ...annotations,
      ...(Array.isArray(votes) && {
        votes: votes.map((vote: unknown) => (Predicate.isObject(vote) ? { ...vote, ...membersOf({ ...vote }) } : vote)),
      }),
      ...membersOf(annotations),
    }
  }
}
