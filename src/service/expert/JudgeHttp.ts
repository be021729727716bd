/**
 * Requests to an OpenAI-compatible endpoint, and its chat completions.
 *
 * Guarantees: time and size of a response are limited. Requests have the key, and no tracing headers, because the
 * endpoint may belong to another company.
 */
import { ByteSize, Duration, Effect, Option, Schema, Stream } from "effect"
import { type Headers, HttpClient, type HttpClientError, HttpClientRequest } from "effect/http"
import type { Answer } from "./JudgeAnswers.ts"
import * as JudgeFailure from "./JudgeFailure.ts"
import { JudgeFailed, type RequestContext } from "./JudgeFailure.ts"

export interface Response {
  readonly status: number
  readonly headers: Headers.Headers
  readonly text: string
}

export interface ResponseLimits {
  readonly maxBytes: ByteSize.ByteSize
  readonly timeout: Duration.Duration
}

export const isOk = ({ status }: Pick<Response, "status">): boolean => status >= 200 && status < 300

/** Sends a request, and returns a response of any status. */
export const make =
  (client: HttpClient.HttpClient, context: RequestContext) =>
  (request: HttpClientRequest.HttpClientRequest, { maxBytes, timeout }: ResponseLimits) =>
    Effect.gen(function* () {
      const { apiKey, baseUrl } = context
      const response = yield* client.execute(
        apiKey === undefined ? request : HttpClientRequest.bearerToken(request, apiKey),
      )
      const tooLong = new JudgeFailed({
        fault: "Length",
        problem: `${baseUrl} answers with more than ${ByteSize.format(maxBytes)}`,
      })
      const text = yield* response.stream.pipe(
        Stream.limitBytes<JudgeFailed | HttpClientError.HttpClientError, never>(maxBytes, () => Stream.fail(tooLong)),
        Stream.decodeText,
        Stream.mkString,
      )
      return { status: response.status, headers: response.headers, text } satisfies Response
    }).pipe(
      Effect.timeout(timeout),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.catchTags({
        HttpClientError: (error) => Effect.fail(JudgeFailure.fromTransport(error, context)),
        TimeoutError: () =>
          Effect.fail(
            new JudgeFailed({
              fault: "Length",
              problem: `no answer from ${context.baseUrl} within ${Duration.format(timeout)}`,
            }),
          ),
      }),
    )

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

/** Reads the body of a chat completion. Fails if it is something else, or if the model declines to answer. */
export const completionOf = Effect.fnUntraced(function* (
  text: string,
  context: RequestContext,
  batched: boolean,
): Effect.fn.Return<Answer, JudgeFailed> {
  const decoded = decodeCompletion(text)
  if (Option.isNone(decoded)) return yield* JudgeFailure.fromBody(text, context)
  const { choices, model, usage } = decoded.value
  const { finish_reason, message } = choices[0]
  if (finish_reason === "content_filter" || (message.refusal ?? "") !== "") {
    const words = JudgeFailure.quote(message.refusal ?? "content_filter", context.apiKey)
    return yield* new JudgeFailed({ fault: "Question", problem: `${context.model} declines to answer: ${words}` })
  }
  const content = message.content ?? ""
  const counts = Option.getOrUndefined(decodeUsage(usage))
  return {
    text: typeof content === "string" ? content : content.map((part) => part.text ?? "").join(""),
    model: model ?? undefined,
    promptTokens: counts?.prompt_tokens ?? 0,
    completionTokens: counts?.completion_tokens ?? 0,
    batched,
  }
})
