/**
 * Answers joined to what was asked.
 *
 * Guarantees: a result that does not fit its task, or names another one of the ledger, gives no judgment
 * at all, but a reason that names the place; every judgment's index points into its completions, which stand
 * as the input had them, in whatever order they were sent.
 *
 * The contract promises one result item per prompt and shows no order, so results
 * are matched by position, and by the prompt's text where the positions do not
 * agree and the prompts of the task differ from each other.
 */
import { Array as Arr, Effect, Option, Result, Schema, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { JudgedItem } from "../domain/JudgedItem.ts"
import type { Judgment } from "../domain/Judgment.ts"
import { ResultItem, type TaskPrompt } from "../domain/Task.ts"
import type { TaskView } from "./AnnotationClient.ts"
import { Ledger } from "./Ledger.ts"
import { promptOf } from "./LedgerRows.ts"
import * as Order from "./Order.ts"
import type { CompletedTask, NoSuchCampaign, ReadQuestion } from "./LedgerModel.ts"

/** The completed answer, as far as it is used. */
const Answer = Schema.fromJsonString(Schema.Struct({ results: Schema.Array(ResultItem) }))
const decodeAnswer = Schema.decodeUnknownResult(Answer)

/** A stored result that no longer fits its task: the ledger was changed by something else. */
export class ResultMisfit extends Schema.TaggedError<ResultMisfit>()("ResultMisfit", {
  taskId: Schema.String,
  reason: Schema.String,
}) {
  override get message() {
    return `the result of ${this.taskId} does not fit its task: ${this.reason}`
  }
}

/** The judgments of one task, in the order of its prompts, or the reason why its result does not fit. */
export const match = (
  taskId: string,
  { items, prompts }: Pick<ReadQuestion, "items" | "prompts">,
  result: string,
  vote = 1,
): Result.Result<ReadonlyArray<Judgment>, string> => {
  const answer = decodeAnswer(result)
  if (Result.isFailure(answer)) return Result.fail(answer.failure.message.replace(/\s+/g, " "))
  const { results } = answer.success
  if (results.length !== prompts.length) {
    return Result.fail(`expected ${prompts.length} results, one per prompt, found ${results.length}`)
  }
  const aligned = align(prompts, results)
  const judgments: Array<Judgment> = []
  for (let i = 0; i < prompts.length; i++) {
    const { prompt, completions } = prompts[i]!
    const found = aligned[i]
    if (found === undefined || found.prompt !== prompt) {
      return Result.fail(`results[${i}]: expected the prompt ${quote(prompt)}, found ${quote(results[i]!.prompt)}`)
    }
    const index = found.best_completion_index
    if (index < 0 || index >= completions.length) {
      return Result.fail(`results[${i}].best_completion_index: expected 0 to ${completions.length - 1}, found ${index}`)
    }
    const details = items[i]!
    const { order } = details
    const annotations = found.annotations ?? {}
    judgments.push({
      taskId,
      itemId: details.item_id,
      prompt: promptOf(prompt, details),
      completions,
      models: details.models,
      bestCompletionIndex: order?.[index] ?? index,
      annotations: order === undefined ? annotations : Order.undoAnnotations(annotations, order),
      metadata: details.metadata,
      gold: details.gold,
      isCheck: details.check === true,
      origin: details.origin,
      vote,
      order: order ?? completions.map((_, index) => index),
    })
  }
  return Result.succeed(judgments)
}

/**
 * What is answered of the task at `seq`, matched. An id of the ledger's other tasks makes it a misfit, so that
 * one result is not taken for several votes; what else stands at `task_id` may be an id of another kind.
 */
export const matchAnswer = Effect.fnUntraced(function* (
  ledger: Pick<Ledger["Service"], "ownerOf" | "question">,
  seq: number,
  taskId: string,
  { body, named }: Extract<TaskView, { readonly _tag: "Completed" }>,
) {
  if (named !== undefined && named !== taskId && Option.isSome(yield* ledger.ownerOf(named, seq))) {
    return Result.fail(`task_id: expected ${quote(taskId)}, found ${quote(named)}`)
  }
  return match(taskId, yield* ledger.question(seq), body)
})

/** Results in the order of the prompts: as they come where that fits, else by text where texts are unique. */
const align = (
  prompts: ReadonlyArray<TaskPrompt>,
  results: ReadonlyArray<ResultItem>,
): ReadonlyArray<ResultItem | undefined> => {
  if (prompts.every(({ prompt }, i) => results[i]!.prompt === prompt)) return results
  const byPrompt = new Map(results.map((result) => [result.prompt, result]))
  return new Set(prompts.map(({ prompt }) => prompt)).size === prompts.length
    ? prompts.map(({ prompt }) => byPrompt.get(prompt))
    : results
}

const quote = (text: string): string => JSON.stringify(text.length <= 60 ? text : `${text.slice(0, 60)}…`)

const ofTask = (task: CompletedTask) =>
  Effect.mapError(
    Effect.fromResult(match(task.taskId, task, task.result, task.vote)),
    (reason) => new ResultMisfit({ taskId: task.taskId, reason }),
  )

const completedOf = (campaign: number | "all" | undefined) =>
  Stream.unwrap(
    Ledger.use((ledger) =>
      campaign === "all"
        ? Effect.succeed(ledger.completed)
        : Effect.map(ledger.campaignOf(Option.fromUndefinedOr(campaign)), ledger.completedOf),
    ),
  )

type JudgmentsError = SqlError | ResultMisfit | NoSuchCampaign

/**
 * The judgments of a campaign, in the order in which their items were planned: of that of the
 * last run that has read anything, unless one is named, or `"all"`. One for each task and item; gold
 * items that were mixed in are among them (`isCheck`).
 */
export const ofCampaign = (campaign?: number | "all"): Stream.Stream<Judgment, JudgmentsError, Ledger> =>
  completedOf(campaign).pipe(Stream.mapEffect(ofTask), Stream.flatMap(Stream.fromIterable))

/**
 * The same by item, each with the judgments of all its votes whose results are there, in the
 * order of the votes. In `"all"`, an item comes once for each campaign that judged it. Holds the tasks of one
 * batch in memory.
 */
export const items = (campaign?: number | "all"): Stream.Stream<JudgedItem, JudgmentsError, Ledger> =>
  completedOf(campaign).pipe(
    Stream.groupAdjacentBy(({ batch }) => batch),
    Stream.mapEffect(
      Effect.fnUntraced(function* ([batch, tasks]) {
        const places: Array<Array<Judgment>> = Array.from({ length: tasks[0].batchItems }, () => [])
        for (const task of tasks) {
          const first = task.seq - batch - (task.vote - 1) * task.batchItems
          for (const [i, judgment] of (yield* ofTask(task)).entries()) places[first + i]!.push(judgment)
        }
        return places.filter(Arr.isArrayNonEmpty).map(judgedItem)
      }),
    ),
    Stream.flatMap(Stream.fromIterable),
  )

const judgedItem = (judgments: Arr.NonEmptyReadonlyArray<Judgment>): JudgedItem => {
  const { completions, gold, isCheck, itemId, metadata, models, origin, prompt } = judgments[0]
  return { itemId, prompt, completions, models, metadata, gold, isCheck, origin, judgments }
}

/** The judgments of the last campaign. */
export const fromLedger = ofCampaign()
