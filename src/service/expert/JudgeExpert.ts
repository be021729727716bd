/**
 * An expert that asks a language model which of two completions is better (`PairwiseRanking`). Each pair is shown in
 * both orders. The completions are shuffled with a seed from the item's text, so a restart does not change their order.
 * `JudgeAnswers` stores each answer, so an interrupted judgment does not ask the same questions again. If several votes
 * use an answer, only the first vote includes the answer's cost. The cost of a judgment without a vote is added to the
 * judge's next vote.
 */
import { Effect, FiberSet, Option, Random, Result, type Schema } from "effect"
import type { HttpClient } from "effect/http"
import type { Rubric } from "../../domain/Rubric.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as TokenPrice from "../../domain/TokenPrice.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import * as Sha256 from "../../node/Sha256.ts"
import { type Expert, type Judge, JudgeError, type JudgeVote } from "./Expert.ts"
import { drawMarkerKey, stored } from "./JudgeAnswers.ts"
import * as JudgeAssessment from "./JudgeAssessment.ts"
import * as JudgeEndpoint from "./JudgeEndpoint.ts"
import * as JudgeFailure from "./JudgeFailure.ts"
import * as JudgePrompt from "./JudgePrompt.ts"
import * as PairwiseRanking from "./PairwiseRanking.ts"
import * as Cost from "../../domain/Cost.ts"

/** Options of an expert that asks a language model. */
export interface JudgeOptions extends JudgeEndpoint.EndpointOptions {
  /** The user's message, with `{guidelines}`, `{prompt}`, `{completions}`. Default: `JudgePrompt.defaultTemplate`. */
  readonly template?: string | undefined
  /**
   * The model sees each pair of completions in both orders. If the two answers disagree, `tie` (the default) counts
   * the pair as equally good. With `abstain`, the item gets no vote if such pairs make the best completion uncertain.
   */
  readonly onDisagreement?: "tie" | "abstain" | undefined
  /** The maximum number of times that a question is asked if the answers are unusable. Default 3. */
  readonly attempts?: number | undefined
  /** Prices per million tokens. If they are set, votes contain their cost. */
  readonly price?: TokenPrice.TokenPrice | undefined
}

// prettier-ignore
export const optionKinds: Kinds.KindsOf<JudgeOptions> = {
  baseUrl: Kinds.text, apiKey: Kinds.redacted, model: Kinds.text, body: Kinds.object,
  concurrency: Kinds.number, timeout: Kinds.timeAbove0, retries: Kinds.number, template: Kinds.text,
  onDisagreement: Kinds.text, attempts: Kinds.number, price: Kinds.object,
}

/** Maximum of concurrent judgments if requests are sent as batches. Each needs memory for its prompt and requests. */
const batchedJudgments = 10_000

