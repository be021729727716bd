/** Collects facts about a dataset from the ledger and the settings, for its card and its manifest. */
import { Effect, Option } from "effect"
import type { DatasetFacts } from "../dataset/DatasetFacts.ts"
import type { QualityReport } from "../domain/QualityReport.ts"
import * as Judge from "../domain/Judge.ts"
import { bestAgainstRest, fullRanking, settingsOf as strategyOf } from "../pair/PairStrategy.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import { count, number, plural } from "../io/Values.ts"
import { type DatasetSettings, type ResultsSettings, toManifest } from "./DatasetSettings.ts"

export const nameOf = Effect.fnUntraced(function* (campaign: ResultsSettings["campaign"]) {
  const ledger = yield* LedgerReader
  const number = typeof campaign === "number" ? Option.some(campaign) : yield* ledger.lastCampaign
  return Option.match(campaign === "all" ? Option.none() : number, {
    onNone: () => "this job",
    onSome: (number) => `campaign ${number}`,
  })
})

const percent = (share: number): string => `${Number((100 * share).toFixed(1))}%`

const sentences = (...texts: ReadonlyArray<string | false>): string => texts.filter((text) => text !== false).join(" ")

const rounded = (value: number): string => value.toFixed(2)

const votersOf = (experts: QualityReport["experts"]) =>
  experts.filter(({ mixed_in_votes, votes }) => votes > mixed_in_votes)

const choiceBy = ({ items, method, not_majority }: QualityReport["agreement"]): string => {
  const of = (by: (typeof not_majority)[number]["by"]) => not_majority.find((each) => each.by === by)?.items ?? 0
  const [service, lead] = [of("service"), of("lead")]
  const [rest, different] = [items - service - lead, service + lead + of("reliability")]
  const ways = [
    rest > 0 &&
      (method === "majority"
        ? "the choice of the majority"
        : "the choice that is most probable given the experts' estimated reliabilities (Dawid–Skene)"),
    service > 0 && `the service's choice${service === items ? "" : ` (${number(service)})`}`,
    lead > 0 && `a lead's decision${lead === items ? "" : ` (${number(lead)})`}`,
  ].filter((way) => way !== false)
  return `the final choice is ${ways.join(" or ")}${different === 0 ? "" : `. On ${count(different, "item")}, the final choice differs from the choice of the majority`}`
}

