/**
 * The way from records to pairs, step by step, with what was lost where.
 *
 * Guarantees: each count is the one before, less what was lost in between, but for pairs, of which an item may
 * give several. Items are those of the campaign, in whatever run they were read, each once; of duplicates and
 * rejects, which may stand in the input of each run, those of the last run count.
 */
import { Effect, Option, Stream } from "effect"
import type { Written } from "../dataset/Dataset.ts"
import type { FunnelStep } from "../domain/QualityReport.ts"
import type { LossReason } from "../pair/Curation.ts"
import { Ledger } from "../task/Ledger.ts"
import type { TaskState } from "../task/LedgerModel.ts"

type Losses = FunnelStep["lost"]

const sumOf = (losses: Losses): number => losses.reduce((sum, { count }) => sum + count, 0)

const present = (losses: Losses): Losses => losses.filter(({ count }) => count > 0)

/** @param campaign none for all */
export const make = Effect.fnUntraced(function* (
  campaign: Option.Option<number>,
  made: {
    readonly judged: number
    readonly kept: number
    readonly pairs: number
    readonly lost: ReadonlyArray<{ readonly reason: LossReason; readonly count: number }>
    readonly written: Pick<Written, "rows" | "refused">
  },
): Effect.fn.Return<ReadonlyArray<FunnelStep>, Effect.Error<Ledger["Service"]["campaigns"]>, Ledger> {
  const ledger = yield* Ledger
  const progress = yield* ledger.progress
  const campaigns = Option.match(campaign, {
    onNone: () => Effect.map(ledger.campaigns, (all) => all.map(({ campaign }) => campaign)),
    onSome: (one) => Effect.succeed([one]),
  })
  const counts = (yield* campaigns).map(progress.inputOf)
  const itemsIn = (...states: ReadonlyArray<TaskState>): number =>
    counts.reduce((sum, count) => sum + states.reduce((sum, state) => sum + count[state].items, 0), 0)
  const run = yield* ledger.lastRun
  const byCode = new Map<string, number>()
  if (Option.isSome(run)) {
    yield* Stream.runForEach(ledger.rejects(run.value.run), ({ code }) =>
      Effect.sync(() => void byCode.set(code, (byCode.get(code) ?? 0) + 1)),
    )
  }

  const refused = present([
    { reason: "duplicate", count: Option.match(run, { onNone: () => 0, onSome: ({ counts }) => counts.duplicates }) },
    ...[...byCode].map(([reason, count]) => ({ reason, count })),
    { reason: "refused_by_service", count: itemsIn("refused") },
    { reason: "given_up", count: itemsIn("given_up") },
    { reason: "not_submitted", count: itemsIn("planned", "submitting", "superseded") },
  ])
  const submitted = itemsIn("submitted", "completed", "invalid", "failed", "in_doubt")
  const unjudged = submitted - made.judged
  const stuck = present([
    { reason: "in_doubt", count: itemsIn("in_doubt") },
    { reason: "failed", count: itemsIn("failed") },
    { reason: "invalid", count: itemsIn("invalid") },
    { reason: "pruned", count: yield* ledger.prunedItems },
  ])
  // An item of several votes may be judged though its first vote is stuck.
  const losses = sumOf(stuck) <= unjudged ? stuck : []
  const waiting = present([{ reason: "waiting", count: unjudged - sumOf(losses) }])
  return [
    { step: "read", unit: "records", count: submitted + sumOf(refused), lost: [] },
    { step: "submitted", unit: "items", count: submitted, lost: refused },
    { step: "judged", unit: "items", count: made.judged, lost: [...waiting, ...losses] },
    { step: "kept", unit: "items", count: made.kept, lost: made.lost },
    {
      step: "pairs",
      unit: "pairs",
      count: made.written.rows,
      lost: present([{ reason: "lone_surrogate", count: made.written.refused.count }]),
    },
  ]
})
