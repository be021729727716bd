/**
 * The content of `report.json`. It has no timestamps, so the same ledger gives the same report. Shares are from 0 to 1,
 * times are in seconds, and lengths are in Unicode code points ("characters"). A value without data is `null`.
 */
/* oxlint-disable max-lines -- the sections of one report, each member with its comment */
import type { Distribution, Histogram } from "./Distribution.ts"
import type { Evaluation } from "./Evaluation.ts"
import type { Leaderboard } from "./Leaderboard.ts"
import type { Prompt } from "./Message.ts"
import type { RubricReport } from "./RubricReport.ts"
import type { SpendingReport } from "./SpendingReport.ts"
import type { Split } from "./Split.ts"

/** One step from records to pairs, with the records, items, or pairs that it lost. */
export interface FunnelStep {
  /** `read`, `submitted`, `judged`, `kept`, and `pairs`, in this order. */
  readonly step: "read" | "submitted" | "judged" | "kept" | "pairs"
  /** The unit of `count` and `lost`. */
  readonly unit: "records" | "items" | "pairs"
  /** The records, items, or pairs that the step kept. */
  readonly count: number
  /** The lost records, items, or pairs by reason, such as `duplicate`, `invalid_utf8`, `tie`, or `contamination`. */
  readonly lost: ReadonlyArray<{ readonly reason: string; readonly count: number }>
}

/** The agreement between votes on the same item, over all items. Shares are from 0 to 1. */
export interface Agreement {
  /** Number of items per number of votes: `{ votes: 3, items: 120 }` means that 120 items have 3 votes. */
  readonly votes_per_item: ReadonlyArray<{ readonly votes: number; readonly items: number }>
  /** Items with at least two votes. The members below cover only these items. */
  readonly items: number
  /** Items whose votes all prefer the same completion. */
  readonly unanimous: number
  /** Items for which `method` finds several best completions. Items that a lead has decided do not count. */
  readonly ties: number
  /** Mean share of an item's votes that prefer the chosen completion. */
  readonly mean_agreement: number | null
  /** Histogram of the share of an item's votes that prefer the chosen completion. */
  readonly agreement: Histogram
  /** Randolph's free-marginal kappa: agreement beyond chance. Chance is 1/K for an item with K texts to choose from. */
  readonly free_marginal_kappa: number | null
  /** Krippendorff's alpha for nominal data. Its categories are positions, so it depends on the order of completions. */
  readonly krippendorff_alpha: number | null
  /** Items with at least two votes that each prefer one completion. */
  readonly compared_items: number
  /** The method by which votes became a choice. */
  readonly method: "majority" | "dawid-skene"
  /** Items whose choice is not the majority's. `by` tells what decided: the service, a lead, or reliabilities. */
  readonly not_majority: ReadonlyArray<{ readonly by: "service" | "lead" | "reliability"; readonly items: number }>
}

/** An expert's votes: their number, their agreement with others, and their accuracy on gold items (known answers). */
export interface ExpertRow {
  /** The expert's name at the service; null in the row that counts all votes without a name. */
  readonly expert: string | null
  /** The kind of expert, from the first vote that has a kind; null if the service reports none. */
  readonly kind: string | null
  /** Votes on judged items. */
  readonly votes: number
  /** Votes on gold items that were mixed in; `votes` includes them. */
  readonly mixed_in_votes: number
  /** Token cost of a language model's votes, as an exact decimal; null if no vote has a cost. */
  readonly token_cost: string | null
  /** Votes that can be compared: the vote prefers one completion, and the other experts' votes have a majority. */
  readonly compared: number
  /** Votes among `compared` that agree with the majority of the other experts. */
  readonly with_others: number
  /**
   * Estimated probability that a vote is right (Dawid–Skene). Null if the expert has no vote on an item with several
   * votes or with a known answer.
   */
  readonly reliability: number | null
  /** Votes on items with a known answer. A vote with several completions at rank 1 does not count. */
  readonly gold_votes: number
  /** Votes among `gold_votes` that prefer the known answer. */
  readonly gold_right: number
  /** Median time of a vote in seconds; null if the service reports no times. */
  readonly median_seconds: number | null
  /** Votes with a known order of completions. */
  readonly ordered: number
  /** Votes among `ordered` that chose the completion shown first. */
  readonly chose_first: number
}

/** A model's results, from pairs whose completions come from two different models. */
export interface ModelRow {
  /** The model's name in the input. */
  readonly model: string
  /** Items with at least one pair of this model and another model. */
  readonly items: number
  /** Pairs in which the model's completion is chosen. */
  readonly chosen: number
  /** Pairs in which the model's completion is rejected. */
  readonly rejected: number
  /** Share of the model's pairs in which its completion is chosen, computed per item and averaged over the items. */
  readonly win_rate: number
}

