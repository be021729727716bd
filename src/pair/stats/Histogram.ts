/**
 * Histograms with 20 to 40 bins and readable edges: multiples of 1, 2, 2.5, or 5 times a power of ten. Negative numbers
 * make the bins symmetric around 0. Positive numbers get log-spaced bins if they differ by more than a factor of 100.
 */
import type { Histogram } from "../../domain/Distribution.ts"
import type { SortedNumbers } from "./SortedNumbers.ts"

const maxBins = 40

export const ofSorted = (sorted: SortedNumbers): Histogram => {
  if (sorted.length === 0) return { edges: [], counts: [] }
  const edges = edgesOf(sorted)
  const inner = edges.slice(1, -1).map((edge) => sorted.countBelow(edge))
  return { edges, counts: [...inner, sorted.length].map((end, i) => end - (inner[i - 1] ?? 0)) }
}

const edgesOf = (sorted: SortedNumbers): ReadonlyArray<number> => {
  const whole = sorted.areWhole()
  const least = sorted.at(0)
  const greatest = sorted.at(sorted.length - 1)
  if (least < 0) return mirrored(sorted, whole)
  const positive = greatest > 0 ? sorted.at(sorted.countBelow(Number.MIN_VALUE)) : 0
  return greatest > 100 * positive && positive > 0
    ? logSpaced(least, positive, greatest, whole)
    : equalWidths(least, greatest, whole)
}

/** The width of a bin: `mantissa` × 10^(`exponent` − 1). Integer mantissas avoid edges such as 0.30000000000000004. */
interface Step {
  readonly mantissa: number
  readonly exponent: number
}

const times = (count: number, { exponent, mantissa }: Step): number =>
  exponent < 1 ? (count * mantissa) / 10 ** (1 - exponent) : count * mantissa * 10 ** (exponent - 1)

const stepFor = (size: number, whole: boolean, hasFewBins: (step: Step) => boolean): Step => {
  for (let exponent = Math.floor(Math.log10(size)); ; exponent++) {
    const step = [10, 20, 25, 50]
      .map((mantissa): Step => ({ mantissa, exponent }))
      .find((step) => {
        const width = times(1, step)
        return width >= size && (!whole || Number.isInteger(width)) && hasFewBins(step)
      })
    if (step !== undefined) return step
  }
}

const stepsBelow = (value: number, step: Step): number => {
  const steps = Math.floor(value / times(1, step))
  return times(steps, step) > value ? steps - 1 : steps
}

const stepsAbove = (value: number, step: Step, whole: boolean): number => {
  const steps = Math.ceil(value / times(1, step))
  const edge = times(steps, step)
  return edge < value || (whole && edge === value) ? steps + 1 : steps
}

const between = (first: number, last: number, step: Step): ReadonlyArray<number> =>
  Array.from({ length: last - first + 1 }, (_, i) => times(first + i, step))

const minWidth = (range: number, size: number, whole: boolean): number =>
  Math.max(range === 0 ? 1 : range / maxBins, size * 2 ** -40, whole ? 1 : 0)

const equalWidths = (least: number, greatest: number, whole: boolean): ReadonlyArray<number> => {
  const ends = (step: Step): readonly [number, number] => {
    const first = stepsBelow(least, step)
    return [first, Math.max(first + 1, stepsAbove(greatest, step, whole))]
  }
  const step = stepFor(minWidth(greatest - least, greatest, whole), whole, (step) => {
    const [first, last] = ends(step)
    return last - first <= maxBins
  })
  return between(...ends(step), step)
}

const mirrored = (sorted: SortedNumbers, whole: boolean): ReadonlyArray<number> => {
  const [least, greatest] = [sorted.at(0), sorted.at(sorted.length - 1)]
  const tail = Math.floor(sorted.length / 100)
  const middle = Math.max(-sorted.at(tail), sorted.at(sorted.length - 1 - tail))
  const size = Math.max(-least, greatest)
  const reach = middle > 0 ? middle : size
  const step = stepFor(minWidth(2 * reach, size, whole), whole, (step) => 2 * stepsAbove(reach, step, whole) <= maxBins)
  const half = stepsAbove(reach, step, whole)
  const below = Math.min(-half, stepsBelow(least, step))
  const above = Math.max(half, stepsAbove(greatest, step, whole))
  return [
    ...(below < -half ? [times(below, step)] : []),
    ...between(-half, half, step),
    ...(above > half ? [times(above, step)] : []),
  ]
}

const ten = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80]
const five = [10, 15, 25, 40, 60]

const logSpaced = (least: number, positive: number, greatest: number, whole: boolean): ReadonlyArray<number> => {
  const lowest = Math.max(positive, greatest * 1e-8)
  const exponents = [Math.floor(Math.log10(lowest)) - 1, Math.ceil(Math.log10(greatest)) + 1] as const
  const marks = Array.from({ length: exponents[1] - exponents[0] + 1 }, (_, i) => exponents[0] + i)
    .flatMap((exponent) => (greatest / lowest > 1e4 ? five : ten).map((mantissa) => times(1, { mantissa, exponent })))
    .filter((mark) => !whole || Number.isInteger(mark))
  const first = marks.findLastIndex((mark) => mark <= lowest)
  const last = marks.findIndex((mark) => (whole ? mark > greatest : mark >= greatest))
  const edges = marks.slice(first, last + 1)
  return least < edges[0]! ? [0, ...edges] : edges
}
