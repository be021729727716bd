/**
 * The result of one prompt as a protocol returns it, and its conversion to the contract's result items.
 *
 * Guarantees: every prompt of the task has exactly one result, and every reference leads to a completion of its prompt.
 * Otherwise the reason says which result does not fit. No text is compared loosely: it must be the text that was sent.
 */
import { Result } from "effect"
import type { Ranking } from "../../domain/Ranking.ts"
import type { Annotations, ResultItem, TaskPrompt } from "../../domain/Task.ts"
import { causeMessage, describeValue } from "../../io/Values.ts"
import type { TaskView } from "./TaskCalls.ts"

/** A completion of the prompt: its index from 0, in the order that was sent, or its text. */
export type CompletionReference = number | string

/**
 * The result of one prompt: the best completion, a ranking, or both. Without `best`, the ranking's first completion is
 * the best. `withdrawn` says that the service gives up this prompt for good. Leave out a prompt without an answer: the
 * task then counts as invalid, and its raw answer is kept.
 */
export type PromptResult = {
  /** The prompt's position in the task, from 0, or its text. Default: the position of this result. */
  readonly prompt?: number | string | undefined
  /** `rationale`, `strength`, `votes`, … as in the contract. Their indices refer to the order that was sent. */
  readonly annotations?: Annotations | undefined
} & (
  | { readonly best: CompletionReference; readonly ranking?: RankingReferences | undefined }
  | { readonly ranking: RankingReferences }
  | { readonly withdrawn: true }
)

/** All completions, best first. Completions that are equally good form a group: `[2, [0, 1]]`. */
export type RankingReferences = ReadonlyArray<CompletionReference | ReadonlyArray<CompletionReference>>

/** Converts results to the contract's, in the order of the prompts. A failure names the first unsuitable result. */
export const toResultItems = (
  prompts: ReadonlyArray<TaskPrompt>,
  results: ReadonlyArray<PromptResult>,
): Result.Result<ReadonlyArray<ResultItem>, string> =>
  Result.gen(function* () {
    if (results.length !== prompts.length) {
      return yield* Result.fail(`expected ${prompts.length} results, one per prompt, found ${results.length}`)
    }
    const items = new Map<number, ResultItem>()
    for (const [i, result] of results.entries()) {
      const { prompt = i } = result
      const at = typeof prompt === "number" ? prompt : prompts.findIndex((other) => other.prompt === prompt)
      const taskPrompt = prompts[at]
      if (taskPrompt === undefined) {
        const expected = typeof prompt === "number" ? `0 to ${prompts.length - 1}` : "a prompt of the task"
        return yield* Result.fail(`results[${i}].prompt: expected ${expected}, found ${describeValue(prompt)}`)
      }
      if (items.has(at)) {
        return yield* Result.fail(`results[${i}].prompt: expected one result per prompt, found another one of ${at}`)
      }
      items.set(at, yield* itemOf(taskPrompt, result, `results[${i}]`))
    }
    return prompts.map((_, at) => items.get(at)!)
  })

const itemOf = ({ completions, prompt }: TaskPrompt, result: PromptResult, place: string) =>
  Result.gen(function* () {
    const { annotations } = result
    if ("withdrawn" in result) {
      return { prompt, best_completion_index: null, annotations: { ...annotations, withdrawn: true } }
    }
    const indexOf = (reference: unknown, member: string): Result.Result<number, string> => {
      const index = typeof reference === "string" ? completions.indexOf(reference) : reference
      if (typeof index === "number" && Object.hasOwn(completions, index)) return Result.succeed(index)
      const expected =
        typeof reference === "string" ? "the text of a completion that was sent" : `0 to ${completions.length - 1}`
      return Result.fail(`${place}.${member}: expected ${expected}, found ${describeValue(reference)}`)
    }
    const ranking: Array<Ranking[number]> = []
    for (const group of result.ranking ?? []) {
      const [first, ...others] = typeof group === "object" ? group : [group]
      const indices = [yield* indexOf(first, "ranking")] as [number, ...Array<number>]
      for (const other of others) indices.push(yield* indexOf(other, "ranking"))
      ranking.push(indices)
    }
    const ranked = ranking.flat()
    if (
      result.ranking !== undefined &&
      (ranked.length !== completions.length || new Set(ranked).size < ranked.length)
    ) {
      return yield* Result.fail(`${place}.ranking: expected each of ${completions.length} completions once`)
    }
    const top: ReadonlyArray<number> = ranking[0] ?? []
    const best = "best" in result ? yield* indexOf(result.best, "best_completion_index") : top[0]!
    if (ranking.length > 0 && !top.includes(best)) {
      return yield* Result.fail(`${place}.ranking: expected the best completion (${best}) first, found ${top.join()}`)
    }
    const content = { ...annotations, ...(ranking.length > 0 && { ranking }) }
    return { prompt, best_completion_index: best, annotations: content }
  })

/**
 * Makes the view of a completed task. Its body is a `TaskResult` with the raw answers. Without usable results, the body
 * has the raw answers, and as `program` the value that a program read from them.
 */
export const completed = (
  taskId: string,
  items: Result.Result<ReadonlyArray<ResultItem>, string>,
  answers: ReadonlyArray<string>,
  program?: unknown,
): TaskView => {
  const text = (members: object) => JSON.stringify({ task_id: taskId, status: "completed", ...members, answers })
  const body = Result.flatMap(items, (results) => Result.try({ try: () => text({ results }), catch: causeMessage }))
  return Result.isSuccess(body)
    ? { _tag: "Completed", body: body.success }
    : {
        _tag: "Completed",
        body: Result.getOrElse(
          Result.try(() => text({ program })),
          () => text({}),
        ),
        problem: body.failure,
      }
}
