/**
 * Plans further votes on items that the caller chooses, if a run of the job has set `votesUpTo` (a range of votes per
 * item). One call plans at most one vote per item. The ledger plans each vote once (`ledger/writes/FurtherVotes`).
 */
import { Effect, Option } from "effect"
import { Ledger, type LedgerReader } from "./ledger/Ledger.ts"
import type { FurtherTerms, ItemPlace } from "./ledger/writes/FurtherVotes.ts"
import { defaultShuffleSeed, type RunTerms } from "./ledger/schema/Model.ts"
import { furtherVote } from "./plan/TaskRequests.ts"
import type { JudgmentsError } from "./Results.ts"
import { plural } from "../io/Values.ts"

export interface ItemChoice {
  /** The items that should get another vote. The first items need it most. */
  readonly wanted: ReadonlyArray<ItemPlace>
  /** Maximum number of items from `wanted` that get another vote now. */
  readonly atOnce: number
  /** Number of the job's votes in tasks that had ended, counted when `wanted` was chosen. */
  readonly ended: number
}

export type ChooseItems = (
  campaign: number,
  terms: FurtherTerms,
) => Effect.Effect<ItemChoice, JudgmentsError, LedgerReader>

const chosenBy = Effect.fnUntraced(function* (choose: ChooseItems, of?: number) {
  const ledger = yield* Ledger
  const terms = yield* ledger.furtherTerms
  const target = Option.all({ terms, campaign: of === undefined ? yield* ledger.lastCampaign : Option.some(of) })
  if (Option.isNone(target)) return Option.none()
  return Option.some(yield* choose(target.value.campaign, target.value.terms))
})

export const planFurtherVotes = Effect.fn("FurtherVotes.plan")(function* (
  choose: ChooseItems,
  {
    campaign,
    shuffleSeed = defaultShuffleSeed,
  }: Pick<RunTerms, "shuffleSeed"> & { readonly campaign?: number | undefined },
) {
  const ledger = yield* Ledger
  const chosen = yield* chosenBy(choose, campaign)
  if (Option.isNone(chosen)) return 0
  const { wanted, ...when } = chosen.value
  const { beyond, votes } = yield* ledger.planFurther(wanted, {
    ...when,
    request: (question, of) => furtherVote(question, { ...of, shuffleSeed }),
  })
  if (votes > 0) yield* Effect.logInfo(`planned ${votes} further ${plural(votes, "vote")} on uncertain items`)
  if (beyond > 0) {
    yield* Effect.logWarning(
      `${beyond} ${plural(beyond, "item needs", "items need")} another vote, but the budget is used up: raise \`budget\``,
    )
  }
  return votes
})

export const noteWanted = Effect.fn("FurtherVotes.noteWanted")(function* (choose: ChooseItems) {
  const ledger = yield* Ledger
  const chosen = yield* chosenBy(choose)
  if (Option.isSome(chosen)) yield* ledger.noteWanted(chosen.value.wanted.length, chosen.value.ended)
})
