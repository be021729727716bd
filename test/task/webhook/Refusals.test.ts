import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as WebhookRefusals from "../../../src/task/webhook/Refusals.ts"
import * as Logs from "../../support/logs.ts"

it.effect(
  "deliveries that were refused are told once a minute, also where no further one comes, and nothing is told twice",
  () => {
    const { during, messages } = Logs.make()
    return Effect.gen(function* () {
      yield* Effect.gen(function* () {
        const say = yield* WebhookRefusals.make
        yield* say("too old", "it is older than 5m")
        assert.deepStrictEqual(messages, ["a webhook delivery was refused: it is older than 5m"])
        yield* TestClock.adjust("20 seconds")
        for (const kind of ["unsigned", "too old", "unsigned"]) yield* say(kind, "why")
        yield* TestClock.adjust("39 seconds")
        assert.lengthOf(messages, 1)
        yield* TestClock.adjust("1 second")
        const more = "more webhook deliveries were refused since the last message: "
        assert.deepStrictEqual(messages.slice(1), [`${more}2 unsigned, 1 too old`])
        // The next minute begins when that was logged.
        yield* say("unsigned", "why")
        yield* TestClock.adjust("59 seconds")
        assert.lengthOf(messages, 2)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(messages.slice(2), [`${more}1 unsigned`])
        yield* TestClock.adjust("1 hour")
        assert.lengthOf(messages, 3)
        yield* say("broken off", "its body broke off")
        yield* say("unsigned", "why")
        assert.deepStrictEqual(messages.slice(3), ["a webhook delivery was refused: its body broke off"])
      }).pipe(Effect.scoped)
      assert.match(messages[4] ?? "", /1 unsigned$/)
      assert.lengthOf(messages, 5)
    }).pipe(during)
  },
)
