/** Requests to an OpenAI-compatible endpoint, without tracing headers, because another company may own the endpoint. */
import { ByteSize, Duration, Effect, Option, Schema, Stream } from "effect"
import { HttpClient, type HttpClientError, HttpClientRequest } from "effect/http"
import type { Answer } from "./JudgeAnswers.ts"
import * as JudgeFailure from "./JudgeFailure.ts"
import { JudgeFailed, type RequestContext } from "./JudgeFailure.ts"

export const isOk = (status: number): boolean => status >= 200 && status < 300

export const make =
  (client: HttpClient.HttpClient, context: RequestContext) =>
  (
    request: HttpClientRequest.HttpClientRequest,
    { maxBytes, timeout }: { readonly maxBytes: ByteSize.ByteSize; readonly timeout: Duration.Duration },
    hasAnswered: () => boolean = () => false,
  ): Effect.Effect<string, JudgeFailed> =>
    Effect.gen(function* () {
      const { apiKey, baseUrl } = context
      const { headers, status, stream } = yield* client.execute(
        apiKey === undefined ? request : HttpClientRequest.bearerToken(request, apiKey),
      )
      const tooLong = new JudgeFailed({
        fault: "Length",
        problem: `${baseUrl} answers with more than ${ByteSize.format(maxBytes)}`,
      })
      const text = yield* stream.pipe(
        Stream.limitBytes<JudgeFailed | HttpClientError.HttpClientError, never>(maxBytes, () => Stream.fail(tooLong)),
        Stream.decodeText,
        Stream.mkString,
      )
      if (isOk(status)) return text
      const body = JudgeFailure.bodyOf(text)
      return yield* yield* JudgeFailure.fromStatus({ status, headers, body }, context, hasAnswered())
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
const decodeCompletion = Schema.decodeUnknownOption(ChatCompletion)
const decodeUsage = Schema.decodeUnknownOption(Schema.Struct({ prompt_tokens: Count, completion_tokens: Count }))

export const completionOf = Effect.fnUntraced(function* (
  body: unknown,
  context: RequestContext,
  batched: boolean,
): Effect.fn.Return<Answer, JudgeFailed> {
  const decoded = decodeCompletion(body)
  if (Option.isNone(decoded)) return yield* JudgeFailure.fromBody(body, context)
  const { choices, model, usage } = decoded.value
  const { finish_reason, message } = choices[0]
  const isRefusal = finish_reason === "content_filter" || (message.refusal ?? "") !== ""
  const words = isRefusal ? JudgeFailure.quote(message.refusal ?? "content_filter", context.apiKey) : ""
  const content = message.content ?? ""
  const counts = Option.getOrUndefined(decodeUsage(usage))
  return {
    text: typeof content === "string" ? content : content.map((part) => part.text ?? "").join(""),
    model: model ?? undefined,
    ...(isRefusal && { refusal: `${context.model} declines to answer: ${words}` }),
    promptTokens: counts?.prompt_tokens ?? 0,
    completionTokens: counts?.completion_tokens ?? 0,
    batched,
  }
})
