/**
 * Problems that experts report about an item, in `annotations.flags`. `flagsIn` keeps every flag that a service sends.
 */
import { Predicate, Schema } from "effect"
import { described } from "./Described.ts"
import type { Annotations } from "./Task.ts"

export const FlagKind = Schema.Literals([
  "unclear_prompt",
  "bad_completions",
  "harmful_content",
  "personal_data",
  "guidelines_misfit",
  "other",
])
export type FlagKind = typeof FlagKind.Type

export const Flag = Schema.Struct({
  expert: described(
    "The expert's name, as in the votes; null if the service gives none.",
    Schema.NullOr(Schema.String),
  ),
  kind: described(
    `${FlagKind.literals.map((kind) => `\`${kind}\``).join(", ")}, or a name from the rubric.`,
    Schema.String,
  ),
  comment: Schema.optionalKey(described("The expert's comment.", Schema.String)),
})
export type Flag = typeof Flag.Type

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null || (Predicate.isString(value) && value.trim() === "")
    ? undefined
    : Predicate.isString(value)
      ? value
      : JSON.stringify(value)

/** Unknown members of a flag are kept unchanged. */
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

export const flagsIn = ({ flags }: Annotations): ReadonlyArray<Flag> =>
  Array.isArray(flags) ? flags.flatMap(flagOf) : flagOf(flags)
