/**
 * Rates the models whose completions were judged. Gold items that were mixed in do not count. Other processes can write
 * to the ledger meanwhile.
 */
import { Effect, Option, Result, Schema, type Stream } from "effect"
import type { Leaderboard as Board } from "../domain/Leaderboard.ts"
import * as FieldPath from "../io/FieldPath.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { describeValue } from "../io/Values.ts"
import * as Leaderboard from "../pair/rating/Leaderboard.ts"
import * as Reliabilities from "../pair/votes/Reliabilities.ts"
import { keepNames } from "../task/ExpertNames.ts"
import * as Results from "../task/Results.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import type { ResultsSettings } from "./DatasetSettings.ts"
import * as DatasetVotes from "./DatasetVotes.ts"

/** Settings that select votes and turn them into ratings. */
export interface LeaderboardSettings extends Leaderboard.LeaderboardOptions, ResultsSettings {
  /** Whether votes are weighted by their experts' estimated reliabilities (Dawid & Skene, 1979). Default false. */
  readonly weighted?: boolean | undefined
}

/** A leaderboard of the items with the same value in a metadata field. */
export interface LeaderboardGroup {
  /** The metadata field's value in all items of the group, as JSON if it is not text. Null if the items have none. */
  readonly group: string | null
  /** Number of items, including items without models. */
  readonly items: number
  /** Null if no vote compares two models. */
  readonly leaderboard: Board | null
}

/** The field cannot be used to group items. */
export class GroupsInvalid extends Schema.TaggedError<GroupsInvalid>()("GroupsInvalid", {
  /** The field, as the caller named it. */
  by: Schema.String,
  /** Why the field cannot be used. */
  problem: Schema.String,
}) {
  override get message() {
    return `${this.by}: ${this.problem}`
  }
}

const maxGroups = 100

export const fieldOf = Effect.fnUntraced(function* (by: string | undefined) {
  if (by !== undefined && typeof by !== "string") {
    return yield* new GroupsInvalid({ by: describeValue(by), problem: "expected the path of a field" })
  }
  const path = by === undefined ? undefined : FieldPath.parse(by)
  if (path !== undefined && Result.isFailure(path)) return yield* new GroupsInvalid({ by: by!, problem: path.failure })
  return path?.success
})

const rated = Effect.fnUntraced(function* <E, R>(
  items: Stream.Stream<Leaderboard.RatedItem, E, R>,
  by: string | undefined,
  options: Leaderboard.GroupedOptions,
) {
  const path = yield* fieldOf(by)
  const groupOf = ({ metadata }: Leaderboard.RatedItem) =>
    path === undefined ? null : FieldPath.textAt(path, metadata)
  const groups = yield* Leaderboard.grouped(items, groupOf, { ...options, maxGroups })
  if (groups === undefined) {
    return yield* new GroupsInvalid({
      by: by!,
      problem: `more than ${maxGroups} values in the items' metadata; name a field with fewer values`,
    })
  }
  const sorted: ReadonlyArray<LeaderboardGroup> = groups.toSorted(
    (a, b) =>
      Number(a.group === null) - Number(b.group === null) || b.items - a.items || (a.group! < b.group! ? -1 : 1),
  )
  return sorted
})

/**
 * Rates the models by all results so far. Returns one leaderboard for each value of the metadata field `by`, such as
 * `source.name`. The value with the most items comes first. Items without a value come last. Without `by`, there is one
 * leaderboard.
 */
export const leaderboards = Effect.fn("Pipeline.leaderboards")(
  function* (by: string | undefined, settings: LeaderboardSettings) {
    yield* Kinds.check(settings, Leaderboard.optionKinds)
    const { annotationPaths, campaign, weighted, ...options } = settings
    const items = Results.items(campaign, annotationPaths)
    const reliabilityOf = weighted === true ? (yield* Reliabilities.of(items)).of : undefined
    return yield* rated(Leaderboard.ratedItems(items), by, { ...options, reliabilityOf })
  },
  LedgerReader.snapshot,
  keepNames,
)

/** Rates the models by all results so far. Returns `Option.none()` if no vote compares two models. */
export const leaderboard = (settings: LeaderboardSettings) =>
  Effect.map(leaderboards(undefined, settings), ([all]) => Option.fromNullishOr(all?.leaderboard))

/**
 * Rates the models by the pairs of a dataset, one vote per item. `path` is its folder, or a Parquet or JSON Lines file.
 * `weighted` and the control `position` are not supported, because they need a ledger.
 */
export const datasetLeaderboards = Effect.fn("Pipeline.datasetLeaderboards")(
  (path: string, by: string | undefined, options: Leaderboard.LeaderboardOptions) =>
    Effect.andThen(
      Kinds.check(options, Leaderboard.optionKinds),
      Effect.suspend(() => rated(DatasetVotes.items(path), by, options)),
    ),
)
