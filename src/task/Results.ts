/**
 * The judgments of a ledger, by task and by item, in the order of planning. A stored result that does not fit its task,
 * for example from an earlier version, is logged and left out. Withdrawn prompts give no judgment.
 */
import { Array as Arr, Effect, flow, Option, Result, Stream, Struct } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as AnnotationPaths from "../api/AnnotationPaths.ts"
import type { JudgedItem, Judgment, NoJudgment } from "../domain/Judgment.ts"
import type { SettingInvalid } from "../io/SettingInvalid.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { excerpt } from "../io/Values.ts"
import * as ExpertNames from "./ExpertNames.ts"
import type { ItemPlace } from "./ledger/writes/FurtherVotes.ts"
import { LedgerReader } from "./ledger/Ledger.ts"
import type { CompletedTask } from "./ledger/schema/Model.ts"
import type { NoSuchCampaign } from "./ledger/schema/WrongLedger.ts"
import { matchStored } from "./ledger/reads/ResultMatch.ts"
import * as Assessment from "../domain/Assessment.ts"
import * as Decision from "../domain/Decision.ts"
import { tally } from "../domain/Tally.ts"
import { listedIn, onePerExpert } from "../domain/Vote.ts"

const maxWarnings = 20

type Outcome = Judgment | NoJudgment

interface JudgedTask {
  readonly task: CompletedTask
  readonly outcomes: ReadonlyArray<ReadonlyArray<Outcome>>
}

const kinds: Kinds.Kinds = {
  campaign: ['the number of a campaign, or "all"', (value) => value === "all" || Number.isSafeInteger(value)],
  annotationPaths: Kinds.recordOf("an object with field paths", Kinds.anyText),
}

const ofAllVotes = ["agreement", "expert", "ranking", "rationale", "tie", ...Assessment.names] as const

/**
 * Splits a task's judgment into one judgment per vote. The first of these also has the flags and a lead's decision. The
 * judgment is not split if the service itself (not a lead) chose another completion than the votes.
 */
const perVote = (whole: Judgment, asks: number): ReadonlyArray<Judgment> => {
  const { annotations, bestCompletionIndex, completions } = whole
  const votes = Option.getOrElse(listedIn(annotations, completions.length), () => [])
  const missingVotes = asks - Math.max(votes.length, 1)
  // After a lead's decision, the item needs no further votes. Therefore, `missingVotes` is not set.
  const judgment = missingVotes > 0 && !Decision.isIn(annotations) ? { ...whole, missingVotes } : whole
  if (votes.length < 2) return [judgment]
  const isDecided = Decision.isIn(annotations)
  const { best } = tally(completions, onePerExpert(votes))
  if (!isDecided && completions[best] !== completions[bestCompletionIndex]) return [judgment]
  const shared = Struct.omit(annotations, ofAllVotes)
  const laterShared = Struct.omit(shared, ["decision", "flags"])
  return votes.map((vote, i): Judgment => {
    const { choice, rationale } = vote
    const own = { ...(rationale !== undefined && { rationale }), votes: [vote] }
    const number = { ...(i === 0 ? judgment : whole), vote: judgment.vote + i }
    if (i === 0 && isDecided) return { ...number, annotations: { ...annotations, votes: [vote] } }
    return { ...number, bestCompletionIndex: choice, annotations: { ...(i === 0 ? shared : laterShared), ...own } }
  })
}

