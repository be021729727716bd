/**
 * The client of an OpenAI-compatible endpoint: `POST {base URL}/chat/completions`.
 *
 * Guarantees: concurrency, time, response size, and retries are limited. The client sends nothing during a pause that
 * the endpoint asked for, or for a minute after the endpoint refused the settings, such as the key. It does not follow
 * redirects. No failure or log contains the key. A `JudgeError` says whether the question (not retryable) or the
 * endpoint is at fault. A refusal without a reason, a timeout, or an oversized response is the question's fault only if
 * the endpoint has answered other questions. With `JudgeAnswers`, a request that was answered before is not sent again.
 */
import { ByteSize, Clock, Duration, Effect, Option, type Redacted, Schedule, type Schema, Semaphore } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as Backoff from "../../io/Backoff.ts"
import { JudgeError } from "./Expert.ts"
import { type Answer, idOf, type JudgeAnswers } from "./JudgeAnswers.ts"
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
  /**
   * Members to add to each request, such as `max_tokens` or `response_format`. Null removes `temperature`, which is 0
   * by default.
   */
  readonly body?: { readonly [member: string]: Schema.Json } | undefined
  /** The maximum number of concurrent requests. Default 8. */
  readonly concurrency?: number | undefined
  /** The timeout of one request, including its whole response. Default 2 minutes. */
  readonly timeout?: Duration.Input | undefined
  /** The maximum number of retries of a failed request. Default 4. */
  readonly retries?: number | undefined
}

export interface Completion extends Answer {
  /** The id of the request, see `JudgeAnswers`. */
  readonly request: string
  /** Whether the answer is from an earlier request, which is not paid for again. */
  readonly isCached: boolean
}

/** Earlier answers, and batches. */
export interface JudgeStore {
  readonly answers?: JudgeAnswers | undefined
  readonly batches?: JudgeBatches | undefined
  /** Whether new requests become part of a batch. */
  readonly isBatching?: boolean | undefined
}

export interface Endpoint {
  readonly complete: (messages: ReadonlyArray<Message>) => Effect.Effect<Completion, JudgeError>
  /** The `temperature` in the requests. Undefined if they have none. */
  readonly temperature: Effect.Effect<Schema.Json | undefined>
}

export const defaults = { concurrency: 8, timeout: "2 minutes", retries: 4 } as const

const maxAnswerBytes = ByteSize.mebibytes(1)
/** The longest pause that a call waits for. During a longer pause, calls fail, so that the caller can continue. */
const maxPause = Duration.minutes(1)
/** The pause after the endpoint refused the settings, such as the key. A retry within seconds would not help. */
const refusalPause = Duration.minutes(1)

const withoutTemperature = ([name]: readonly [string, unknown]): boolean => name !== "temperature"

