import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as OtherPaths from "../../../src/task/webhook/OtherPaths.ts"
import * as Logs from "../../support/logs.ts"

it.effect("deliveries to other paths are logged once per path, one a minute, for at most 100 paths", () => {
  const { during, messages } = Logs.make()
  return Effect.gen(function* () {
    const tell = yield* OtherPaths.logged("/webhook")
    yield* tell("/a")
    yield* tell("/b")
    assert.lengthOf(messages, 1)
    yield* TestClock.adjust("1 minute")
    yield* tell("/a")
    assert.lengthOf(messages, 1)
    yield* tell("/b")
    assert.match(messages[1] ?? "", /delivery to \/b was refused, because webhooks are received at \/webhook:/)
    for (let i = 0; i < 200; i++) {
      yield* TestClock.adjust("1 minute")
      yield* tell(`/${i}`)
    }
    assert.lengthOf(messages, 100)
    assert.isBelow(messages.at(-1)!.length, 300)
  }).pipe(during)
})
