/**
 * Joins a result to its task's request: by position, or by the prompts' texts if the order differs. A prompt that is
 * withdrawn, or that no expert answers, gives a `NoJudgment`. Indices in judgments refer to the input's order.
 */
import { Effect, identity, Option, Predicate, Result, Schema } from "effect"
import { SchemaJITCompiler } from "effect/schema"
import type { SqlError } from "effect/sql/SqlError"
import * as Json from "../../../io/Json.ts"
import { depthProblem } from "../../../io/JsonProblem.ts"
import * as FieldPath from "../../../io/FieldPath.ts"
import * as SchemaIssues from "../../../io/SchemaIssues.ts"
import { causeMessage, describeValue, plural } from "../../../io/Values.ts"
import type { Judgment, NoJudgment } from "../../../domain/Judgment.ts"
import { type Annotations, rationaleOf, ResultItem, type TaskPrompt } from "../../../domain/Task.ts"
import { ListedVotes } from "../../../domain/Vote.ts"
import * as CompletionOrder from "../schema/CompletionOrder.ts"
import * as Expected from "../schema/Expected.ts"
import type { CompletedTask, StoredRequest } from "../schema/Model.ts"
import * as Payload from "../schema/Payload.ts"
import { importedTaskPrefix, promptOf } from "../schema/Rows.ts"
import type { ReadKinds } from "../schema/VoteKinds.ts"

/** Members in which other services list several judgments. They are not read; `unread` names the first one found. */
const unreadNames = ["annotations", "judgments", "votes"] as const
const Several = Schema.optionalKey(Schema.Unknown)
const AnsweredItem = Schema.Struct({
  ...ResultItem.fields,
  // Any value is valid here. If the value is not an object, `annotationsOf` ignores it.
  annotations: Several,
  judgments: Several,
  votes: Several,
})

const isAnnotations = (value: { readonly rationale?: unknown }): value is Annotations =>
  Predicate.isNullish(value.rationale) || Predicate.isString(value.rationale)

const annotationsOf = (value: unknown): Annotations =>
  !Predicate.isObject(value)
    ? {}
    : isAnnotations(value)
      ? value
      : { ...value, rationale: rationaleOf(value["rationale"]) }

/** The reason why a prompt has no choice. A null index without a reason is an error of the service. */
const reasonOf = (annotations: unknown): "unanswered" | "withdrawn" | undefined =>
  !Predicate.isObject(annotations)
    ? undefined
    : annotations["withdrawn"] === true || Predicate.isObject(annotations["withdrawn"])
      ? "withdrawn"
      : annotations["unanswered"] === true
        ? "unanswered"
        : undefined

const isTextAt = (text: string, path: ReadonlyArray<PropertyKey>): boolean =>
  path.at(-1) === "best_completion_index" &&
  Predicate.isString(FieldPath.followAll(Result.getOrUndefined(Json.parse(text)), path))

const Answer = Schema.fromJsonString(Schema.Struct({ task_id: Several, results: Schema.Array(AnsweredItem) }))
SchemaJITCompiler.enable(Answer.ast)
SchemaJITCompiler.enable(ListedVotes.ast)
const decode = Schema.decodeUnknownResult(Answer, { reportInput: true })

/** Decodes a response. Fails, too, if annotations are nested too deeply for recursive code. */
const readAnswer = (text: string): Result.Result<typeof Answer.Type, string> =>
  Result.flatMap(
    Result.mapError(decode(text), ({ issue }) => {
      const problem = SchemaIssues.describe(issue)
      return SchemaIssues.problems(issue).some(({ path }) => isTextAt(text, path))
        ? `${problem} (if the service identifies the choice by a label or by the completion's text, set \`service.choice\`)`
        : problem
    }),
    (answer) => {
      for (const [i, { annotations }] of answer.results.entries()) {
        const problem = depthProblem(annotations, `results[${i}].annotations`)
        if (problem !== undefined) return Result.fail(problem)
      }
      return Result.succeed(answer)
    },
  )

