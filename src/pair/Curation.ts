/**
 * Turns judged items into the pairs of a dataset, with its quality report. Gold items that were mixed in (`isCheck`)
 * give no pairs. The same items in the same order give the same pairs and numbers. Memory: a few bytes per item, and 20
 * to 30 bytes per rationale. Prompts to compare are in scratch files.
 */
/* oxlint-disable max-lines -- one pass over the items: its counters share one state */
import { Array as Arr, Effect, Option, Predicate, Schema, type Scope, Stream } from "effect"
import * as Conversation from "../domain/Conversation.ts"
import { flagsIn } from "../domain/Flag.ts"
import type { JudgedItem, Judgment } from "../domain/Judgment.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import type { Check, QualityReport } from "../domain/QualityReport.ts"
import { onePerExpert } from "../domain/Vote.ts"
import { SettingInvalid } from "../io/SettingInvalid.ts"
import * as Kinds from "../io/SettingKinds.ts"
import * as Values from "../io/Values.ts"
import * as ScratchFile from "../node/ScratchFile.ts"
import * as Sha256 from "../node/Sha256.ts"
import { type PairStrategy, bestAgainstRest, isBuiltIn, settingsOf } from "./PairStrategy.ts"
import * as Checks from "./Checks.ts"
import * as Consensus from "./votes/Consensus.ts"
import { rankingOf } from "./votes/Ranking.ts"
import * as Agreements from "./report/Agreements.ts"
import * as DuplicatePrompts from "./text/DuplicatePrompts.ts"
import * as Examples from "./report/Examples.ts"
import * as Experts from "./report/Experts.ts"
import * as Flags from "./report/Flags.ts"
import * as GoldScore from "./report/GoldScore.ts"
import * as Lengths from "./report/Lengths.ts"
import * as Models from "./report/Models.ts"
import * as Positions from "./report/Positions.ts"
import * as Rationales from "./report/Rationales.ts"
import * as RubricAnswers from "./report/RubricAnswers.ts"
import * as Leaderboard from "./rating/Leaderboard.ts"
import { allVotesOf, isDecided, textOf } from "./votes/ItemVotes.ts"
import * as Reliabilities from "./votes/Reliabilities.ts"
import * as Interval from "../domain/Interval.ts"
import * as Distribution from "./stats/Distribution.ts"
import * as HashNumbers from "./stats/HashNumbers.ts"
import * as Contamination from "./text/Contamination.ts"
import type { SearchFailed } from "./text/NearDuplicates.ts"

/** The reasons why an item gives no pair, in the order in which they are checked. */
export const lossReasons = [
  "too_few_votes",
  "tie",
  "low_agreement",
  "contamination",
  "flagged",
  "no_rationale",
  "copied_rationale",
  "against_votes",
  "no_pair",
  "near_duplicate",
] as const
/** The reason why an item gives no pair. */
export type LossReason = (typeof lossReasons)[number]

/** Options of `make`. */
export interface CurationOptions {
  /** Turns a judgment into pairs. Default: the best completion against each of the rest. */
  readonly pairs?: PairStrategy | undefined
  /** Minimum number of votes per item. Items with fewer votes are left out. Default: 1. */
  readonly minVotes?: number | undefined
  /** Minimum share of votes for the best completion, 0 to 1. Items with one vote are not checked. Default: 0. */
  readonly minAgreement?: number | undefined
  /** `drop` leaves out items with a tie. `keep` lets the tie rules choose the completion. Default: `drop`. */
  readonly ties?: "drop" | "keep" | undefined
  /** Names of checks. The dataset leaves out the items that these checks find. Default: none. */
  readonly drop?: ReadonlyArray<Checks.DropName> | undefined
  /** Thresholds by check name: `{ "longer-chosen": 0.7 }`. Default: none. */
  readonly thresholds?: Checks.Thresholds | undefined
  /** Custom checks with their thresholds. */
  readonly checks?: ReadonlyArray<Checks.OwnCheck> | undefined
  /** Evaluation prompts to search for in the items. */
  readonly evaluationPrompts?: ReadonlyArray<string> | undefined
}

