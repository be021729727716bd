/**
 * The order in which an item's completions are sent, so that what experts think of the first
 * or the last place cannot reach the data; and the way back.
 *
 * Guarantees: every order is equally likely; it follows from the seed, the item's id and the
 * vote alone, so it is the same after a crash and in another job. Drawn by Fisher and Yates's
 * method as in Durstenfeld 1964 ("Algorithm 235: Random permutation", Communications of the ACM
 * 7, 7) from the bytes of SHA-256; draws beyond the last multiple of the range are made again.
 *
 * An order holds indices into the completions as the input has them, by the place at which each was sent.
 */
import { Predicate, Record } from "effect"
import type { Annotations } from "../domain/Task.ts"
import * as Sha256 from "../node/Sha256.ts"

export const defaultShuffleSeed = 0

/** Undefined where it is that of the input. */
export type Order = ReadonlyArray<number> | undefined

/** Numbers below 2^32 that follow from a text. */
const draws = function* (text: string): Generator<number, never> {
  for (let block = 0; ; block++) {
    const bytes = Sha256.bytes(`${block}:${text}`)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let at = 0; at < bytes.length; at += 4) yield view.getUint32(at)
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
 * @param key what the order belongs to, beside the seed
 * @param n how many there are to be ordered
 */
export const draw = (seed: number, key: string, n: number): Order => {
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
export const ofItem = (seed: number, itemId: string, vote: number, completions: number): Order =>
  draw(seed, JSON.stringify([itemId, vote]), completions)

/** A number from 0 to below 1 that follows from the seed and a key, and one that is below `n`. */
export const chance = (seed: number, key: string, n: number): { readonly share: number; readonly which: number } => {
  const from = draws(`${seed}:${key}`)
  return { share: from.next().value / span, which: below(n, from) }
}

/** In the order that is sent. */
export const apply = <A>(values: ReadonlyArray<A>, order: ReadonlyArray<number>): ReadonlyArray<A> =>
  order.map((index) => values[index]!)

/** In the order of the input again. */
export const undo = <A>(sent: ReadonlyArray<A>, order: ReadonlyArray<number>): ReadonlyArray<A> => {
  const values = [...sent]
  order.forEach((index, at) => void (values[index] = sent[at]!))
  return values
}

type Translate = (value: unknown, order: ReadonlyArray<number>) => unknown

/** The index of the input for that of a place in `order`; undefined where it is none. */
const index: Translate = (value, order) => (Predicate.isNumber(value) ? order[value] : undefined)

const listOf =
  (translate: Translate): Translate =>
  (value, order) => {
    if (!Array.isArray(value)) return undefined
    const list = value.map((element: unknown) => translate(element, order))
    return list.includes(undefined) ? undefined : list
  }

/** An object with these members translated. Others, and what has another shape, stay as they are. */
const membersOf =
  (members: { readonly [name: string]: Translate }): Translate =>
  (value, order) =>
    Predicate.isObject(value) ? Record.map(value, (member, name) => members[name]?.(member, order) ?? member) : value

const indices = listOf(index)
const groups = listOf(indices)

/** What prefstream's own service writes: see `domain/Vote.ts`, and `service/expert/JudgeExpert.ts` for the details. */
const annotationsOf = membersOf({
  ranking: groups,
  votes: listOf(
    membersOf({
      choice: index,
      ranking: groups,
      order: indices,
      details: membersOf({ answers: listOf(membersOf({ order: indices, choice: index })) }),
    }),
  ),
})

/** What an expert said, with the indices that prefstream's own service writes as those of the input. */
export const undoAnnotations = (annotations: Annotations, order: ReadonlyArray<number>): Annotations =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object stays an object, and its rationale as it is
  annotationsOf(annotations, order) as Annotations
