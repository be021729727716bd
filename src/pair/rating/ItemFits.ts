/** Fits `stats/BradleyTerry` to resamples of items. Items with equal outcomes are stored once. */
import type { LeaderboardMethod } from "../../domain/Leaderboard.ts"
import * as BradleyTerry from "../stats/BradleyTerry.ts"
import * as NumberList from "../stats/NumberList.ts"
import * as Comparisons from "./Comparisons.ts"

const designOf = (
  { cells, models }: Comparisons.Comparisons,
  controls: LeaderboardMethod["controls"],
  units: ReadonlyArray<number>,
) => {
  const numbers = new Map<string, number>()
  const rowOf = cells.map((cell) => {
    const key = [cell.one, cell.other, ...controls.map((name) => cell[name])].join(" ")
    const number = numbers.get(key) ?? numbers.size
    numbers.set(key, number)
    return number
  })
  const firsts: Array<Comparisons.Cell> = []
  for (const [i, row] of rowOf.entries()) firsts[row] ??= cells[i]!
  const design: BradleyTerry.Design = {
    players: models.length,
    one: Uint32Array.from(firsts, ({ one }) => one),
    other: Uint32Array.from(firsts, ({ other }) => other),
    covariates: controls.map((name, k) => Float64Array.from(firsts, (cell) => cell[name] / units[k]!)),
  }
  return { design, rowOf }
}

const itemTypes = ({ ends, entries, items, weights }: Comparisons.Comparisons, rowOf: ReadonlyArray<number>) => {
  const numbers = new Map<string, number>()
  const typeOf = new Uint32Array(items)
  const types = {
    ends: NumberList.make(Uint32Array),
    places: NumberList.make(Uint32Array),
    weights: NumberList.make(Float64Array),
  }
  for (let item = 0, start = 0; item < items; start = ends[item++]!) {
    const inItem = new Map<number, number>()
    for (let i = start; i < ends[item]!; i++) {
      const [cell, outcome] = [Math.floor(entries[i]! / Comparisons.outcomes), entries[i]! % Comparisons.outcomes]
      const place = Comparisons.outcomes * rowOf[cell]! + outcome
      inItem.set(place, (inItem.get(place) ?? 0) + weights[i]!)
    }
    const sorted = [...inItem].toSorted(([a], [b]) => a - b)
    const key = sorted.join(" ")
    const number = numbers.get(key) ?? numbers.size
    typeOf[item] = number
    if (number < numbers.size) continue
    numbers.set(key, number)
    for (const [place, weight] of sorted) {
      types.places.push(place)
      types.weights.push(weight)
    }
    types.ends.push(types.places.length())
  }
  return { typeOf, ends: types.ends.view(), places: types.places.view(), weights: types.weights.view() }
}

/** Root mean square of the length differences. A standard deviation would change with the order of completions. */
export const lengthUnit = ({ cells, entries, weights }: Comparisons.Comparisons): number => {
  let squares = 0
  let all = 0
  for (const [i, entry] of entries.entries()) {
    squares += weights[i]! * cells[Math.floor(entry / Comparisons.outcomes)]!.length ** 2
    all += weights[i]!
  }
  return squares === 0 ? 1 : Math.sqrt(squares / all)
}

export interface Options extends Pick<LeaderboardMethod, "controls" | "prior" | "ties"> {
  readonly units: ReadonlyArray<number>
}

/** The returned function fits a Bradley-Terry model to drawn items. `next(i)` is the index of the i-th drawn item. */
export const make = (comparisons: Comparisons.Comparisons, { controls, prior, ties, units }: Options) => {
  const { design, rowOf } = designOf(comparisons, controls, units)
  const { ends, places, typeOf, weights } = itemTypes(comparisons, rowOf)
  const drawn = new Float64Array(ends.length)
  const counts = new Float64Array(Comparisons.outcomes * design.one.length)
  const fit = BradleyTerry.make(design, prior)
  return (next: (i: number) => number, options?: BradleyTerry.FitOptions): BradleyTerry.Fit => {
    drawn.fill(0)
    counts.fill(0)
    for (let i = 0; i < comparisons.items; i++) drawn[typeOf[next(i)]!]!++
    for (let type = 0, entry = 0; type < ends.length; type++) {
      for (; entry < ends[type]!; entry++) counts[places[entry]!]! += drawn[type]! * weights[entry]!
    }
    if (ties !== "davidson") splitTies(counts, ties === "half" ? 0.5 : 0)
    return fit(counts, options)
  }
}

const splitTies = (counts: Float64Array, share: number): void => {
  for (let at = 0; at < counts.length; at += Comparisons.outcomes) {
    counts[at]! += share * counts[at + 1]!
    counts[at + 2]! += share * counts[at + 1]!
    counts[at + 1] = 0
  }
}
