/** Prices and budgets as exact decimals, without a currency. Only quotients, such as the cost per pair, are rounded. */
import { Option } from "effect"

/** A decimal: text such as `0.40`, or a number. A number is read in its shortest decimal form. */
export type Amount = string | number

export interface Decimal {
  readonly units: bigint
  /** Number of digits after the point. */
  readonly scale: number
}

const grammar = /^(\d{1,15})(?:\.(\d{1,9}))?$/

export const amountForm = "a decimal such as 0.40 or 5000, with at most 15 digits before the point and 9 after it"

export const parse = (amount: Amount): Option.Option<Decimal> => {
  const match = grammar.exec(String(amount))
  if (match === null) return Option.none()
  const [, whole = "", digits = ""] = match
  return Option.some({ units: BigInt(whole + digits), scale: digits.length })
}

export const parsePrice = (amount: Amount): Option.Option<Decimal> =>
  Option.filter(parse(amount), ({ units }) => units > 0n)

export const format = ({ scale, units }: Decimal): string => {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0")
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  return units < 0n ? `-${text}` : text
}

/** Reads a decimal that `format` wrote, with any number of digits. */
export const parseExact = (text: string): Option.Option<Decimal> => {
  const [, whole, digits = ""] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  return whole === undefined ? Option.none() : Option.some({ units: BigInt(whole + digits), scale: digits.length })
}

export const shortest = ({ scale, units }: Decimal): Decimal =>
  scale > 0 && units % 10n === 0n ? shortest({ scale: scale - 1, units: units / 10n }) : { scale, units }

const ten = (scale: number): bigint => 10n ** BigInt(scale)

const atScale = ({ scale, units }: Decimal, wanted: number): bigint => units * ten(wanted - scale)

export const times = ({ scale, units }: Decimal, votes: number | bigint): Decimal => ({
  units: units * BigInt(votes),
  scale,
})

const combined =
  (units: (a: bigint, b: bigint) => bigint) =>
  (a: Decimal, b: Decimal): Decimal => {
    const scale = Math.max(a.scale, b.scale)
    return { units: units(atScale(a, scale), atScale(b, scale)), scale }
  }

export const plus = combined((a, b) => a + b)

export const minus = combined((a, b) => a - b)

export const max = (a: Decimal, b: Decimal): Decimal => (minus(a, b).units < 0n ? b : a)

export const min = (a: Decimal, b: Decimal): Decimal => (minus(b, a).units < 0n ? b : a)

export const zero: Decimal = { units: 0n, scale: 0 }

/** The exact number of votes that a budget buys; 0 if the budget is negative. */
export const votesWithin = (budget: Decimal, price: Decimal): number => {
  if (budget.units < 0n) return 0
  const votes = (budget.units * ten(price.scale)) / (price.units * ten(budget.scale))
  return votes > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(votes)
}

/** The cost divided by `count`, rounded half up, with two more decimal places than the cost; null if `count` is 0. */
export const dividedBy = (cost: Decimal, count: number | bigint): string | null => {
  const divisor = BigInt(count)
  if (divisor === 0n) return null
  const units = (cost.units * 100n * 2n + divisor) / (2n * divisor)
  return format({ units, scale: cost.scale + 2 })
}
