/**
 * The client of an OpenAI-compatible endpoint: `POST {base URL}/chat/completions`.
 *
 * Guarantees: concurrency, time, response size, and retries are limited. The client sends nothing during a pause that
 * the endpoint asked for, or for a minute after the endpoint refused the settings, such as the key. It does not follow
 * redirects. No failure or log contains the key. A `JudgeError` says whether the question (not retryable) or the
 * endpoint is at fault. A refusal without a reason, a timeout, or an oversized response is the question's fault only if
 * the endpoint has answered other questions.
 */
import { ByteSize, Clock, Duration, Effect, Option, type Redacted, Schedule, Schema, Semaphore, Stream } from "effect"
import { HttpClient, type HttpClientError, HttpClientRequest } from "effect/http"
import * as Backoff from "../../io/Backoff.ts"
import { JudgeError } from "./Expert.ts"
import * as JudgeFailure from "./JudgeFailure.ts"
import { JudgeFailed } from "./JudgeFailure.ts"
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

export interface Completion {
  /** The text of the answer. Empty if the answer has none. */
  readonly text: string
  readonly model: string | undefined
  readonly promptTokens: number
  readonly completionTokens: number
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

const Text = Schema.optionalKey(Schema.NullOr(Schema.String))
const Count = Schema.optionalKey(Schema.NullOr(Schema.Int))
const ChatCompletion = Schema.Struct({
  model: Text,
  choices: Schema.NonEmptyArray(
    Schema.Struct({
      finish_reason: Text,
      message: Schema.Struct({
        content: Schema.optionalKey(
          Schema.NullOr(Schema.Union([Schema.String, Schema.Array(Schema.Struct({ text: Text }))])),
        ),
        refusal: Text,
      }),
    }),
  ),
  usage: Schema.optionalKey(Schema.Unknown),
})
const decodeCompletion = Schema.decodeUnknownOption(Schema.fromJsonString(ChatCompletion))
const decodeUsage = Schema.decodeUnknownOption(Schema.Struct({ prompt_tokens: Count, completion_tokens: Count }))

const withoutTemperature = ([name]: readonly [string, unknown]): boolean => name !== "temperature"

export const make = Effect.fnUntraced(function* (
  options: EndpointOptions,
): Effect.fn.Return<Endpoint, never, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const semaphore = yield* Semaphore.make(options.concurrency ?? defaults.concurrency)
  const timeout = Duration.fromInputUnsafe(options.timeout ?? defaults.timeout)
  const baseUrl = options.baseUrl.replace(/\/+$/, "")
  const asked: JudgeFailure.RequestContext = { baseUrl, model: options.model, apiKey: options.apiKey }
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

  const members = () => Object.fromEntries(withTemperature ? body : body.filter(withoutTemperature))

  const send = Effect.fnUntraced(function* (messages: ReadonlyArray<Message>) {
    const request = HttpClientRequest.post(`${baseUrl}/chat/completions`).pipe(
      HttpClientRequest.acceptJson,
      HttpClientRequest.bodyText(JSON.stringify({ ...members(), model: options.model, messages }), "application/json"),
      (request) => (options.apiKey === undefined ? request : HttpClientRequest.bearerToken(request, options.apiKey)),
    )
    const response = yield* client.execute(request)
    const tooLong = new JudgeFailed({
      fault: "Length",
      problem: `${baseUrl} answers with more than ${ByteSize.format(maxAnswerBytes)}`,
    })
    const text = yield* response.stream.pipe(
      Stream.limitBytes<JudgeFailed | HttpClientError.HttpClientError, never>(maxAnswerBytes, () =>
        Stream.fail(tooLong),
      ),
      Stream.decodeText,
      Stream.mkString,
    )
    return { response, text }
  })

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

  const attempt = Effect.fnUntraced(function* (
    messages: ReadonlyArray<Message>,
  ): Effect.fn.Return<Completion, JudgeFailed> {
    const { response, text } = yield* Effect.andThen(awaitTurn, Effect.timeout(send(messages), timeout)).pipe(
      // The endpoint may belong to another company, so requests have no tracing headers.
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Semaphore.withPermit(semaphore),
      Effect.catchTags({
        HttpClientError: (error) => Effect.fail(JudgeFailure.fromTransport(error, asked)),
        TimeoutError: () =>
          Effect.fail(
            new JudgeFailed({
              fault: "Length",
              problem: `no answer from ${baseUrl} within ${Duration.format(timeout)}`,
            }),
          ),
      }),
    )
    if (response.status < 200 || response.status >= 300) {
      const failure = yield* JudgeFailure.fromStatus(response, text, asked, answered > 0)
      const pause = failure.retryAfter ?? (failure.fault === "Endpoint" ? Duration.toMillis(refusalPause) : 0)
      if (failure.fault === "Moment" || failure.fault === "Endpoint") {
        notBefore = Math.max(notBefore, (yield* Clock.currentTimeMillis) + pause)
        refusal = failure.fault === "Endpoint" ? failure.problem : undefined
      }
      return yield* failure
    }
    const decoded = decodeCompletion(text)
    if (Option.isNone(decoded)) return yield* JudgeFailure.fromBody(text, asked)
    answered++
    refusal = undefined
    const { choices, model, usage } = decoded.value
    const { finish_reason, message } = choices[0]
    if (finish_reason === "content_filter" || (message.refusal ?? "") !== "") {
      const words = JudgeFailure.quote(message.refusal ?? "content_filter", options.apiKey)
      return yield* new JudgeFailed({ fault: "Question", problem: `${options.model} declines to answer: ${words}` })
    }
    const content = message.content ?? ""
    const counts = Option.getOrUndefined(decodeUsage(usage))
    return {
      text: typeof content === "string" ? content : content.map((part) => part.text ?? "").join(""),
      model: model ?? undefined,
      promptTokens: counts?.prompt_tokens ?? 0,
      completionTokens: counts?.completion_tokens ?? 0,
    }
  })

  const attemptAtAnyTemperature = (messages: ReadonlyArray<Message>) =>
    Effect.catchIf(
      attempt(messages),
      ({ fault }) => fault === "Temperature" && mayDropTemperature,
      () => {
        withTemperature = false
        return attempt(messages)
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
    const before = answered
    return yield* Effect.retry(attemptAtAnyTemperature(messages), again).pipe(
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

  return { complete, temperature: Effect.sync(() => members()["temperature"]) }
})
