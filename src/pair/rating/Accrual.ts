/**
 * Computes agreement and win rates after the first n votes, for at most `maxPoints` values of n. The votes on an
 * item depend on each other. Therefore, an interval treats each item as one observation (W. G. Cochran, 1977, "Sampling
 * techniques", 3rd edition, 6.3). A rate of 0 or 1 gets Wilson's interval. Memory: 48 bytes per value of n and model.
 */
import type { AccrualPoint, Estimate, LeaderboardRow } from "../../domain/Leaderboard.ts"
import * as Interval from "../../domain/Interval.ts"
import { isDecided, type ItemVote } from "../votes/ItemVotes.ts"
import type { Comparison } from "./Comparisons.ts"

const maxPoints = 48

export const minItems = 10

interface Sums {
  n: number
  y: number
  x: number
  yy: number
  xy: number
  xx: number
}

const noSums = (): Sums => ({ n: 0, y: 0, x: 0, yy: 0, xy: 0, xx: 0 })

const add = (sums: Sums, y: number, x: number): void => {
  sums.n++
  sums.y += y
  sums.x += x
  sums.yy += y * y
  sums.xy += x * y
  sums.xx += x * x
}

export const ratio = ({ n, x, xx, xy, y, yy }: Sums): Estimate | null => {
  if (n === 0) return null
  const value = y / x
  if (n < minItems) return { value, low: null, high: null }
  if (value === 0 || value === 1) return { value, ...Interval.wilsonInterval(value * n, n)! }
  const squares = Math.max(0, yy - 2 * value * xy + value * value * xx)
  const half = (Interval.normal95 * Math.sqrt((n / (n - 1)) * squares)) / x
  return { value, low: Math.max(0, value - half), high: Math.min(1, value + half) }
}

export interface ModelCounts extends Pick<LeaderboardRow, "items" | "wins" | "ties" | "losses"> {
  readonly winRate: Estimate
}

interface ModelSums extends Sums {
  wins: number
  ties: number
  losses: number
}

interface Point {
  readonly votes: number
  readonly items: number
  readonly agreement: Sums
  readonly models: ReadonlyArray<Sums>
}

export const make = () => {
  const models: Array<ModelSums> = []
  const agreement = noSums()
  let points: Array<Point> = []
  let votes = 0
  let items = 0
  let step = 1

  const sumsOf = (model: number): ModelSums => {
    while (models.length <= model) models.push({ ...noSums(), wins: 0, ties: 0, losses: 0 })
    return models[model]!
  }

  const point = (): Point => ({
    votes,
    items,
    agreement: { ...agreement },
    models: models.map(({ n, x, xx, xy, y, yy }) => ({ n, y, x, yy, xy, xx })),
  })

  return {
    add: (itemVotes: ReadonlyArray<ItemVote>, comparisons: ReadonlyArray<ReadonlyArray<Comparison>>): void => {
      votes += itemVotes.length
      items++
      const decided = itemVotes.filter(isDecided)
      if (decided.length > 1) {
        let same = 0
        for (const [i, a] of decided.entries()) for (const b of decided.slice(i + 1)) if (a.choice === b.choice) same++
        add(agreement, (2 * same) / (decided.length * (decided.length - 1)), 1)
      }
      const inItem = new Map<number, { won: number; all: number }>()
      const count = (model: number, outcome: number) => {
        const own = inItem.get(model) ?? { won: 0, all: 0 }
        own.won += (1 + outcome) / 2
        own.all++
        inItem.set(model, own)
        const sums = sumsOf(model)
        if (outcome === 0) sums.ties++
        else if (outcome > 0) sums.wins++
        else sums.losses++
      }
      for (const { one, other, outcome } of comparisons.flat()) {
        count(one, outcome)
        count(other, -outcome)
      }
      for (const [model, { all, won }] of inItem) add(sumsOf(model), won, all)
      if (items % step !== 0) return
      points.push(point())
      if (points.length === maxPoints) {
        points = points.filter((_, i) => i % 2 === 1)
        step *= 2
      }
    },
    votes: () => votes,
    countsOf: (model: number): ModelCounts | undefined => {
      const sums = models[model]
      const winRate = sums === undefined ? null : ratio(sums)
      if (sums === undefined || winRate === null) return undefined
      return { items: sums.n, wins: sums.wins, ties: sums.ties, losses: sums.losses, winRate }
    },
    pointsOf: (numbers: ReadonlyArray<number>): ReadonlyArray<AccrualPoint> => {
      const last = points.at(-1)?.items === items || items === 0 ? points : [...points, point()]
      return last.map((point) => ({
        votes: point.votes,
        items: point.items,
        agreement: ratio(point.agreement),
        win_rates: numbers.map((number) => ratio(point.models[number] ?? noSums())),
      }))
    },
  }
}
