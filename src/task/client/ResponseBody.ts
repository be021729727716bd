/**
 * Reads the text of a response in bounded memory: at most `maxBytes` of a 2xx response, and the first 64 KiB of an
 * error, which may contain a reason. No request asks for an encoded response (such as gzip), so none is decoded.
 */
import { Effect, Option, Schema, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import * as Json from "../../io/Json.ts"
import { excerpt } from "../../io/Values.ts"
import { maxDetailCharacters } from "./AnnotationClientError.ts"

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly text: string
  /** The reason why the response is unusable. It is `broken off` if the response is incomplete. */
  readonly problem?: string
  /** Whether a proxy or another server may have answered. */
  readonly isForeign?: boolean
}

const reasonBytes = 64 * 1024

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

export const json = ({ text }: Answer): Option.Option<unknown> => parse(text)

export const isJson = (answer: Answer): boolean => Option.isSome(json(answer))

export const read = Effect.fnUntraced(function* (
  response: HttpClientResponse.HttpClientResponse,
  maxBytes: number,
): Effect.fn.Return<Answer> {
  const { headers, status } = response
  const isTaken = status >= 200 && status < 300
  const encoding = headers["content-encoding"] ?? "identity"
  const isEncoded = encoding !== "identity" && encoding !== ""
  const limit = isEncoded ? 0 : isTaken ? maxBytes : reasonBytes
  const about = { status, contentType: headers["content-type"] ?? "" }
  // The HTTP client stops after `content-length` bytes. `upTo` is needed only if this length is missing or too high.
  const length = Number(headers["content-length"] ?? Infinity)
  const whole = length <= limit ? response.text : upTo(response, limit)
  const text = yield* Effect.option(whole)
  if (isEncoded) {
    return {
      ...about,
      text: "",
      problem: `expected JSON without content encoding, found ${encoding}`,
      isForeign: true,
    }
  }
  if (Option.isNone(text)) return { ...about, text: "", problem: "broken off" }
  if (text.value === undefined) {
    return { ...about, text: "", problem: `expected an answer of at most ${maxBytes} bytes, found a larger answer` }
  }
  return Json.isTooDeep(text.value) ? { ...about, text: "", problem: Json.tooDeep } : { ...about, text: text.value }
})

/** Reads at most `limit` bytes. A longer error response is cut off; for a longer 2xx response, returns undefined. */
const upTo = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse, limit: number) {
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  yield* Stream.runForEachWhile(response.stream, (chunk) =>
    Effect.sync(() => {
      bytes += chunk.length
      if (bytes <= limit) text += decoder.decode(chunk, { stream: true })
      return bytes <= limit
    }),
  )
  if (bytes <= limit) return text + decoder.decode()
  return response.status >= 200 && response.status < 300 ? undefined : text
})

export const describe = (answer: Answer, quotable: (text: string) => string): string => {
  const text = excerpt(quotable(answer.text), maxDetailCharacters).replaceAll("`", "'")
  if (text === "") return `nothing (${answer.status})`
  return /json|^$/.test(answer.contentType) ? text : `${answer.contentType.replace(/;.*/s, "")}: ${text}`
}
