/**
 * Turns the judgments of the ledger into pairs, checks them, and writes the dataset. Other processes can write to the
 * ledger meanwhile. A dataset that exceeds a threshold never replaces an existing one. An empty dataset replaces an
 * existing one only with `allowEmpty`. Memory: at most 64 bytes per item. Scratch files: 0.1 to 0.3 kB per item.
 */
import { type Array as Arr, Effect, FileSystem, Option, Schema, Stream, Struct } from "effect"
import * as Dataset from "../dataset/Dataset.ts"
import { formatNames, formats } from "../dataset/format/TrainerFormats.ts"
import * as ReportPage from "../dataset/ReportPage.ts"
import type { JudgedItem } from "../domain/Judgment.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import type { FunnelStep, QualityReport } from "../domain/QualityReport.ts"
import { type Split, splits as allSplits } from "../domain/Split.ts"
import * as Curation from "../pair/Curation.ts"
import { fullRanking } from "../pair/PairStrategy.ts"
import * as Consensus from "../pair/votes/Consensus.ts"
import * as Reliabilities from "../pair/votes/Reliabilities.ts"
import * as Distribution from "../pair/stats/Distribution.ts"
import * as Language from "../pair/text/Language.ts"
import { ExpertNames } from "../task/ExpertNames.ts"
import * as Results from "../task/Results.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import type { OutcomeCounts } from "../task/ledger/reads/Status.ts"
import { count, plural } from "../io/Values.ts"
import { type DatasetSettings, type ResultsSettings, validate, wholeShares } from "./DatasetSettings.ts"
import * as Facts from "./Facts.ts"
import * as Funnel from "./Funnel.ts"
import * as JobFolder from "./JobFolder.ts"
import * as SpendingReport from "./SpendingReport.ts"
import * as SplitTable from "./SplitTable.ts"
import * as VoteWarnings from "./VoteWarnings.ts"

/** A value of the dataset exceeds its threshold, and the dataset was not written. */
export class ThresholdsExceeded extends Schema.TaggedError<ThresholdsExceeded>()("ThresholdsExceeded", {
  /** The failed checks. `direction` is the side of the threshold on which values pass. `value` is null without data. */
  checks: Schema.Array(
    Schema.Struct({
      check: Schema.String,
      value: Schema.NullOr(Schema.Finite),
      threshold: Schema.Finite,
      direction: Schema.Literals(["below", "above"]),
    }),
  ),
  /** The path of the HTML report with all numbers. */
  report: Schema.String,
}) {
  override get message() {
    const failures = this.checks.map(({ check, direction, threshold, value }) => {
      const bound = `(threshold: ${direction === "below" ? "at most" : "at least"} ${threshold})`
      return value === null ? `no data for ${check} ${bound}` : `${check} is ${Number(value.toPrecision(4))} ${bound}`
    })
    return `the dataset was not written: ${failures.join("; ")}. See ${this.report}`
  }
}

/** The result of an export. */
export interface Exported {
  /** The dataset that was written; none if nothing was written. */
  readonly dataset: Option.Option<Dataset.DatasetInfo>
  /** The first pair of the dataset; none if nothing was written. */
  readonly example: Option.Option<PreferencePair>
  /** Number of items whose results give no pair, by reason; undefined if no results were read. */
  readonly leftOut: FunnelStep["lost"] | undefined
  /** Votes on items with a known answer, and the costs of experts; undefined if no results were read. */
  readonly measured: Pick<QualityReport, "gold" | "experts"> | undefined
}

/** Maximum number of language detections, at up to 0.1 ms each. The 95% interval of a share is then at most ±2.2%. */
const maxLanguageSample = 2_000

const nothing: Exported = { dataset: Option.none(), example: Option.none(), leftOut: undefined, measured: undefined }

interface ExportSettings extends DatasetSettings, Pick<ResultsSettings, "campaign"> {
  readonly directory: string
  /** Set by `Rebuild`, from the original dataset: facts that depend on all planned items, even those without votes. */
  readonly plannedFacts?: { readonly tools: boolean; readonly table: SplitTable.SplitTable | undefined }
}

