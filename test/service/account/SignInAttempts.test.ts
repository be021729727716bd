import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as SignInAttempts from "../../../src/service/account/SignInAttempts.ts"
import * as Logs from "../../support/logs.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(Layer.empty)

const address = "203.0.113.7"

/** How many of these attempts are through, wait, and were refused. */
const attempts = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const attempt = SignInAttempts.make()
  const fibers = yield* Effect.forEach(names, (name) => Effect.forkChild(attempt(address, name)))
  return Effect.gen(function* () {
    const exits = fibers.map((fiber) => fiber.pollUnsafe())
    const through = exits.filter((exit) => exit !== undefined && Exit.isSuccess(exit)).length
    const waiting = exits.filter((exit) => exit === undefined).length
    return [through, waiting, exits.length - through - waiting]
  })
})

it.effect("as one name: ten at once, then one every 10 seconds; those that would wait longer are refused", () => {
  const { during, messages } = Logs.make()
  return Effect.gen(function* () {
    const counts = yield* attempts(Array.from({ length: 20 }, () => "ann\n"))
    const after = (seconds: number) => Effect.andThen(TestClock.adjust(seconds * 1_000), counts)
    assert.deepStrictEqual(yield* after(0), [11, 4, 5])
    assert.deepStrictEqual(yield* after(9), [11, 4, 5])
    assert.deepStrictEqual(yield* after(1), [12, 3, 5])
    assert.deepStrictEqual(yield* after(30), [15, 0, 5])
    assert.deepStrictEqual(messages, [`${address}, "ann\\n": 10 sign-in attempts failed; further attempts are delayed`])
  }).pipe(during)
})

test("as any name: 60 at once, then one a second", function* () {
  const counts = yield* attempts(Array.from({ length: 70 }, (_, i) => `somebody ${i}`))
  yield* TestClock.adjust(0)
  assert.deepStrictEqual(yield* counts, [61, 9, 0])
  yield* TestClock.adjust("5 seconds")
  assert.deepStrictEqual(yield* counts, [66, 4, 0])
})
