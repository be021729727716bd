/** Numbers in ascending order, with counts of equal numbers. Memory: 16 bytes per distinct number. */
import { firstFrom } from "./NumberList.ts"

export interface SortedNumbers {
  readonly length: number
  readonly different: number
  /** @param rank at least 0 and below `length` */
  readonly at: (rank: number) => number
  readonly countBelow: (limit: number) => number
  readonly areWhole: () => boolean
  /** Returns these numbers and `others`. Sorts `others` in place. */
  readonly with: (others: Float64Array) => SortedNumbers
}

/** `ends[i]` is the count of numbers up to and including `values[i]`. */
const make = (values: Float64Array, ends: Float64Array): SortedNumbers => {
  const length = ends.at(-1) ?? 0
  return {
    length,
    different: values.length,
    at: (rank) => values[firstFrom(ends, rank + 1)]!,
    countBelow: (limit) => ends[firstFrom(values, limit) - 1] ?? 0,
    areWhole: () => values.every(Number.isInteger),
    with: (others) => {
      others.sort()
      let size = 0
      const merged = new Float64Array(values.length + others.length)
      const counts = new Float64Array(merged.length)
      let [i, j] = [0, 0]
      while (i < values.length || j < others.length) {
        const value = j === others.length || values[i]! <= others[j]! ? values[i]! : others[j]!
        if (values[i] === value) i++
        while (others[j] === value) j++
        merged[size] = value
        counts[size++] = (ends[i - 1] ?? 0) + j
      }
      return make(merged.slice(0, size), counts.slice(0, size))
    },
  }
}

export const empty = make(new Float64Array(0), new Float64Array(0))
