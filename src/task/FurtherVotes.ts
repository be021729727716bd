/**
 * Further votes on items whose votes so far are in. Which items want one, the caller says: this room knows no statistics.
 *
 * Guarantees: what is planned follows from the ledger and the choice alone, stays within the budget, and nothing is planned
 * twice: see `ledger/FurtherVotes`.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Ledger, type LedgerReader } from "./ledger/Ledger.ts"
import type { ItemPlace } from "./ledger/FurtherVotes.ts"
import { defaultShuffleSeed, type RunTerms } from "./ledger/Model.ts"
import type { NoSuchCampaign } from "./ledger/WrongLedger.ts"
import { furtherVote } from "./plan/TaskRequests.ts"
import type { ResultMisfit } from "./Results.ts"

/** The items of a campaign that want another vote, those that want it most first, and how many may have it at once. */
export type Choose = (
  campaign: number,
) => Effect.Effect<
  { readonly wanted: ReadonlyArray<ItemPlace>; readonly atOnce: number },
  SqlError | ResultMisfit | NoSuchCampaign,
  LedgerReader
>

/** Plans further votes. Gives their number. */
export const planFurtherVotes = Effect.fn("FurtherVotes.plan")(function* (
  choose: Choose,
  { campaign, shuffleSeed = defaultShuffleSeed }: Pick<RunTerms, "shuffleSeed"> & { readonly campaign: number },
) {
  const ledger = yield* Ledger
  const { atOnce, wanted } = yield* choose(campaign)
  const { beyond, votes } = yield* ledger.planFurther(wanted, {
    atOnce,
    request: (question, of) => furtherVote(question, { ...of, shuffleSeed }),
  })
  if (votes > 0) yield* Effect.logInfo(`planned ${votes} further ${votes === 1 ? "vote" : "votes"} on uncertain items`)
  if (beyond > 0) {
    yield* Effect.logWarning(
      `the budget is used up: ${beyond} more ${beyond === 1 ? "item wants" : "items want"} another vote`,
    )
  }
  return votes
})

/** Notes how many items want another vote now, once results came in, for the report. */
export const noteWanted = Effect.fn("FurtherVotes.noteWanted")(function* (choose: Choose, campaign: number) {
  const ledger = yield* Ledger
  yield* ledger.noteWanted((yield* choose(campaign)).wanted.length)
})