/** Votes of one kind of expert on items with a known answer. */
export interface GoldVotes {
  /** The kind that the service reports; null if it reports none. */
  readonly kind: string | null
  /** Results with at least one vote of this kind. */
  readonly results: number
  /** Votes that prefer one completion. A vote with several completions at rank 1 does not count. */
  readonly votes: number
  /** Votes among `votes` that prefer the known answer. */
  readonly right: number
}

/** The accuracy of votes on items with a known answer. */
export interface GoldReport {
  /** Number of judged gold items. Gold items have a known answer, and are mixed into the input to measure experts. */
  readonly mixed_in: number
  /** Number of judged items of the input that have a known answer. */
  readonly in_input: number
  /** Number of paid results on the items in `mixed_in` and `in_input`. A result with several votes counts once. */
  readonly results: number
  /** Votes that prefer one completion. A vote with several completions at rank 1 does not count. */
  readonly votes: number
  /** Votes among `votes` that prefer the known answer. */
  readonly right: number
  /** The votes by kind of expert, the kind with the most votes first. */
  readonly kinds: ReadonlyArray<GoldVotes>
  /** Share of right votes, from 0 to 1; null without votes. */
  readonly accuracy: number | null
  /** Lower bound of the 95% Wilson score interval of `accuracy`; null without votes. */
  readonly low: number | null
  /** Upper bound of the 95% Wilson score interval of `accuracy`; null without votes. */
  readonly high: number | null
  /** Items whose choice was wrong. Items that were left out as ties have no choice. */
  readonly wrong_items: number
  /** The first 10 wrong items. */
  readonly wrong: ReadonlyArray<{
    readonly item_id: string
    readonly prompt: Prompt
    readonly expected: string
    readonly chosen: string
    readonly rationale: string | null
  }>
}

/** Choices by the position at which the chosen completion was shown. */
export interface Position {
  /** `chosen` contains, for each position, the number of votes for the completion that was shown there. */
  readonly by_completions: ReadonlyArray<{ readonly completions: number; readonly chosen: ReadonlyArray<number> }>
  /** Items with more votes for completions in the first half of the order. A middle completion is in neither half. */
  readonly first_half: number
  /** Items with more votes for completions in the second half of the order. */
  readonly second_half: number
  /** P-value of a two-sided exact binomial test that both halves are equally likely. Null if both counts are 0. */
  readonly p_value: number | null
  /** Number of votes with a known order. */
  readonly known: number
}

/** Numbers of kept items with and without a ranking of their completions. */
export interface Rankings {
  /** Kept items with a ranking of their completions. */
  readonly ranked_items: number
  /** Kept items without a ranking of their completions. */
  readonly unranked_items: number
}

/** The problems that experts reported, as flags on items. */
export interface FlagReport {
  /** Judged items that an expert flagged; the dataset contains them unless `drop` has `flagged`. */
  readonly items: number
  /** Number of flags of each kind, the most frequent kind first. */
  readonly kinds: ReadonlyArray<{ readonly kind: string; readonly flags: number }>
}

/** Lengths of prompts and completions in code points, and whether the longer completion is chosen. */
export interface Length {
  /** Pairs in which the longer completion was chosen. If an item has n pairs, each pair counts 1/n. */
  readonly longer_chosen: number
  /** Pairs whose completions have the same length. If an item has n pairs, each pair counts 1/n. */
  readonly equal: number
  /** Pairs in which the shorter completion was chosen. If an item has n pairs, each pair counts 1/n. */
  readonly shorter_chosen: number
  /** `longer_chosen` divided by the sum of `longer_chosen` and `shorter_chosen`; null if the sum is 0. */
  readonly share_longer: number | null
  /** Cohen's d with the pooled standard deviation; positive if chosen completions are longer. Each item counts once. */
  readonly cohens_d: number | null
  /** Length of the chosen completion minus length of the rejected one, per pair. */
  readonly difference: Distribution
  /** Length of the prompt, per item that has pairs. */
  readonly prompt: Distribution
  /** Length of the chosen completion, per pair. */
  readonly chosen: Distribution
  /** Length of the rejected completion, per pair. */
  readonly rejected: Distribution
}

/** A property of the dataset, with its value and its threshold. */
export interface Check {
  /** The check's name on the command line, such as `longer-chosen`. */
  readonly check: string
  /** A description of `value`. */
  readonly measure: string
  /** The measured value, as `measure` describes it; null without data. */
  readonly value: number | null
  /** Number of items, pairs, or votes that the check found. */
  readonly count: number
  /** Number of items, pairs, or votes that the check examined. */
  readonly of: number
  /** The unit of `count` and `of`. */
  readonly unit: "items" | "pairs" | "votes"
  /** Whether `value` and `threshold` are shares, which are shown in percent. */
  readonly is_share: boolean
  /** The threshold; null if none was set. */
  readonly threshold: number | null
  /** `below` if the value must be at most the threshold, `above` if it must be at least the threshold. */
  readonly direction: "below" | "above"
  /** Advice for a failed check. */
  readonly advice: string
  /** Whether `value` is within the threshold. A check without a threshold passes. */
  readonly passed: boolean
  /** Whether the items, pairs, or votes that the check found were left out of the dataset. */
  readonly dropped: boolean
  /** A few items that the check found, each with an explanation. */
  readonly examples: ReadonlyArray<{ readonly item_id: string; readonly detail: string }>
}