const ofTasks = Effect.fnUntraced(function* (
  campaign: number | "all" | undefined,
  annotationPaths: AnnotationPaths.AnnotationPaths | undefined,
) {
  yield* Kinds.check({ campaign, annotationPaths }, kinds)
  const names = yield* ExpertNames.reader
  const { leftOut } = yield* LedgerReader
  const read = flow(AnnotationPaths.reader(annotationPaths), names.read)
  return Effect.fnUntraced(function* (
    tasks: Arr.NonEmptyReadonlyArray<CompletedTask>,
  ): Effect.fn.Return<Arr.NonEmptyReadonlyArray<JudgedTask>, ExpertNames.ExpertKeyMissing> {
    const warnings: Array<string> = []
    const judged = Arr.map(tasks, (task): JudgedTask => {
      const { asks, completedAt, items, seq, taskId, vote } = task
      const judgments = matchStored(task, task.result, { vote, completedAt: completedAt ?? undefined, read })
      if (Result.isSuccess(judgments)) {
        const outcomes = judgments.success.map((outcome) =>
          asks === 1 || !isJudgment(outcome) ? [outcome] : perVote(outcome, asks),
        )
        return { task, outcomes }
      }
      if (!leftOut.has(seq) && leftOut.add(seq).size <= maxWarnings) {
        warnings.push(
          `the result of task ${seq + 1} (${taskId}) cannot be used, and is left out: ${excerpt(judgments.failure, 200)}. If the service corrects the result, run \`Pipeline.collect(pipeline, { recheckCompleted: true })\`${leftOut.size === maxWarnings ? ". If further results cannot be used, they are left out without a warning. To list all unusable results, run prefstream ledger check" : ""}`,
        )
      }
      const unusable = { reason: "unusable", taskId } as const
      return {
        task,
        outcomes: items.map(({ check, item_id }) => [{ ...unusable, itemId: item_id, isCheck: check === true }]),
      }
    })
    if (names.isMissing()) return yield* new ExpertNames.ExpertKeyMissing()
    for (const warning of warnings) yield* Effect.logWarning(warning)
    return judged
  })
})

const completedOf = (campaign: number | "all" | undefined) =>
  Stream.unwrap(
    LedgerReader.use((ledger) =>
      campaign === "all"
        ? Effect.succeed(ledger.completed)
        : Effect.map(ledger.campaignOf(Option.fromUndefinedOr(campaign)), ledger.completedOf),
    ),
  )

/** Errors of reading: the database fails, the campaign is unknown or invalid, or the key for pseudonyms is missing. */
export type JudgmentsError = SqlError | NoSuchCampaign | SettingInvalid | ExpertNames.ExpertKeyMissing

/**
 * The judgments of a campaign, in the order in which their items were planned. `campaign` is a number or `"all"`. The
 * default is the campaign of the last run that read at least one record. If a task asks for several votes per item,
 * each vote is a judgment. Mixed-in gold items are included (`isCheck`). The service's annotations are read from the
 * fields in `paths`, or from the default fields.
 */
export const ofCampaign = (
  campaign?: number | "all",
  paths?: AnnotationPaths.AnnotationPaths,
): Stream.Stream<Judgment, JudgmentsError, LedgerReader> =>
  Stream.unwrap(
    Effect.map(ofTasks(campaign, paths), (judged) =>
      completedOf(campaign).pipe(
        Stream.mapArrayEffect(judged),
        Stream.map(({ outcomes }) => outcomes.flat().filter(isJudgment)),
        inArrays,
      ),
    ),
  )

/** An item with or without judgments. `seq` is the position of the item's first vote in the ledger. */
export interface PlacedItem extends ItemPlace {
  readonly itemId: string
  /** Undefined if prompts were withdrawn or not answered, or the results are unusable. */
  readonly item: JudgedItem | undefined
  readonly isCheck: boolean
  /** Whether the service withdrew a prompt, so that the item gets no further vote. */
  readonly isWithdrawn: boolean
  /** Whether no expert who may vote on the item had an answer, so that the item has no vote. */
  readonly isUnanswered: boolean
  readonly hasGold: boolean
}

const isJudgment = (outcome: Outcome): outcome is Judgment => !("reason" in outcome)

