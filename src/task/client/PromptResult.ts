/**
 * The result of one prompt, as a protocol returns it. Every prompt of the task must have exactly one result. Every
 * reference must name a completion of its prompt. A reference by text must equal the text that was sent.
 */
import { Result } from "effect"
import type { Ranking } from "../../domain/Ranking.ts"
import type { ImportedVote } from "../../domain/Vote.ts"
import type { Annotations, ResultItem, TaskPrompt } from "../../domain/Task.ts"
import { causeMessage, describeValue } from "../../io/Values.ts"
import type { TaskView } from "./TaskCalls.ts"

/** A completion of the prompt: its text, or its index from 0 in the order that was sent. */
export type CompletionReference = number | string

/** One expert's vote on a prompt, as in the contract. It may also name completions by their texts. */
export interface PromptVote extends Omit<ImportedVote, "choice" | "expert" | "ranking"> {
  /** The expert's name, if the service gives one. */
  readonly expert?: string | null | undefined
  /** The preferred completion. */
  readonly choice: CompletionReference
  /** All completions, best first. The choice is in the first group. */
  readonly ranking?: RankingReferences | undefined
}

/**
 * The result of one prompt: the best completion, a ranking, both, or the votes of several experts. With a ranking, but
 * no `best`, the first completion of the ranking is the best. With `votes`, the completion with the most first-choice
 * votes is the best, and the earliest vote decides a tie. `withdrawn` means that the service will never judge this
 * prompt.
 *
 * Leave out a prompt without a result: the task then counts as invalid, and the raw response is kept.
 */
export type PromptResult = {
  /** The prompt's position in the task, from 0, or its text. Default: the position of this result. */
  readonly prompt?: number | string | undefined
  /** `rationale`, `strength`, `votes`, … as in the contract. Indices refer to the order that was sent. */
  readonly annotations?: Annotations | undefined
} & (
  | { readonly best: CompletionReference; readonly ranking?: RankingReferences | undefined }
  | { readonly ranking: RankingReferences }
  | { readonly votes: ReadonlyArray<PromptVote> }
  | { readonly withdrawn: true }
)

/** All completions, best first. Completions that are equally good form a group: `[2, [0, 1]]`. */
export type RankingReferences = ReadonlyArray<CompletionReference | ReadonlyArray<CompletionReference>>

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
        return yield* Result.fail(
          `results[${i}].prompt: expected one result per prompt, found a second result for the prompt at index ${at}`,
        )
      }
      items.set(at, yield* itemOf(taskPrompt, result, `results[${i}]`))
    }
    return prompts.map((_, at) => items.get(at)!)
  })

const reader = ({ completions }: TaskPrompt, place: string) => {
  const indexOf = (reference: unknown, member: string): Result.Result<number, string> => {
    const index = typeof reference === "string" ? completions.indexOf(reference) : reference
    if (typeof index === "number" && Object.hasOwn(completions, index)) return Result.succeed(index)
    const expected =
      typeof reference === "string" ? "the text of a completion that was sent" : `0 to ${completions.length - 1}`
    return Result.fail(`${place}.${member}: expected ${expected}, found ${describeValue(reference)}`)
  }
  const rankingOf = (references: RankingReferences, member: string) =>
    Result.gen(function* () {
      const ranking: Array<Ranking[number]> = []
      for (const group of references) {
        const [first, ...others] = typeof group === "object" ? group : [group]
        const indices = [yield* indexOf(first, member)] as [number, ...Array<number>]
        for (const other of others) indices.push(yield* indexOf(other, member))
        ranking.push(indices)
      }
      const ranked = ranking.flat()
      return ranked.length === completions.length && new Set(ranked).size === ranked.length
        ? ranking
        : yield* Result.fail(`${place}.${member}: expected each of ${completions.length} completions once`)
    })
  return { indexOf, rankingOf }
}

const itemOf = (taskPrompt: TaskPrompt, result: PromptResult, place: string) =>
  Result.gen(function* () {
    const { prompt } = taskPrompt
    const { annotations } = result
    const { indexOf, rankingOf } = reader(taskPrompt, place)
    if ("withdrawn" in result) {
      return { prompt, best_completion_index: null, annotations: { ...annotations, withdrawn: true } }
    }
    if ("votes" in result && Array.isArray(result.votes)) {
      const votes: Array<ImportedVote> = []
      for (const [i, { choice, expert = null, ranking, ...vote }] of result.votes.entries()) {
        const index = yield* indexOf(choice, `votes[${i}].choice`)
        const ranked = ranking === undefined ? undefined : yield* rankingOf(ranking, `votes[${i}].ranking`)
        if (ranked?.[0]?.includes(index) === false) {
          return yield* Result.fail(`${place}.votes[${i}].ranking: expected the choice (${index}) first`)
        }
        votes.push({ ...vote, expert, choice: index, ...(ranked !== undefined && { ranking: ranked }) })
      }
      const best = mostFirstPlaces(votes)
      if (best === undefined) return yield* Result.fail(`${place}.votes: expected at least one vote, found none`)
      const rationale = votes.find((vote) => vote.choice === best && vote.rationale)?.rationale ?? null
      return { prompt, best_completion_index: best, annotations: { rationale, ...annotations, votes } }
    }
    const reference = "best" in result ? result.best : undefined
    const references = "ranking" in result ? result.ranking : undefined
    const ranking = references === undefined ? [] : yield* rankingOf(references, "ranking")
    const top: ReadonlyArray<number> = ranking[0] ?? []
    const best = reference === undefined ? top[0] : yield* indexOf(reference, "best_completion_index")
    if (best === undefined)
      return yield* Result.fail(`${place}: expected one of the members best, ranking, votes, and withdrawn`)
    if (ranking.length > 0 && !top.includes(best)) {
      return yield* Result.fail(`${place}.ranking: expected the best completion (${best}) first, found ${top.join()}`)
    }
    const content = { ...annotations, ...(ranking.length > 0 && { ranking }) }
    return { prompt, best_completion_index: best, annotations: content }
  })

const mostFirstPlaces = (votes: ReadonlyArray<ImportedVote>): number | undefined => {
  const places = new Map<number, number>()
  for (const { choice, ranking: [first = [choice]] = [] } of votes) {
    for (const index of first) places.set(index, (places.get(index) ?? 0) + 1 / first.length)
  }
  let best: number | undefined
  for (const { choice } of votes) {
    if (best === undefined || (places.get(choice) ?? 0) > (places.get(best) ?? 0)) best = choice
  }
  return best
}

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
