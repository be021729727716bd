/**
 * Reads from response headers how many requests the service accepts, and when to retry. The supported headers are
 * `Retry-After`; `RateLimit` in the syntax of draft-ietf-httpapi-ratelimit-headers-10 and older; and
 * `RateLimit-Remaining`, `-Reset`, and `-Reset-After`, each with and without `X-`. A malformed header is ignored. A
 * reset in more than an hour is treated as a reset in an hour.
 */
import { Clock, Duration, Effect, Option, Result } from "effect"
import { Headers } from "effect/http"

/** Returns the wait that `Retry-After` (seconds or a date) asks for, in whole milliseconds, at most `max`. */
export const retryAfter = Effect.fnUntraced(function* (header: string | undefined, max: Duration.Duration) {
  const parsed = Option.flatMap(Option.fromUndefinedOr(header), (text) =>
    Result.getSuccess(Headers.parseRetryAfter(text)),
  )
  if (Option.isNone(parsed)) return undefined
  const delay = Headers.retryAfterDelay(parsed.value, yield* Clock.currentTimeMillis)
  return Math.ceil(Duration.toMillis(Duration.min(delay, max)))
})

export interface Quota {
  readonly name: string
  readonly remaining: number
  /** Milliseconds from now until the quota resets. */
  readonly reset: number
}

const maxReset = Duration.toMillis("1 hour")

export const quotas = (headers: Headers.Headers, now: number): ReadonlyArray<Quota> => {
  const current = headers["ratelimit"]
  return current === undefined ? older(headers, now) : structured(current, headers["ratelimit-policy"] ?? "")
}

const older = (headers: Headers.Headers, now: number): ReadonlyArray<Quota> => {
  for (const prefix of ["ratelimit", "x-ratelimit"]) {
    const remaining = count(headers[`${prefix}-remaining`])
    if (remaining === undefined) continue
    const after = count(headers[`${prefix}-reset-after`])
    const reset = after === undefined ? untilReset(count(headers[`${prefix}-reset`]), now) : after * 1000
    if (reset !== undefined) return [{ name: prefix, remaining, reset: Math.min(reset, maxReset) }]
  }
  return []
}

/** `value` is seconds from now (up to 1e9), seconds since 1970 (up to 1e12), or milliseconds since 1970. */
const untilReset = (value: number | undefined, now: number): number | undefined => {
  if (value === undefined) return undefined
  if (value > 1e12) return Math.max(0, value - now)
  return value > 1e9 ? Math.max(0, value * 1000 - now) : value * 1000
}

const structured = (header: string, policyHeader: string): ReadonlyArray<Quota> => {
  const policies = new Map(members(policyHeader).map(({ name, parameters }) => [name, parameters]))
  const listed = members(header)
  const dictionary = new Map(listed.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])))
  const limits = dictionary.has("remaining")
    ? [{ name: "ratelimit", remaining: count(dictionary.get("remaining")), reset: count(dictionary.get("reset")) }]
    : listed.map(({ name, parameters }) => ({
        name,
        remaining: count(parameters.get("r")),
        reset: count(parameters.get("t")) ?? count(policies.get(name)?.get("w")),
      }))
  return limits.flatMap(({ name, remaining, reset }) =>
    remaining === undefined || reset === undefined
      ? []
      : [{ name, remaining, reset: Math.min(reset * 1000, maxReset) }],
  )
}

const count = (text: string | undefined): number | undefined =>
  text !== undefined && /^\s*\d{1,15}(\.\d+)?\s*$/.test(text) ? Number(text) : undefined

/** Parses the members of a structured field's list or dictionary (RFC 9651): `"name";r=1;t=2` or `name=1`. */
const members = (field: string) =>
  pieces(field, ",").map((member) => {
    const [first = "", ...rest] = pieces(member, ";")
    const [name, value] = pair(first)
    return { name: name.replace(/^"(.*)"$/s, "$1"), value, parameters: new Map(rest.map(pair)) }
  })

const pair = (text: string): readonly [name: string, value: string | undefined] => {
  const at = text.startsWith('"') ? -1 : text.indexOf("=")
  return at === -1 ? [text.trim(), undefined] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

const pieces = (text: string, separator: "," | ";"): ReadonlyArray<string> => {
  const matches = text.match(separator === "," ? /(?:"(?:\\.|[^"\\])*"|[^",])+/gs : /(?:"(?:\\.|[^"\\])*"|[^";])+/gs)
  return (matches ?? []).map((piece) => piece.trim()).filter((piece) => piece !== "")
}