/** Data that must be known before the first item. */
export interface CurationContext {
  /** The reliabilities of the experts. If they are set, votes are weighted. Default: votes count equally. */
  readonly reliabilities?: Option.Option<Reliabilities.Reliabilities> | undefined
  /** Returns the language of a text: ISO 639-1, or `und`. Default: `und` for every text. */
  readonly languageOf?: ((text: string) => string) | undefined
  /** Share of items, 0 to 1, whose language is detected. Detection is slow. Items are sampled by id. Default: 1. */
  readonly languageShare?: number | undefined
  /**
   * Whether the stream may contain an item several times, for example once from each campaign. The checks of prompts
   * count items with the same id and prompt once. Default: false.
   */
  readonly mayRepeat?: boolean | undefined
  /** The directory for scratch files. Default: the system's temporary directory. */
  readonly scratchDirectory?: string | undefined
}

const kinds: Kinds.Kinds = {
  ...Kinds.all(Kinds.fn, "pairs languageOf"),
  ...Kinds.all(Kinds.number, "minVotes minAgreement languageShare"),
  ...Kinds.all(Kinds.texts, "drop evaluationPrompts"),
  thresholds: Kinds.object,
  checks: ["a list of checks", (value) => Array.isArray(value) && value.every(Checks.isOwn)],
  reliabilities: ["an Option", Option.isOption],
  scratchDirectory: Kinds.text,
}

const maxFindings = 5
const resamples = 200

const makeTally = () => {
  let count = 0
  let of = 0
  const examples: Array<Check["examples"][number]> = []
  return {
    add: (isFound: boolean, item_id: string, detail: () => string): boolean => {
      of++
      if (isFound && count++ < maxFindings) examples.push({ item_id, detail: detail() })
      return isFound
    },
    finish: () => ({ count, of, value: of === 0 ? null : count / of, examples }),
  }
}

const excerpt = (text: string): string => Values.excerpt(text, 120)

const drawKey = ({ itemId }: JudgedItem): string => Sha256.hex(itemId)

const makeNumbers = (mayRepeat: boolean) => {
  const ordinals = HashNumbers.make()
  let count = 0
  return (item: JudgedItem): { readonly ordinal: number; readonly isNew: boolean } => {
    const key = mayRepeat ? JSON.stringify([item.itemId, item.prompt]) : undefined
    const ordinal = key === undefined ? count : ordinals.getOrSet(Sha256.leading52Bits(key), count)
    const isNew = ordinal === count
    if (isNew) count++
    return { ordinal, isNew }
  }
}

/** @throws SettingInvalid if the program's own strategy returns no pairs */
const pairsOf = (strategy: PairStrategy, judgment: Judgment): ReadonlyArray<PreferencePair> => {
  const pairs = strategy(judgment)
  if (isBuiltIn(strategy)) return pairs
  const isList: boolean = Array.isArray(pairs) && pairs.every((pair) => Predicate.hasProperty(pair, "rejected"))
  if (isList) return pairs
  const setting = `pairs (${settingsOf(strategy).strategy}, item ${JSON.stringify(judgment.itemId)})`
  const expected = "a function that returns a list of pairs"
  throw new SettingInvalid({ setting, expected, found: Values.describeValue(pairs) })
}

const placeOf = (key: string): number => Number.parseInt(key.slice(0, 8), 16) / 2 ** 32

/** An item with its pairs. */
export interface CuratedItem {
  /** The item with all of its judgments. */
  readonly item: JudgedItem
  /** The item's pairs. They are consecutive in the dataset. Empty if the item is left out. */
  readonly pairs: ReadonlyArray<PreferencePair>
  /** The reason why the item gives no pair. Absent if the item gives pairs, or is a gold item that was mixed in. */
  readonly lost?: LossReason
}

/** Failures of a curation. */
export type CurationFailed = SearchFailed | Checks.OwnCheckFailed | SettingInvalid

const isOwnCodeFailed = Schema.is(Schema.Union([Checks.OwnCheckFailed, SettingInvalid]))

/** A curation of one stream of items, and its report. */
export interface Curation {
  /** Returns the items of the stream, each with the pairs that go into the dataset. */
  readonly curate: <E, R>(items: Stream.Stream<JudgedItem, E, R>) => Stream.Stream<CuratedItem, E | CurationFailed, R>
  /** The report on the items that have passed through `curate` so far. */
  readonly report: Effect.Effect<CurationReport, SearchFailed>
}

