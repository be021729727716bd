/**
 * Rates models by votes: the Bradley–Terry model, with Davidson's extension for ties (`stats/BradleyTerry`).
 * - Intervals are bootstrap percentiles. Whole items are resampled, because the votes on one item depend on each other.
 * - A weighted vote on K texts by an expert with reliability r has the weight (K r − 1) / (K − 1), at least 0.
 * - Controls are covariates of a comparison (similar to Li, Angelopoulos, and Chiang, 2024, "Does style matter?").
 *   `length`: (a − b) / (a + b) for lengths a and b, scaled to a root mean square of 1. `position`: 1 or −1.
 * - A model's rank is 1 plus the number of models whose whole interval is higher (W.-L. Chiang et al., 2024).
 */
import { Effect, Stream } from "effect"
import { countDifferent } from "../../domain/CompletionTexts.ts"
import type { ControlRow, Estimate, Leaderboard, LeaderboardMethod, LeaderboardRow } from "../../domain/Leaderboard.ts"
import type { JudgedItem } from "../../domain/Judgment.ts"
import { normal95 } from "../../domain/Interval.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import type * as BradleyTerry from "../stats/BradleyTerry.ts"
import * as Distribution from "../stats/Distribution.ts"
import * as Random from "../stats/Random.ts"
import { type comparisonOf, type ItemVote, votesOf } from "../votes/ItemVotes.ts"
import * as Reliabilities from "../votes/Reliabilities.ts"
import * as Accrual from "./Accrual.ts"
import * as Comparisons from "./Comparisons.ts"
import * as Connections from "./Connections.ts"
import * as ItemFits from "./ItemFits.ts"

export const tieModels = ["davidson", "half", "drop"] as const
export const controlNames = ["length", "position"] as const
export const optionKinds = { controls: Kinds.texts, ...Kinds.all(Kinds.number, "prior resamples seed") }

/** Options that determine how votes become ratings. */
export interface LeaderboardOptions {
  /** How ties count. Default: `davidson`, which gives a tie its own probability. */
  readonly ties?: LeaderboardMethod["ties"] | undefined
  /** Properties whose effects on votes are estimated in the same fit as the ratings. Default: none. */
  readonly controls?: LeaderboardMethod["controls"] | undefined
  /** Standard deviation of the abilities' prior, above 0, in natural logarithms of odds. Default: 3, a weak prior. */
  readonly prior?: number | undefined
  /** Number of bootstrap resamples. With 0, there are no intervals. Default: 1000. */
  readonly resamples?: number | undefined
  /** Seed for the resamples, an integer. Default: 0. */
  readonly seed?: number | undefined
}

export const defaultPrior = 3
/** Default number of resamples. With 1000, the bounds vary by a few percent of the interval's width. */
export const defaultResamples = 1000

/** A difference of this many points means odds of 10 to 1. */
const pointsPerDecade = 400
/** The chart in `dataset/report/Leaderboard` draws a line at this number. */
const meanRating = 1000
const scale = pointsPerDecade / Math.LN10

const drawnTolerance = 1e-3

const maxCurves = 8
const nextVotes = 1000

export const weightBy =
  (reliabilityOf: (expert: string | null) => number | null) =>
  ({ completions }: Pick<JudgedItem, "completions">) => {
    const texts = countDifferent(completions)
    return ({ expert }: ItemVote): number =>
      texts < 2 ? 1 : Math.max(0, (texts * (reliabilityOf(expert) ?? unknownReliability) - 1) / (texts - 1))
  }

/** Reliability of experts without an estimate: two of three votes are right, as in the prior of `stats/DawidSkene`. */
const unknownReliability = 2 / 3

export const make = (reliabilityOf?: (expert: string | null) => number | null) => {
  const comparisons = Comparisons.make()
  const accrual = Accrual.make()
  const weightOf = reliabilityOf === undefined ? undefined : weightBy(reliabilityOf)
  return {
    add: (
      item: Pick<JudgedItem, "completions" | "models">,
      votes: ReadonlyArray<ItemVote>,
      compare?: typeof comparisonOf,
    ): void => {
      const compared = comparisons.add(item, votes, weightOf?.(item), compare)
      if (compared.some((each) => each.length > 0)) accrual.add(votes, compared)
    },
    finish: (options: LeaderboardOptions = {}): Leaderboard | undefined => {
      const results = comparisons.finish()
      return results === undefined || results.items === 0
        ? undefined
        : rate(results, accrual, methodOf(options, reliabilityOf !== undefined))
    },
  }
}

