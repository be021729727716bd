/**
 * Sends requests to `POST {base URL}/chat/completions`, and follows no redirects. Callers that need the same answer
 * share one request. A stored answer (`JudgeAnswers`) needs no request. If one request of a judgment fails, the answers
 * to its other sent requests are stored. Failures and logs do not contain the key. A `JudgeError` is not retryable if
 * the question caused the failure. The cause of a timeout, a too long answer, or an unexplained refusal is unknown. If
 * the endpoint has answered other questions, the question counts as the cause. If not, the endpoint is the cause.
 */
import {
  ByteSize,
  Cause,
  Clock,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  FiberSet,
  Option,
  type Redacted,
  Schedule,
  type Schema,
  type Scope,
  Semaphore,
} from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as Backoff from "../../io/Backoff.ts"
import { JudgeError } from "./Expert.ts"
import { type Answer, idOf, type JudgeAnswers, stored } from "./JudgeAnswers.ts"
import type { JudgeBatches } from "./JudgeBatches.ts"
import * as JudgeFailure from "./JudgeFailure.ts"
import { JudgeFailed } from "./JudgeFailure.ts"
import * as JudgeHttp from "./JudgeHttp.ts"
import type { Message } from "./JudgePrompt.ts"

export interface EndpointOptions {
  /** The base URL, with the version but without `/chat/completions`: `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** The key, sent as a bearer token. Undefined for endpoints that need none. */
  readonly apiKey?: Redacted.Redacted<string> | undefined
  /** The name of the model at the endpoint. */
  readonly model: string
  /** Members to add to each request, such as `max_tokens`. Default: `temperature: 0`. A null member is not sent. */
  readonly body?: { readonly [member: string]: Schema.Json } | undefined
  /** The maximum number of concurrent requests. Default 8. */
  readonly concurrency?: number | undefined
  /** The timeout of one request, including its whole response. Default 2 minutes. */
  readonly timeout?: Duration.Input | undefined
  /** The maximum number of retries of a failed request. Default 4. */
  readonly retries?: number | undefined
}

export interface Completion extends Answer {
  readonly request: string
  /** True if another vote already includes the cost of this answer. */
  readonly isCached: boolean
}

export interface JudgeStore {
  readonly answers?: JudgeAnswers | undefined
  readonly batches?: JudgeBatches | undefined
  readonly isBatching?: boolean | undefined
}

export interface Judgment {
  readonly running: FiberSet.FiberSet<Answer, JudgeFailed>
  readonly requests: Set<string>
}

export const makeJudgment: Effect.Effect<Judgment, never, Scope.Scope> = Effect.map(
  FiberSet.make<Answer, JudgeFailed>(),
  (running) => ({ running, requests: new Set() }),
)

export const defaults = { concurrency: 8, timeout: "2 minutes", retries: 4 } as const

export const askAgain = `this answer is stored and will be used again; to get a new answer, change the request, for example with --judge-body '{"seed": 1}'`

const maxAnswerBytes = ByteSize.mebibytes(1)
/** The longest pause that a call waits for. During a longer pause, calls fail, so that the caller can continue. */
const maxPause = Duration.minutes(1)
/** The pause after the endpoint refused the settings, such as the key. A retry within seconds would not help. */
const refusalPause = Duration.minutes(1)

const withoutTemperature = ([name]: readonly [string, unknown]): boolean => name !== "temperature"

