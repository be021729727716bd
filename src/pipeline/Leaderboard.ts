/**
 * From the ledger to a leaderboard of the models whose completions were judged.
 *
 * Guarantees: the same snapshot of the ledger and the same settings give the same numbers; others may write to the ledger
 * meanwhile. The ledger is read once, and twice if votes are weighted. Gold items that were mixed in do not count.
 */
import { Effect, Option } from "effect"
import * as Leaderboard from "../pair/rating/Leaderboard.ts"
import * as Results from "../task/Results.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import type { ResultsSettings } from "./DatasetSettings.ts"

/** How votes become ratings, and which votes. */
export interface LeaderboardSettings extends Leaderboard.LeaderboardOptions, ResultsSettings {
  /** Whether votes are weighted by their experts' estimated reliabilities (Dawid & Skene, 1979). Default false. */
  readonly weighted?: boolean | undefined
}

/** Rates the models by all results so far; none without a comparison of two models. */
export const leaderboard = Effect.fn("Pipeline.leaderboard")(function* (settings: LeaderboardSettings) {
  const { annotationPaths, campaign, ...options } = settings
  return Option.fromUndefinedOr(yield* Leaderboard.of(Results.items(campaign, annotationPaths), options))
}, LedgerReader.snapshot)
