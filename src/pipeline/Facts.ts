/**
 * What the ledger and the settings know of a dataset, for its card and its manifest.
 *
 * Guarantees: nothing but what is recorded, so the same ledger and settings give the same facts.
 */
import { Effect, Option } from "effect"
import type { DatasetFacts } from "../dataset/DatasetFacts.ts"
import { defined } from "../io/Values.ts"
import type { QualityReport } from "../domain/QualityReport.ts"
import * as Judge from "../domain/Judge.ts"
import { bestAgainstRest, fullRanking, settingsOf as strategyOf } from "../pair/PairStrategy.ts"
import * as Consensus from "../pair/votes/Consensus.ts"
import * as Sha256 from "../node/Sha256.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import { type DatasetSettings, type Which, wholeShares } from "./DatasetSettings.ts"

/** A campaign, in words. */
export const nameOf = Effect.fnUntraced(function* (campaign: Which) {
  const ledger = yield* LedgerReader
  const number = typeof campaign === "number" ? Option.some(campaign) : yield* ledger.lastCampaign
  return Option.match(campaign === "all" ? Option.none() : number, {
    onNone: () => "this job",
    onSome: (number) => `campaign ${number}`,
  })
})

const percent = (share: number): string => `${Number((100 * share).toFixed(1))}%`

const number = (count: number): string => count.toLocaleString("en-US")

const several = (count: number, noun: string): string => `${number(count)} ${noun}${count === 1 ? "" : "s"}`

const sentences = (...texts: ReadonlyArray<string | false>): string => texts.filter((text) => text !== false).join(" ")

/** Two digits after the point. */
const rounded = (value: number): string => value.toFixed(2)

