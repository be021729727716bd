/**
 * Keeps related prompts in one split. Near-duplicates and prompts with the same group form a component, and `assign`
 * chooses a split for each component. The order of prompts does not matter. If prompts are added, earlier prompts may
 * get another split. Memory: 60 bytes per prompt, and 60 MB.
 */
import type { Split } from "../../domain/Split.ts"
import { maxCount } from "./NearDuplicates.ts"

/** Source: R. E. Tarjan, 1975, "Efficiency of a good but not linear set union algorithm". */
export const disjointSets = (count: number) => {
  const parent = Uint32Array.from({ length: count }, (_, ordinal) => ordinal)
  const rootOf = (ordinal: number): number => {
    let at = ordinal
    while (parent[at] !== at) at = parent[at] = parent[parent[at]!]!
    return at
  }
  return {
    rootOf,
    join: (one: number, other: number): void => {
      const [first, second] = [rootOf(one), rootOf(other)]
      parent[Math.max(first, second)] = Math.min(first, second)
    },
  }
}

/** `keys[i]` is the key of prompt i, an integer of 52 bits. Calls `join` for prompts with equal keys. */
export const joinEqual = (keys: Float64Array, join: (one: number, other: number) => void): void => {
  // A Map fails above 2^24 entries. So keys are sorted by their first 27 bits, and each prefix has its own Map.
  const numbers = keys.map((key, ordinal) => Math.floor(key / 2 ** 25) * maxCount + ordinal).toSorted()
  const ordinalOf = new Map<number, number>()
  let prefix = -1
  for (const number of numbers) {
    if (Math.floor(number / maxCount) !== prefix) ordinalOf.clear()
    prefix = Math.floor(number / maxCount)
    const ordinal = number % maxCount
    const key = keys[ordinal]!
    if (ordinalOf.has(key)) join(ordinalOf.get(key)!, ordinal)
    else ordinalOf.set(key, ordinal)
  }
}

export interface GroupSizes {
  readonly components: number
  readonly largest: number
}

/**
 * Assigns components to splits, the largest component first. A split's `room` is its target size minus its current
 * size. A component fits if its size is at most `room`, or at most twice `room` if the split is empty. It goes to a
 * random split where it fits: the more room, the more likely. If it fits nowhere, it goes to the split with most room.
 * @param roots for each prompt, the ordinal of the earliest prompt in its component
 * @param draws random numbers from 0 to 1, at the ordinals of the roots
 */
export const assign = (
  roots: Uint32Array,
  targets: ReadonlyArray<readonly [split: Split, share: number]>,
  draws: Float64Array,
): { readonly splitOf: (root: number) => Split } & GroupSizes => {
  const sizes = new Uint32Array(roots.length)
  for (const root of roots) sizes[root]!++
  const order = roots.filter((root, ordinal) => root === ordinal)
  order.sort((a, b) => sizes[b]! - sizes[a]! || draws[a]! - draws[b]! || a - b)
  const fills = targets.map(([, share]) => ({ room: share * roots.length, isEmpty: true }))
  const splits = new Uint8Array(roots.length)
  for (const root of order) {
    const size = sizes[root]!
    const weights = fills.map(({ isEmpty, room }) => (size <= (isEmpty ? 2 * room : room) ? room : 0))
    let rest = draws[root]! * weights.reduce((sum, weight) => sum + weight, 0)
    const drawn = weights.findIndex((weight) => (rest -= weight) < 0)
    const at = drawn === -1 ? fills.reduce((most, { room }, i) => (room > fills[most]!.room ? i : most), 0) : drawn
    fills[at] = { room: fills[at]!.room - size, isEmpty: false }
    splits[root] = at
  }
  return { splitOf: (root) => targets[splits[root]!]![0], components: order.length, largest: sizes[order[0] ?? 0] ?? 0 }
}
