/** A service whose judge sends batches is killed (kill -9) at each step of a batch: nothing is paid for twice. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as BatchStub from "../../support/batchStub.ts"
import { liveOver } from "../../support/effectTest.ts"
import * as Logs from "../../support/logs.ts"
import { call, completed, platform, spawned, start, task, temporaryFile } from "../support.ts"

const test = liveOver(platform)

const body = task(Array.from({ length: 5 }, (_, i) => [`prompt ${i}`, `${i}`, `longer ${i}`] as const))

/**
 * Starts a service in a process that is killed at the first request of a step.
 *
 * `before`: the endpoint has not carried out the request. `after`: it has, but the answer is lost. `answered`: it has
 * answered.
 */
const killedAt = Effect.fnUntraced(function* (step: BatchStub.Step, moment: "before" | "after" | "answered") {
  let pid = 0
  const stub = yield* BatchStub.make({
    fault: (at) => (at.step === step && at.nth === 0 && moment !== "answered" ? moment : undefined),
    onStep: (at, phase) => {
      if (at.step === step && at.nth === 0 && phase === (moment === "answered" ? "done" : "received"))
        process.kill(pid, "SIGKILL")
    },
  })
  const database = yield* temporaryFile("service.db")
  const { base, child } = yield* spawned("serve.ts", database, stub.baseUrl)
  pid = child.pid
  const { json } = yield* call("POST", `${base}/v1/tasks`, { body })
  yield* Effect.exit(child.exitCode)
  const taskId = Schema.decodeUnknownSync(Schema.String)(json.task_id)
  const restart = (doubts: "wait" | "send-again" = "wait") =>
    start({ database, experts: ["judge:m"], judge: { baseUrl: stub.baseUrl, batch: { ...BatchStub.quick, doubts } } })
  return { stub, taskId, restart }
})

const cases = [
  ["upload", "before"],
  ["upload", "after"],
  ["upload", "answered"],
  ["create", "after"],
  ["create", "answered"],
  ["poll", "after"],
  ["download", "after"],
  ["download", "answered"],
] as const
for (const [step, moment] of cases) {
  test(`killed at ${step}, ${moment}: the next start goes on, and each request is paid for once`, function* () {
    const { restart, stub, taskId } = yield* killedAt(step, moment)
    const base = yield* restart()
    const { json } = yield* completed(base, taskId)
    assert.strictEqual(json.results.length, 5)
    stub.assertPaidOnce(10)
    assert.strictEqual(stub.batches.length, 1)
  })
}

test("killed at create, before the endpoint has carried it out: a doubt, which an operator sends again", function* () {
  const { restart, stub, taskId } = yield* killedAt("create", "before")
  const logs = Logs.make()
  yield* Effect.gen(function* () {
    yield* restart()
    yield* Effect.repeat(Effect.yieldNow, { until: () => stub.times("list") > 3 })
  }).pipe(Effect.scoped, logs.during)
  assert.strictEqual(logs.messages.filter((line) => line.includes("is in doubt")).length, 1)
  assert.strictEqual(stub.batches.length, 0)
  yield* completed(yield* restart("send-again"), taskId)
  stub.assertPaidOnce(10)
})