export const placed = (
  campaign?: number | "all",
  paths?: AnnotationPaths.AnnotationPaths,
): Stream.Stream<PlacedItem, JudgmentsError, LedgerReader> =>
  Stream.unwrap(
    Effect.map(ofTasks(campaign, paths), (judged) =>
      completedOf(campaign).pipe(
        Stream.mapArrayEffect(judged),
        Stream.groupAdjacentBy(({ task }) => task.batch),
        Stream.map(([batch, tasks]) => placedOf(batch, tasks)),
        inArrays,
      ),
    ),
  )

const placedOf = (batch: number, tasks: Arr.NonEmptyReadonlyArray<JudgedTask>): ReadonlyArray<PlacedItem> => {
  const places: Array<Array<Outcome>> = Array.from({ length: tasks[0].task.batchItems }, () => [])
  for (const { outcomes, task } of tasks) {
    const first = task.seq - batch - (task.vote - 1) * task.batchItems
    for (const [i, each] of outcomes.entries()) places[first + i]!.push(...each)
  }
  return places.flatMap((outcomes, i): ReadonlyArray<PlacedItem> => {
    const [one] = outcomes
    if (one === undefined) return []
    const judgments = outcomes.filter(isJudgment)
    const has = (reason: NoJudgment["reason"]) =>
      outcomes.some((outcome) => !isJudgment(outcome) && outcome.reason === reason)
    return [
      {
        seq: batch + i,
        batch,
        itemId: one.itemId,
        item: Arr.isArrayNonEmpty(judgments) ? judgedItem(judgments) : undefined,
        isCheck: one.isCheck,
        isWithdrawn: has("withdrawn"),
        hasGold: one.gold !== undefined,
        isUnanswered: judgments.length === 0 && has("unanswered"),
      },
    ]
  })
}

const inArrays = <A, E, R>(arrays: Stream.Stream<ReadonlyArray<A>, E, R>): Stream.Stream<A, E, R> =>
  arrays.pipe(
    Stream.chunks,
    Stream.map((chunk) => chunk.flat()),
    Stream.filter(Arr.isArrayNonEmpty),
    Stream.flattenArray,
  )

/**
 * The judged items of a campaign, in order, each with the judgments of its votes. With `"all"`, an item occurs once for
 * each campaign that judged it. Only one batch at a time is in memory.
 */
export const items = (
  campaign?: number | "all",
  paths?: AnnotationPaths.AnnotationPaths,
): Stream.Stream<JudgedItem, JudgmentsError, LedgerReader> => judged(placed(campaign, paths))

const judged = <E, R>(
  items: Stream.Stream<PlacedItem, E, R>,
  onOther: (item: PlacedItem) => void = () => {},
): Stream.Stream<JudgedItem, E, R> =>
  inArrays(
    Stream.map(items, (placed) => {
      if (placed.item === undefined) onOther(placed)
      return placed.item === undefined ? [] : [placed.item]
    }),
  )

export interface UnjudgedCounts {
  readonly withdrawn: number
  readonly unanswered: number
  readonly unusable: number
}

/** `unjudged` counts the items without a judgment among the items read so far, except mixed-in gold items. */
export const counted = (campaign?: number | "all", paths?: AnnotationPaths.AnnotationPaths) => {
  let withdrawn = 0
  let unanswered = 0
  let unusable = 0
  const count = ({ isCheck, isUnanswered, isWithdrawn }: PlacedItem) => {
    if (isCheck) return
    if (isWithdrawn) withdrawn++
    else if (isUnanswered) unanswered++
    else unusable++
  }
  const items = Stream.suspend(() => {
    withdrawn = 0
    unanswered = 0
    unusable = 0
    return judged(placed(campaign, paths), count)
  })
  return { items, unjudged: (): UnjudgedCounts => ({ withdrawn, unanswered, unusable }) }
}

const judgedItem = (judgments: Arr.NonEmptyReadonlyArray<Judgment>): JudgedItem => ({
  ...Struct.pick(judgments[0], [
    "itemId",
    "prompt",
    "completions",
    "models",
    "asMessages",
    "tools",
    "metadata",
    "gold",
    "isCheck",
    "origin",
  ]),
  judgments,
})