export const make = Effect.fnUntraced(function* (
  options: EndpointOptions,
  { answers, batches, isBatching = false }: JudgeStore = {},
): Effect.fn.Return<Endpoint, never, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const semaphore = yield* Semaphore.make(options.concurrency ?? defaults.concurrency)
  const timeout = Duration.fromInputUnsafe(options.timeout ?? defaults.timeout)
  const baseUrl = options.baseUrl.replace(/\/+$/, "")
  const context: JudgeFailure.RequestContext = { baseUrl, model: options.model, apiKey: options.apiKey }
  const body = Object.entries({ temperature: 0, ...options.body }).filter(([, value]) => value !== null)
  /**
   * Newer reasoning models refuse requests with a `temperature`. Then the client leaves out its default, but not a
   * value from the options.
   */
  const mayDropTemperature = options.body?.["temperature"] === undefined

  let withTemperature = true
  let answered = 0
  let notBefore = 0
  /** Why the endpoint refused the settings, such as the key, in its last response. */
  let refusal: string | undefined

  /** The id of a request includes the default temperature, even if the endpoint refused it. */
  const configured = Object.fromEntries(body)
  const members = () => Object.fromEntries(withTemperature ? body : body.filter(withoutTemperature))

  const exchange = JudgeHttp.make(client, context)

  /** Fails during a long pause, or a pause after the endpoint refused the settings. */
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

  const noteAnswer = Effect.sync(() => {
    answered++
    refusal = undefined
  })

  const attempt = Effect.fnUntraced(function* (
    messages: ReadonlyArray<Message>,
    id: string,
  ): Effect.fn.Return<Answer, JudgeFailed> {
    const body = JSON.stringify({ ...members(), model: options.model, messages })
    if (isBatching && batches !== undefined) return yield* batches.ask(id, body)
    const request = HttpClientRequest.post(`${baseUrl}/chat/completions`).pipe(
      HttpClientRequest.acceptJson,
      HttpClientRequest.bodyText(body, "application/json"),
    )
    const response = yield* Effect.andThen(awaitTurn, exchange(request, { maxBytes: maxAnswerBytes, timeout })).pipe(
      Semaphore.withPermit(semaphore),
    )
    if (JudgeHttp.isOk(response)) {
      return yield* JudgeHttp.completionOf(response.text, context, false).pipe(
        Effect.tap(noteAnswer),
        Effect.tapError(({ fault }) => (fault === "Question" ? noteAnswer : Effect.void)),
      )
    }
    const failure = yield* JudgeFailure.fromStatus(response, context, answered > 0)
    const pause = failure.retryAfter ?? (failure.fault === "Endpoint" ? Duration.toMillis(refusalPause) : 0)
    if (failure.fault === "Moment" || failure.fault === "Endpoint") {
      notBefore = Math.max(notBefore, (yield* Clock.currentTimeMillis) + pause)
      refusal = failure.fault === "Endpoint" ? failure.problem : undefined
    }
    return yield* failure
  })

  const attemptAtAnyTemperature = (messages: ReadonlyArray<Message>, id: string) =>
    Effect.catchIf(
      // The request may be part of an earlier batch, even if this process sends none.
      Effect.suspend(() => batches?.pending(id) ?? attempt(messages, id)),
      ({ fault }) => fault === "Temperature" && mayDropTemperature,
      () => {
        withTemperature = false
        return attempt(messages, id)
      },
    )

  const again = Backoff.exponential("1 second", "30 seconds").pipe(
    Schedule.jittered,
    Schedule.setInputType<JudgeFailed>(),
    Schedule.upTo({ times: options.retries ?? defaults.retries }),
    Schedule.while(({ input }) => input.isPassing && (input.retryAfter ?? 0) <= Duration.toMillis(maxPause)),
  )

  const complete = Effect.fn("JudgeEndpoint.complete")(function* (
    messages: ReadonlyArray<Message>,
  ): Effect.fn.Return<Completion, JudgeError> {
    const request = idOf({ ...configured, model: options.model, messages })
    const isPending = batches?.pending(request) !== undefined
    const cached = answers === undefined || isPending ? Option.none() : yield* answers.find(request)
    if (Option.isSome(cached)) return { ...cached.value, request, isCached: true }
    const before = answered
    const answer = yield* Effect.retry(attemptAtAnyTemperature(messages, request), again).pipe(
      Effect.mapError((failure) => {
        const { fault, problem } = failure
        if (fault === "Question" || (fault === "Length" && answered > before)) {
          return new JudgeError({ problem, isRetryable: false })
        }
        const retryAfter = failure.retryAfter ?? (failure.isPassing ? undefined : Duration.toMillis(refusalPause))
        return new JudgeError({ problem, isRetryable: true, ...(retryAfter === undefined ? {} : { retryAfter }) })
      }),
    )
    if (answers !== undefined && !answer.batched) {
      yield* Effect.ignoreCause(answers.keep(baseUrl, options.model, [[request, answer]]), {
        log: "Warn",
        message: `An answer from judge:${options.model} could not be stored in ${answers.file}`,
      })
    }
    return { ...answer, request, isCached: false }
  })

  return { complete, temperature: Effect.sync(() => members()["temperature"]) }
})
