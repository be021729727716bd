import { assert, describe, it } from "@effect/vitest"
import * as HintLimit from "../../../src/task/ledger/HintLimit.ts"

const { most, span } = HintLimit
const never = Number.POSITIVE_INFINITY

/** When each of the hints that come at these times is to be followed. */
const followed = (limit: HintLimit.HintLimit, what: HintLimit.Hinted, times: ReadonlyArray<number>) =>
  times.map((time) => limit.when(what, time))

describe("HintLimit", () => {
  it("has a few hints followed at once, and the rest when the minute since the first is over", () => {
    const times = Array.from({ length: most + 3 }, (_, i) => 1_000 + i)
    assert.deepStrictEqual(followed(HintLimit.make(), 7, times), [
      ...times.slice(0, most),
      ...[1, 2, 3].map(() => 1_000 + span),
    ])
  })

  it("begins anew with the first hint after that minute", () => {
    const limit = HintLimit.make()
    followed(
      limit,
      7,
      Array.from({ length: most + 1 }, () => 0),
    )
    assert.strictEqual(limit.when(7, span - 1), span)
    assert.strictEqual(limit.again(7, span - 1, span - 1), span)
    assert.strictEqual(limit.again(7, span, span), never)
    assert.strictEqual(limit.when(7, span), span)
    assert.strictEqual(limit.again(7, span, span), never)
  })

  it("counts each task for itself, and hints at all apart from them", () => {
    const limit = HintLimit.make()
    followed(
      limit,
      7,
      Array.from({ length: most + 1 }, () => 0),
    )
    assert.deepStrictEqual([limit.when(8, 1), limit.when("all", 1)], [1, 1])
    assert.deepStrictEqual([limit.again(7, 1, 1), limit.again(8, 1, 1)], [span, never])
  })

  it("has each task looked at again where hints at all were put off", () => {
    const limit = HintLimit.make()
    followed(
      limit,
      "all",
      Array.from({ length: most }, () => 500),
    )
    assert.strictEqual(limit.again(3, 500, 500), never)
    assert.strictEqual(limit.when("all", 600), 500 + span)
    assert.strictEqual(limit.again(3, 600, 600), 500 + span)
  })

  it("has a task looked at again where the look under way was taken up before the hint that was put off is followed", () => {
    const limit = HintLimit.make()
    followed(
      limit,
      7,
      Array.from({ length: most + 1 }, () => 0),
    )
    // The next hint, to another task, comes when the minute is over.
    limit.when(8, span + 1)
    assert.strictEqual(limit.again(7, span - 1, span + 2), span + 2)
    assert.strictEqual(limit.again(7, span, span + 2), never)
  })

  it("follows any number of hints to a task a few times a minute, and the last of them within one", () => {
    const limit = HintLimit.make()
    const times = Array.from({ length: 6_000 }, (_, i) => i * 100)
    const looks = new Set(followed(limit, 1, times))
    assert.isAtMost(looks.size, 10 * (most + 1))
    assert.isTrue([...looks].every((look) => look <= 600_000 + span))
    assert.isTrue([...looks].some((look) => look >= times.at(-1)!))
  })
})
