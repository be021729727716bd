/**
 * What a vote costs, by the kind of expert who gives it.
 *
 * Guarantees: what counts at the highest price costs no less than it turns out to, whichever kinds give the votes.
 */
import { Option, Predicate } from "effect"
import * as Cost from "./Cost.ts"

/** Names the price of votes whose kind has none of its own, or is unknown. */
export const other = "default"

/** One price, or one for each kind of expert, with that of all other votes under `default`. */
export type Price = Cost.Amount | { readonly default: Cost.Amount; readonly [kind: string]: Cost.Amount }

/** The price of each kind that has one of its own, and that of all other votes. */
export interface Prices {
  readonly other: Cost.Decimal
  readonly kinds: ReadonlyMap<string, Cost.Decimal>
}

/** The form of a price, for messages. */
export const form = `${Cost.amountForm}, above 0; or KIND=AMOUNT for one kind of expert, besides the price of all others`

const recordOf = (price: Price): { readonly [kind: string]: Cost.Amount } =>
  Predicate.isObject(price) ? price : { [other]: price }

/** None where an amount is no price, a kind has no name, or the price of other votes is missing. */
export const parse = (price: Price): Option.Option<Prices> => {
  const amounts = Object.entries(recordOf(price)).map(([kind, amount]) =>
    Option.map(kind.trim() === "" ? Option.none() : Cost.parsePrice(amount), (price) => [kind.trim(), price] as const),
  )
  return Option.flatMap(Option.all(amounts), (amounts) => {
    const kinds = new Map(amounts)
    const others = kinds.get(other)
    kinds.delete(other)
    return others === undefined ? Option.none() : Option.some({ other: others, kinds })
  })
}

/** By name, as texts. */
export const toRecord = ({ kinds, other: others }: Prices): { readonly [kind: string]: string } =>
  Object.fromEntries(
    [[other, others] as const, ...[...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1))].map(([kind, price]) => [
      kind,
      Cost.format(price),
    ]),
  )

export const encode = (prices: Prices): string => JSON.stringify(toRecord(prices))

/** @throws where it was not `encode` that wrote it */
export const decode = (text: string): Prices =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `encode` wrote it
  Option.getOrThrow(parse(JSON.parse(text) as Price))

/** @param kind null if it is unknown */
export const priceOf = ({ kinds, other }: Prices, kind: string | null): Cost.Decimal =>
  (kind === null ? undefined : kinds.get(kind)) ?? other

/** What a vote costs at most. */
export const highest = ({ kinds, other }: Prices): Cost.Decimal => [...kinds.values()].reduce(Cost.max, other)

/** What a vote costs at least. */
export const lowest = ({ kinds, other }: Prices): Cost.Decimal => [...kinds.values()].reduce(Cost.min, other)
