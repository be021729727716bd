/**
 * Assigns groups of prompts to splits: prompts of one group, and their near-duplicates, are in the same split.
 *
 * Guarantees: the groups are the components of the graph in which prompts of one group, and near-duplicates, are
 * neighbors. Components are assigned by descending size, each to the split that it fills least in proportion to the
 * split's share. So a share is missed by at most the size of one component, unless a component is larger than a split.
 * The same prompts, groups, and seed give the same splits. Not guaranteed: that a component keeps its split when prompts
 * are added. Memory: 16 bytes per prompt.
 */
import type { Split } from "../../domain/Split.ts"

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

/** The sizes of components, in prompts. */
export interface GroupSizes {
  readonly components: number
  readonly largest: number
}

/**
 * @param roots the component of each prompt, by the earliest ordinal of it
 * @param targets the split and share of each split that is not empty
 * @param placeOf a hash of a component's first prompt, for the order of components of one size
 * @returns the split of each component, by its root
 */
export const assign = (
  roots: Uint32Array,
  targets: ReadonlyArray<readonly [split: Split, share: number]>,
  placeOf: (root: number) => number,
): { readonly splitOf: (root: number) => Split } & GroupSizes => {
  const sizes = new Uint32Array(roots.length)
  for (const root of roots) sizes[root]!++
  const order = [...sizes.keys()].filter((root) => sizes[root]! > 0)
  order.sort((a, b) => sizes[b]! - sizes[a]! || placeOf(a) - placeOf(b) || a - b)
  const fills = targets.map(([split, share]) => ({ split, target: share * roots.length, prompts: 0 }))
  const splits = new Map<number, Split>()
  for (const root of order) {
    const fillOf = ({ prompts, target }: (typeof fills)[number]) => (prompts + sizes[root]!) / target
    const least = fills.reduce((least, each) => (fillOf(each) < fillOf(least) ? each : least))
    least.prompts += sizes[root]!
    splits.set(root, least.split)
  }
  return { splitOf: (root) => splits.get(root)!, components: order.length, largest: sizes[order[0] ?? 0] ?? 0 }
}