export const match = (
  taskId: string,
  { items, prompts }: Omit<StoredRequest, "body">,
  result: string,
  {
    completedAt,
    read = identity,
    vote = 1,
  }: {
    readonly vote?: number | undefined
    readonly completedAt?: number | undefined
    readonly read?: ((annotations: Annotations) => Annotations) | undefined
  } = {},
): Result.Result<ReadonlyArray<Judgment | NoJudgment>, string> => {
  const answer = readAnswer(result)
  if (Result.isFailure(answer)) return Result.fail(answer.failure)
  const { results, task_id: namedId } = answer.success
  const shownId = taskId.startsWith(importedTaskPrefix) && Predicate.isString(namedId) ? namedId : taskId
  if (results.length !== prompts.length) {
    return Result.fail(
      `expected ${prompts.length} ${plural(prompts.length, "result")}, one per prompt, found ${results.length}`,
    )
  }
  const aligned = align(prompts, results)
  const judgments: Array<Judgment | NoJudgment> = []
  for (let i = 0; i < prompts.length; i++) {
    const { prompt, completions } = prompts[i]!
    const resultItem = aligned[i]
    if (resultItem === undefined || resultItem.prompt !== prompt) {
      return Result.fail(
        `results[${i}]: expected the prompt ${describeValue(prompt)}, found ${describeValue(results[i]!.prompt)}`,
      )
    }
    const details = items[i]!
    const isCheck = details.check === true
    const index = resultItem.best_completion_index
    const reason = index === null ? reasonOf(resultItem.annotations) : undefined
    if (reason !== undefined) {
      const { gold, item_id: itemId } = details
      judgments.push({ reason, taskId: shownId, itemId, isCheck, ...(gold !== undefined && { gold }) })
      continue
    }
    if (index === null || index < 0 || index >= completions.length) {
      return Result.fail(`results[${i}].best_completion_index: expected 0 to ${completions.length - 1}, found ${index}`)
    }
    const { order } = details
    const annotations = read(annotationsOf(resultItem.annotations))
    const unread = unreadNames.find((name) => Array.isArray(resultItem[name]) && resultItem[name].length > 1)
    judgments.push({
      taskId: shownId,
      itemId: details.item_id,
      prompt: promptOf(prompt, details),
      completions,
      models: details.models,
      ...(details.as_messages !== undefined && { asMessages: details.as_messages }),
      ...(details.tools !== undefined && { tools: details.tools }),
      bestCompletionIndex: order?.[index] ?? index,
      annotations: order === undefined ? annotations : CompletionOrder.undoAnnotations(annotations, order),
      ...(unread !== undefined && { unread }),
      ...(completedAt !== undefined && { completedAt }),
      metadata: details.metadata,
      gold: details.gold,
      isCheck,
      origin: details.origin,
      vote,
      order: order ?? [...completions.keys()],
    })
  }
  return Result.succeed(judgments)
}

export const matchStored = (
  { taskId, ...request }: Pick<CompletedTask, "items" | "prompts" | "taskId">,
  result: Uint8Array,
  options?: Parameters<typeof match>[3],
) =>
  Result.flatMap(Result.try({ try: () => Payload.decode(result), catch: causeMessage }), (text) =>
    match(taskId, request, text, options),
  )

/**
 * Checks whether a response fits the task at `seq`. Returns the kinds of the experts, or the reason for a mismatch. A
 * response with the id of another task of the ledger does not fit, so that no result counts twice. An unknown `task_id`
 * is accepted, since the service may use another kind of id in results.
 */
export const checkAnswer = Effect.fnUntraced(function* (
  ledger: {
    readonly ownerOf: (taskId: string, seq: number) => Effect.Effect<Option.Option<number>, SqlError>
    readonly expected: (seq: number) => Effect.Effect<Expected.OfTask, SqlError>
    readonly request: (seq: number) => Effect.Effect<Omit<StoredRequest, "body">, SqlError>
  },
  seq: number,
  taskId: string,
  {
    body,
    named,
    problem,
  }: { readonly body: string; readonly named?: string | undefined; readonly problem?: string | undefined },
  kindsIn: ReadKinds,
) {
  if (problem !== undefined) return Result.fail(problem)
  if (named !== undefined && named !== taskId && Option.isSome(yield* ledger.ownerOf(named, seq))) {
    return Result.fail(`task_id: expected ${describeValue(taskId)}, found ${describeValue(named)}`)
  }
  const answer = readAnswer(body)
  if (Result.isFailure(answer)) return Result.fail(answer.failure)
  const { results } = answer.success
  const { asks, expected } = yield* ledger.expected(seq)
  const kinds = kindsIn(results, asks)
  if (Expected.isMetBy(expected, results)) return Result.succeed(kinds)
  return Result.map(match(taskId, yield* ledger.request(seq), body), () => kinds)
})

/** Whether the stored result fits its task. Earlier versions of prefstream could store results that did not fit. */
export const isUsable = Effect.fnUntraced(function* (
  ledger: {
    readonly storedResult: (seq: number) => Effect.Effect<Option.Option<Uint8Array>, SqlError>
    readonly request: (seq: number) => Effect.Effect<Omit<StoredRequest, "body">, SqlError>
  },
  { seq, taskId }: { readonly seq: number; readonly taskId: string },
) {
  const result = yield* ledger.storedResult(seq)
  if (Option.isNone(result)) return false
  return Result.isSuccess(matchStored({ ...(yield* ledger.request(seq)), taskId }, result.value))
})

/** Puts results in the order of the prompts, by text. If any two prompts are equal, the order is left unchanged. */
const align = (
  prompts: ReadonlyArray<TaskPrompt>,
  results: ReadonlyArray<typeof AnsweredItem.Type>,
): ReadonlyArray<typeof AnsweredItem.Type | undefined> => {
  if (prompts.every(({ prompt }, i) => results[i]!.prompt === prompt)) return results
  const byPrompt = new Map(results.map((result) => [result.prompt, result]))
  return new Set(prompts.map(({ prompt }) => prompt)).size === prompts.length
    ? prompts.map(({ prompt }) => byPrompt.get(prompt))
    : results
}