export const make = Effect.fnUntraced(function* (
  options: EndpointOptions,
  { answers, batches, isBatching = false }: JudgeStore = {},
) {
  const client = yield* HttpClient.HttpClient
  const semaphore = yield* Semaphore.make(options.concurrency ?? defaults.concurrency)
  const timeout = Duration.fromInputUnsafe(options.timeout ?? defaults.timeout)
  const baseUrl = options.baseUrl.replace(/\/+$/, "")
  const context: JudgeFailure.RequestContext = { baseUrl, model: options.model, apiKey: options.apiKey }
  const body = Object.entries({ temperature: 0, ...options.body }).filter(([, value]) => value !== null)
  /** Newer reasoning models refuse a `temperature`. The default of 0 is then left out. A value in `body` stays. */
  const mayDropTemperature = options.body?.["temperature"] === undefined

  let withTemperature = true
  let answered = 0
  let notBefore = 0
  /** Why the endpoint refused the settings, such as the key. The next answer or temporary failure clears this value. */
  let refusal: string | undefined

  /** Settings in each request's id. A `temperature` that the endpoint refuses stays here, so that ids do not change. */
  const configured = Object.fromEntries(body)
  const members = () => Object.fromEntries(withTemperature ? body : body.filter(withoutTemperature))

  const exchange = JudgeHttp.make(client, context)

  const awaitTurn = Effect.gen(function* () {
    const pause = Duration.millis(Math.max(0, notBefore - (yield* Clock.currentTimeMillis)))
    const retryAfter = Duration.toMillis(pause)
    if (refusal !== undefined && retryAfter > 0) {
      return yield* new JudgeFailed({ fault: "Endpoint", problem: refusal, retryAfter })
    }
    if (Duration.isGreaterThan(pause, maxPause)) {
      const problem = `${baseUrl} asks us to wait ${Duration.format(pause)}`
      return yield* new JudgeFailed({ fault: "Moment", problem, retryAfter })
    }
    yield* Effect.sleep(pause)
  })

  /** The requests that were sent and are not answered yet, by id. They continue if their caller is interrupted. */
  const sent = new Map<string, Fiber.Fiber<Answer, JudgeFailed>>()

  const send = (answer: Effect.Effect<Answer, JudgeFailed>, id: string, judgment: Judgment) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        yield* restore(semaphore.take(1))
        yield* Effect.onError(restore(awaitTurn), () => semaphore.release(1))
        const ended = Effect.suspend(() => {
          sent.delete(id)
          return semaphore.release(1)
        })
        const fiber = yield* FiberSet.run(judgment.running, Effect.ensuring(Effect.interruptible(answer), ended), {
          startImmediately: false,
        })
        sent.set(id, fiber)
        return yield* restore(Fiber.join(fiber))
      }),
    )

  const attempt = Effect.fnUntraced(function* (
    messages: ReadonlyArray<Message>,
    id: string,
    judgment: Judgment,
  ): Effect.fn.Return<Answer, JudgeFailed> {
    const body = JSON.stringify({ ...members(), model: options.model, messages })
    if (isBatching && batches !== undefined) return yield* batches.ask(id, body)
    const request = HttpClientRequest.post(`${baseUrl}/chat/completions`).pipe(
      HttpClientRequest.acceptJson,
      HttpClientRequest.bodyText(body, "application/json"),
    )
    const note = Effect.fnUntraced(function* ({ fault, problem, retryAfter }: JudgeFailed) {
      if (fault !== "Moment" && fault !== "Endpoint") return
      const pause = retryAfter ?? (fault === "Endpoint" ? Duration.toMillis(refusalPause) : 0)
      notBefore = Math.max(notBefore, (yield* Clock.currentTimeMillis) + pause)
      refusal = fault === "Endpoint" ? problem : undefined
    })
    const limits = { maxBytes: maxAnswerBytes, timeout }
    const answer = Effect.gen(function* () {
      const text = yield* Effect.tapError(
        exchange(request, limits, () => answered > 0),
        note,
      )
      const answer = yield* JudgeHttp.completionOf(JudgeFailure.bodyOf(text), context, false)
      answered++
      refusal = undefined
      if (answers !== undefined) {
        yield* Effect.ignoreCause(answers.keep(baseUrl, options.model, [[id, answer]]), {
          log: "Warn",
          message: `An answer from judge:${options.model} could not be stored in ${answers.file}`,
        })
      }
      return answer
    })
    return yield* send(answer, id, judgment)
  })

  const attemptAtAnyTemperature = (messages: ReadonlyArray<Message>, id: string, judgment: Judgment) =>
    Effect.catchIf(
      // If an earlier process put this request into a batch, waits for the result of the batch, and sends nothing.
      Effect.suspend(() => batches?.pending(id) ?? attempt(messages, id, judgment)),
      ({ fault }) => fault === "Temperature" && mayDropTemperature,
      () => {
        withTemperature = false
        return attempt(messages, id, judgment)
      },
    )

  const again = Backoff.exponential("1 second", "30 seconds").pipe(
    Schedule.jittered,
    Schedule.setInputType<JudgeFailed>(),
    Schedule.upTo({ times: options.retries ?? defaults.retries }),
    Schedule.while(({ input }) => input.isPassing && (input.retryAfter ?? 0) <= Duration.toMillis(maxPause)),
  )

  const obtain = Effect.fnUntraced(function* (messages: ReadonlyArray<Message>, request: string, judgment: Judgment) {
    const earlier = sent.get(request)
    const exit = earlier && (yield* Fiber.await(earlier))
    if (exit !== undefined && Exit.isSuccess(exit)) return exit.value
    const isPending = batches?.pending(request) !== undefined
    const storedAnswer = answers === undefined || isPending ? Option.none() : yield* answers.find(request)
    if (Option.isSome(storedAnswer)) return storedAnswer.value
    const before = answered
    return yield* Effect.retry(attemptAtAnyTemperature(messages, request, judgment), again).pipe(
      Effect.mapError((failure) => {
        const { fault, problem } = failure
        if (fault === "Question" || (fault === "Length" && answered > before)) {
          return new JudgeError({ problem, isRetryable: false })
        }
        const retryAfter = failure.retryAfter ?? (failure.isPassing ? undefined : Duration.toMillis(refusalPause))
        return new JudgeError({ problem, isRetryable: true, ...(retryAfter === undefined ? {} : { retryAfter }) })
      }),
    )
  })

  const running = new Map<string, Deferred.Deferred<Answer, JudgeError>>()

  const share = (
    messages: ReadonlyArray<Message>,
    request: string,
    judgment: Judgment,
  ): Effect.Effect<{ readonly answer: Answer; readonly isFirst: boolean }, JudgeError> =>
    Effect.suspend(() => {
      const first = running.get(request)
      if (first !== undefined) {
        return Deferred.await(first).pipe(
          Effect.map((answer) => ({ answer, isFirst: false })),
          Effect.catchCauseIf(Cause.hasInterruptsOnly, () => share(messages, request, judgment)),
        )
      }
      const deferred = Deferred.makeUnsafe<Answer, JudgeError>()
      running.set(request, deferred)
      return obtain(messages, request, judgment).pipe(
        Effect.onExit((exit) => {
          running.delete(request)
          return Deferred.done(deferred, exit)
        }),
        Effect.map((answer) => ({ answer, isFirst: true })),
      )
    })

  const complete = Effect.fn("JudgeEndpoint.complete")(function* (
    messages: ReadonlyArray<Message>,
    item: string,
    judgment: Judgment,
  ): Effect.fn.Return<Completion, JudgeError> {
    const request = idOf({ ...configured, model: options.model, messages })
    judgment.requests.add(request)
    const { answer, isFirst } = yield* share(messages, request, judgment)
    const isCounted = answers === undefined ? isFirst : yield* stored(answers.count(request, item))
    if (answer.refusal !== undefined) {
      const problem = answers === undefined ? answer.refusal : `${answer.refusal}; ${askAgain}`
      return yield* new JudgeError({ problem, isRetryable: false })
    }
    return { ...answer, request, isCached: !isCounted }
  })

  return { complete, temperature: Effect.sync(() => members()["temperature"]) }
})

export type Endpoint = Effect.Success<ReturnType<typeof make>>
