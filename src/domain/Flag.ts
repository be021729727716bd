/**
 * An expert's word that something is wrong with an item, as it stands in `annotations.flags` of a result.
 *
 * Guarantees: `flagsIn` keeps whatever a service sends there, in this shape as far as it can be told.
 */
import { Predicate, Schema } from "effect"
import type { Annotations } from "./Task.ts"

/** What prefstream's own service calls the kinds of problems; `other` has a comment. */
export const FlagKind = Schema.Literals([
  "unclear_prompt",
  "bad_completions",
  "harmful_content",
  "personal_data",
  "guidelines_misfit",
  "other",
])
export type FlagKind = typeof FlagKind.Type

export interface Flag {
  /** As the service names them; null where it does not. */
  readonly expert: string | null
  /** `other` where the service does not say. */
  readonly kind: string
  /** The expert's own words. */
  readonly comment?: string
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null || (Predicate.isString(value) && value.trim() === "")
    ? undefined
    : Predicate.isString(value)
      ? value
      : JSON.stringify(value)

/** A flag in whatever shape; members that are not known here are kept as they are. */
const flagOf = (value: unknown): ReadonlyArray<Flag> => {
  const text = textOf(value)
  if (text === undefined || value === false) return []
  if (!Predicate.isObject(value)) return [{ expert: null, kind: value === true ? "other" : text }]
  const { comment, expert, kind, ...rest } = { comment: undefined, expert: undefined, kind: undefined, ...value }
  const words = textOf(comment)
  return [
    {
      ...rest,
      expert: textOf(expert) ?? null,
      kind: textOf(kind) ?? "other",
      ...(words !== undefined && { comment: words }),
    },
  ]
}

/** None where nothing is flagged. */
export const flagsIn = ({ flags }: Annotations): ReadonlyArray<Flag> =>
  Array.isArray(flags) ? flags.flatMap(flagOf) : flagOf(flags)