export const exportDataset = Effect.fn("Export.exportDataset")(
  function* ({ plannedFacts, ...settings }: ExportSettings) {
    yield* validate(settings)
    const fs = yield* FileSystem.FileSystem
    const { allowEmpty = false, campaign } = settings
    const directory = JobFolder.dataset(settings.directory)
    const isThere = yield* fs.exists(directory)
    if (isThere && !allowEmpty && Option.isNone(yield* Stream.runHead(Results.ofCampaign(campaign)))) {
      const which = yield* Facts.nameOf(campaign)
      yield* Effect.logInfo(`the ledger has no results for ${which}: the existing dataset ${directory} is kept`)
      return nothing
    }

    const ledger = yield* LedgerReader
    const which =
      campaign === "all" ? Option.none<number>() : yield* ledger.campaignOf(Option.fromUndefinedOr(campaign))
    // If judges (language models) are uncertain about an item, the item also gets votes by people. In a majority vote,
    // the judges could outvote the people. With `jury`, all judges of an item have one vote together.
    const isRouted = yield* ledger.isRouted(which)
    const aggregate = settings.aggregate ?? (isRouted ? "jury" : Consensus.defaultAggregation)
    const reliabilities = yield* Reliabilities.forAggregation(
      aggregate,
      Results.items(campaign, settings.annotationPaths),
    )
    const itemsByOutcome = yield* ledger.itemsByOutcome(which)
    const curation = yield* Curation.make(settings, {
      reliabilities,
      mayRepeat: campaign === "all",
      scratchDirectory: settings.directory,
      languageOf: yield* Language.load,
      languageShare: Math.min(1, maxLanguageSample / Math.max(1, itemsByOutcome("judged"))),
    })
    const table =
      settings.splits === undefined
        ? undefined
        : (plannedFacts?.table ??
          (yield* SplitTable.make({
            shares: wholeShares(settings.splits),
            seed: settings.splitSeed,
            by: settings.splitBy,
            scratchDirectory: settings.directory,
          })))
    const splitOf = new WeakMap<PreferencePair, Split>()
    const inSplits = new Map<Split, { items: number; pairs: number }>()
    let example = Option.none<PreferencePair>()
    let withSystem = 0

    const note = ({ item, pairs }: Curation.CuratedItem): ReadonlyArray<PreferencePair> => {
      // `table.splitOf` expects every item, in planned order. Therefore, it is also called for items without pairs.
      const split = item.isCheck || table === undefined ? "train" : table.splitOf(item)
      if (pairs.length === 0) return pairs
      if (table !== undefined) for (const pair of pairs) splitOf.set(pair, split)
      if (hasSystem(item)) withSystem += pairs.length
      const before = inSplits.get(split) ?? { items: 0, pairs: 0 }
      inSplits.set(split, { items: before.items + 1, pairs: before.pairs + pairs.length })
      example = Option.orElse(example, () => Option.fromUndefinedOr(pairs[0]))
      return pairs
    }

    const { voters = new Map<string, string>() } = yield* ExpertNames
    const { items, unjudged } = Results.counted(campaign, settings.annotationPaths)
    const pairs = items.pipe(
      curation.curate,
      Stream.chunks,
      Stream.map((items) => items.flatMap(note)),
      Stream.filter((pairs): pairs is Arr.NonEmptyArray<PreferencePair> => pairs.length > 0),
      Stream.flattenArray,
    )

    const finalize = Effect.fnUntraced(function* (written: Dataset.Written) {
      const all = yield* curation.report
      yield* VoteWarnings.log(all)
      const { missing: _missing, repeatedVotes: _repeated, short: _short, unread: _unread, ...numbers } = all
      const curated = { ...numbers, ...(table?.report ?? SplitTable.unsplit) }
      const report = yield* reportOf(which, itemsByOutcome, { ...curated, ...unjudged() }, inSplits, written)
      const files = [
        { path: "report.html", content: yield* ReportPage.render(report) },
        { path: "report.json", content: `${JSON.stringify(report, undefined, 2)}\n` },
      ]
      const failed = report.checks.flatMap(({ check, direction, threshold, passed, value }) =>
        passed || threshold === null ? [] : [{ check, direction, threshold, value }],
      )
      const refused = JobFolder.refused(settings.directory)
      rankings = report.rankings
      measured = Struct.pick(report, ["gold", "experts"])
      leftOut = report.funnel.flatMap(({ lost, step }) =>
        step === "kept" ? lost : lost.filter(({ reason }) => ["withdrawn", "unanswered", "unusable"].includes(reason)),
      )
      // Before the first result, nothing can be measured, so no threshold counts as exceeded.
      const exceedsThreshold = failed.length > 0 && itemsByOutcome("judged") > 0
      if (exceedsThreshold || (written.rows === 0 && !allowEmpty)) {
        if (itemsByOutcome("judged") === 0) return {}
        yield* fs.makeDirectory(refused, { recursive: true })
        yield* Effect.forEach(files, ({ content, path }) => fs.writeFileString(`${refused}/${path}`, content))
        if (exceedsThreshold) return yield* new ThresholdsExceeded({ checks: failed, report: `${refused}/report.html` })
        return {}
      }
      yield* fs.remove(refused, { recursive: true, force: true })
      const facts = yield* Facts.of(campaign, { ...settings, aggregate, conversational }, voters, report)
      const counts = { ...facts.counts, ...(table && { planned: table.planned }) }
      return { attachments: files, facts: { ...facts, counts } }
    })

    const conversational = settings.conversational ?? (yield* hasConversations)
    let leftOut: Exported["leftOut"]
    let measured: Exported["measured"]
    let rankings: QualityReport["rankings"] = { ranked_items: 0, unranked_items: 0 }
    const write = Dataset.write({
      directory,
      splitOf: table === undefined ? undefined : (pair) => splitOf.get(pair)!,
      conversational,
      tools: plannedFacts?.tools ?? (yield* ledger.hasTools),
      formats: settings.formats,
      ...Struct.pick(settings, ["edited", "margin", "marginFrom"]),
      allowEmpty,
      finalize,
    })
    const info = yield* Stream.run(pairs, write).pipe(
      Effect.asSome,
      Effect.catchReason("DatasetError", "NoPairs", () =>
        Effect.as(
          Effect.logWarning(
            `${itemsByOutcome("judged") === 0 ? "there are no results yet" : "the results gave no pairs"}: ${isThere ? `the existing dataset ${directory} is kept` : "no dataset was written"}${itemsByOutcome("judged") === 0 ? "" : `. See ${JobFolder.refused(settings.directory)}/report.html`}`,
          ),
          Option.none<Dataset.DatasetInfo>(),
        ),
      ),
    )
    if (Option.isSome(info)) {
      yield* Metrics.countRows(info.value.rows)
      yield* Effect.annotateCurrentSpan("prefstream.rows", info.value.rows)
    }
    if (settings.pairs === fullRanking && rankings.unranked_items > 0) {
      const { ranked_items, unranked_items } = rankings
      yield* Effect.logWarning(
        `full-ranking: ${unranked_items} of ${ranked_items + unranked_items} items ${plural(unranked_items, "has", "have")} no ranking. For such an item, the best completion is paired with every other completion`,
      )
    }
    for (const { format, omitted, rows, unwritten } of Option.getOrUndefined(info)?.formats ?? []) {
      if (unwritten !== undefined) {
        yield* Effect.logInfo(
          `${format} cannot contain ${describeUnwritten(unwritten)}: use the files in data/ or jsonl/ for this`,
        )
      }
      const isText = Object.values(formats).some(({ isText, name }) => name === format && isText === true)
      const other = formatNames.find((name) => name === `${format}-conversational`)
      if (rows === 0 && omitted.count > 0) {
        const [one] = omitted.first
        yield* Effect.logWarning(`no pair can be written as ${format}. First problem (${one?.field}): ${one?.reason}`)
      } else if (isText && withSystem > 0) {
        yield* Effect.logWarning(
          `${format} writes a prompt as one text. In ${count(withSystem, "pair")}, this text includes the system message, below a line with [system]${other === undefined ? "" : `. For separate messages, use the format ${other}`}`,
        )
      }
    }
    return { dataset: info, example: Option.andThen(info, example), leftOut, measured } satisfies Exported
  },
  Effect.scoped,
  LedgerReader.snapshot,
  (effect, { expertNames: keep = false }) => Effect.provideService(effect, ExpertNames, { keep, voters: new Map() }),
)

