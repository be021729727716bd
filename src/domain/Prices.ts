/** The price of a vote, by the kind of expert who gives it. */
import { Option, Predicate } from "effect"
import * as Cost from "./Cost.ts"

export const other = "default"

/** One price for all votes, or one price per kind of expert. `default` is the price of all other votes. */
export type Price = Cost.Amount | { readonly default: Cost.Amount; readonly [kind: string]: Cost.Amount }

export interface Prices {
  readonly other: Cost.Decimal
  readonly kinds: ReadonlyMap<string, Cost.Decimal>
}

export const form = `${Cost.amountForm}, above 0; KIND=AMOUNT sets the price of one kind of expert`

const recordOf = (price: Price): { readonly [kind: string]: Cost.Amount } =>
  Predicate.isObject(price) ? price : { [other]: price }

/** Returns none if an amount is invalid, a kind has no name, or `default` is missing. */
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

export const toRecord = ({
  kinds,
  other: others,
}: Prices): { readonly default: string; readonly [kind: string]: string } => ({
  [other]: Cost.format(others),
  ...Object.fromEntries(
    [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([kind, price]) => [kind, Cost.format(price)]),
  ),
})

export const encode = (prices: Prices): string => JSON.stringify(toRecord(prices))

/** @throws if `encode` did not write the text */
export const decode = (text: string): Prices =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `encode` wrote it
  Option.getOrThrow(parse(JSON.parse(text) as Price))

export const highest = ({ kinds, other }: Prices): Cost.Decimal => [...kinds.values()].reduce(Cost.max, other)

/** @param kind null if the kind is unknown; the highest price then applies */
export const priceOf = (prices: Prices, kind: string | null): Cost.Decimal =>
  kind === null ? highest(prices) : (prices.kinds.get(kind) ?? prices.other)

export const lowest = ({ kinds, other }: Prices): Cost.Decimal => [...kinds.values()].reduce(Cost.min, other)
