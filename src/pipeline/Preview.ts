/**
 * Predicts what a run would do. Sends and records nothing. Totals are ranges if later rounds may add votes on an item.
 * Items beyond the budget are in `over_budget`, and in no other count. Tasks that `resubmit` selects are not counted.
 */
import { Effect, Option } from "effect"
import * as Cost from "../domain/Cost.ts"
import * as Prices from "../domain/Prices.ts"
import * as Voters from "../domain/Voters.ts"
import * as Charges from "../task/ledger/reads/Charges.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import * as CompletionDraw from "../task/plan/CompletionDraw.ts"
import { leftOf, noVotes, type Terms } from "../task/ledger/writes/Spending.ts"
import * as GoldItems from "../task/plan/GoldItems.ts"
import { spendingTerms } from "../task/Submit.ts"
import { furtherTermsOf, furtherVotesLeft } from "./AdaptiveVotes.ts"
import * as Inspection from "./Inspection.ts"
import type { Settings } from "./Settings.ts"
import { costOf, textOf, type VotesCost } from "./SpendingReport.ts"

interface Range<A> {
  readonly min: A
  readonly max: A
}

export interface Preview extends Omit<Inspection.Inspection, "first"> {
  /** Planned tasks of earlier runs that the run would send, including those that exceeded an earlier budget. */
  readonly planned: number
  /** Requests that create the `planned` and the new tasks. Polls are not counted. */
  readonly requests: number
  /** Minimum time to send the requests at the rate limit. Null without a limit. */
  readonly sending_seconds: number | null
  /** Totals that include possible further votes. Null if no further votes are possible. */
  readonly in_all: {
    readonly votes: Range<number>
    readonly requests: Range<number>
    /** Null if the settings have no price. */
    readonly cost: Range<string> | null
    /** Maximum votes by people, and their cost, if judges are uncertain about all items. Null if none go to people. */
    readonly people: { readonly votes: number; readonly cost: string | null } | null
  } | null
  /** Null if the settings have no price. */
  readonly spending: {
    readonly price: string
    /** Prices of the kinds of expert that have their own price. */
    readonly prices: { readonly [kind: string]: string }
    readonly budget: string | null
    /** Votes of earlier runs, including the votes of the `planned` tasks. */
    readonly before: VotesCost
    /** The new votes, at the highest price that the service may charge. */
    readonly new: VotesCost
    /** The budget that would be left after the run; null without a budget. */
    readonly left: string | null
    readonly over_budget: VotesCost & { readonly items: number }
  } | null
}

export interface PreviewOptions extends Settings, Pick<Inspection.InspectionOptions, "limits" | "maxTaskVotes"> {
  readonly requestsPerSecond?: number | undefined
}

const untouched = (terms: Terms, voters: Voters.Voters | null) => ({
  planned: 0,
  counted: noVotes(terms),
  votesLeft: leftOf(terms, noVotes(terms), voters),
  held: { items: 0, ...noVotes(terms) },
  further: Option.none(),
  recorded: undefined,
})

const furtherOf = Effect.fnUntraced(function* (
  ledger: (typeof LedgerReader)["Service"],
  { campaign, isNew }: { readonly campaign: number; readonly isNew: boolean },
  settings: Settings,
) {
  const earlierTerms = settings.votes === undefined ? yield* ledger.furtherTerms : Option.none()
  const terms = Option.orElse(furtherTermsOf(settings), () => earlierTerms)
  if (isNew || Option.isNone(terms)) return Option.none()
  const further = furtherVotesLeft(settings, campaign, terms.value)
  return Option.some({
    votes: yield* Effect.provideService(further, LedgerReader, ledger),
    isRouted: terms.value.bound !== undefined,
  })
})

const maxVotes = ({ budget, prices }: Terms, votesLeft: number): number =>
  Option.getOrElse(
    Option.zipWith(budget, prices, (budget, prices) =>
      prices.kinds.size === 0 ? votesLeft : Cost.votesWithin(budget, Prices.lowest(prices)),
    ),
    () => Infinity,
  )

const maxFurther = (
  terms: Terms,
  { isRouted, newVotes, votesLeft }: { isRouted: boolean; newVotes: number; votesLeft: number },
) => (isRouted ? leftOf(terms, noVotes(terms), "people") : maxVotes(terms, votesLeft) - newVotes)

export const preview = Effect.fn("Preview.preview")(function* (
  settings: PreviewOptions,
  ledger: Option.Option<(typeof LedgerReader)["Service"]>,
) {
  const terms = yield* spendingTerms(Option.getOrUndefined(ledger), settings)
  const voters = Voters.votersOf(settings) ?? null
  const before = yield* Option.match(ledger, {
    onNone: () => Effect.succeed(untouched(terms, voters)),
    onSome: Effect.fnUntraced(function* (ledger) {
      const campaignTerms = yield* ledger.campaignFor(settings)
      const { campaign } = campaignTerms
      return {
        further: yield* furtherOf(ledger, campaignTerms, settings),
        ...(yield* ledger.planOfNextRun(campaign, terms, voters)),
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
  const priceOf = (prices: Prices.Prices) => Voters.priceOf(prices, voters)
  const { votesUpTo = votes } = settings
  const uncertain = inspection.items - over_budget - (over_budget > 0 ? 0 : inspection.gold)
  const furtherOfNew = uncertain * Math.max(0, votesUpTo - votes)
  const wanted =
    furtherOfNew +
    Option.getOrElse(
      Option.map(before.further, ({ votes }) => votes),
      () => 0,
    )
  const isRouted = settings.peopleWhen !== undefined || Option.exists(before.further, ({ isRouted }) => isRouted)
  const limits = { isRouted, newVotes: new_votes, votesLeft: before.votesLeft }
  const further = Math.min(wanted, Math.max(0, maxFurther(terms, limits)))
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
                const ofFurther = Voters.priceOf(prices, isRouted ? "people" : null)
                const most = Cost.plus(Cost.times(priceOf(prices), new_votes), Cost.times(ofFurther, further))
                return {
                  min: Cost.format(Cost.times(voters === null ? Prices.lowest(prices) : priceOf(prices), new_votes)),
                  max: Cost.format(
                    Option.match(terms.budget, { onNone: () => most, onSome: (budget) => Cost.min(most, budget) }),
                  ),
                }
              }),
            ),
            people: isRouted
              ? {
                  votes: further,
                  cost: Option.getOrNull(
                    Option.map(terms.prices, (prices) => costOf(Voters.priceOf(prices, "people"), further).cost),
                  ),
                }
              : null,
          },
    spending: Option.getOrNull(
      Option.map(terms.prices, (prices) => {
        const { default: price, ...own } = Prices.toRecord(prices)
        const used = Cost.plus(before.counted.cost, Cost.times(priceOf(prices), new_votes))
        return {
          price,
          prices: own,
          budget: Option.getOrNull(Option.map(terms.budget, Cost.format)),
          before: textOf(before.counted),
          new: costOf(priceOf(prices), new_votes),
          left: Option.getOrNull(Option.map(terms.budget, (budget) => Cost.format(Cost.minus(budget, used)))),
          over_budget: {
            items: over_budget + before.held.items,
            ...textOf(Charges.sum([{ votes: over_budget * votes, price: priceOf(prices) }], prices, before.held)),
          },
        }
      }),
    ),
  } satisfies Preview
})
