/**
 * What goes along with an item: its metadata, and other members of its record under their names.
 *
 * Guarantees: nothing is overwritten: a record whose metadata has a member of a kept one's name, with
 * another value, is refused.
 */
import { Result } from "effect"
import type { Metadata } from "../../domain/PromptItem.ts"
import * as ItemDecoder from "../ItemDecoder.ts"
import type { Row } from "../Row.ts"
import type { Field } from "./Field.ts"
import * as FieldPath from "./FieldPath.ts"
import { isObject } from "./Found.ts"

export interface Kept {
  /** The metadata, or nothing; the failure is the reason. */
  readonly of: (row: Row) => Result.Result<Metadata | undefined, string>
  /** Undefined where it reads all. */
  readonly columns: ReadonlyArray<string> | undefined
}

/**
 * @param keep names of members; `*` for all others
 * @param read members that other parts of the item are read from
 */
export const make = (metadata: Field | undefined, keep: ReadonlyArray<string>, read: ReadonlyArray<string>): Kept => {
  const others = keep.includes("*")
  const taken = new Set([...read, ...(metadata?.columns ?? [])])
  const isKept = (name: string) => keep.includes(name) || (others && !taken.has(name))
  const metadataOf = (row: Row) =>
    metadata === undefined
      ? Result.succeed(undefined)
      : ItemDecoder.decodeMetadata(metadata.get(row.value, row.isTextual), metadata.name)
  return {
    columns: others ? undefined : [...(metadata?.columns ?? []), ...keep],
    of: (row) =>
      keep.length === 0
        ? metadataOf(row)
        : Result.flatMap(metadataOf(row), (own) =>
            isObject(row.value) ? add(own ?? {}, row.value, isKept) : Result.succeed(own),
          ),
  }
}

const add = (
  metadata: Metadata,
  record: { readonly [member: string]: unknown },
  isKept: (name: string) => boolean,
): Result.Result<Metadata, string> => {
  const kept = Object.entries(record).filter(([name]) => isKept(name))
  for (const [name, value] of kept) {
    const path = FieldPath.format([name])
    const problem = ItemDecoder.jsonProblem(value, path)
    if (problem !== undefined) return Result.fail(problem)
    if (Object.hasOwn(metadata, name) && JSON.stringify(metadata[name]) !== JSON.stringify(value)) {
      return Result.fail(
        `${path}: expected a name that the metadata does not have yet, found it there with another value`,
      )
    }
  }
  // Not by assignment, so that a member may be called `__proto__`.
  return Result.succeed(Object.fromEntries([...Object.entries(metadata), ...kept]))
}