/** Curates items. If near-duplicates are left out, the stream runs twice and must return the same items each time. */
export const make = Effect.fnUntraced(function* (
  options: CurationOptions,
  context: CurationContext = {},
): Effect.fn.Return<Curation, SettingInvalid, Scope.Scope> {
  yield* Kinds.check(options, kinds)
  yield* Kinds.check(context, kinds, [], "context")
  const { drop = [] } = options
  const duplicates = yield* DuplicatePrompts.make(maxFindings, excerpt, context.scratchDirectory)
  const isDropping = drop.includes("near-duplicates")
  let duplicatesOfFirstPass: DuplicatePrompts.Found | undefined
  const { add, report } = makeState(
    options,
    context,
    isDropping ? undefined : duplicates.add,
    (ordinal) => duplicatesOfFirstPass?.isDuplicate(ordinal) === true,
  )
  // The first pass collects all prompts, to find near-duplicates. The second pass leaves out the near-duplicates.
  const firstPass = makeState(
    { ...options, drop: drop.filter((name) => name !== "near-duplicates") },
    { ...context, languageShare: 0 },
    duplicates.add,
    () => false,
  )
  const pass = <E, R>(items: Stream.Stream<JudgedItem, E, R>, pairsOf: typeof add) =>
    Stream.mapArrayEffect(items, (all) =>
      ScratchFile.attempt(() => Arr.map(all, pairsOf)).pipe(
        Effect.catchDefect((defect) => (isOwnCodeFailed(defect) ? Effect.fail(defect) : Effect.die(defect))),
        Effect.tap(duplicates.room),
      ),
    )
  return {
    curate: <E, R>(items: Stream.Stream<JudgedItem, E, R>): Stream.Stream<CuratedItem, E | CurationFailed, R> =>
      isDropping
        ? Stream.unwrap(
            Effect.gen(function* () {
              yield* Stream.runDrain(pass(items, firstPass.add))
              duplicatesOfFirstPass = yield* duplicates.find
              return pass(items, add)
            }),
          )
        : pass(items, add),
    report: Effect.map(
      Effect.suspend(() =>
        duplicatesOfFirstPass === undefined ? duplicates.find : Effect.succeed(duplicatesOfFirstPass),
      ),
      report,
    ),
  }
})

