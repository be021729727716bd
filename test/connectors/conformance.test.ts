/** Each protocol against each fault, and a protocol with a mistake, which the suite finds. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cases, table } from "prefstream/testing"
import { leftOut, manyCases } from "../support/cases.ts"
import * as Contract from "./contract.ts"
import { subjects } from "./subjects.ts"

/** A run plays every sixth case of each protocol, CI every third one; `ALL_CASES=1` plays all. */
const isLeftOut = leftOut(manyCases ? 3 : 6)

describe.each(subjects.map((subject, place) => ({ ...subject, place })))("$name", ({ place, ...subject }) => {
  it.each(cases(subject).filter((_, i) => !isLeftOut(place + i)))("$name", async ({ run }) => {
    const { paid, runs, sentAgain } = await Effect.runPromise(run)
    assert.isAtLeast(paid, 4 * runs)
    assert.isAtMost(paid, 4 * runs + sentAgain)
  })
})

it("the table names what a protocol pays for twice, if it repeats a creation that is not repeatable", async () => {
  const url = new URL("./fixtures/repeating.ts", import.meta.url)
  const { failures, markdown } = await Effect.runPromise(
    table([{ name: "repeating", protocol: { url }, fake: Contract.make("ignored") }]),
  )
  assert.deepStrictEqual(
    failures.map((failure) => failure.case),
    [
      "the service carries out a request, but the answer is lost",
      "no answer within the timeout",
      "the service carries out a request, but answers 500",
    ],
  )
  for (const { detail, message } of failures) {
    assert.match(detail, /^expected 1 paid task with the prompt ".*", found 2$/)
    assert.match(message, /^repeating, .*: expected 1 paid task/)
    assert.include(markdown, `**failed**: ${detail} |`)
  }
  assert.match(
    markdown,
    /^\| fault \| repeating \|\n\| --- \| --- \|\n\| no fault, but the same items are submitted twice \| runs \(4 prompts each\): 1, paid prompts: 4 \|\n/,
  )
  assert.notInclude(markdown, "webhooks")
})
