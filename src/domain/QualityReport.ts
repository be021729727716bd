/**
 * What a dataset was made from and how far it can be trusted, in numbers: the content of `report.json`, which
 * `report.html` shows.
 *
 * Guarantees: no timestamps, so the same ledger gives the same report. Shares are 0 to 1, times are in seconds, lengths
 * in Unicode code points ("characters"). `null` means that there is no data to compute a value from.
 */
import type { Distribution, Histogram } from "./Distribution.ts"
import type { Leaderboard } from "./Leaderboard.ts"
import type { Prompt } from "./Message.ts"
import type { RubricReport } from "./RubricReport.ts"
import type { SpendingReport } from "./SpendingReport.ts"
import type { Split } from "./Split.ts"

/** One step from records to pairs, with what was lost at it. */
export interface FunnelStep {
  /** `read`, `submitted`, `judged`, `kept`, and `pairs`, in this order. */
  readonly step: "read" | "submitted" | "judged" | "kept" | "pairs"
  readonly unit: "records" | "items" | "pairs"
  readonly count: number
  /** What came into the step and is not in `count`, by reason, such as `duplicate`, `rejected`, `tie`, `leak`. */
  readonly lost: ReadonlyArray<{ readonly reason: string; readonly count: number }>
}

export interface Agreement {
  /** Items by the number of votes that they have: `{ votes: 3, items: 120 }`. */
  readonly votes_per_item: ReadonlyArray<{ readonly votes: number; readonly items: number }>
  /** Items with two votes or more; what follows is of these. */
  readonly items: number
  /** All votes for the same completion. */
  readonly unanimous: number
  /** Several completions are best, by the votes or, with `dawid-skene`, by their weights; and no lead decided. */
  readonly ties: number
  /** Mean share of the votes for the choice. */
  readonly mean_agreement: number | null
  readonly agreement: Histogram
  /** Randolph's free-marginal kappa: agreement beyond chance, which is 1/K where K texts are to choose from. */
  readonly free_marginal_kappa: number | null
  /** Krippendorff's alpha, nominal: chance is pooled by the completions' places in the input, and depends on their order. */
  readonly krippendorff_alpha: number | null
  /** Items with two votes or more that each prefer one completion, and are what kappa and alpha compare. */
  readonly compared_items: number
  /** How votes became a choice. */
  readonly method: "majority" | "dawid-skene"
  /**
   * Items whose choice is not that of the majority of their votes, by what made it: the service, which names another
   * choice than its votes; a lead; or the experts' reliabilities.
   */
  readonly not_majority: ReadonlyArray<{ readonly by: "service" | "lead" | "reliability"; readonly items: number }>
}

export interface ExpertRow {
  /** The expert's name at the service; null for all votes without one. */
  readonly expert: string | null
  /** Votes on judged items, of which these are on gold items that were mixed in. */
  readonly votes: number
  readonly mixed_in_votes: number
  /** Votes on items of which the others' votes have a majority, and how many of them were for its choice. */
  readonly compared: number
  readonly with_others: number
  /** Estimated probability that a vote of this expert is right (Dawid–Skene, one coin), by votes on items with several, and on items with a known answer; null without such a vote. */
  readonly reliability: number | null
  readonly gold_votes: number
  readonly gold_right: number
  readonly median_seconds: number | null
  /** Votes whose shown order is known, and how many of them chose what was shown first. */
  readonly ordered: number
  readonly chose_first: number
}

/** Of pairs whose completions are of two models. */
export interface ModelRow {
  /** As the input names it. */
  readonly model: string
  /** Items with such a pair that it is in. */
  readonly items: number
  /** Pairs in which its completion is the chosen one, and the rejected one. */
  readonly chosen: number
  readonly rejected: number
  /** The mean over its items of its share in the item's pairs: each item counts once. */
  readonly win_rate: number
}

/** Votes of one kind of expert on items with a known answer. */
export interface GoldVotes {
  /** As the service tells it; null if it tells none. */
  readonly kind: string | null
  /** Results with a vote of this kind, each of them paid for once. */
  readonly results: number
  /** Votes that prefer one completion; others are neither right nor wrong. */
  readonly votes: number
  readonly right: number
}

export interface GoldReport {
  /** Judged items that were mixed in by `--gold`, and judged items of the input with a known answer. */
  readonly mixed_in: number
  readonly in_input: number
  /** Results on these items, each of them paid for once. */
  readonly results: number
  /** Votes that prefer one completion; others are neither right nor wrong. */
  readonly votes: number
  readonly right: number
  /** The votes by kind of expert, most first. */
  readonly kinds: ReadonlyArray<GoldVotes>
  /** The 95% Wilson score interval of the share of right votes. */
  readonly accuracy: number | null
  readonly low: number | null
  readonly high: number | null
  /** Items whose choice was wrong; those that were left out as ties have none. */
  readonly wrong_items: number
  /** The first 10 of them. */
  readonly wrong: ReadonlyArray<{
    readonly item_id: string
    readonly prompt: Prompt
    readonly expected: string
    readonly chosen: string
    readonly rationale: string | null
  }>
}

