/**
 * What a run would do, by its input and what its ledger already has.
 *
 * Guarantees: sends and records nothing; the same input over the same ledger is then counted alike by the run. Gold items
 * that it mixes in are not counted, nor what `resubmit` would send again.
 */
import { Effect, Option } from "effect"
import type { LedgerReader } from "../task/ledger/Ledger.ts"
import * as Inspection from "./Inspection.ts"
import type { Settings } from "./Pipeline.ts"

export interface Preview extends Omit<Inspection.Inspection, "first"> {
  /** Tasks of earlier runs that were planned, and would be sent, too. */
  readonly planned: number
}

/** Fails with the source's error, or with `TermsChanged` where the run would. */
export const preview = Effect.fn("Preview.preview")(function* (
  settings: Settings & Pick<Inspection.InspectionOptions, "limits">,
  ledger: Option.Option<LedgerReader["Service"]>,
) {
  const before = yield* Option.match(ledger, {
    onNone: () => Effect.undefined,
    onSome: Effect.fnUntraced(function* (ledger) {
      const { campaign } = yield* ledger.campaignFor(settings)
      const { planned, submitting } = yield* ledger.counts
      return {
        planned: planned.tasks + submitting.tasks,
        recorded: (items: Parameters<typeof ledger.recorded>[1]) => ledger.recorded(campaign, items),
      }
    }),
  })
  const { first: _, ...inspection } = yield* Inspection.inspect(settings.source, {
    ...settings,
    recorded: before?.recorded,
    show: 0,
  })
  return { ...inspection, planned: before?.planned ?? 0 } satisfies Preview
})