/** @param isDuplicate whether a prompt nearly repeats an earlier one; prompts that are compared have ordinals from 0 */
const makeState = (
  options: CurationOptions,
  { languageOf = () => "und", languageShare = 1, mayRepeat = false, reliabilities = Option.none() }: CurationContext,
  addPrompt: ((prompt: string, itemId: string) => void) | undefined,
  isDuplicate: (ordinal: number) => boolean,
) => {
  const {
    drop = [],
    evaluationPrompts = [],
    thresholds = {},
    minAgreement = Consensus.defaults.minAgreement,
    minVotes = Consensus.defaults.minVotes,
  } = options
  const { pairs: toPairs = bestAgainstRest, ties = Consensus.defaults.ties } = options
  const dropped = new Set<Checks.DropName>(drop)
  const ownChecks = (options.checks ?? []).map(Checks.measureOwn)
  const lost = new Map<LossReason, number>()
  const agreements = Agreements.make()
  const experts = Experts.make()
  const gathered = Reliabilities.make()
  const gold = GoldScore.make()
  const positions = Positions.make()
  const lengths = Lengths.make()
  const models = Models.make()
  const board = Leaderboard.make(Option.getOrUndefined(reliabilities)?.of)
  const rationales = Rationales.make()
  const rubric = RubricAnswers.make()
  const flagCounts = Flags.make()
  const drawnExamples = Examples.make()
  const seconds = Distribution.make()
  const languages = new Map<string, number>()
  const contamination = Contamination.make(evaluationPrompts)
  const numberOf = makeNumbers(mayRepeat)
  const overlapsFound = new Map<number, Contamination.Overlap>()
  const comparedBefore = new Map<number, number>()
  let comparedCount = 0
  const contaminationTally = makeTally()
  const flaggedTally = makeTally()
  const missingTally = makeTally()
  const copiedTally = makeTally()
  let unread: { readonly place: string; readonly itemId: string; readonly count: number } | undefined
  /** Results with fewer votes than requested: `short` if they list their votes, and `missing` if they do not. */
  const missing = { results: 0, votes: 0 }
  const short = { results: 0, votes: 0 }
  let repeatedVotes = 0
  let judged = 0
  let itemsWithPairs = 0
  let ranked = 0
  let pairCount = 0

  const consensusOf = (item: JudgedItem): Consensus.Consensus => {
    const all = allVotesOf(item)
    const votes = onePerExpert(all)
    repeatedVotes += all.length - votes.length
    for (const vote of all) {
      if (vote.unread === undefined) continue
      unread = { ...(unread ?? { place: vote.unread, itemId: item.itemId }), count: (unread?.count ?? 0) + 1 }
    }
    for (const { annotations, missingVotes = 0 } of item.judgments) {
      const counts = annotations.votes === undefined ? missing : short
      counts.votes += missingVotes
      counts.results += missingVotes > 0 ? 1 : 0
    }
    return Option.match(reliabilities, {
      onNone: () => Consensus.byMajority(item, votes),
      onSome: ({ probabilitiesOf }) => Consensus.byProbability(item, probabilitiesOf(item, votes), votes),
    })
  }

  /** Counts each item for the checks before it can be left out, because checks also measure items that are left out. */
  const select = (
    item: JudgedItem,
    consensus: Consensus.Consensus,
    { isNew, ordinal }: { readonly ordinal: number; readonly isNew: boolean },
  ): LossReason | ReadonlyArray<PreferencePair> => {
    const { agreement, isTie, judgment, votes } = consensus
    const { itemId } = item
    const prompt = Conversation.toText(item.prompt)
    const overlap = isNew ? contamination.find(prompt) : overlapsFound.get(ordinal)
    const isContaminated = overlap !== undefined
    if (isNew)
      contaminationTally.add(
        isContaminated,
        itemId,
        () => `holds ${excerpt(evaluationPrompts[overlap!.promptOrdinal]!)}`,
      )
    if (isContaminated && mayRepeat) overlapsFound.set(ordinal, overlap)
    const flags = flagsIn(judgment.annotations)
    flagCounts.add(flags)
    const isFlagged = flaggedTally.add(flags.length > 0, itemId, () => excerpt(flags.map(Flags.describe).join("; ")))
    const kind = rationales.add(judgment, ordinal)
    const rationale = textOf(judgment.annotations.rationale)
    const isMissing = missingTally.add(kind === "none", itemId, () => excerpt(prompt))
    const isCopied = copiedTally.add(kind === "copied", itemId, () => excerpt(rationale ?? ""))
    if (votes.length < minVotes) return "too_few_votes"
    if (isTie && ties === "drop") return "tie"
    if (agreement !== null && agreement < minAgreement) return "low_agreement"
    if (isContaminated && dropped.has("contamination")) return "contamination"
    if (isFlagged && dropped.has("flagged")) return "flagged"
    if (isMissing && dropped.has("no-rationale")) return "no_rationale"
    if (isCopied && dropped.has("copied-rationale")) return "copied_rationale"
    const all = pairsOf(toPairs, judgment)
    const pairs = Consensus.withVotes(all, consensus)
    if (pairs.length === 0) {
      return votes.every((vote) => !isDecided(vote)) ? "tie" : all.length > 0 ? "against_votes" : "no_pair"
    }
    let compared = comparedBefore.get(ordinal)
    if (compared === undefined) {
      compared = comparedCount++
      if (mayRepeat) comparedBefore.set(ordinal, compared)
      addPrompt?.(prompt, itemId)
    }
    return isDuplicate(compared) ? "near_duplicate" : pairs
  }

  return {
    add: (item: JudgedItem): CuratedItem => {
      const consensus = consensusOf(item)
      experts.add(item, consensus)
      if (Option.isNone(reliabilities)) gathered.add(item, consensus.votes)
      gold.add(item, consensus, consensus.votes.some(isDecided) && (ties === "keep" || !consensus.isTie))
      if (item.isCheck) return { item, pairs: [] }
      judged++
      for (const vote of consensus.votes) {
        if (vote.seconds !== null) seconds.add(vote.seconds)
      }
      const number = numberOf(item)
      if (number.isNew) positions.add(consensus.votes, item.completions.length)
      agreements.add(consensus)
      board.add(item, consensus.votes)
      const key = drawKey(item)
      if (number.isNew && placeOf(key) < languageShare) {
        const language = languageOf(Conversation.contents(item.prompt).join("\n"))
        languages.set(language, (languages.get(language) ?? 0) + 1)
      }
      const selected = select(item, consensus, number)
      const pairs = typeof selected === "string" ? [] : selected
      rubric.add(consensus, pairs)
      for (const check of ownChecks) check.add(item, pairs)
      if (typeof selected === "string") {
        lost.set(selected, (lost.get(selected) ?? 0) + 1)
        return { item, pairs, lost: selected }
      }
      itemsWithPairs++
      if (Option.isSome(rankingOf(consensus.judgment))) ranked++
      pairCount += selected.length
      lengths.add(selected, consensus.judgment.completions)
      models.add(selected, item)
      drawnExamples.add(selected[0]!, key)
      return { item, pairs }
    },

    report: ({ count, examples, of }: DuplicatePrompts.Found) => {
      const agreement = agreements.finish(Option.isSome(reliabilities) ? "dawid-skene" : "majority")
      const goldReport = gold.finish()
      const position = positions.finish()
      const length = lengths.finish()
      const { against, votes } = agreements.disagreement()
      const answers = rubric.finish()
      const detected = [...languages.values()].reduce((sum, items) => sum + items, 0)
      const byLanguage = [...languages]
        .map(([language, items]) => {
          const interval = languageShare < 1 ? Interval.wilsonInterval(items, detected) : null
          return { language, items, low: interval?.low ?? null, high: interval?.high ?? null }
        })
        .toSorted((a, b) => b.items - a.items || (a.language < b.language ? -1 : 1))
      const detectedLanguages = byLanguage.filter(({ language }) => language !== "und")
      const inDetected = detectedLanguages.reduce((sum, { items }) => sum + items, 0)
      const inOthers = inDetected - (detectedLanguages[0]?.items ?? 0)
      const differing = length.longer_chosen + length.shorter_chosen
      const halves = position.first_half + position.second_half
      const measured = (value: number | null, count: number, of: number): Checks.Measured => ({
        value,
        count: Math.round(count),
        of: Math.round(of),
        examples: [],
      })
      const measurements: { readonly [Name in Checks.CheckName]: Checks.Measured } = {
        "longer-chosen": measured(length.share_longer, length.longer_chosen, differing),
        "length-effect": measured(
          length.cohens_d === null ? null : Math.abs(length.cohens_d),
          itemsWithPairs,
          itemsWithPairs,
        ),
        "position-bias": measured(position.p_value, position.first_half, halves),
        "near-duplicates": { count, of, value: of === 0 ? null : count / of, examples },
        contamination: contaminationTally.finish(),
        flagged: flaggedTally.finish(),
        "other-languages": measured(inDetected === 0 ? null : inOthers / inDetected, inOthers, inDetected),
        "no-rationale": missingTally.finish(),
        "copied-rationale": copiedTally.finish(),
        disagreement: measured(votes === 0 ? null : against / votes, against, votes),
        kappa: measured(agreement.free_marginal_kappa, agreement.compared_items, judged),
        "gold-accuracy": measured(goldReport.accuracy, goldReport.right, goldReport.votes),
      }
      const checked = Checks.names.filter((name) => name !== "contamination" || evaluationPrompts.length > 0)
      return {
        judged,
        kept: itemsWithPairs,
        unread,
        missing,
        short,
        repeatedVotes,
        pairs: pairCount,
        lost: lossReasons.flatMap((reason) => {
          const count = lost.get(reason)
          return count === undefined ? [] : [{ reason, count }]
        }),
        agreement,
        experts: experts.finish(Option.getOrElse(reliabilities, gathered.fit).of),
        model_count: models.count(),
        models: models.finish(),
        leaderboard: board.finish({ resamples }) ?? null,
        gold: goldReport,
        position,
        length,
        flags: flagCounts.finish(),
        ...(answers !== undefined && { rubric: answers }),
        rankings: { ranked_items: ranked, unranked_items: itemsWithPairs - ranked },
        vote_seconds: seconds.distribution(),
        languages: byLanguage,
        checks: [
          ...checked.map((name) => Checks.evaluate(name, measurements[name], thresholds, drop)),
          ...ownChecks.map((check) => check.finish()),
        ],
        examples: drawnExamples.finish(),
      } satisfies Partial<QualityReport> & Record<string, unknown>
    },
  }
}

/** The part of the quality report that a curation computes. */
export interface CurationReport extends ReturnType<ReturnType<typeof makeState>["report"]> {}
