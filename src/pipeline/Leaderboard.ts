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
import type { Which } from "./DatasetSettings.ts"

/** How votes become ratings, and which votes. */
export interface LeaderboardSettings extends Leaderboard.LeaderboardOptions {
  /** Default: that of the last run. In `"all"`, an item counts as another one in each campaign. */
  readonly campaign?: Which
  /** Whether votes are weighted by their experts' estimated reliabilities (Dawid & Skene, 1979). Default false. */
  readonly weighted?: boolean | undefined
}

/** Rates the models by all results so far; none without a comparison of two models. */
export const leaderboard = Effect.fn("Pipeline.leaderboard")(function* (settings: LeaderboardSettings) {
  const { campaign, ...options } = settings
  return Option.fromUndefinedOr(yield* Leaderboard.of(Results.items(campaign), options))
}, LedgerReader.snapshot)
