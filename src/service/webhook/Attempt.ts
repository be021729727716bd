/** One delivery attempt: a signed POST without tracing headers. It never fails: errors and redirects are outcomes. */
import { Bytes, Clock, Duration, Effect, Option, Schema, Stream } from "effect"
import type { Mac } from "effect/crypto"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as HttpFailure from "../../io/HttpFailure.ts"
import { AddressRefused } from "../../node/GuardedHttpClient.ts"
import * as HmacSignature from "../../api/HmacSignature.ts"
import { schemes } from "../../api/WebhookScheme.ts"
import type { WebhookSecret } from "../../api/WebhookSecret.ts"
import * as RetryPolicy from "./RetryPolicy.ts"

export interface Outcome {
  readonly at: number
  readonly status: number | null
  readonly error: string | null
  readonly millis: number
  /** The first 1,000 characters of the response body, or a note that they were not kept. Empty without a response. */
  readonly answer: string
  /** The receiver's `Retry-After`, in milliseconds. 0 if the response has none. */
  readonly retryAfter: number
}

export const verdict = ({ status }: Outcome): "delivered" | "gone" | "failed" =>
  status !== null && status >= 200 && status < 300 ? "delivered" : status === 410 ? "gone" : "failed"

const answerBytes = 4_000
const answerCharacters = 1_000

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Decodes the beginning of a response body. Replaces NUL, which SQLite cannot store in some versions of Node. */
const decodeAnswer = (chunks: ReadonlyArray<Uint8Array>): string =>
  Array.from(decoder.decode(Bytes.concat(chunks).subarray(0, answerBytes)).replaceAll("\0", "\uFFFD"))
    .slice(0, answerCharacters)
    .join("")

const explain = (error: unknown): string => {
  const chain = HttpFailure.causes(error)
  const refused = chain.find(Schema.is(AddressRefused))
  if (refused !== undefined) return `not sent: ${refused.message}`
  const codes = HttpFailure.codesOf(chain)
  const describedCode = codes.find((code) => HttpFailure.descriptions[code] !== undefined)
  if (describedCode !== undefined) return `${HttpFailure.descriptions[describedCode]} (${describedCode})`
  const insecure = codes.find(HttpFailure.isInsecure)
  if (insecure !== undefined) return `no secure connection (${insecure})`
  const innermost = chain.findLast((cause) => cause instanceof Error)
  return `${innermost?.message ?? "the request failed"}${codes[0] === undefined ? "" : ` (${codes[0]})`}`.slice(0, 300)
}

const meaning = (status: number): string | null => {
  if (status === 410) return "the receiver wants no more deliveries"
  if (status >= 300 && status < 400) return "a redirect, which is not followed"
  return null
}

export interface AttemptOptions {
  readonly timeout: Duration.Duration
  readonly userAgent: string
  /** Returns true if response bodies from this URL must not be stored. It is called after the response has arrived. */
  readonly hidesAnswers: (url: string) => boolean
}

export const make = Effect.fnUntraced(function* ({ hidesAnswers, timeout, userAgent }: AttemptOptions) {
  const client = HttpClient.withScope(yield* HttpClient.HttpClient)

  return Effect.fn("WebhookAttempt.send")(function* (
    url: string,
    secrets: ReadonlyArray<WebhookSecret>,
    { messageId, payload }: { readonly messageId: string; readonly payload: string },
  ): Effect.fn.Return<Outcome, never, Mac.Mac> {
    yield* Effect.annotateCurrentSpan("prefstream.message_id", messageId)
    const at = yield* Clock.currentTimeMillis
    const body = encoder.encode(payload)
    const attempt = { id: messageId, timestamp: Math.floor(at / 1000), body }
    const signed = yield* HmacSignature.sign(schemes["standard-webhooks"], attempt, secrets)
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.bodyUint8Array(body, "application/json"),
      HttpClientRequest.setHeaders({ ...signed, "user-agent": userAgent }),
    )

    // After a timeout, these variables contain the part of the response that has arrived.
    let response: HttpClientResponse.HttpClientResponse | undefined
    const chunks: Array<Uint8Array> = []
    let read = 0

    const failure = yield* client.execute(request).pipe(
      Effect.flatMap((answered) => {
        response = answered
        return Stream.runForEachWhile(answered.stream, (chunk) =>
          Effect.sync(() => {
            chunks.push(chunk)
            read += chunk.length
            return read < answerBytes
          }),
        )
      }),
      Effect.scoped,
      Effect.timeoutOption(timeout),
      Effect.map((inTime) => (Option.isNone(inTime) ? `no answer within ${Duration.format(timeout)}` : null)),
      Effect.catch((error) => Effect.succeed(explain(error))),
      Effect.catchDefect((defect) => Effect.succeed(explain(defect))),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
    )
    const millis = Math.max(0, (yield* Clock.currentTimeMillis) - at)
    if (response !== undefined) {
      const { headers, status } = response
      const retryAfter = yield* RetryPolicy.retryAfter(headers["retry-after"])
      const answer =
        read > 0 && hidesAnswers(url)
          ? "(The response body was not stored, because the webhook URL leads to a private network.)"
          : decodeAnswer(chunks)
      return { at, status, error: meaning(status), millis, answer, retryAfter }
    }
    return { at, status: null, error: failure, millis, answer: "", retryAfter: 0 }
  })
})
