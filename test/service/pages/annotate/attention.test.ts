import { assert, it } from "@effect/vitest"
import * as attention from "../../../../src/service/pages/annotate/attention.ts"

it("counts while the page is visible, from what was counted before", () => {
  const started = attention.start(12.5, 1_000, true)
  assert.strictEqual(attention.seconds(started, 4_000), 15.5)
})

it("does not count while the page is hidden", () => {
  let state = attention.start(0, 0, true)
  state = attention.setVisible(state, 10_000, false)
  assert.strictEqual(attention.seconds(state, 500_000), 10)
  state = attention.setVisible(state, 500_000, true)
  assert.strictEqual(attention.seconds(state, 503_000), 13)
  assert.strictEqual(attention.seconds(attention.start(0, 0, false), 9_000), 0)
})

it("stops two minutes after the last sign, and goes on with the next", () => {
  let state = attention.start(0, 0, true)
  state = attention.recordActivity(state, 30_000)
  assert.strictEqual(attention.seconds(state, 3_600_000), 150)
  state = attention.recordActivity(state, 3_600_000)
  assert.strictEqual(attention.seconds(state, 3_601_000), 151)
})

it("counts nothing when the clock jumps back", () => {
  const state = attention.recordActivity(attention.start(5, 100_000, true), 40_000)
  assert.strictEqual(attention.seconds(state, 41_000), 6)
})

it("knows whether the expert is there", () => {
  const state = attention.start(0, 0, true)
  assert.isTrue(attention.isActive(state, 60_000, 60_000))
  assert.isFalse(attention.isActive(state, 60_001, 60_000))
  assert.isFalse(attention.isActive(attention.setVisible(state, 1, false), 2, 60_000))
})
