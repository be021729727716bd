/**
 * Asks automatic experts about one item, in order. If two votes are missing, two experts are asked concurrently. An
 * expert that fails keeps its turn, and is asked again later. After a final failure, the next expert is asked instead.
 * A failure is final if it is not retryable, or if it is the expert's third crash or invalid vote on the item.
 */
import { Cause, Clock, Effect, Exit, Option, Result, Schema, Semaphore } from "effect"
import * as Places from "../store/Places.ts"
import type { Claim, Judged } from "../store/VoteQueueModel.ts"
import type { Expert, JudgeError, JudgeVote } from "./Expert.ts"
import * as Outages from "./Outages.ts"

export type Item = Claim["items"][number]

type Instructions = Pick<Claim, "guidelines" | "rubric" | "taskId">

const maxBreakdowns = 3

class InvalidVote extends Schema.TaggedError<InvalidVote>()("InvalidVote", {
  completions: Schema.Int,
  reason: Schema.String,
  vote: Schema.Unknown,
}) {
  override get message() {
    const expected = `best_completion_index from 0 to ${this.completions - 1} and, optionally, a ranking of all completions`
    return `invalid vote on ${this.completions} completions: expected ${expected}, found ${JSON.stringify(this.vote)}: ${this.reason}`
  }
}

export const make = Effect.fnUntraced(function* (experts: ReadonlyArray<Expert>) {
  const outages = Outages.make()
  const byName = new Map<string, Expert & { readonly places: Semaphore.Semaphore | undefined }>()
  for (const expert of experts) {
    const places = expert.concurrency === undefined ? undefined : yield* Semaphore.make(expert.concurrency)
    if (!byName.has(expert.name)) byName.set(expert.name, { ...expert, places })
  }

  const isAvailable = (now: number) => (expert: string, itemId?: number) => outages.isAvailable(now, expert, itemId)

  const voteOf = (
    { completions }: Item["prompt"],
    { assessment, best_completion_index: best, details, order, ranking, rationale }: JudgeVote,
    millis: number,
  ) => {
    const indices = completions.map((_, index) => index)
    return Result.map(Places.toIndices({ best, ranking }, indices), (choice) => ({
      ...choice,
      order: order ?? indices,
      seconds: millis / 1000,
      ...assessment,
      ...(rationale.trim() !== "" && { rationale }),
      ...(details !== undefined && { details }),
    }))
  }

  const ask = Effect.fnUntraced(function* (name: string, { prompt, promptIndex }: Item, claim: Instructions) {
    const { judge, places } = byName.get(name)!
    const timedVote = Effect.gen(function* () {
      const start = yield* Clock.currentTimeMillis
      const vote = yield* judge(prompt, claim.guidelines, claim.rubric, `${claim.taskId}/${promptIndex}`)
      return Option.map(vote, (vote) => ({ vote, start }))
    })
    const answer = yield* places === undefined ? timedVote : places.withPermits(1)(timedVote)
    if (Option.isNone(answer)) return Option.none()
    const { start, vote } = answer.value
    const checked = voteOf(prompt, vote, (yield* Clock.currentTimeMillis) - start)
    if (Result.isSuccess(checked)) return Option.some(checked.success)
    return yield* new InvalidVote({ completions: prompt.completions.length, reason: checked.failure, vote })
  })

  const failure = Effect.fnUntraced(function* (
    name: string,
    item: Item,
    cause: Cause.Cause<JudgeError | InvalidVote>,
    say: (reason: string) => Effect.Effect<void>,
  ) {
    const now = yield* Clock.currentTimeMillis
    const expected = Option.getOrUndefined(Cause.findErrorOption(cause))
    const error = expected?._tag === "JudgeError" ? expected : undefined
    if (error?.isRetryable === false) {
      outages.answered(name, item.itemId)
      return Option.some(error.problem)
    }
    const { breakdowns, inRow } = outages.failed(now, name, item.itemId, error)
    const problem = expected?.message ?? Cause.pretty(cause)
    if (error === undefined && breakdowns >= maxBreakdowns) return Option.some(`failed ${breakdowns} times: ${problem}`)
    if (inRow === 1) yield* say(`expert ${name} failed and will be retried later: ${problem}`)
    return Option.none()
  })

  /** `lacking` is the number of votes that no expert can give, or 0 if an expert will be asked about the item later. */
  const judge = Effect.fnUntraced(function* (
    item: Item,
    instructions: Instructions,
    say: (reason: string) => Effect.Effect<void>,
  ) {
    const answers: Array<Judged["answers"][number]> = []
    let votes = 0
    let reserved = 0
    let failed: string | undefined
    const waiting = [...item.experts]
    while (waiting.length > 0 && votes + reserved < item.held) {
      const available = isAvailable(yield* Clock.currentTimeMillis)
      const round: Array<string> = []
      for (const expert of waiting.splice(0, item.held - votes - reserved)) {
        if (available(expert, item.itemId)) round.push(expert)
        else reserved++
      }
      const exits = yield* Effect.forEach(round, (expert) => Effect.exit(ask(expert, item, instructions)), {
        concurrency: "unbounded",
      })
      for (const [i, exit] of exits.entries()) {
        const expert = round[i]!
        if (Exit.isSuccess(exit)) {
          outages.answered(expert, item.itemId)
          if (Option.isSome(exit.value)) votes++
          answers.push({ expert, vote: Result.fromOption(exit.value, () => "has no answer") })
          continue
        }
        const reason = yield* failure(expert, item, exit.cause, say)
        if (Option.isNone(reason)) reserved++
        else {
          answers.push({ expert, vote: Result.fail(reason.value) })
          failed ??= `${expert}: ${reason.value}`
        }
      }
    }
    const judged: Judged = { itemId: item.itemId, answers }
    return { judged, lacking: reserved > 0 ? 0 : item.missing - votes, failed }
  })

  return {
    names: [...byName.keys()],
    kindOf: (name: string) => byName.get(name)?.kind,
    isAvailable,
    judge,
    concurrency: (items: ReadonlyArray<Item>) => {
      const names = new Set(items.flatMap((item) => item.experts))
      const limits = [...names].flatMap((name) => byName.get(name)!.concurrency ?? [])
      return limits.length === 0 ? undefined : Math.max(...limits)
    },
    due: outages.due,
    outages: outages.paused,
    doubts: () =>
      [...byName.values()].flatMap(({ doubts, name: expert }) =>
        (doubts?.() ?? []).map(({ name, since }) => ({ expert, name, since })),
      ),
    // All judges share one file of answers. `paid` covers the whole file, so the `paid` of one judge is enough.
    paid: experts.find(({ paid }) => paid !== undefined)?.paid ?? Effect.succeed([]),
    nextChange: outages.nextChange,
  }
})
