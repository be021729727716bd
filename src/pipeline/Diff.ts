/**
 * Compares two datasets. Reads the ledgers and the settings of their jobs to explain the differences. The reason
 * `vote_no_longer_counted` means: an expert voted on the item and has votes in dataset A, but no vote on any item in
 * dataset B. The expert's votes were not necessarily voided: a ledger does not record this.
 */
import { Effect, Option, Stream } from "effect"
import * as Dataset from "../dataset/Dataset.ts"
import { lostExperts } from "../dataset/Diff.ts"
import * as Curation from "../pair/Curation.ts"
import { allVotesOf } from "../pair/votes/ItemVotes.ts"
import * as Consensus from "../pair/votes/Consensus.ts"
import * as Reliabilities from "../pair/votes/Reliabilities.ts"
import { ExpertNames } from "../task/ExpertNames.ts"
import * as Results from "../task/Results.ts"
import * as LedgerLocation from "../task/ledger/LedgerLocation.ts"
import { defaultJob, LedgerReader } from "../task/ledger/Ledger.ts"
import * as DatasetPlace from "./DatasetPlace.ts"
import * as ManifestSettings from "./ManifestSettings.ts"

const outcomesOf = Effect.fnUntraced(function* (
  { directory, ledger }: DatasetPlace.Place,
  experts: ReadonlyMap<string, number>,
) {
  if (ledger === undefined) return undefined
  const settings = yield* Effect.option(
    Effect.flatMap(Dataset.manifest(directory), (manifest) => ManifestSettings.of(manifest)),
  )
  if (Option.isNone(settings)) return undefined
  const { aggregate, annotationPaths, campaign, expertNames: keep = false, ...options } = settings.value
  return Effect.gen(function* () {
    const ledger = yield* LedgerReader
    const items = Results.items(campaign, annotationPaths)
    const reliabilities = yield* Reliabilities.forAggregation(aggregate ?? Consensus.defaultAggregation, items)
    const curation = yield* Curation.make(options, { reliabilities, mayRepeat: campaign === "all", languageShare: 0 })
    return curation.curate(Stream.filter(items, ({ isCheck }) => !isCheck)).pipe(
      Stream.map(({ item, lost = null }): Dataset.JobOutcome => {
        const isLost = allVotesOf(item).some(({ expert }) => expert !== null && experts.has(expert))
        return { itemId: item.itemId, lost, cause: isLost ? "vote_no_longer_counted" : null }
      }),
      // `Dataset.diff` uses an item's first outcome. Therefore, `not_judged` comes after all other outcomes.
      Stream.concat(
        Stream.map(ledger.prompts, ({ itemId }): Dataset.JobOutcome => ({ itemId, lost: "not_judged", cause: null })),
      ),
    )
  }).pipe(
    Stream.unwrap,
    Stream.provideService(ExpertNames, { keep }),
    Stream.provide(LedgerLocation.layerReadonly({ _tag: "File", path: ledger, job: defaultJob })),
  )
})

/** Compares two datasets. Each path is a dataset's folder, a job's folder, or a manifest. */
export const diff = Effect.fn("Pipeline.diff")(function* (
  a: string,
  b: string,
  options: Pick<Dataset.DiffOptions, "ignore" | "scratchDirectory" | "show" | "taskIds"> = {},
) {
  const [one, other] = [yield* DatasetPlace.locate(a), yield* DatasetPlace.locate(b)]
  const experts = yield* lostExperts(one.directory, other.directory)
  return yield* Dataset.diff(one.directory, other.directory, {
    ...options,
    outcomesA: yield* outcomesOf(one, experts),
    outcomesB: yield* outcomesOf(other, experts),
  })
})
