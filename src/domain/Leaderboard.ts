/** A leaderboard rates models by votes. A value is `null` if it cannot be computed, or if it is infinite. */

export interface Estimate {
  /** The estimated value. */
  readonly value: number
  /** Lower end of the interval. */
  readonly low: number | null
  /** Upper end of the interval. */
  readonly high: number | null
}

/** How votes become ratings. */
export interface LeaderboardMethod {
  /** Ties have their own probability (`davidson`), are half a win for each side (`half`), or are left out (`drop`). */
  readonly ties: "davidson" | "half" | "drop"
  /** Whether votes are weighted by their experts' reliabilities. */
  readonly weighted: boolean
  /** The properties that the ratings control for. */
  readonly controls: ReadonlyArray<"length" | "position">
  /** Standard deviation of the prior on each model's ability, in natural log-odds. */
  readonly prior: number
  /** Number of bootstrap resamples for the intervals. */
  readonly resamples: number
  /** Seed for drawing the resamples. */
  readonly seed: number
}

/** The rating and the counts of one model. */
export interface LeaderboardRow {
  /** The model's name in the input. */
  readonly model: string
  /** Number of the group, from 1. Models of different groups were never compared, not even through other models. */
  readonly group: number
  /** 1 plus the number of the group's models whose interval lies above this model's interval. */
  readonly rank: number
  /**
   * A lead of 400 points corresponds to odds of 10 to 1. The mean rating of a group is 1000. `low` is null if `extreme`
   * is `never_won`, and `high` is null if `extreme` is `never_lost`.
   */
  readonly rating: Estimate
  /** The rating that the model would have if both completions of each comparison were equally long. */
  readonly rating_at_equal_length: number | null
  /** Share of the model's comparisons that it won; a tie counts as half. */
  readonly win_rate: Estimate
  /** Number of items on which the model was compared with another model. */
  readonly items: number
  /**
   * Comparisons that the model won. A ranking compares every two of its completions. A vote without a ranking compares
   * the chosen completion with each of the others.
   */
  readonly wins: number
  /** Comparisons in which a vote gave both completions the same rank. */
  readonly ties: number
  /** Comparisons that the model lost. */
  readonly losses: number
  /**
   * `never_lost` if the model only won, `never_won` if it only lost. In both cases, the rating depends on the prior.
   * Wins and losses within a cycle of models (A beats B, B beats C, and C beats A) do not count here.
   */
  readonly extreme: "never_lost" | "never_won" | null
}

/** The effect of a property, other than the model, on the odds that a completion is preferred. */
export interface ControlRow {
  /** `length`: the difference of the two lengths in characters, divided by their sum. `position`: being shown first. */
  readonly control: "length" | "position"
  /** The effect of one `unit`, in natural log-odds. */
  readonly coefficient: Estimate
  /** 1 for `position`. For `length`, the root mean square of the length differences (`control`) of all comparisons. */
  readonly unit: number
}

/** The estimates after the first votes. Votes are counted item by item, in the order of the ledger. */
export interface AccrualPoint {
  /** Number of votes so far. */
  readonly votes: number
  /** Number of items with at least one of these votes. */
  readonly items: number
  /** Probability that two votes on an item choose the same completion; null if no item has two votes. */
  readonly agreement: Estimate | null
  /** The win rate of each of `Accrual.models`; null for a model without a comparison. */
  readonly win_rates: ReadonlyArray<Estimate | null>
}

/** Shows how intervals become narrower as votes accrue. */
export interface Accrual {
  /** The first models of the leaderboard. */
  readonly models: ReadonlyArray<string>
  /** The estimates after the first votes, after more votes, and at last after all votes. */
  readonly points: ReadonlyArray<AccrualPoint>
  /** After `votes` more votes, each interval is about `factor` times as wide as now. */
  readonly next: { readonly votes: number; readonly factor: number }
}

/** The models with their ratings. */
export interface Leaderboard {
  /** How votes became ratings. */
  readonly method: LeaderboardMethod
  /** Number of votes on the items that `items` counts. */
  readonly votes: number
  /** Items with at least one comparison of two models. */
  readonly items: number
  /** Number of comparisons of two models. One vote can compare several pairs of models. */
  readonly comparisons: number
  /** Comparisons without a winner. */
  readonly ties: number
  /** Davidson's ν: between equal models A and B, a tie is ν times as likely as a win of A. Null if 0 or infinite. */
  readonly tie_parameter: number | null
  /** The models by group, then by rating. */
  readonly models: ReadonlyArray<LeaderboardRow>
  /** Number of groups, usually 1. */
  readonly groups: number
  /** The properties that the ratings control for, with their effects. */
  readonly controls: ReadonlyArray<ControlRow>
  /** The two highest-rated models of the largest group. Null if no group has two models, or without resamples. */
  readonly top_two: {
    readonly first: string
    readonly second: string
    /** Share of the resamples in which `first` is better than `second`. */
    readonly probability: number
    /** Number of additional votes after which the 95% interval of the difference would be above 0. */
    readonly votes_needed: number | null
  } | null
  /** How agreement and win rates developed. */
  readonly accrual: Accrual
}
