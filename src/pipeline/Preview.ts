/**
 * What a run would do, by its input and what its ledger already has.
 *
 * Guarantees: sends and records nothing; the same input over the same ledger is then counted alike by the run, also where
 * its budget ends. Further votes, of a number of votes that is a range, are told as at least and at most. Not counted: what
 * `resubmit` would send again, tasks that the budget holds back, and what `newCampaign` would change of them.
 */
import { Effect, Option } from "effect"
import * as Cost from "../domain/Cost.ts"
import * as Prices from "../domain/Prices.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import * as CompletionDraw from "../task/plan/CompletionDraw.ts"
import { leftOf, noVotes, type Terms } from "../task/ledger/writes/Spending.ts"
import * as GoldItems from "../task/plan/GoldItems.ts"
import { spendingTerms } from "../task/Submit.ts"
import { confidenceOf, furtherVotesLeft } from "./AdaptiveVotes.ts"
import * as Inspection from "./Inspection.ts"
import type { Settings } from "./Pipeline.ts"
import { costOf, textOf, type VotesCost } from "./SpendingReport.ts"

/** At least, and at most. */
interface Range<A> {
  readonly min: A
  readonly max: A
}

export interface Preview extends Omit<Inspection.Inspection, "first"> {
  /** Tasks of earlier runs that would be sent, too: planned ones, and those of the campaign that the budget no longer holds back. */
  readonly planned: number
  /** Requests that send these and the new tasks; each task is then polled at least once. */
  readonly requests: number
  /** How long sending takes at the rate limit, at least; null where the service is not at an address. */
  readonly sending_seconds: number | null
  /**
   * All votes of the new items, and the further ones of items of earlier runs that want one, or wait for a vote; with the
   * requests that send them, and those of `requests`. Null without further votes.
   */
  readonly in_all: {
    readonly votes: Range<number>
    readonly requests: Range<number>
    /** Null without a price. */
    readonly cost: Range<string> | null
  } | null
  /** Null without a price. */
  readonly spending: {
    readonly price: string
    /** Prices by kind of expert, where they are others. */
    readonly prices: { readonly [kind: string]: string }
    readonly budget: string | null
    /** Votes of earlier runs that count against the budget, with those of `planned`. */
    readonly before: VotesCost
    /** At the highest price. */
    readonly new: VotesCost
    /** What is left of the budget afterwards; null without one. */
    readonly left: string | null
    readonly over_budget: VotesCost & { readonly items: number }
  } | null
}

export interface PreviewOptions extends Settings, Pick<Inspection.InspectionOptions, "limits"> {
  /** The rate limit of the service, where it is known. */
  readonly requestsPerSecond?: number | undefined
}

const untouched = (terms: Terms) => ({
  planned: 0,
  counted: noVotes(terms),
  votesLeft: leftOf(terms, noVotes(terms)),
  held: { items: 0, votes: 0 },
  further: Option.none(),
  recorded: undefined,
})

/** None where items of earlier runs get no further votes. */
const furtherOf = Effect.fnUntraced(function* (
  ledger: LedgerReader["Service"],
  { campaign, isNew }: { readonly campaign: number; readonly isNew: boolean },
  settings: Settings,
) {
  const kept = settings.votes === undefined ? yield* ledger.confidence : Option.none()
  const confidence = Option.orElse(Option.fromUndefinedOr(confidenceOf(settings)), () => kept)
  if (isNew || Option.isNone(confidence)) return Option.none()
  const further = furtherVotesLeft(settings, campaign, confidence.value)
  return Option.some(yield* Effect.provideService(further, LedgerReader, ledger))
})

/** How many votes the budget may allow in all: those that turn out to cost less than the highest price leave room for others. */
const maxVotes = ({ budget, prices }: Terms, votesLeft: number): number =>
  Option.getOrElse(
    Option.zipWith(budget, prices, (budget, prices) =>
      prices.kinds.size === 0 ? votesLeft : Cost.votesWithin(budget, Prices.lowest(prices)),
    ),
    () => Infinity,
  )

/** Fails with the source's error, or with `TermsChanged`, `PriceMissing` or `UnusableGold` where the run would. */
export const preview = Effect.fn("Preview.preview")(function* (
  settings: PreviewOptions,
  ledger: Option.Option<LedgerReader["Service"]>,
) {
  const terms = yield* spendingTerms(Option.getOrUndefined(ledger), settings)
  const before = yield* Option.match(ledger, {
    onNone: () => Effect.succeed(untouched(terms)),
    onSome: Effect.fnUntraced(function* (ledger) {
      const campaignTerms = yield* ledger.campaignFor(settings)
      const { campaign } = campaignTerms
      return {
        further: yield* furtherOf(ledger, campaignTerms, settings),
        ...(yield* ledger.planOfNextRun(campaign, terms)),
        recorded: (items: Parameters<typeof ledger.recorded>[1]) => ledger.recorded(campaign, items),
      }
    }),
  })
  const mix =
    settings.gold === undefined ? undefined : yield* GoldItems.make(settings.gold, CompletionDraw.make(settings))
  const { first: _, ...inspection } = yield* Inspection.inspect(settings.source, {
    ...settings,
    mix,
    votesLeft: before.votesLeft,
    recorded: before.recorded,
    show: 0,
  })
  const { new_votes, over_budget, tasks, votes } = inspection
  const requests = tasks + before.planned
  const { requestsPerSecond } = settings
  const { votesUpTo = votes } = settings
  // Items with a known answer get the least. Which of them are beyond the budget is not known, but then no votes are left.
  const uncertain = inspection.items - over_budget - (over_budget > 0 ? 0 : inspection.gold)
  const furtherOfNew = uncertain * Math.max(0, votesUpTo - votes)
  const wanted = furtherOfNew + Option.getOrElse(before.further, () => 0)
  const further = Math.min(wanted, Math.max(0, maxVotes(terms, before.votesLeft) - new_votes))
  return {
    ...inspection,
    planned: before.planned,
    requests,
    sending_seconds: requestsPerSecond === undefined ? null : requests / requestsPerSecond,
    in_all:
      votesUpTo <= votes && Option.isNone(before.further)
        ? null
        : {
            votes: { min: new_votes, max: new_votes + further },
            requests: { min: requests, max: requests + further },
            cost: Option.getOrNull(
              Option.map(terms.prices, (prices) => {
                const most = Cost.times(Prices.highest(prices), new_votes + further)
                return {
                  min: Cost.format(Cost.times(Prices.lowest(prices), new_votes)),
                  max: Cost.format(
                    Option.match(terms.budget, { onNone: () => most, onSome: (budget) => Cost.min(most, budget) }),
                  ),
                }
              }),
            ),
          },
    spending: Option.getOrNull(
      Option.map(terms.prices, (prices) => {
        const { default: price, ...own } = Prices.toRecord(prices)
        const highest = Prices.highest(prices)
        const used = Cost.plus(before.counted.cost, Cost.times(highest, new_votes))
        return {
          price: price!,
          prices: own,
          budget: Option.getOrNull(Option.map(terms.budget, Cost.format)),
          before: textOf(before.counted),
          new: costOf(highest, new_votes),
          left: Option.getOrNull(Option.map(terms.budget, (budget) => Cost.format(Cost.minus(budget, used)))),
          over_budget: {
            items: over_budget + before.held.items,
            ...costOf(highest, over_budget * votes + before.held.votes),
          },
        }
      }),
    ),
  } satisfies Preview
})