const methodsOf = (
  settings: DatasetSettings,
  judges: Judge.Judges,
  report: QualityReport,
): NonNullable<DatasetFacts["methods"]> => {
  const { agreement, checks, funnel, gold, languages, length, position, rankings, split_groups, splits } = report
  const stepOf = (name: string) => funnel.find(({ step }) => step === name)
  const keptStep = stepOf("kept")
  const judged = stepOf("judged")?.count ?? 0
  const named = Judge.describe(judges)
  const isUnnamed = named !== "" && votersOf(report.experts).some(({ expert }) => expert === null)
  const who = `${named}${isUnnamed ? " and from experts without names" : ""}`
  const votes = agreement.votes_per_item.reduce((sum, { items, votes }) => sum + items * votes, 0)
  const dropped = (keptStep?.lost ?? []).map(({ count, reason }) => `${number(count)} ${reason.replaceAll("_", " ")}`)
  const { strategy } = strategyOf(settings.pairs ?? bestAgainstRest)
  return [
    {
      title: "Judgments",
      text: sentences(
        `${count(judged, "item")} ${plural(judged, "was", "were")} judged with ${count(votes, "vote")}${who === "" ? "" : ` from ${who}`}.`,
        agreement.items > 0 &&
          `On ${count(agreement.items, "item")} with several votes, ${choiceBy(agreement)}. On average, ${percent(agreement.mean_agreement ?? 0)} of the votes on an item are for the final choice.${agreement.free_marginal_kappa === null ? "" : ` Randolph's free-marginal kappa is ${rounded(agreement.free_marginal_kappa)}.`}`,
        gold.accuracy !== null &&
          `Of ${count(gold.votes, "vote")} on items with a known answer, ${percent(gold.accuracy)} were correct (ties are not counted).`,
      ),
    },
    {
      title: "Pairs",
      text: sentences(
        `The pairs are made by the strategy \`${strategy}\`; an item's pairs are adjacent, and their weights add up to 1.`,
        settings.pairs === fullRanking &&
          rankings.unranked_items > 0 &&
          `${count(rankings.ranked_items, "item")} ${plural(rankings.ranked_items, "has", "have")} a ranking. ${count(rankings.unranked_items, "item")} ${plural(rankings.unranked_items, "has", "have")} no ranking. Without a ranking, the best completion is paired with each other completion of the item.`,
        dropped.length > 0 && `Left out: ${dropped.join(", ")}.`,
        length.share_longer !== null &&
          `The longer completion is the chosen one in ${percent(length.share_longer)} of the pairs with different lengths${length.cohens_d === null ? "" : ` (Cohen's d ${rounded(length.cohens_d)})`}. Each item counts once.`,
        position.p_value !== null &&
          `On ${count(position.first_half, "item")}, the completions in the first half of the order got more votes. On ${count(position.second_half, "item")}, the completions in the second half got more votes (p = ${position.p_value.toPrecision(2)}).`,
      ),
    },
    ...(splits.length < 2
      ? []
      : [
          {
            title: "Splits",
            text: `${
              split_groups === null
                ? "A hash of the normalized prompt determines the split of an item. If MinHash finds that an item is a near-duplicate of an earlier item, both are in the split of the earlier item"
                : `All items with the same \`${split_groups.field}\` are in one split. If MinHash finds that two items are near-duplicates, both are in one split`
            }. Sizes of the splits: ${splits.map(({ items, split }) => `${split} ${count(items, "item")}`).join(", ")}.`,
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
              `\`${check}\` is ${value === null ? "unknown" : Number(value.toPrecision(3))} (threshold: ${direction === "below" ? "at most" : "at least"} ${threshold}).`,
          ),
        languages.some(({ language }) => language !== "und") &&
          `Languages of ${languages[0]!.low === null ? "the prompts" : `a random sample of ${number(languages.reduce((sum, { items }) => sum + items, 0))} prompts`}, where detected: ${languages
            .filter(({ language }) => language !== "und")
            .slice(0, 5)
            .map(({ items, language }) => `${language} ${number(items)}`)
            .join(", ")}.`,
      ),
    },
  ]
}

const minLanguageShare = 0.01

export const of = Effect.fnUntraced(function* (
  campaign: ResultsSettings["campaign"],
  settings: DatasetSettings,
  names: ReadonlyMap<string, string>,
  report: QualityReport,
) {
  const ledger = yield* LedgerReader
  const inputs = yield* ledger.inputsOf(Option.fromNullOr(report.campaign))
  const { card = {}, pairs } = settings
  const shown = new Set(votersOf(report.experts).map(({ expert }) => expert))
  const judges = Judge.judgesOf([...names].flatMap(([name, pseudonym]) => (shown.has(pseudonym) ? [name] : [])))
  const run = yield* report.campaign === null ? ledger.lastRun : ledger.lastRunIn(report.campaign)
  const detected = report.languages.filter(({ language }) => language !== "und")
  const items = detected.reduce((sum, { items }) => sum + items, 0)
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
      votes: Option.getOrNull(Option.map(run, ({ votes }) => votes)),
      shuffle_seed: Option.getOrNull(Option.flatMap(run, ({ shuffleSeed }) => shuffleSeed)),
      gold_mixed_in: report.gold.mixed_in,
      ...toManifest(settings),
      ...(pairs === fullRanking && { pairs: { ...strategyOf(pairs), ...report.rankings } }),
    },
    counts: Object.fromEntries(report.funnel.map(({ count, step }) => [step, count])),
    methods: methodsOf(settings, judges, report),
  } satisfies DatasetFacts
})
