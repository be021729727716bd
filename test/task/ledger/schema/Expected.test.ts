import { assert, it } from "@effect/vitest"
import * as Expected from "../../../../src/task/ledger/schema/Expected.ts"

const expected = Expected.decode(
  Expected.encode([
    { prompt: "p", completions: ["a", "b"] },
    { prompt: "q\ufffd", completions: ["a", "b", "c"] },
  ]),
)

const isMet = (...results: ReadonlyArray<readonly [prompt: string, best: number]>) =>
  Expected.isMetBy(
    expected,
    results.map(([prompt, best_completion_index]) => ({ prompt, best_completion_index })),
  )

it("Expected is met by each prompt in its place, with an index of its completions", () => {
  assert.isTrue(isMet(["p", 1], ["q\ufffd", 2]))
  assert.isFalse(isMet(["p", 2], ["q\ufffd", 2]), "an index too high")
  assert.isFalse(isMet(["p", -1], ["q\ufffd", 2]), "an index too low")
  assert.isFalse(isMet(["p", 1]), "a result too few")
  assert.isFalse(isMet(["q\ufffd", 1], ["p", 1]), "another order")
  assert.isFalse(isMet(["p", 1], ["q\ud800", 2]), "a lone surrogate, which UTF-8 turns into U+FFFD")
})
