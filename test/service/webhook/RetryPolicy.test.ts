import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import * as RetryPolicy from "../../../src/service/webhook/RetryPolicy.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(Layer.empty)

/** The table in the specification of Standard Webhooks 1.0.0. */
const timesSinceStart = [
  "00:00:00", "00:00:05", "00:05:05", "00:35:05", "02:35:05",
  "07:35:05", "17:35:05", "31:35:05", "51:35:05", "75:35:05",
] // prettier-ignore

describe("the schedule", () => {
  it("is the specification's", () => {
    let seconds = 0
    const times = RetryPolicy.standardSchedule.map((delay) => {
      seconds += Duration.toSeconds(delay)
      const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
      return parts.map((part) => String(part).padStart(2, "0")).join(":")
    })
    assert.deepStrictEqual(times, timesSinceStart)
  })

  test("has a jitter of a fifth, to both sides, and none at once", function* () {
    const delays = yield* Effect.replicateEffect(RetryPolicy.delayTo(RetryPolicy.standardSchedule, 2, 0), 1_000)
    const [least, most] = [Math.min(...delays.map(Number)), Math.max(...delays.map(Number))]
    assert.isAtLeast(least, 240_000)
    assert.isBelow(least, 250_000)
    assert.isAbove(most, 350_000)
    assert.isAtMost(most, 360_000)
    assert.strictEqual(yield* RetryPolicy.delayTo(RetryPolicy.standardSchedule, 0, 0), 0)
  })
})

it("a pause comes of 429 and 503 alone, and is an hour at most", () => {
  assert.strictEqual(RetryPolicy.pause(429, 5_000), 5_000)
  assert.strictEqual(RetryPolicy.pause(503, 86_400_000), 3_600_000)
  assert.strictEqual(RetryPolicy.pause(503, 0), 0)
  assert.strictEqual(RetryPolicy.pause(500, 5_000), 0)
})
