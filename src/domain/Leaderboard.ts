/**
 * The models whose completions were judged, rated by the votes on them: what `pair/rating` computes, and the command
 * line and `report.html` show.
 *
 * Guarantees: `null` means that a number does not exist: an interval of too few items, or without a bound on that side.
 */

/** A value with its 95% interval. */
export interface Estimate {
  readonly value: number
  readonly low: number | null
  readonly high: number | null
}

/** How votes become ratings. */
export interface LeaderboardMethod {
  /** `davidson`: ties have a probability of their own; `half`: half a win for each; `drop`: left out. */
  readonly ties: "davidson" | "half" | "drop"
  /** Whether votes are weighted by their experts' reliabilities. */
  readonly weighted: boolean
  readonly controls: ReadonlyArray<"length" | "position">
  /** Standard deviation of the prior of an ability, in natural logarithms of odds. */
  readonly prior: number
  readonly resamples: number
  readonly seed: number
}

/** One model, rated. */
export interface LeaderboardRow {
  /** As the input names it. */
  readonly model: string
  /** Number of the group, from 1 on. Models of different groups were never compared, not even by way of others. */
  readonly group: number
  /** 1 and the number of models of the group whose interval is above this one's. */
  readonly rank: number
  /** 400 points are odds of 10 to 1; the mean of a group is 1000. `low` or `high` is null where no vote bounds it. */
  readonly rating: Estimate
  /** The rating if both completions of each comparison were of equal length. */
  readonly rating_at_equal_length: number | null
  /** Share of its comparisons that it won, a tie counted as half. */
  readonly win_rate: Estimate
  /** Items on which it was compared. */
  readonly items: number
  /** Comparisons that it won: a vote makes one with each other completion of its item of which it says something. */
  readonly wins: number
  /** Comparisons in which a vote ranked it together with the other. */
  readonly ties: number
  /** Comparisons that it lost. */
  readonly losses: number
  /**
   * Whether it never lost or never won against those outside of a circle of models that beat each other: its rating
   * then rests on the prior, and has no bound on that side.
   */
  readonly extreme: "never_lost" | "never_won" | null
}

/** What speaks for a completion besides its model, in natural logarithms of odds. */
export interface ControlRow {
  /**
   * `length`: per standard deviation of (a − b) / (a + b), with the lengths a and b in characters. `position`: of being
   * shown before the other.
   */
  readonly control: "length" | "position"
  readonly coefficient: Estimate
  /** The standard deviation that is its unit. */
  readonly unit: number
}

/** The state after so many votes, in the order of the ledger's items. */
export interface AccrualPoint {
  readonly votes: number
  readonly items: number
  /** Probability that two votes on an item choose the same completion; null if no item has two votes. */
  readonly agreement: Estimate | null
  /** Win rates of `Accrual.models`; null for one without a vote. */
  readonly win_rates: ReadonlyArray<Estimate | null>
}

/** How estimates become narrower as votes accrue. */
export interface Accrual {
  /** The first models of the leaderboard. */
  readonly models: ReadonlyArray<string>
  readonly points: ReadonlyArray<AccrualPoint>
  /**
   * What the next votes would do: intervals of `votes` more have the width of today's times `factor`, which is
   * √(n / (n + votes)) for n votes.
   */
  readonly next: { readonly votes: number; readonly factor: number }
}

/** The models with what the votes say of them. */
export interface Leaderboard {
  /** How votes became ratings. */
  readonly method: LeaderboardMethod
  /** Votes on these items. */
  readonly votes: number
  /** Items with at least one comparison of two models. */
  readonly items: number
  /** Of two models by a vote. */
  readonly comparisons: number
  /** Comparisons without a winner. */
  readonly ties: number
  /** Davidson's ν: the odds of a tie to a win between equal models are ν to 1. Null without ties, or if all are. */
  readonly tie_parameter: number | null
  /** By group and rating. */
  readonly models: ReadonlyArray<LeaderboardRow>
  /** Number of groups, usually 1. */
  readonly groups: number
  /** What was controlled for. */
  readonly controls: ReadonlyArray<ControlRow>
  /** The first two models of the largest group; null if there are none, or no resamples. */
  readonly lead: {
    readonly first: string
    readonly second: string
    /** Share of the resamples in which the first is better. */
    readonly probability: number
    /** Votes, in addition to the present ones, after which the 95% interval of the difference would be above 0. */
    readonly votes_needed: number | null
  } | null
  /** The course of agreement and win rates. */
  readonly accrual: Accrual
}
