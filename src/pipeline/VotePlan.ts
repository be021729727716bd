/**
 * Estimates accuracy, agreement, and cost for each number of votes per item (`MajorityAccuracy`). The plan includes all
 * items of the input, even items that a job already has. Gold items that a run would mix in are not included.
 */
import { Effect, Option, Schema, Stream } from "effect"
import * as Cost from "../domain/Cost.ts"
import * as Prices from "../domain/Prices.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { isObject } from "../io/Values.ts"
import * as Experts from "../pair/report/Experts.ts"
import * as MajorityAccuracy from "../pair/stats/MajorityAccuracy.ts"
import { votesOf } from "../pair/votes/ItemVotes.ts"
import * as Reliabilities from "../pair/votes/Reliabilities.ts"
import type { Source } from "../source/Source.ts"
import { keepNames } from "../task/ExpertNames.ts"
import * as Results from "../task/Results.ts"
import { SubmitOptionInvalid } from "../task/Submit.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import type { ResultsSettings } from "./DatasetSettings.ts"
import * as Inspection from "./Inspection.ts"
import { costOf, type VotesCost } from "./SpendingReport.ts"

/** An expert of the pilot. */
export interface PilotExpert {
  /** The expert's name at the service. Null if the votes have no name: all such votes count as one expert. */
  readonly expert: string | null
  /** Number of votes in the pilot. The plan assumes that experts with more votes here also vote more often later. */
  readonly votes: number
  /** Probability that a vote is right. Null if it could not be measured. Then the plan leaves the expert out. */
  readonly accuracy: number | null
  /** The source of the accuracy: known answers, or the votes of all experts. */
  readonly by: "gold" | "agreement" | null
}

export const minGoldVotes = 10

/**
 * Returns the experts of a job with their accuracies. For an expert with at least 10 votes on items with a known
 * answer, the accuracy is the share of right votes on these items. For any other expert, the accuracy is the
 * reliability by all votes and known answers (Dawid & Skene, 1979).
 */
export const pilot = Effect.fn("Pipeline.pilot")(
  function* (settings: ResultsSettings) {
    yield* Kinds.check(settings, {})
    const experts = Experts.make()
    const reliabilities = Reliabilities.make()
    yield* Stream.runForEach(Results.items(settings.campaign, settings.annotationPaths), (item) =>
      Effect.sync(() => {
        const votes = votesOf(item)
        experts.add(item, { votes })
        reliabilities.add(item, votes)
      }),
    )
    return experts
      .finish(reliabilities.fit().of)
      .map(({ expert, gold_right, gold_votes, reliability, votes }): PilotExpert => {
        const isByGold = gold_votes >= minGoldVotes
        return {
          expert,
          votes,
          accuracy: isByGold ? gold_right / gold_votes : reliability,
          by: isByGold ? "gold" : reliability === null ? null : "agreement",
        }
      })
  },
  LedgerReader.snapshot,
  keepNames,
)

/** Settings of `votePlan`: the items to judge, and the experts who will vote on them. */
export interface VotePlanSettings<E = never, R = never> extends Pick<
  Inspection.InspectionOptions,
  "keepReordered" | "completionsPerItem" | "completionsSeed"
> {
  /** The items to judge. */
  readonly source: Pick<Source<E, R>, "records">
  /** Probability that a vote is right, above 0 and below 1, or the experts of a pilot. */
  readonly experts: number | ReadonlyArray<PilotExpert>
  /** The price of a vote. If prices differ by kind of expert, the highest price counts. */
  readonly price?: Prices.Price | undefined
  /** The accuracy to reach: the share of items whose majority vote is right. Above 0 and below 1. */
  readonly targetAccuracy?: number | undefined
}

/** The expected results for a number of votes per item. */
export interface VotePlanRow {
  /** Number of votes per item. */
  readonly votes: number
  /** Expected share of the items whose majority vote is right. */
  readonly accuracy: number
  /** Probability that two votes on an item are for the same completion; null for one vote. */
  readonly agreement: number | null
  /** The votes on all items and their cost; null without a price. */
  readonly total: VotesCost | null
}

