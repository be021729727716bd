import { assert, describe } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Redacted } from "effect"
import { clockTest } from "../support/job.ts"
import { defaults, ServiceProfile, type ServiceSettings } from "../../src/api/ServiceProfile.ts"

const built = (settings: Partial<ServiceSettings>) =>
  ServiceProfile.layer({ baseUrl: "http://127.0.0.1:9/v1", token: Redacted.make("t"), ...settings }).pipe(
    Layer.build,
    Effect.scoped,
  )

describe("ServiceProfile", () => {
  for (const [settings, message] of [
    [{ requestsPerSecond: 0 }, "requestsPerSecond: expected a number above 0, found 0"],
    [{ requestsPerSecond: NaN }, "requestsPerSecond: expected a number above 0, found NaN"],
    [{ requestsPerSecond: Infinity }, "requestsPerSecond: expected a number above 0, found Infinity"],
    [{ requestsPerSecond: "5" as never }, 'requestsPerSecond: expected a number above 0, found "5"'],
    [
      { requestPerSecond: 2 } as object,
      "requestPerSecond: expected the name of a service setting (did you mean requestsPerSecond?), found an unknown name",
    ],
    [{ concurrency: 0 }, "concurrency: expected a whole number of at least 1, found 0"],
    [{ concurrency: 2.5 }, "concurrency: expected a whole number of at least 1, found 2.5"],
    [{ retries: -1 }, "retries: expected a whole number of at least 0, found -1"],
    [{ downAfter: 0 }, "downAfter: expected a whole number of at least 1, found 0"],
    [{ maxAnswerBytes: 0 }, "maxAnswerBytes: expected a whole number of at least 1, found 0"],
    [{ requestTimeout: 0 }, "requestTimeout: expected a duration of at least 1 millisecond, found 0"],
    [{ patience: NaN }, "patience: expected a duration, found NaN"],
    [
      { pollInterval: { min: 0, max: "1 minute" } },
      "pollInterval.min: expected a duration from 1 millisecond to 1 year, found 0",
    ],
    [
      { pollInterval: { min: "1 minute", max: "400 days" } },
      'pollInterval.max: expected a duration from 1 millisecond to 1 year, found "400 days"',
    ],
    [
      { pollInterval: { min: "2 minutes", max: "1 minute" } },
      "pollInterval: expected `min` to be at most `max`, found 2m and 1m",
    ],
  ] as const) {
    clockTest(`refuses ${message}`, function* () {
      const error = yield* Effect.flip(built(settings))
      assert.strictEqual(error.message, `invalid service setting ${message}`)
    })
  }

  clockTest("takes the defaults, fractions of a request per second, and no patience", function* () {
    for (const settings of [
      defaults,
      { requestsPerSecond: 0.5 },
      { patience: 0 },
      { patience: Duration.infinity },
      { retries: 0 },
    ]) {
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(built(settings))))
    }
  })
})
