/**
 * From the ledger, or from the pairs of a dataset, to a leaderboard of the models whose completions were judged.
 *
 * Guarantees: the same snapshot of the ledger, or dataset, and the same settings give the same numbers; others may write to the
 * ledger meanwhile. The ledger is read once, and twice if votes are weighted. Gold items that were mixed in do not count. Of a
 * dataset, each item counts as one vote (`DatasetVotes`).
 */
import { Effect, Option, Predicate, Result, Schema, type Stream } from "effect"
import type { Leaderboard as Board } from "../domain/Leaderboard.ts"
import * as FieldPath from "../io/FieldPath.ts"
import * as Leaderboard from "../pair/rating/Leaderboard.ts"
import * as Reliabilities from "../pair/votes/Reliabilities.ts"
import { keepNames } from "../task/ExpertNames.ts"
import * as Results from "../task/Results.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import type { ResultsSettings } from "./DatasetSettings.ts"
import * as DatasetVotes from "./DatasetVotes.ts"

/** How votes become ratings, and which votes. */
export interface LeaderboardSettings extends Leaderboard.LeaderboardOptions, ResultsSettings {
  /** Whether votes are weighted by their experts' estimated reliabilities (Dawid & Skene, 1979). Default false. */
  readonly weighted?: boolean | undefined
}

/** The models, rated by the items whose metadata have the same value. */
export interface LeaderboardGroup {
  /** Text, or the JSON of another value; null for items without one. */
  readonly group: string | null
  /** Also those that name no models. */
  readonly items: number
  /** Null without a comparison of two models. */
  readonly leaderboard: Board | null
}

/** Items cannot be grouped by that field. */
export class GroupsInvalid extends Schema.TaggedError<GroupsInvalid>()("GroupsInvalid", {
  /** The field, as the caller named it. */
  by: Schema.String,
  /** What is wrong with it. */
  problem: Schema.String,
}) {
  override get message() {
    return `${this.by}: ${this.problem}`
  }
}

/** Each group costs memory, and a table. */
const maxGroups = 100

const rated = Effect.fnUntraced(function* <E, R>(
  items: Stream.Stream<Leaderboard.RatedItem, E, R>,
  by: string | undefined,
  options: Leaderboard.GroupedOptions,
) {
  const path = by === undefined ? undefined : FieldPath.parse(by)
  if (path !== undefined && Result.isFailure(path)) return yield* new GroupsInvalid({ by: by!, problem: path.failure })
  const groupOf = ({ metadata }: Leaderboard.RatedItem): string | null => {
    const value = path?.success.get(metadata)
    return Predicate.isNullish(value) ? null : typeof value === "string" ? value : JSON.stringify(value)
  }
  const groups = yield* Leaderboard.grouped(items, groupOf, { ...options, maxGroups })
  if (groups === undefined) {
    return yield* new GroupsInvalid({
      by: by!,
      problem: `more than ${maxGroups} values in the items' metadata; name a field with fewer`,
    })
  }
  return groups.toSorted(
    (a, b) =>
      Number(a.group === null) - Number(b.group === null) || b.items - a.items || (a.group! < b.group! ? -1 : 1),
  ) satisfies ReadonlyArray<LeaderboardGroup>
})

/**
 * Rates the models by all results so far, once for each value of a field of the items' metadata. The group with most items
 * comes first. Without a field, all items are one group.
 *
 * @param by a name, or a path such as `source.name`
 */
export const leaderboards = Effect.fn("Pipeline.leaderboards")(
  function* (by: string | undefined, { annotationPaths, campaign, weighted, ...options }: LeaderboardSettings) {
    const items = Results.items(campaign, annotationPaths)
    const reliabilityOf = weighted === true ? (yield* Reliabilities.of(items)).of : undefined
    return yield* rated(Leaderboard.ratedItems(items), by, { ...options, reliabilityOf })
  },
  LedgerReader.snapshot,
  keepNames,
)

/** Rates the models by all results so far; none without a comparison of two models. */
export const leaderboard = (settings: LeaderboardSettings) =>
  Effect.map(leaderboards(undefined, settings), ([all]) => Option.fromNullishOr(all?.leaderboard))

/**
 * The same by the pairs of a dataset: its folder, or one of its files of Parquet or JSON Lines. Each item counts as one vote;
 * `weighted` and control for position need a ledger.
 */
export const datasetLeaderboards = Effect.fn("Pipeline.datasetLeaderboards")(
  (path: string, by: string | undefined, options: Leaderboard.LeaderboardOptions) =>
    rated(DatasetVotes.items(path), by, options),
)