const describeUnwritten = (unwritten: { readonly [column: string]: number }): string =>
  Object.entries(unwritten)
    .map(([column, pairs]) => `${column} (${pairs} ${plural(pairs, "pair")})`)
    .join(", ")

const hasSystem = ({ prompt }: JudgedItem): boolean =>
  typeof prompt !== "string" && prompt.some(({ role }) => role === "system")

const hasConversations = Effect.gen(function* () {
  const ledger = yield* LedgerReader
  if (yield* ledger.hasConversations) return true
  return Option.exists(yield* Stream.runHead(ledger.prompts), ({ prompt }) => typeof prompt !== "string")
})

const countsOfFunnel = ["judged", "kept", "lost", "pairs", "unanswered", "unusable", "withdrawn"] as const

const reportOf = Effect.fnUntraced(function* (
  campaign: Option.Option<number>,
  itemsByOutcome: OutcomeCounts,
  all: Omit<Curation.CurationReport, "missing" | "repeatedVotes" | "short" | "unread"> &
    SplitTable.SplitReport &
    Results.UnjudgedCounts,
  inSplits: ReadonlyMap<Split, { readonly items: number; readonly pairs: number }>,
  written: Dataset.Written,
) {
  const ledger = yield* LedgerReader
  const report = Struct.omit(all, countsOfFunnel)
  const terms = (yield* ledger.campaigns).find((each) => Option.contains(campaign, each.campaign))
  const turnaround = Distribution.make()
  yield* Stream.runForEach(ledger.turnarounds(campaign), (millis) => Effect.sync(() => turnaround.add(millis / 1000)))
  return {
    format: "prefstream-report",
    version: 1,
    campaign: Option.getOrNull(campaign),
    guidelines: terms?.guidelines ?? null,
    service: Option.getOrNull(yield* ledger.service),
    spending: Option.getOrNull(
      yield* SpendingReport.read({
        pairs: written.rows,
        ofCampaign: Option.getOrUndefined(campaign),
        ...Struct.pick(report, ["gold", "experts"]),
      }),
    ),
    funnel: yield* Funnel.make(campaign, itemsByOutcome, { ...Struct.pick(all, countsOfFunnel), written }),
    turnaround: turnaround.distribution(),
    splits: allSplits.flatMap((split) => {
      const counts = inSplits.get(split)
      return counts === undefined ? [] : [{ split, ...counts }]
    }),
    ...report,
  } satisfies QualityReport
})
