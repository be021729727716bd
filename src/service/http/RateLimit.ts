/** Limits the request rate with token buckets. The buckets are in memory, so a restart of the service refills them. */
import { Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"

/** The requests that a token may make. */
export interface RateLimit {
  /** Requests per second, on average. */
  readonly perSecond: number
  /** The maximum number of requests in a burst, at least 1. */
  readonly burst: number
}

export const defaultRateLimit: RateLimit = { perSecond: 100, burst: 200 }

export interface Allowance {
  readonly headers: Readonly<Record<string, string>>
  readonly retryAfterSeconds: number | undefined
}

export const make = Effect.fnUntraced(
  function* ({ burst, perSecond }: RateLimit) {
    const limiter = yield* RateLimiter.RateLimiter
    const window = Duration.seconds(burst / perSecond)
    const seconds = (duration: Duration.Duration) => Math.max(1, Math.ceil(Duration.toSeconds(duration)))
    const policy = `"default";q=${burst};w=${seconds(window)}`
    const headers = (remaining: number, reset: Duration.Duration) => ({
      "ratelimit-policy": policy,
      ratelimit: `"default";r=${remaining};t=${seconds(reset)}`,
    })

    return (key: string): Effect.Effect<Allowance> =>
      limiter.consume({ algorithm: "token-bucket", limit: burst, window, key }).pipe(
        Effect.map(({ remaining, resetAfter }) => ({
          headers: headers(remaining, resetAfter),
          retryAfterSeconds: undefined,
        })),
        Effect.catchReason(
          "RateLimiterError",
          "RateLimitExceeded",
          ({ retryAfter }) => {
            const retryAfterSeconds = seconds(retryAfter)
            const refused = { ...headers(0, window), "retry-after": String(retryAfterSeconds) }
            return Effect.succeed({ headers: refused, retryAfterSeconds })
          },
          (error) => Effect.die(error),
        ),
      )
  },
  Effect.provide(Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory)),
)