export interface Position {
  /** For items of `completions` completions, how many votes chose the one shown at each position. */
  readonly by_completions: ReadonlyArray<{ readonly completions: number; readonly chosen: ReadonlyArray<number> }>
  /**
   * Items with more of their votes in the first half of the order shown, and in the second: each item counts once, since
   * its votes are not independent. The middle one of an odd number is in neither half; items with as many votes in either are not counted.
   */
  readonly first_half: number
  readonly second_half: number
  /** Two-sided exact binomial test of equal halves, over these items. */
  readonly p_value: number | null
  /** How many votes have a known order. */
  readonly known: number
}

/** Kept items by whether the judgment ranks their completions; `full-ranking` pairs the others as `best-against-rest` does. */
export interface Rankings {
  readonly ranked_items: number
  readonly unranked_items: number
}

export interface FlagReport {
  /** Judged items that an expert flagged; the dataset holds them unless `--drop flagged` leaves them out. */
  readonly items: number
  /** How many flags there are of each kind, most frequent first. */
  readonly kinds: ReadonlyArray<{ readonly kind: string; readonly flags: number }>
}

export interface Length {
  /** In items: each of an item's n pairs counts 1/n. */
  readonly longer_chosen: number
  readonly equal: number
  readonly shorter_chosen: number
  /** Share of the longer chosen where lengths differ; each item counts once. */
  readonly share_longer: number | null
  /** Mean length of chosen less that of rejected, over the pooled standard deviation; each item counts once. */
  readonly cohens_d: number | null
  /** Length of chosen less that of rejected, of the pairs; so are `chosen` and `rejected`. */
  readonly difference: Distribution
  readonly prompt: Distribution
  readonly chosen: Distribution
  readonly rejected: Distribution
}

/** A property of the dataset with the value that it has, and its threshold. */
export interface Check {
  /** As the command line calls it, such as `longer-chosen`. */
  readonly check: string
  /** What `value` is. */
  readonly measure: string
  readonly value: number | null
  /** How many items, pairs or votes it concerns. */
  readonly count: number
  readonly of: number
  readonly unit: "items" | "pairs" | "votes"
  /** Whether `value` and `threshold` are shares, to be shown in percent. */
  readonly is_share: boolean
  /** The threshold; null if none was set. The direction is `below` if larger values are worse. */
  readonly threshold: number | null
  readonly direction: "below" | "above"
  /** What to do if the check fails. */
  readonly advice: string
  readonly passed: boolean
  /** Whether what it concerns was left out of the dataset. */
  readonly dropped: boolean
  readonly examples: ReadonlyArray<{ readonly item_id: string; readonly detail: string }>
}

export interface Example {
  readonly prompt: Prompt
  readonly chosen: string
  readonly rejected: string
  readonly rationale: string | null
  readonly item_id: string
  readonly agreement: number | null
  readonly votes: number
}

/** How many prompts are in a language. */
export interface LanguageRow {
  /** ISO 639-1, `und` if unknown. */
  readonly language: string
  readonly items: number
  /** The 95% Wilson score interval of the language's share of all items; null where all were detected, not a sample. */
  readonly low: number | null
  readonly high: number | null
}

/** The content of `report.json`; shares are from 0 to 1. */
export interface QualityReport {
  /** Names the file's format. */
  readonly format: "prefstream-report"
  /** Of the file's format. */
  readonly version: 1
  /** Null for all campaigns together. */
  readonly campaign: number | null
  /** Of the campaign; null if there are none. */
  readonly guidelines: string | null
  /** Where the tasks are. */
  readonly service: string | null
  /** What the job's votes cost; null without a price. */
  readonly spending: SpendingReport | null
  /** From records to pairs, in this order. */
  readonly funnel: ReadonlyArray<FunnelStep>
  /** Of items with several votes. */
  readonly agreement: Agreement
  /** Most votes first; all votes without a name are one row, the last. */
  readonly experts: ReadonlyArray<ExpertRow>
  /** How many models there are with pairs. */
  readonly model_count: number
  /** The 100 models with the most items, highest win rate first; empty if the input names no models. */
  readonly models: ReadonlyArray<ModelRow>
  /** The models rated by all votes; null if no vote compares two of them, or there are more than 500. */
  readonly leaderboard: Leaderboard | null
  /** How votes compare with known answers. */
  readonly gold: GoldReport
  /** Whether the place in the order shown decides. */
  readonly position: Position
  /** Whether the longer completion wins. */
  readonly length: Length
  /** Problems that experts reported. */
  readonly flags: FlagReport
  /** What experts said besides their choices; absent if no vote says anything. */
  readonly rubric?: RubricReport
  /** How many items are ranked as a whole. */
  readonly rankings: Rankings
  /** Seconds from submitting a task to its result. */
  readonly turnaround: Distribution
  /** Seconds per vote, for votes whose time the service reports. */
  readonly vote_seconds: Distribution
  /** Most frequent first; of large inputs, of a sample of about 5,000 items. */
  readonly languages: ReadonlyArray<LanguageRow>
  /** Each with its value, its threshold, and what to do. */
  readonly checks: ReadonlyArray<Check>
  /** Those with items: `train` alone, unless the dataset is split. */
  readonly splits: ReadonlyArray<{ readonly split: Split; readonly items: number; readonly pairs: number }>
  /** Items that nearly repeat prompts of several splits, and were put in the split of the earliest; null without splits. */
  readonly cross_split_near_duplicates: number | null
  /** A few items, drawn by a hash of their ids. */
  readonly examples: ReadonlyArray<Example>
}