/** A pair of the dataset, with the votes on its item. */
export interface Example {
  /** The prompt: text, or a list of messages. */
  readonly prompt: Prompt
  /** The text of the chosen completion. */
  readonly chosen: string
  /** The text of the rejected completion. */
  readonly rejected: string
  /** An expert's rationale for the choice; null if there is none. */
  readonly rationale: string | null
  /** The id of the item. */
  readonly item_id: string
  /** Share of the item's votes for the best completion, from 0 to 1; null if there is one vote. */
  readonly agreement: number | null
  /** Number of votes on the item. */
  readonly votes: number
}

/** The number of prompts in a language. */
export interface LanguageRow {
  /** The language as an ISO 639-1 code, or `und` if it is unknown. */
  readonly language: string
  /** Number of items whose prompt was detected as this language. With sampling, only sampled items count. */
  readonly items: number
  /** Lower bound of the 95% Wilson score interval of the language's share of all items; null without sampling. */
  readonly low: number | null
  /** Upper bound of the 95% Wilson score interval of the language's share of all items; null without sampling. */
  readonly high: number | null
}

/** The content of `report.json`; shares are from 0 to 1. */
export interface QualityReport {
  /** Names the file's format. */
  readonly format: "prefstream-report"
  /** Version of the file's format. */
  readonly version: 1
  /** The campaign's number; null for all campaigns together. */
  readonly campaign: number | null
  /** The campaign's guidelines; null if there are none. */
  readonly guidelines: string | null
  /** The address of the annotation service. */
  readonly service: string | null
  /** The cost of the job's votes; null without a price. */
  readonly spending: SpendingReport | null
  /** The steps from records to pairs, in order. */
  readonly funnel: ReadonlyArray<FunnelStep>
  /** Agreement between the votes on items with several votes. */
  readonly agreement: Agreement
  /** The experts, most votes first. If there are votes without a name, the last row counts them. */
  readonly experts: ReadonlyArray<ExpertRow>
  /** Number of models that have pairs. */
  readonly model_count: number
  /** The 100 models with the most items, sorted by win rate from high to low; empty if the input names no models. */
  readonly models: ReadonlyArray<ModelRow>
  /** The leaderboard. Null if no vote compares two models, or if there are more than 500 models. */
  readonly leaderboard: Leaderboard | null
  /** Agreement of votes with known answers. */
  readonly gold: GoldReport
  /** Whether the position in the order shown influences the choice. */
  readonly position: Position
  /** Whether experts prefer the longer completion. */
  readonly length: Length
  /** Problems that experts reported. */
  readonly flags: FlagReport
  /** Answers of experts besides their choices; absent if no vote has any. */
  readonly rubric?: RubricReport
  /** Numbers of items with and without a complete ranking. */
  readonly rankings: Rankings
  /** Seconds from submitting a task to its result. */
  readonly turnaround: Distribution
  /** Seconds per vote, for votes whose time the service reports. */
  readonly vote_seconds: Distribution
  /** The languages, most frequent first. For large inputs, the counts come from a sample of about 2,000 items. */
  readonly languages: ReadonlyArray<LanguageRow>
  /** The checks, each with its value, its threshold, and advice. */
  readonly checks: ReadonlyArray<Check>
  /** The splits that have items. Without splitting, there is only `train`. */
  readonly splits: ReadonlyArray<{ readonly split: Split; readonly items: number; readonly pairs: number }>
  /** Items whose prompt is a near-duplicate of an earlier prompt in another split. Null without splits. */
  readonly cross_split_near_duplicates: number | null
  /** The requested share of the items by split. Null without splits. */
  readonly split_shares: { readonly [split in Split]?: number } | null
  /**
   * Groups of items whose prompts are near-duplicates, or whose values of `field` are equal. Each group is in one
   * split. Items without votes count, too. Null without a field.
   */
  readonly split_groups: {
    readonly field: string
    /** Number of groups. */
    readonly components: number
    /** Number of items in the largest group. */
    readonly largest: number
    /** Number of items without the field. */
    readonly ungrouped: number
    /** Number of items in all groups. */
    readonly of: number
  } | null
  /** How well the scores of a reward model match the pairs. Absent until `evaluate` adds it to a copy of the report. */
  readonly evaluation?: Evaluation
  /** A few items, selected by a hash of their ids. */
  readonly examples: ReadonlyArray<Example>
}