export interface RatedItem extends Pick<JudgedItem, "completions" | "models" | "metadata"> {
  readonly votes: ReadonlyArray<ItemVote>
  readonly comparisonOf?: typeof comparisonOf
}

export interface GroupedOptions extends LeaderboardOptions {
  readonly reliabilityOf?: Reliabilities.Reliabilities["of"] | undefined
  readonly maxGroups?: number | undefined
}

/** Rates each group. Returns undefined if there are too many groups, and null for a group that cannot be rated. */
export const grouped = Effect.fnUntraced(function* <G, E, R>(
  items: Stream.Stream<RatedItem, E, R>,
  groupOf: (item: RatedItem) => G,
  { maxGroups = Infinity, reliabilityOf, ...options }: GroupedOptions = {},
) {
  const groups = new Map<G, { readonly board: ReturnType<typeof make>; items: number }>()
  yield* items.pipe(
    Stream.takeWhile(() => groups.size <= maxGroups),
    Stream.runForEachArray((chunk) =>
      Effect.sync(() => {
        for (const item of chunk) {
          const group = groupOf(item)
          const own = groups.get(group) ?? { board: make(reliabilityOf), items: 0 }
          groups.set(group, own)
          own.items++
          own.board.add(item, item.votes, item.comparisonOf)
        }
      }),
    ),
  )
  return groups.size > maxGroups
    ? undefined
    : [...groups].map(([group, { board, items }]) => ({ group, items, leaderboard: board.finish(options) ?? null }))
})

export const ratedItems = <E, R>(items: Stream.Stream<JudgedItem, E, R>): Stream.Stream<RatedItem, E, R> =>
  items.pipe(
    Stream.filter(({ isCheck }) => !isCheck),
    Stream.map((item) => ({ ...item, votes: votesOf(item) })),
  )

/**
 * Rates the models of a stream of items, without mixed-in gold items. If votes are `weighted`, the stream runs twice,
 * and must return the same items. Returns undefined without a comparison of two models, or with more than 500 models.
 */
export const of = Effect.fnUntraced(function* <E, R>(
  items: Stream.Stream<JudgedItem, E, R>,
  options: LeaderboardOptions & {
    /** Whether votes are weighted by their experts' reliabilities. Default: false. */
    readonly weighted?: boolean | undefined
  } = {},
) {
  yield* Kinds.checkStream(items, options, optionKinds)
  const reliabilityOf = options.weighted === true ? (yield* Reliabilities.of(items)).of : undefined
  return (yield* grouped(ratedItems(items), () => null, { ...options, reliabilityOf }))?.[0]?.leaderboard ?? undefined
})

const methodOf = (options: LeaderboardOptions, weighted: boolean): LeaderboardMethod => ({
  ties: options.ties ?? "davidson",
  weighted,
  controls: controlNames.filter((name) => options.controls?.includes(name)),
  prior: options.prior ?? defaultPrior,
  resamples: options.resamples ?? defaultResamples,
  seed: options.seed ?? 0,
})

