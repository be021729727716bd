/**
 * Assigns prompts to splits, so that prompts of one group, and near-duplicates, are in the same split.
 *
 * Guarantees: prompts of one group, and near-duplicates, are neighbors in a graph. Each component of the graph is
 * assigned as a whole. The splits depend on the seed and the components, and not on the order of the prompts.
 * Components are assigned by descending size. The split is drawn at random, in proportion to the room that each split
 * has left. A split takes part if the component fits, or if the split is empty and the component is at most twice as
 * large as the split. If no split takes part, the component goes to the split with the most room.
 *
 * Not guaranteed: that a component keeps its split when prompts are added. Memory: 60 bytes per prompt and 60 MB, for
 * at most 2^26 prompts (`NearDuplicates`).
 *
 * Two classes of scikit-learn (1.6) each do a part of this. `GroupShuffleSplit` draws groups by the seed, but its
 * shares count groups, and not prompts. `StratifiedGroupKFold` assigns groups by descending size, but the seed has no
 * effect on large groups.
 */
import type { Split } from "../../domain/Split.ts"
import { maxCount } from "./NearDuplicates.ts"

/** Disjoint sets of ordinals (R. E. Tarjan, 1975, "Efficiency of a good but not linear set union algorithm"). */
export const disjointSets = (count: number) => {
  const parent = Uint32Array.from({ length: count }, (_, ordinal) => ordinal)
  const rootOf = (ordinal: number): number => {
    let at = ordinal
    while (parent[at] !== at) at = parent[at] = parent[parent[at]!]!
    return at
  }
  return {
    /** The earliest ordinal of the set. */
    rootOf,
    join: (one: number, other: number): void => {
      const [first, second] = [rootOf(one), rootOf(other)]
      parent[Math.max(first, second)] = Math.min(first, second)
    },
  }
}

/** Calls `join` with each key's first ordinal and each further ordinal of the key. Keys have 52 bits. */
export const joinEqual = (keys: Float64Array, join: (one: number, other: number) => void): void => {
  // A Map of all keys would fail above 2^24 entries. Instead, sorts numbers that have 27 bits of the key and then 26
  // bits of the ordinal.
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

/** The sizes of components, in prompts. */
export interface GroupSizes {
  readonly components: number
  readonly largest: number
}

/**
 * @param roots for each prompt, the earliest ordinal of its component, which identifies the component
 * @param targets the splits that are not empty, with their shares
 * @param draws for each root, a number from 0 to 1 that depends on the seed and the component
 * @returns the split of each component, by its root
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
