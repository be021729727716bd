/**
 * The order in which an item's completions are sent. Shuffling prevents position bias in the data.
 *
 * Guarantees: every order is equally likely, and follows from the seed, the item's id, and the vote alone. Fisher-Yates as in
 * Durstenfeld 1964 (Algorithm 235) from the bytes of SHA-256; draws beyond the last multiple of the range are drawn again.
 */
import * as Sha256 from "../../node/Sha256.ts"
import type { CompletionOrder } from "../ledger/schema/CompletionOrder.ts"

/** Numbers below 2^32 that follow from a text. */
const draws = function* (text: string): Generator<number, never> {
  for (let block = 0; ; block++) {
    const hex = Sha256.hex(`${block}:${text}`)
    for (let at = 0; at < hex.length; at += 8) yield Number.parseInt(hex.slice(at, at + 8), 16)
  }
}

const span = 2 ** 32

/** A whole number from 0 to below `n`, of which none is likelier than another. */
const below = (n: number, from: Iterator<number, never>): number => {
  const limit = span - (span % n)
  let drawn = from.next().value
  while (drawn >= limit) drawn = from.next().value
  return drawn % n
}

/**
 * @param key what the order belongs to, in addition to the seed
 * @param n how many there are to be ordered
 */
export const draw = (seed: number, key: string, n: number): CompletionOrder => {
  const order = Array.from({ length: n }, (_, index) => index)
  const from = draws(`${seed}:${key}`)
  for (let last = n - 1; last > 0; last--) {
    const at = below(last + 1, from)
    const moved = order[at]!
    order[at] = order[last]!
    order[last] = moved
  }
  return order.every((index, at) => index === at) ? undefined : order
}

/** The order of an item's completions in one of its votes. */
export const ofItem = (seed: number, itemId: string, vote: number, completions: number): CompletionOrder =>
  draw(seed, JSON.stringify([itemId, vote]), completions)

/** A number from 0 to below 1 that follows from the seed and a key, and one that is below `n`. */
export const chance = (seed: number, key: string, n: number): { readonly share: number; readonly which: number } => {
  const from = draws(`${seed}:${key}`)
  return { share: from.next().value / span, which: below(n, from) }
}