/** How the dataset was made: sections with a heading and a paragraph. */
const methodsOf = (
  settings: DatasetSettings,
  judges: Judge.Judges,
  report: QualityReport,
): NonNullable<DatasetFacts["methods"]> => {
  const { agreement, checks, funnel, gold, languages, length, position, rankings, splits } = report
  const stepOf = (name: string) => funnel.find(({ step }) => step === name)
  const kept = stepOf("kept")
  const judged = stepOf("judged")?.count ?? 0
  const who = Judge.describe(judges)
  const votes = agreement.votes_per_item.reduce((sum, { items, votes }) => sum + items * votes, 0)
  const dropped = (kept?.lost ?? []).map(({ count, reason }) => `${number(count)} ${reason.replaceAll("_", " ")}`)
  const { strategy } = strategyOf(settings.pairs ?? bestAgainstRest)
  return [
    {
      title: "Judgments",
      text: sentences(
        `${several(judged, "item")} ${judged === 1 ? "was" : "were"} judged with ${several(votes, "vote")}${who === "" ? "" : ` of ${who}`}.`,
        agreement.items > 0 &&
          `Where several experts judged an item (${number(agreement.items)}), ${agreement.method === "majority" ? "the majority" : "the choice that is most probable given the experts' estimated reliabilities (Dawid–Skene)"} counts: the mean share of votes for the choice is ${percent(agreement.mean_agreement ?? 0)}${agreement.free_marginal_kappa === null ? "" : `, the free-marginal kappa (Randolph) ${rounded(agreement.free_marginal_kappa)}`}.`,
        gold.accuracy !== null &&
          `Of ${several(gold.votes, "vote")} on items with a known answer, ${percent(gold.accuracy)} were correct.`,
      ),
    },
    {
      title: "Pairs",
      text: sentences(
        `Made by the strategy \`${strategy}\`; the pairs of an item are adjacent, and their weights add up to 1.`,
        settings.pairs === fullRanking &&
          rankings.unranked_items > 0 &&
          `${several(rankings.ranked_items, "item")} ${rankings.ranked_items === 1 ? "has" : "have"} a ranking. Of the other ${number(rankings.unranked_items)}, the best completion makes a pair with each of the rest.`,
        dropped.length > 0 && `Left out: ${dropped.join(", ")}.`,
        length.share_longer !== null &&
          `The longer completion is the chosen one in ${percent(length.share_longer)} of the pairs whose lengths differ, each item counted once${length.cohens_d === null ? "" : ` (Cohen's d ${rounded(length.cohens_d)})`}.`,
        position.p_value !== null &&
          `${several(position.first_half, "item")} got more votes in the first half of the order shown, ${number(position.second_half)} in the second half (p = ${position.p_value.toPrecision(2)}).`,
      ),
    },
    ...(splits.length < 2
      ? []
      : [
          {
            title: "Splits",
            text: `By a hash of the normalized prompt; near-duplicates (MinHash) are in the split of the earliest one: ${splits
              .map(({ items, split }) => `${split} ${several(items, "item")}`)
              .join(", ")}.`,
          },
        ]),
    {
      title: "Checks",
      text: sentences(
        "See `report.html` for all numbers.",
        ...checks
          .filter(({ threshold }) => threshold !== null)
          .map(
            ({ check, direction, threshold, value }) =>
              `\`${check}\` is ${value === null ? "unknown" : Number(value.toPrecision(3))} (${direction === "below" ? "at most" : "at least"} ${threshold}).`,
          ),
        languages.length > 0 &&
          `Languages of ${languages[0]!.low === null ? "the prompts" : `a random sample of ${number(languages.reduce((sum, { items }) => sum + items, 0))} prompts`}, where detected: ${languages
            .slice(0, 5)
            .map(({ items, language }) => `${language} ${number(items)}`)
            .join(", ")}.`,
      ),
    },
  ]
}

/** Minimum share of the prompts in a language, for the dataset to list it. */
const minLanguageShare = 0.01

/** Facts that do not follow from the pairs themselves. */
export const of = Effect.fnUntraced(function* (
  campaign: Which,
  settings: DatasetSettings,
  /** Who voted, by name: it tells people from rules, gold files, and models. */
  voters: ReadonlyArray<string>,
  report: QualityReport,
) {
  const ledger = yield* LedgerReader
  const inputs = yield* ledger.inputsOf(Option.fromNullOr(report.campaign))
  const {
    aggregate = Consensus.defaultAggregation,
    card = {},
    conversational,
    drop,
    evaluationPrompts,
    thresholds,
    margin,
    marginFrom = "votes",
    edited = "none",
  } = settings
  const judges = Judge.judgesOf(voters)
  const run = yield* report.campaign === null ? ledger.lastRun : ledger.lastRunIn(report.campaign)
  const { minAgreement, minVotes, pairs = bestAgainstRest, splitSeed = 0, splits, ties = "drop" } = settings
  const detected = report.languages.filter(({ language }) => language !== "und")
  const items = detected.reduce((sum, { items }) => sum + items, 0)
  // Rare languages are mostly detection errors.
  const languages = detected.filter((one) => one.items >= minLanguageShare * items).map(({ language }) => language)
  return {
    ...card,
    languages: card.languages ?? languages,
    inputs,
    judges,
    ...(report.service === null
      ? {}
      : { service: report.service.startsWith("http") ? { url: report.service } : { name: report.service } }),
    ...(report.guidelines === null ? {} : { guidelines: report.guidelines }),
    settings: {
      campaign: campaign === "all" ? "all" : report.campaign,
      pairs: { ...strategyOf(pairs), ...(pairs === fullRanking ? report.rankings : {}) },
      votes: Option.getOrNull(Option.map(run, ({ votes }) => votes)),
      aggregate,
      ties,
      min_votes: minVotes ?? null,
      min_agreement: minAgreement ?? null,
      drop: drop ?? [],
      thresholds: defined(thresholds ?? {}),
      splits: splits === undefined ? null : { ...defined(wholeShares(splits)), seed: splitSeed },
      evaluation_prompts:
        evaluationPrompts === undefined
          ? null
          : { count: evaluationPrompts.length, sha256: Sha256.hex(JSON.stringify(evaluationPrompts)) },
      shuffle_seed: Option.getOrNull(Option.flatMap(run, ({ shuffleSeed }) => shuffleSeed)),
      gold_mixed_in: report.gold.mixed_in,
      conversational: conversational ?? false,
      margin: margin ?? false,
      ...(margin === true && { margin_from: marginFrom }),
      ...(edited === "chosen" && { edited }),
      ...(settings.expertNames === true && { expert_names: true }),
      ...(settings.annotationPaths !== undefined && { annotation_paths: defined(settings.annotationPaths) }),
    },
    counts: Object.fromEntries(report.funnel.map(({ count, step }) => [step, count])),
    methods: methodsOf(settings, judges, report),
  } satisfies DatasetFacts
})