/** The expected results of votes on an input. */
export interface VotePlan extends Pick<
  Inspection.Inspection,
  "read" | "items" | "duplicates" | "rejected" | "completions"
> {
  /** Expected share of right votes. */
  readonly accuracy: number
  /** The experts of the pilot; null if the accuracy is assumed. */
  readonly experts: ReadonlyArray<PilotExpert> | null
  /** The price of a vote; null if none was given. */
  readonly price: string | null
  /** The expected results for 1 to 7 votes per item. */
  readonly plan: ReadonlyArray<VotePlanRow>
  /** Null without a target. `reached` has the fewest votes that reach the target; null if 25 votes do not reach it. */
  readonly target: { readonly accuracy: number; readonly reached: VotePlanRow | null } | null
}

const maxPlanned = 7
export const maxVotes = 25
const tolerance = 1e-12

/** The votes cannot be planned. */
export class NothingToPlan extends Schema.TaggedError<NothingToPlan>()("NothingToPlan", {
  /** The missing data. */
  reason: Schema.Literals(["no items", "unknown accuracy"]),
}) {
  override get message() {
    return this.reason === "no items"
      ? "the input has no usable items: run prefstream inspect to see why"
      : "the pilot's votes do not show how accurate its experts are: use a pilot with several votes per item or with known answers, or set `experts`"
  }
}

const isExperts = (value: unknown) => typeof value === "number" || (Array.isArray(value) && value.every(isObject))
const kinds: Kinds.Kinds = {
  experts: ["the accuracy of a vote as a number, or the list that `Pipeline.pilot` returns", isExperts],
  targetAccuracy: Kinds.number,
}

/** Reads the whole source. Fails with the source's error, `NothingToPlan`, or `SubmitOptionInvalid` (invalid price). */
export const votePlan = Effect.fn("Pipeline.votePlan")(function* <E, R>(settings: VotePlanSettings<E, R>) {
  yield* Kinds.check(settings, kinds, ["experts"])
  const { experts, targetAccuracy } = settings
  const voters =
    typeof experts === "number"
      ? [{ accuracy: experts, weight: 1 }]
      : experts.flatMap(({ accuracy, votes }) => (accuracy === null ? [] : [{ accuracy, weight: votes }]))
  if (voters.length === 0) return yield* new NothingToPlan({ reason: "unknown accuracy" })
  const { price: priceSetting } = settings
  const prices = Option.flatMap(Option.fromUndefinedOr(priceSetting), Prices.parse)
  if (priceSetting !== undefined && Option.isNone(prices)) {
    return yield* new SubmitOptionInvalid({ option: "price", expected: Prices.form, found: priceSetting })
  }
  const price = Option.map(prices, Prices.highest)
  const { completions, duplicates, items, read, rejected } = yield* Inspection.inspect(settings.source, {
    ...settings,
    show: 0,
  })
  if (items === 0) return yield* new NothingToPlan({ reason: "no items" })
  const meanOf = (of: (completions: number) => number) =>
    completions.reduce((sum, each) => sum + (each.items / items) * of(each.completions), 0)
  const rowOf = (votes: number): VotePlanRow => {
    const rights = MajorityAccuracy.rightVotes(voters, votes)
    return {
      votes,
      accuracy: meanOf((completions) => MajorityAccuracy.accuracyOf(rights, completions)),
      agreement: votes === 1 ? null : meanOf((completions) => MajorityAccuracy.agreementOf(rights, completions)),
      total: Option.getOrNull(Option.map(price, (price) => costOf(price, items * votes))),
    }
  }
  const rows = Array.from({ length: maxVotes }, (_, i) => rowOf(i + 1))
  const reached = rows.find(({ accuracy }) => targetAccuracy !== undefined && accuracy >= targetAccuracy - tolerance)
  const votePlan: VotePlan = {
    read,
    items,
    duplicates,
    rejected,
    completions,
    accuracy: rows[0]!.accuracy,
    experts: typeof experts === "number" ? null : experts,
    price: Option.getOrNull(Option.map(price, Cost.format)),
    plan: rows.slice(0, maxPlanned),
    target: targetAccuracy === undefined ? null : { accuracy: targetAccuracy, reached: reached ?? null },
  }
  return votePlan
})
