/**
 * Limits the request bodies in memory, so that one token cannot block the others. A request over a limit waits before
 * its body is read. After 15 seconds, the answer is 429 (limit per token) or 503 (limit for all tokens). A body of
 * unknown length counts as the maximum.
 */
import { type Duration, Effect, Option, Semaphore } from "effect"
import { HttpMethod, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import {
  BodyTooLarge,
  ServiceUnavailable,
  TooManyRequests,
  UnprocessableTask,
  UnsupportedMediaType,
} from "../../api/Problems.ts"
import * as Utf8 from "../../node/Utf8.ts"
import type { RequestLimits } from "./RequestLimits.ts"

export const maxBodiesPerToken = 2
const maxBodies = 4
const maxWait: Duration.Input = "15 seconds"

/** The maximum number of JSON values in a body: about twice as many as the largest task has. */
export const maxValues = ({ completionsPerPrompt, promptsPerTask }: RequestLimits): number =>
  promptsPerTask * 2 * (completionsPerPrompt + 8) + 1_000

const [quote, backslash, comma, bracket, brace] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b]

/** Whether a JSON text has more than `max` values, counted by its commas and opening brackets. */
export const hasMoreValues = (json: Uint8Array, max: number): boolean => {
  let values = 1
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (inString) {
      if (byte === backslash) i++
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if ((byte === comma || byte === bracket || byte === brace) && ++values > max) return true
  }
  return false
}

const answer = (
  problem: BodyTooLarge | ServiceUnavailable | TooManyRequests | UnprocessableTask | UnsupportedMediaType,
) =>
  Effect.map(Effect.orDie(HttpServerRespondable.toResponse(problem)), (response) =>
    response.status === 429 || response.status === 503
      ? HttpServerResponse.setHeader(response, "retry-after", "5")
      : response,
  )

export const make = (limits: RequestLimits) => {
  const { bodyBytes } = limits
  const maxJsonValues = maxValues(limits)
  const inAll = Semaphore.makeUnsafe(maxBodies * bodyBytes)
  const ofTokens = new Map<string, Semaphore.Semaphore>()

  const ofToken = (tokenId: string) => {
    const semaphore = ofTokens.get(tokenId) ?? Semaphore.makeUnsafe(maxBodiesPerToken * bodyBytes)
    ofTokens.set(tokenId, semaphore)
    return semaphore
  }

  const take = (room: Semaphore.Semaphore, bytes: number) =>
    Effect.map(Effect.timeoutOption(room.takeScoped(bytes), maxWait), Option.isSome)

  return Effect.fnUntraced(function* <E, R>(
    tokenId: string,
    handled: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  ) {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (!HttpMethod.hasBody(request.method)) return yield* handled
    const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(request.headers["content-type"] ?? "")?.[1] ?? "utf-8"
    if (!/^utf-?8$/i.test(charset)) {
      return yield* answer(new UnsupportedMediaType({ detail: `Send the body as UTF-8, not as ${charset}.` }))
    }
    const bytes = Number(request.headers["content-length"] ?? bodyBytes)
    if (bytes > bodyBytes) {
      const detail = `The body must be at most ${bodyBytes} bytes.`
      return yield* answer(new BodyTooLarge({ detail, limit_bytes: bodyBytes }))
    }
    if (!(yield* take(ofToken(tokenId), bytes))) {
      const detail =
        "Other requests with this token are still being received. Send fewer or smaller requests at the same time."
      return yield* answer(new TooManyRequests({ detail }))
    }
    if (!(yield* take(inAll, bytes))) {
      return yield* answer(
        new ServiceUnavailable({ detail: "The service is receiving too many request bodies. Try again later." }),
      )
    }
    const body = new Uint8Array(yield* Effect.orDie(request.arrayBuffer))
    // Invalid UTF-8 is refused, because decoding would replace it with U+FFFD.
    if (!Utf8.isValid(body)) return yield* answer(new UnsupportedMediaType({ detail: "The body is not UTF-8." }))
    if (hasMoreValues(body, maxJsonValues)) {
      const message = `expected at most ${maxJsonValues} JSON values, found more`
      return yield* answer(
        new UnprocessableTask({ detail: `Invalid body: ${message}`, errors: [{ path: [], message }] }),
      )
    }
    return yield* handled
  })
}