export const make = Effect.fn("JudgeExpert.make")(function* (
  options: JudgeOptions,
  store: JudgeEndpoint.JudgeStore = {},
): Effect.fn.Return<Expert, never, HttpClient.HttpClient> {
  const { answers, batches, isBatching } = store
  const endpoint = yield* JudgeEndpoint.make(options, store)
  const markerKey = answers?.markerKey ?? (yield* drawMarkerKey)
  const name = `judge:${options.model}`
  const template = options.template ?? JudgePrompt.defaultTemplate
  const templateHash = Sha256.hex(template).slice(0, 16)
  const attempts = options.attempts ?? 3
  const costOf = Option.getOrUndefined(Option.flatMap(Option.fromUndefinedOr(options.price), TokenPrice.reader))

  const unusable = (problem: string) =>
    new JudgeError({
      problem: answers === undefined ? problem : `${problem}; ${JudgeEndpoint.askAgain}`,
      isRetryable: false,
    })

  const answer = Effect.fnUntraced(function* (
    question: { readonly prompt: string; readonly guidelines: string | undefined },
    completions: ReadonlyArray<string>,
    order: readonly [number, number],
    usage: UsageCounter,
    item: string,
    judgment: JudgeEndpoint.Judgment,
  ): Effect.fn.Return<PairwiseRanking.Answer, JudgeError> {
    const shown = [completions[order[0]] ?? "", completions[order[1]] ?? ""] as const
    let lastAnswer = ""
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const messages = JudgePrompt.ask({ ...question, template, completions: shown }, markerKey, attempt)
      const completion = yield* endpoint.complete(messages, item, judgment)
      usage.add(completion)
      const verdict = JudgePrompt.read(completion.text)
      if (Option.isSome(verdict)) {
        const { place, rationale } = verdict.value
        return { order, choice: place === undefined ? undefined : order[place], rationale }
      }
      lastAnswer = completion.text
    }
    const words = lastAnswer.trim() === "" ? "nothing" : JudgeFailure.quote(lastAnswer, options.apiKey)
    return yield* unusable(`${name} gave ${attempts} unusable answers, the last: ${words}`)
  })

  const assess = Effect.fnUntraced(function* (
    item: JudgeAssessment.AssessedItem,
    rubric: Rubric,
    usage: UsageCounter,
    key: string,
    judgment: JudgeEndpoint.Judgment,
  ): Effect.fn.Return<JudgeVote["assessment"], JudgeError> {
    let failed: { readonly answer: string; readonly problem: string } | undefined
    for (let attempt = 1; attempt <= JudgeAssessment.attempts; attempt++) {
      const messages = JudgeAssessment.ask(item, rubric, markerKey, failed)
      const completion = yield* endpoint.complete(messages, key, judgment)
      usage.add(completion)
      const members = JudgeAssessment.read(completion.text, item, rubric)
      if (Result.isSuccess(members)) return members.success
      failed = { answer: completion.text, problem: members.failure }
    }
    const problem = `${name} gave no usable answers to the rubric: ${JudgeFailure.quote(failed?.problem ?? "", options.apiKey)}`
    return yield* unusable(problem)
  })

  const judgeItem = Effect.fnUntraced(function* (
    { completions, prompt }: TaskPrompt,
    guidelines: string | undefined,
    rubric: Rubric | undefined,
    key: string,
    judgment: JudgeEndpoint.Judgment,
  ): Effect.fn.Return<Option.Option<JudgeVote>, JudgeError> {
    const usage = usageCounter(costOf)
    const compare = (first: number, second: number) =>
      Effect.all(
        [
          answer({ prompt, guidelines }, completions, [first, second], usage, key, judgment),
          answer({ prompt, guidelines }, completions, [second, first], usage, key, judgment),
        ],
        { concurrency: 2 },
      )

    const order = yield* Random.shuffle(completions.keys()).pipe(Random.withSeed(JSON.stringify([prompt, completions])))
    // Completions with equal texts are equally good, so the model is asked only about distinct ones.
    const [some, ...others] = order.filter(
      (index, place) => order.findIndex((other) => completions[other] === completions[index]) === place,
    )
    if (some === undefined) return Option.none()
    const distinct = [some, ...others] as const
    const ranked = yield* PairwiseRanking.rank(distinct, compare)
    if (options.onDisagreement === "abstain" && ranked.isUncertain) {
      const problem = "the model's preference changes with the order of the completions"
      return yield* new JudgeError({ problem, isRetryable: false })
    }

    const withEquals = (group: ReadonlyArray<number>): readonly [number, ...ReadonlyArray<number>] => {
      const [head = some, ...tail] = order.filter((index) =>
        group.some((other) => completions[other] === completions[index]),
      )
      return [head, ...tail]
    }
    const temperature = yield* endpoint.temperature
    const rationale = rationaleOf(ranked, distinct.length)
    const item = { guidelines, prompt, completions, order, choice: ranked.best, rationale }
    const assessment =
      rubric !== undefined && JudgeAssessment.hasQuestions(rubric)
        ? yield* assess(item, rubric, usage, key, judgment)
        : undefined
    const withoutVote =
      answers === undefined ? [] : yield* stored(answers.countOthers(options.model, key, usage.requests()))
    return Option.some<JudgeVote>({
      best_completion_index: ranked.best,
      assessment,
      ...(ranked.ranking === undefined ? {} : { ranking: ranked.ranking.map(withEquals) }),
      rationale,
      order,
      details: {
        model: usage.model() ?? options.model,
        ...(temperature === undefined ? {} : { temperature }),
        template: templateHash,
        method: distinct.length <= 2 ? "pair" : ranked.ranking === undefined ? "sliding_pass" : "all_pairs",
        consistent: ranked.comparisons.every(PairwiseRanking.isConsistent),
        answers: ranked.comparisons
          .flat()
          .map(({ choice, order, rationale }): Schema.Json => ({ order, choice: choice ?? null, rationale })),
        usage: usage.toJson(withoutVote),
      },
    })
  })

  const judge: Judge = Effect.fn("JudgeExpert.judge")(function* (prompt, guidelines, rubric, item) {
    const key = `${name} ${item ?? (yield* drawMarkerKey)}`
    const judgment = yield* JudgeEndpoint.makeJudgment
    return yield* Effect.tapError(judgeItem(prompt, guidelines, rubric, key, judgment), ({ isRetryable }) =>
      Effect.andThen(
        FiberSet.awaitEmpty(judgment.running),
        answers === undefined || isRetryable ? Effect.void : stored(answers.uncount(key, judgment.requests)),
      ),
    )
  }, Effect.scoped)

  // A judgment sends two or more requests at once, so the limit on judgments is half of the limit on requests.
  const concurrency = Math.max(1, Math.ceil((options.concurrency ?? JudgeEndpoint.defaults.concurrency) / 2))
  return {
    name,
    kind: "judge",
    judge,
    concurrency: isBatching === true ? batchedJudgments : concurrency,
    doubts: batches?.doubts,
    paid: answers?.paid,
  }
})

