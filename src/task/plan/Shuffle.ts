/**
 * Shuffles an item's completions before they are sent, against position bias. The order depends only on the seed, the
 * item's id, the vote, and the number of completions. The algorithm is Fisher-Yates (Durstenfeld 1964, Algorithm 235),
 * with SHA-256 as the source of random numbers. A choice among n is a 32-bit number modulo n. A number of
 * 2^32 - (2^32 mod n) or more is skipped, so that all orders are equally likely.
 */
import * as Sha256 from "../../node/Sha256.ts"
import type { CompletionOrder } from "../ledger/schema/CompletionOrder.ts"

const draws = function* (text: string): Generator<number, never> {
  for (let block = 0; ; block++) {
    const hex = Sha256.hex(`${block}:${text}`)
    for (let at = 0; at < hex.length; at += 8) yield Number.parseInt(hex.slice(at, at + 8), 16)
  }
}

const span = 2 ** 32

const below = (n: number, from: Iterator<number, never>): number => {
  const limit = span - (span % n)
  let drawn = from.next().value
  while (drawn >= limit) drawn = from.next().value
  return drawn % n
}

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

export const ofItem = (seed: number, itemId: string, vote: number, completions: number): CompletionOrder =>
  draw(seed, JSON.stringify([itemId, vote]), completions)

/** Two random numbers: `share` is at least 0 and below 1, and `which` is a whole number from 0 to `n` − 1. */
export const chance = (seed: number, key: string, n: number): { readonly share: number; readonly which: number } => {
  const from = draws(`${seed}:${key}`)
  return { share: from.next().value / span, which: below(n, from) }
}
