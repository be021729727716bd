/** Classifies an endpoint's failures by status, headers, and codes, never by a message. */
import { Duration, Effect, Option, Predicate, Redacted, Schema } from "effect"
import type { Headers } from "effect/http"
import * as RateLimit from "../../api/RateLimit.ts"
import * as HttpFailure from "../../io/HttpFailure.ts"
import { excerpt } from "../../io/Values.ts"

export class JudgeFailed extends Schema.TaggedError<JudgeFailed>()("JudgeFailed", {
  /** The cause. `Moment` is a temporary problem. `Length` is an answer that took too long or was too large. */
  fault: Schema.Literals(["Question", "Endpoint", "Moment", "Length", "Temperature"]),
  problem: Schema.String,
  /** The minimum delay before a retry, in milliseconds, if known. */
  retryAfter: Schema.optionalKey(Schema.Finite),
  /** Set if the endpoint did not carry out the request. */
  isRefused: Schema.optionalKey(Schema.Literal(true)),
  /** Set if the endpoint has nothing at the address (404 or 410). */
  isGone: Schema.optionalKey(Schema.Literal(true)),
}) {
  override get message() {
    return this.problem
  }
  get isPassing(): boolean {
    return this.fault === "Moment" || this.fault === "Length"
  }
}

const maxQuoteCharacters = 300
const maxRetryAfter = Duration.hours(1)

export const quote = (text: string, key: Redacted.Redacted<string> | undefined): string => {
  const secret = key === undefined ? "" : Redacted.value(key)
  const withoutKey = secret === "" ? text : text.replaceAll(secret, "<key>")
  // Backticks in a message mark options, so quoted texts must not contain backticks.
  return excerpt(withoutKey, maxQuoteCharacters).toWellFormed().replaceAll("`", "'") || "no reason given"
}

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

export const bodyOf = (text: string): unknown => Option.getOrElse(decodeJson(text), () => text)

const memberOf = (value: unknown, name: string): unknown =>
  Predicate.hasProperty(value, name) ? value[name] : undefined

const aboutQuestion: ReadonlyArray<unknown> = [
  "content_filter",
  "content_policy_violation",
  "context_length_exceeded",
  "data_inspection_failed",
  "string_above_max_length",
]

/** Error codes of 429 responses about billing. Waiting does not help in these cases. */
const outOfCredit: ReadonlyArray<unknown> = ["insufficient_quota", "billing_hard_limit_reached"]

const errorIn = (body: unknown) => {
  const error = memberOf(body, "error")
  const words = [memberOf(error, "message"), error, memberOf(body, "message"), memberOf(body, "detail")]
  const code = memberOf(error, "code")
  return {
    words: words.find((word) => typeof word === "string") ?? (typeof body === "string" ? body : JSON.stringify(body)),
    // If OpenRouter's moderation refuses a question, the error lists the reasons in `metadata`.
    isAboutQuestion: aboutQuestion.includes(code) || Array.isArray(memberOf(memberOf(error, "metadata"), "reasons")),
    isAboutTemperature: memberOf(error, "param") === "temperature",
    isOutOfCredit: outOfCredit.includes(code),
  }
}

export interface RequestContext {
  readonly baseUrl: string
  readonly model: string
  readonly apiKey?: Redacted.Redacted<string> | undefined
}

export const fromStatus = Effect.fnUntraced(function* (
  { body, headers, status }: { readonly status: number; readonly headers?: Headers.Headers; readonly body: unknown },
  { apiKey, baseUrl, model }: RequestContext,
  hasAnswered: boolean,
) {
  const error = errorIn(body)
  const message = quote(error.words, apiKey)
  const retryAfter = yield* RateLimit.retryAfter(headers?.["retry-after"], maxRetryAfter)
  const failed = (fault: JudgeFailed["fault"], problem: string) =>
    new JudgeFailed({
      fault,
      problem: `${problem}: ${message}`,
      ...(retryAfter !== undefined && { retryAfter }),
      ...(status < 500 && kind !== "timeout" && { isRefused: true }),
      ...(kind === "notFound" && { isGone: true }),
    })

  const kind = HttpFailure.kindOf(status)
  if (error.isAboutQuestion || kind === "tooLarge")
    return failed("Question", `${baseUrl} refuses the question (${status})`)
  if (kind === "unauthorized") {
    const what = apiKey === undefined ? "requires an API key" : "refuses the API key"
    return failed("Endpoint", `${baseUrl} ${what} (${status}); set a valid key in PREFSTREAM_JUDGE_API_KEY`)
  }
  if (status === 402 || error.isOutOfCredit) return failed("Endpoint", `no credit is left at ${baseUrl} (${status})`)
  if (status === 404) return failed("Endpoint", `${baseUrl} has no model ${model}, or is not the API's base URL (404)`)
  if (kind === "wrongAddress") return failed("Endpoint", `${baseUrl} is not the API's base URL (${status})`)
  if (HttpFailure.isTransient(kind)) return failed("Moment", `${baseUrl} is unavailable (${status})`)
  if (error.isAboutTemperature) return failed("Temperature", `${model} does not accept this temperature (${status})`)
  return failed(hasAnswered ? "Question" : "Endpoint", `${baseUrl} refuses the request (${status})`)
})

export const fromBody = (body: unknown, { apiKey, baseUrl }: RequestContext): JudgeFailed =>
  new JudgeFailed({
    fault: "Moment",
    problem: `${baseUrl} returned something other than a chat completion: ${quote(errorIn(body).words, apiKey)}`,
  })

export const fromTransport = (failure: unknown, { baseUrl }: RequestContext): JudgeFailed => {
  const code = HttpFailure.codesOf(HttpFailure.causes(failure)).at(-1) ?? "the request cannot be sent"
  return new JudgeFailed({
    fault: "Moment",
    problem: `no answer from ${baseUrl}: ${code}`,
    ...(HttpFailure.isUnsent(code) && { isRefused: true }),
  })
}