const rationaleOf = (ranked: PairwiseRanking.Ranked, distinct: number): string => {
  const ofBest = ranked.comparisons.filter((comparison) => PairwiseRanking.isOf(comparison, ranked.best))
  const [one, other] = ofBest[0] ?? []
  if (one === undefined || other === undefined) return "The completions are identical."
  const won = ofBest.filter((comparison) => PairwiseRanking.winner(comparison) === ranked.best)
  const words = (won[0]?.[0] ?? one).rationale || "The model gave no reason."
  if (distinct > 2) {
    const count = `The choice was compared with ${ofBest.length} other completions, and won against ${won.length} of them in both orders of presentation.`
    return won.length === 0 ? count : `${count} ${words}`
  }
  if (won.length > 0) return words
  if (PairwiseRanking.isConsistent([one, other])) return `Equally good. ${words}`
  return `The model's choice changed with the order of the completions, so they count as equally good. First order: ${words} Second order: ${other.rationale || "The model gave no reason."}`
}

/**
 * Counts the requests, tokens, and cost of a vote. `cached` is for requests whose cost is part of another vote.
 * `without_vote` is for requests of judgments that failed earlier.
 */
const usageCounter = (costOf: ((tokens: TokenPrice.RequestTokens) => Cost.Decimal) | undefined) => {
  const paid: Array<JudgeEndpoint.Completion> = []
  const cached: Array<JudgeEndpoint.Completion> = []
  let model: string | undefined
  const sum = (completions: ReadonlyArray<TokenPrice.RequestTokens>) => ({
    requests: completions.length,
    prompt_tokens: completions.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    completion_tokens: completions.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
    ...(costOf !== undefined && {
      cost: Cost.format(Cost.shortest(completions.map(costOf).reduce(Cost.plus, Cost.zero))),
    }),
  })
  return {
    add: (completion: JudgeEndpoint.Completion) => {
      ;(completion.isCached ? cached : paid).push(completion)
      model = completion.model
    },
    model: () => model,
    requests: () => [...paid, ...cached].map(({ request }) => request),
    toJson: (withoutVote: ReadonlyArray<TokenPrice.RequestTokens>): { readonly [member: string]: Schema.Json } => ({
      ...sum(paid),
      ...(cached.length > 0 && { cached: sum(cached) }),
      ...(withoutVote.length > 0 && { without_vote: sum(withoutVote) }),
    }),
  }
}

type UsageCounter = ReturnType<typeof usageCounter>
