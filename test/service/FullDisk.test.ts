/** The service on a disk that fills: said once, refused with 503, not ready; it goes on by itself once there is space. */
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as Logs from "../support/logs.ts"
import * as SmallDisk from "../support/smallDisk.ts"
import { call, completed, platform, start, task } from "./support.ts"

const disk = Effect.acquireRelease(
  Effect.sync(() => SmallDisk.make("1m")),
  (made) => Effect.sync(made.remove),
)

describe.skipIf(SmallDisk.unavailable)("a disk that is full", () => {
  it.effect("is logged once, and the service is not ready until it can write for a minute", () => {
    const logs = Logs.make()
    return Effect.gen(function* () {
      const small = yield* disk
      const base = yield* start({ database: join(small.path, "service.db"), experts: ["first"] })
      const ready = Effect.map(HttpClient.get(`${base}/readyz`), ({ status }) => status)
      const smallTask = task([["small", "a", "b"]])
      const { json } = yield* call("POST", `${base}/v1/tasks`, { body: smallTask })
      const before = yield* completed(base, json.task_id)
      assert.strictEqual(yield* ready, 200)

      const send = Effect.suspend(() =>
        call("POST", `${base}/v1/tasks`, { body: task([[randomBytes(60_000).toString("base64"), "a", "b"]]) }),
      )
      let answer = yield* send
      for (let i = 0; i < 40 && answer.status === 201; i++) answer = yield* send
      for (let i = 0; i < 20; i++) yield* send
      answer = yield* send
      assert.strictEqual(answer.status, 503, answer.text)
      assert.strictEqual(answer.json.type, "tag:prefstream,2026:service-unavailable")
      assert.isDefined(answer.headers["retry-after"])
      assert.strictEqual(yield* ready, 503)
      // A small write may succeed meanwhile.
      yield* call("POST", `${base}/v1/tasks`, { body: smallTask })
      yield* send
      assert.strictEqual(yield* ready, 503)
      assert.strictEqual((yield* call("GET", `${base}/v1/tasks/${json.task_id}`)).text, before.text)

      yield* Effect.sync(() => small.grow("32m"))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* send).status, 201)
      assert.strictEqual(yield* ready, 200)
      const told = logs.messages.filter((message) => !message.includes("A test is using time"))
      assert.lengthOf(told, 2, told.join("\n"))
      assert.match(told[0]!, /^The service cannot write to its database \(.*full\)\. .*Free up space/)
      assert.match(told[1]!, /^The service can write to its database again/)
    }).pipe(Effect.provide(platform), logs.during)
  })
})
