import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as fc from "fast-check"
import {
  allows,
  counter,
  isLimit,
  parseLimit,
  type RejectLimit,
  TooManyRejects,
} from "../../../src/task/plan/RejectLimit.ts"
import { effectTest } from "../../support/effectTest.ts"

const test = effectTest(it.effect)

describe("RejectLimit.parseLimit", () => {
  it.each([
    ["0", 0],
    ["10", 10],
    ["1%", "1%"],
    ["0%", "0%"],
    ["0.5%", "0.5%"],
    ["100%", "100%"],
    ["100.0%", "100.0%"],
  ] as const)("takes %s", (text, limit) => {
    assert.deepStrictEqual(parseLimit(text), Option.some(limit))
    assert.isTrue(isLimit(limit))
  })

  it.each([
    "",
    "%",
    "-1",
    "-1%",
    "1.5",
    "1,5%",
    ".5%",
    "1.%",
    "1 %",
    "1%%",
    "100.01%",
    "101%",
    "1e2%",
    "1e2",
    "NaN",
    "∞%",
  ])("takes no %j", (text) => {
    assert.deepStrictEqual(parseLimit(text), Option.none())
    assert.isFalse(isLimit(text))
  })

  it("is none where a program says what is none", () => {
    for (const limit of [-1, 1.5, Number.NaN, Infinity, null, undefined, {}]) assert.isFalse(isLimit(limit))
  })
})

describe("RejectLimit.allows", () => {
  it.each([
    [3, 10, 3, true],
    [3, 10, 4, false],
    ["1%", 5000, 50, true],
    ["1%", 5000, 51, false],
    ["1%", 4999, 50, false],
    ["0%", 5000, 0, true],
    ["0%", 5000, 1, false],
    ["100%", 5000, 5000, true],
    ["1%", 0, 0, true],
    // 0.29 * 100 is 28.999999999999996 in floating point.
    ["0.29%", 10_000, 29, true],
    ["0.29%", 10_000, 30, false],
  ] as const)("%s of %i: %i is %s", (limit, read, rejected, expected) => {
    assert.strictEqual(allows(limit, { read, rejected }), expected)
  })

  it("is exact, however many digits a share has", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 8n), fc.bigInt(0n, 10n ** 12n), (millionths, read) => {
        const whole = millionths / 1_000_000n
        const limit = `${whole}.${String(millionths % 1_000_000n).padStart(6, "0")}%` as RejectLimit
        const most = (millionths * read) / 100_000_000n
        assert.isTrue(allows(limit, { read: Number(read), rejected: Number(most) }))
        assert.isFalse(allows(limit, { read: Number(read), rejected: Number(most + 1n) }))
      }),
    )
  })
})

describe("without a limit", () => {
  const fill = Effect.fnUntraced(function* (limit: RejectLimit | undefined, usable: number) {
    const count = counter(limit)
    yield* count.add({ read: 99_999, rejected: 99_999 - usable })
    yield* count.add({ read: 5_000, rejected: 5_000 })
  })

  test("a run ends where none of the first 100,000 records can be used", function* () {
    assert.strictEqual(
      (yield* Effect.flip(fill(undefined, 0))).message,
      'the first 104,999 records were all rejected. Check the files and their layout with prefstream validate; to continue anyway, set `maxRejects: "100%"`',
    )
    yield* fill(undefined, 1)
    yield* fill("100%", 0)
  })
})

describe("TooManyRejects", () => {
  it.each([
    [{ read: 9, rejected: 1, limit: 0 }, "1 record was rejected, but `maxRejects` allows 0"],
    [{ read: 9, rejected: 2, limit: 1 }, "2 records were rejected, but `maxRejects` allows 1"],
    [{ read: 5000, rejected: 120, limit: "1%" }, "120 of 5,000 records were rejected, but `maxRejects` allows 1%"],
    [{ read: 50, rejected: 1, limit: "1%" }, "1 of 50 records was rejected, but `maxRejects` allows 1%"],
    [{ read: 1, rejected: 1, limit: "0.5%" }, "1 of 1 record was rejected, but `maxRejects` allows 0.5%"],
  ] as const)("tells how many of how many, and what is allowed: %j", (members, message) => {
    assert.strictEqual(new TooManyRejects(members).message, message)
  })
})
