/**
 * The kinds of experts who gave a task's votes, as text for the column `task.vote_kinds`. The cost of the votes depends
 * on them.
 *
 * Guarantees: the same result gives the same text. For an item with votes of several kinds, the text contains all
 * kinds, so that the item counts at the highest of their prices.
 */
import { Result, Schema } from "effect"
import * as Cost from "../../../domain/Cost.ts"
import * as ExpertKind from "../../../domain/ExpertKind.ts"
import * as Prices from "../../../domain/Prices.ts"
import * as FieldPath from "../../../io/FieldPath.ts"

/** Number of items whose votes have exactly these kinds. Kinds are unique and sorted. Null is an unknown kind. */
const Group = Schema.Struct({ items: Schema.Int, kinds: Schema.NonEmptyArray(Schema.NullOr(Schema.String)) })
type Group = typeof Group.Type

const Groups = Schema.fromJsonString(Schema.Array(Group))
const decode = Schema.decodeUnknownSync(Groups)

/** Reads the kinds of a result's votes. Null if the service reports none. */
export type ReadKinds = (results: ReadonlyArray<{ readonly annotations?: unknown }>) => string | null

const compare = (a: string | null, b: string | null): number => ((a ?? "") < (b ?? "") ? -1 : 1)

/** @param path the field path of a vote's kind; an invalid path gives no kinds */
export const reader = (path: string): ReadKinds => {
  const parsed = Result.getOrUndefined(FieldPath.parse(path))
  if (parsed === undefined) return () => null
  return (results) => {
    const counts = new Map<string, Group>()
    for (const { annotations } of results) {
      const [first = null, ...rest] = [...new Set(ExpertKind.inAnnotations(annotations, parsed.get))].toSorted(compare)
      const kinds = [first, ...rest] as const
      const name = JSON.stringify(kinds)
      counts.set(name, { items: (counts.get(name)?.items ?? 0) + 1, kinds })
    }
    const groups = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
    return groups.every(({ kinds }) => kinds.every((kind) => kind === null)) ? null : JSON.stringify(groups)
  }
}

/** Groups a task's items by the kind whose price counts: the most expensive, or among several, the first by name. */
export const paidAs = (
  text: string,
  prices: Prices.Prices,
): ReadonlyArray<{ readonly kind: string | null; readonly items: number }> =>
  decode(text).map(({ items, kinds: [first, ...rest] }) => ({
    items,
    kind: rest.reduce(
      (dearest, kind) =>
        Cost.minus(Prices.priceOf(prices, kind), Prices.priceOf(prices, dearest)).units > 0n ? kind : dearest,
      first,
    ),
  }))