const rate = (
  results: Comparisons.Comparisons,
  accrual: ReturnType<typeof Accrual.make>,
  method: LeaderboardMethod,
): Leaderboard => {
  const { controls, prior, resamples, seed, ties } = method
  const unitOf = (name: LeaderboardMethod["controls"][number]) => (name === "length" ? ItemFits.lengthUnit(results) : 1)
  const fitterOf = (names: LeaderboardMethod["controls"]) =>
    ItemFits.make(results, { controls: names, units: names.map(unitOf), prior, ties })

  const all = (i: number) => i
  const fitted = fitterOf(controls)
  const fit = fitted(all)
  const atEqualLength = controls.includes("length") ? fit : fitterOf([...controls, "length"])(all)

  const hasIntervals = resamples > 0 && results.items >= Accrual.minItems
  const players = results.models.length
  const random = Random.make(seed)
  const draw = () => random.below(results.items)
  const drawn = Array.from({ length: hasIntervals ? resamples : 0 }, () =>
    fitted(draw, { start: fit, tolerance: drawnTolerance }),
  )
  const intervalOf = (of: (fit: BradleyTerry.Fit) => number): Omit<Estimate, "value"> => {
    if (!hasIntervals) return { low: null, high: null }
    const summary = Distribution.make()
    for (const each of drawn) summary.add(of(each))
    return { low: summary.quantile(0.025), high: summary.quantile(0.975) }
  }

  const { extremes, groups } = Connections.of(results, ties)
  const rated = results.models.flatMap(
    (model, number): ReadonlyArray<Omit<LeaderboardRow, "rank"> & { number: number }> => {
      const counts = accrual.countsOf(number)
      if (counts === undefined) return []
      const { winRate, ...outcomes } = counts
      const extreme = extremes[number]!
      const { high, low } = intervalOf(({ abilities }) => ratingOf(abilities[number]!))
      return [
        {
          number,
          model,
          group: groups[number]!,
          rating: {
            value: ratingOf(fit.abilities[number]!),
            low: extreme === "never_won" ? null : low,
            high: extreme === "never_lost" ? null : high,
          },
          rating_at_equal_length: ratingOf(atEqualLength.abilities[number]!),
          win_rate: winRate,
          ...outcomes,
          extreme,
        },
      ]
    },
  )
  const sorted = rated.toSorted(
    (a, b) => a.group - b.group || b.rating.value - a.rating.value || (a.model < b.model ? -1 : 1),
  )
  const isAbove = (a: (typeof sorted)[number], b: (typeof sorted)[number]) =>
    a.group === b.group && a.rating.low !== null && b.rating.high !== null && a.rating.low > b.rating.high
  const models = sorted.map((own): LeaderboardRow => {
    const { number: _number, ...row } = own
    return { rank: 1 + sorted.filter((other) => isAbove(other, own)).length, ...row }
  })
  const curves = sorted.slice(0, maxCurves)
  const votes = accrual.votes()
  const comparisons = models.reduce((sum, row) => sum + row.wins + row.ties + row.losses, 0) / 2
  return {
    method,
    votes,
    items: results.items,
    comparisons,
    ties: models.reduce((sum, row) => sum + row.ties, 0) / 2,
    tie_parameter: fit.tie > 0 && fit.tie < Infinity ? fit.tie : null,
    models,
    groups: Math.max(0, ...models.map(({ group }) => group)),
    controls: controls.map((control, k): ControlRow => ({
      control,
      coefficient: { value: fit.coefficients[k]!, ...intervalOf(({ coefficients }) => coefficients[k]!) },
      unit: unitOf(control),
    })),
    top_two: players > 1 ? topTwoOf(sorted, fit, drawn, votes) : null,
    accrual: {
      models: curves.map(({ model }) => model),
      points: accrual.pointsOf(curves.map(({ number }) => number)),
      next: { votes: nextVotes, factor: Math.sqrt(votes / (votes + nextVotes)) },
    },
  }
}

const ratingOf = (ability: number): number => meanRating + scale * ability

/** `votes_needed` assumes that standard errors shrink with the square root of the number of votes. */
const topTwoOf = (
  rows: ReadonlyArray<{ readonly number: number; readonly model: string; readonly group: number }>,
  fit: BradleyTerry.Fit,
  drawn: ReadonlyArray<BradleyTerry.Fit>,
  votes: number,
): Leaderboard["top_two"] => {
  const [first, second] = rows
  if (first === undefined || second === undefined || first.group !== second.group || drawn.length === 0) return null
  const differenceIn = ({ abilities }: BradleyTerry.Fit) => abilities[first.number]! - abilities[second.number]!
  const summary = Distribution.make()
  let better = 0
  for (const each of drawn) {
    const difference = differenceIn(each)
    summary.add(difference)
    if (difference > 0) better++
  }
  const [difference, error] = [differenceIn(fit), summary.distribution().standard_deviation ?? 0]
  const needed = difference === 0 ? null : Math.ceil(votes * (((normal95 * error) / difference) ** 2 - 1))
  return {
    first: first.model,
    second: second.model,
    probability: better / drawn.length,
    votes_needed: needed === null ? null : Math.max(0, needed),
  }
}
