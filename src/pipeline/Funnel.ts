/** Counts and losses at each step. If two runs read a file, its rejects and duplicates count only in the later run. */
import { Array as Arr, Effect, Option, Stream } from "effect"
import type { Written } from "../dataset/Dataset.ts"
import type { FunnelStep } from "../domain/QualityReport.ts"
import type { LossReason } from "../pair/Curation.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import type { ReadCounts } from "../task/ledger/schema/Model.ts"
import type { UnjudgedCounts } from "../task/Results.ts"
import { type OutcomeCounts, type ItemOutcome, itemOutcomes } from "../task/ledger/reads/Status.ts"

type Losses = FunnelStep["lost"]

const sumOf = (losses: Losses): number => losses.reduce((sum, { count }) => sum + count, 0)

const present = (losses: Losses): Losses => losses.filter(({ count }) => count > 0)

export const make = Effect.fnUntraced(function* (
  campaign: Option.Option<number>,
  items: OutcomeCounts,
  made: UnjudgedCounts & {
    readonly judged: number
    readonly kept: number
    readonly pairs: number
    readonly lost: ReadonlyArray<{ readonly reason: LossReason; readonly count: number }>
    readonly written: Pick<Written, "rows" | "omitted">
  },
): Effect.fn.Return<
  ReadonlyArray<FunnelStep>,
  Effect.Error<(typeof LedgerReader)["Service"]["campaigns"]>,
  LedgerReader
> {
  const ledger = yield* LedgerReader
  const campaigns = Option.match(campaign, {
    onNone: () => Effect.map(ledger.campaigns, (all) => all.map(({ campaign }) => campaign)),
    onSome: (one) => Effect.succeed([one]),
  })
  const runs: Array<Pick<ReadCounts, "known" | "duplicates" | "reordered"> & { readonly run: number }> = []
  const byCode = new Map<string, number>()
  for (const { campaign, counts, run } of Arr.getSomes(yield* Effect.forEach(yield* campaigns, ledger.lastRunIn))) {
    runs.push({ ...counts, run }, ...(yield* ledger.earlierRuns(run, Option.some(campaign))))
    const rejects = Stream.concat(ledger.rejects(run), ledger.earlierRejects(run, Option.some(campaign)))
    yield* Stream.runForEach(rejects, ({ code }) =>
      Effect.sync(() => void byCode.set(code, (byCode.get(code) ?? 0) + 1)),
    )
  }
  const planned = itemOutcomes.reduce((sum, outcome) => sum + items(outcome), 0)
  const lostAs = (...of: ReadonlyArray<ItemOutcome>): Losses =>
    present(
      of.map((outcome) => ({
        reason: outcome === "refused" ? "refused_by_service" : outcome,
        count: items(outcome),
      })),
    )

  const imports = yield* Effect.filter(runs, ({ run }) => ledger.isImport(run))
  const unread = present([
    { reason: "further_vote", count: imports.reduce((sum, { known }) => sum + known, 0) },
    { reason: "duplicate", count: runs.reduce((sum, { duplicates, reordered }) => sum + duplicates - reordered, 0) },
    { reason: "reordered", count: runs.reduce((sum, { reordered }) => sum + reordered, 0) },
    ...[...byCode].map(([reason, count]) => ({ reason, count })),
  ])
  const unsent = lostAs("refused", "given_up", "not_submitted")
  const submitted = planned - sumOf(unsent)
  const unjudged = [
    ...lostAs("waiting", "in_doubt", "failed", "invalid", "pruned"),
    ...present([
      { reason: "withdrawn", count: made.withdrawn },
      { reason: "unanswered", count: made.unanswered },
      { reason: "unusable", count: made.unusable },
    ]),
  ]
  return [
    { step: "read", unit: "records", count: planned + sumOf(unread), lost: [] },
    { step: "submitted", unit: "items", count: submitted, lost: [...unread, ...unsent] },
    { step: "judged", unit: "items", count: made.judged, lost: unjudged },
    { step: "kept", unit: "items", count: made.kept, lost: made.lost },
    {
      step: "pairs",
      unit: "pairs",
      count: made.written.rows,
      lost: present([{ reason: "lone_surrogate", count: made.written.omitted.count }]),
    },
  ]
})
