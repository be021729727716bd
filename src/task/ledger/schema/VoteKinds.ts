/**
 * The kinds of experts who gave a task's votes, for the column `task.vote_kinds`. The kinds decide the prices of votes:
 * - If the result has at most as many votes as the task asks for, each vote has the price of its kind.
 * - If the result has more votes, only the requested number is paid. Each has the highest price of the result's kinds.
 */
import { Result, Schema } from "effect"
import * as Cost from "../../../domain/Cost.ts"
import * as ExpertKind from "../../../domain/ExpertKind.ts"
import * as Prices from "../../../domain/Prices.ts"
import * as Voters from "../../../domain/Voters.ts"
import * as FieldPath from "../../../io/FieldPath.ts"

/**
 * Number of votes with equal `kinds`. `kinds` has the kind of the vote's expert. If the result has more votes than the
 * task asks for, `kinds` has all kinds in the result, sorted, without duplicates. Null: an expert without a kind.
 */
const Group = Schema.Struct({ votes: Schema.Int, kinds: Schema.NonEmptyArray(Schema.NullOr(Schema.String)) })
type Group = typeof Group.Type

const Groups = Schema.fromJsonString(Schema.Array(Group))
const decode = Schema.decodeUnknownSync(Groups)

/** Reads the experts' kinds from results. Null if no result has a kind. */
export type ReadKinds = (results: ReadonlyArray<{ readonly annotations?: unknown }>, asks?: number) => string | null

type Kinds = ReadonlyArray<string | null>

const paidVotes = (kinds: Kinds, asks: number, missing: string | null): ReadonlyArray<Kinds> =>
  Array.from({ length: asks }, (_, i) =>
    asks === 1 || kinds.length > asks ? kinds : [i < kinds.length ? kinds[i]! : missing],
  )

const compare = (a: string | null, b: string | null): number => ((a ?? "") < (b ?? "") ? -1 : 1)

/** @param path the path of the field that names a vote's kind of expert; if it is invalid, no kinds are read */
export const reader = (path: string): ReadKinds => {
  const parsed = Result.getOrUndefined(FieldPath.parse(path))
  if (parsed === undefined) return () => null
  return (results, asks = 1) => {
    const counts = new Map<string, Group>()
    const votes = results.flatMap(({ annotations }) =>
      paidVotes(ExpertKind.inAnnotations(annotations, parsed.get), asks, ExpertKind.inWhole(annotations, parsed.get)),
    )
    for (const vote of votes) {
      const [first = null, ...rest] = [...new Set(vote)].toSorted(compare)
      const kinds = [first, ...rest] as const
      const name = JSON.stringify(kinds)
      counts.set(name, { votes: (counts.get(name)?.votes ?? 0) + 1, kinds })
    }
    const groups = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
    return groups.every(({ kinds }) => kinds.every((kind) => kind === null)) ? null : JSON.stringify(groups)
  }
}

/**
 * If the expert of a vote may be of several kinds, the vote has the highest price of these kinds. If a kind is null,
 * its price is the highest price of all experts who may vote according to `voters`.
 */
export const paidAs = (
  text: string,
  prices: Prices.Prices,
  voters: Voters.Voters | null = null,
): ReadonlyArray<{ readonly kind: string | null; readonly votes: number; readonly price: Cost.Decimal }> =>
  decode(text).map(({ kinds: [first, ...rest], votes }) => {
    const priced = (kind: string | null) => ({
      kind,
      price: kind === null ? Voters.priceOf(prices, voters) : Prices.priceOf(prices, kind),
    })
    const dearest = rest
      .map(priced)
      .reduce((most, each) => (Cost.minus(each.price, most.price).units > 0n ? each : most), priced(first))
    return { votes, ...dearest }
  })
