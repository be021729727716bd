/**
 * The judgments of a ledger, by task and by item, in the order in which the items were planned.
 *
 * Guarantees: each result fits its task (`ResultMatch`). Prompts that the service withdrew give no judgment; an item of
 * which no task gives one is no judged item. A stored result that no longer fits its task ends the stream.
 */
import { Array as Arr, Effect, flow, Option, Schema, Stream, Struct } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as AnnotationPaths from "../api/AnnotationPaths.ts"
import type { JudgedItem } from "../domain/JudgedItem.ts"
import type { Judgment, Withdrawn } from "../domain/Judgment.ts"
import * as ExpertNames from "./ExpertNames.ts"
import type { ItemPlace } from "./ledger/FurtherVotes.ts"
import { LedgerReader } from "./ledger/Ledger.ts"
import type { CompletedTask } from "./ledger/Model.ts"
import type { NoSuchCampaign } from "./ledger/WrongLedger.ts"
import { match } from "./ledger/ResultMatch.ts"

/** A stored result that no longer fits its task: the ledger was changed by something else. */
export class ResultMisfit extends Schema.TaggedError<ResultMisfit>()("ResultMisfit", {
  /** The id at the service. */
  taskId: Schema.String,
  /** The place in the result, what was expected, and what was found. */
  reason: Schema.String,
}) {
  override get message() {
    return `the result of ${this.taskId} does not fit its task: ${this.reason}`
  }
}

const ofTask = Effect.fnUntraced(function* (paths: AnnotationPaths.AnnotationPaths | undefined) {
  const names = yield* ExpertNames.reader
  const read = flow(AnnotationPaths.reader(paths), names.read)
  return Effect.fnUntraced(function* (task: CompletedTask) {
    const { completedAt, result, taskId, vote } = task
    const judgments = match(taskId, task, result, { vote, completedAt: completedAt ?? undefined, read })
    if (names.isMissing()) return yield* new ExpertNames.ExpertKeyMissing()
    return yield* Effect.mapError(Effect.fromResult(judgments), (reason) => new ResultMisfit({ taskId, reason }))
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

export type JudgmentsError = SqlError | ResultMisfit | NoSuchCampaign | ExpertNames.ExpertKeyMissing

/**
 * The judgments of a campaign, in the order in which their items were planned: of that of the
 * last run that has read anything, unless one is named, or `"all"`. One for each task and item; gold
 * items that were mixed in are among them (`isCheck`).
 *
 * @param paths where annotations of another service have what prefstream reads
 */
export const ofCampaign = (
  campaign?: number | "all",
  paths?: AnnotationPaths.AnnotationPaths,
): Stream.Stream<Judgment, JudgmentsError, LedgerReader> =>
  Stream.unwrap(
    Effect.map(ofTask(paths), (judgmentsOf) =>
      completedOf(campaign).pipe(
        Stream.mapEffect(judgmentsOf),
        Stream.map((outcomes) => outcomes.filter(isJudgment)),
        Stream.flatMap(Stream.fromIterable),
      ),
    ),
  )

/** An item with its place in the ledger: its number in its first vote. */
export interface PlacedItem extends ItemPlace {
  /** Undefined if no judgment is left: all its prompts were withdrawn. */
  readonly item: JudgedItem | undefined
  /** Whether the item was mixed in to measure experts. */
  readonly isCheck: boolean
  /** Whether a prompt of it was withdrawn: no further vote is wanted. */
  readonly isWithdrawn: boolean
}

const isJudgment = (outcome: Judgment | Withdrawn): outcome is Judgment => !("isWithdrawn" in outcome)

/** The items of `items` with their places, and those whose prompts were withdrawn. */
export const placed = (
  campaign?: number | "all",
  paths?: AnnotationPaths.AnnotationPaths,
): Stream.Stream<PlacedItem, JudgmentsError, LedgerReader> =>
  Stream.unwrap(Effect.map(ofTask(paths), (read) => placedBy(read, campaign)))

const placedBy = (judgmentsOf: Effect.Success<ReturnType<typeof ofTask>>, campaign: number | "all" | undefined) =>
  completedOf(campaign).pipe(
    Stream.groupAdjacentBy(({ batch }) => batch),
    Stream.mapEffect(
      Effect.fnUntraced(function* ([batch, tasks]) {
        const places: Array<Array<Judgment | Withdrawn>> = Array.from({ length: tasks[0].batchItems }, () => [])
        for (const task of tasks) {
          const first = task.seq - batch - (task.vote - 1) * task.batchItems
          for (const [i, outcome] of (yield* judgmentsOf(task)).entries()) places[first + i]!.push(outcome)
        }
        return places.flatMap((outcomes, i): ReadonlyArray<PlacedItem> => {
          const [one] = outcomes
          if (one === undefined) return []
          const judgments = outcomes.filter(isJudgment)
          return [
            {
              seq: batch + i,
              batch,
              item: Arr.isArrayNonEmpty(judgments) ? judgedItem(judgments) : undefined,
              isCheck: one.isCheck,
              isWithdrawn: judgments.length < outcomes.length,
            },
          ]
        })
      }),
    ),
    Stream.flatMap(Stream.fromIterable),
  )

/**
 * The same by item, each with the judgments of all its votes whose results are there, in the order of the votes. In
 * `"all"`, an item comes once for each campaign that judged it. Holds the tasks of one batch in memory.
 */
export const items = (
  campaign?: number | "all",
  paths?: AnnotationPaths.AnnotationPaths,
): Stream.Stream<JudgedItem, JudgmentsError, LedgerReader> => judged(placed(campaign, paths))

/** @param onOther called for each item without a judgment */
const judged = <E, R>(
  items: Stream.Stream<PlacedItem, E, R>,
  onOther: (item: PlacedItem) => void = () => {},
): Stream.Stream<JudgedItem, E, R> =>
  items.pipe(
    Stream.chunks,
    Stream.map((all) =>
      all.flatMap((placed) => {
        if (placed.item === undefined) onOther(placed)
        return placed.item ?? []
      }),
    ),
    Stream.filter(Arr.isArrayNonEmpty),
    Stream.flattenArray,
  )

/** The same, and how many items without a judgment have passed since the stream began: their prompts were withdrawn. Gold items that were mixed in do not count. */
export const counted = (campaign?: number | "all", paths?: AnnotationPaths.AnnotationPaths) => {
  let withdrawn = 0
  const count = ({ isCheck }: PlacedItem) => {
    if (!isCheck) withdrawn++
  }
  const items = Stream.suspend(() => {
    withdrawn = 0
    return judged(placed(campaign, paths), count)
  })
  return { items, withdrawn: () => withdrawn }
}

const judgedItem = (judgments: Arr.NonEmptyReadonlyArray<Judgment>): JudgedItem => {
  return {
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
  }
}
