/**
 * Axes for binned numbers: linear where bins are equally wide, logarithmic where they grow.
 *
 * Guarantees: ticks are round numbers of their unit, and far enough from each other to be read.
 */
import type { ScaleOptions } from "@observablehq/plot"
import { seconds, short, shortShare } from "./format.ts"

export type Unit = "characters" | "seconds" | "share"

const formats: Record<Unit, (value: number) => string> = { characters: short, seconds, share: shortShare }

/** The kind of scale, with the place (in any unit) at which it puts a value. */
interface Placing {
  readonly options: Pick<ScaleOptions, "type" | "constant">
  readonly place: (value: number) => number
}

export const isEven = (edges: ReadonlyArray<number>): boolean => {
  const widths = edges.slice(1).map((edge, i) => edge - (edges[i] ?? 0))
  return Math.max(...widths) <= 1.5 * Math.min(...widths)
}

const placing = (edges: ReadonlyArray<number>, low: number): Placing => {
  if (isEven(edges)) return { options: { type: "linear" }, place: (value) => value }
  const positive = edges.map(Math.abs).filter((edge) => edge > 0)
  if (positive.length === edges.length && (edges[0] ?? 0) > 0 && low > 0) {
    return { options: { type: "log" }, place: (value) => Math.log(value) }
  }
  const constant = Math.min(...positive)
  return {
    options: { type: "symlog", constant },
    place: (value) => Math.sign(value) * Math.log1p(Math.abs(value) / constant),
  }
}

const powers = (base: number, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, i) => base ** i)

const times = [60, 3600, 86_400, 1, 10, 600, 21_600, 604_800, 1800, 43_200, 172_800, 10_800, 30, 300, 2_592_000]
const timeSteps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
].concat([2, 7, 14, 30, 90, 365].map((days) => days * 86_400))

const roundSteps = powers(10, 12).flatMap((power) => [power, 2 * power, 5 * power])
const shareSteps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1]
const steps: Record<Unit, ReadonlyArray<number>> = { characters: roundSteps, seconds: timeSteps, share: shareSteps }

const multiples = (low: number, high: number, unit: Unit, least: number): ReadonlyArray<number> => {
  const step = steps[unit].find((each) => each >= least) ?? (high - low) / 2
  const first = Math.ceil(low / step - 1e-9)
  const last = Math.floor(high / step + 1e-9)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step)
}

const candidates = (unit: Unit): ReadonlyArray<number> => {
  if (unit === "seconds") return [0, ...times]
  const round = powers(10, 12)
  const signed = [0, ...round.flatMap((power) => [power, -power])]
  return [...signed, ...round.flatMap((power) => [3 * power, -3 * power])]
}

export interface Axis {
  readonly scale: ScaleOptions
  readonly ticks: ReadonlyArray<number>
  readonly format: (value: number) => string
}

/** The axis from `low` to `high` for values binned at `edges` (two or more), drawn `width` pixels wide. */
export const axisOf = (
  edges: ReadonlyArray<number>,
  [low, high]: readonly [low: number, high: number],
  unit: Unit,
  width: number,
): Axis => {
  const { options, place } = placing(edges, low)
  const perUnit = width / (place(high) - place(low))
  const wanted = options.type === "linear" ? multiples(low, high, unit, 66 / perUnit) : candidates(unit)
  const ticks: Array<number> = []
  for (const tick of wanted) {
    const isInside = tick >= low && tick <= high
    if (isInside && ticks.every((other) => Math.abs(place(tick) - place(other)) * perUnit >= 56)) ticks.push(tick)
  }
  return { scale: { ...options, domain: [low, high] }, ticks, format: formats[unit] }
}
