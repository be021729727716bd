/** A pipeline that waits for webhooks: polling comes first after five hours, so that nothing here ends by it. */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import type { ServiceSettings } from "../../src/api/ServiceProfile.ts"
import * as Flow from "../../src/pipeline/Flow.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import * as Source from "../../src/source/Source.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { folderWithItems, itemLines } from "../support/cli.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { completed, deliver, secrets, send, signed } from "../support/webhooks.ts"

const seldom: Partial<ServiceSettings> = { pollInterval: { min: "5 hours", max: "10 hours" }, concurrency: 2 }

const gets = ({ received }: { readonly received: ReadonlyArray<ScriptedService.Received> }) =>
  received.filter(({ method }) => method === "GET")

/** A job of `n` items, each a task of its own, and a service for it. */
const jobOf = Effect.fnUntraced(function* (n: number, answer: Parameters<typeof ScriptedService.make>[0]) {
  const directory = yield* folderWithItems(itemLines(n))
  const service = yield* ScriptedService.make(answer, seldom)
  const url = yield* Deferred.make<string>()
  const settings = {
    directory,
    source: Source.files(`${directory}/items.jsonl`),
    batch: { maxPrompts: 1, maxBytes: 1_000_000 },
    webhook: { secrets, onListening: (at: string) => Effect.asVoid(Deferred.succeed(url, at)) },
  }
  return { service, settings, url: Deferred.await(url), layer: Pipeline.layer({ directory, service: service.profile }) }
})

/** As the service does it, outside of any effect. */
const delivered = (url: string, taskId: string) => Effect.runPromise(deliver(url, completed([taskId])))

const completedTasks = Ledger.use((ledger) => Effect.map(ledger.counts, ({ completed }) => completed.tasks))

describe("a pipeline that receives webhooks", () => {
  test("looks at once at the tasks that a delivery names, and no longer listens when all are done", function* () {
    const { layer, service, settings, url } = yield* jobOf(4, ScriptedService.obliging)
    yield* Effect.gen(function* () {
      yield* Flow.submit(settings)
      const collecting = yield* Effect.forkChild(Flow.collect(settings))
      const at = yield* url
      assert.strictEqual(yield* deliver(at, completed(["task_1", "task_3"])), 204)
      yield* Effect.repeat(Effect.andThen(Effect.yieldNow, completedTasks), { until: (n) => n === 2 })
      assert.deepStrictEqual(
        gets(service)
          .map(({ path }) => path)
          .toSorted(),
        ["/v1/tasks/task_1", "/v1/tasks/task_3"],
      )
      assert.strictEqual(yield* deliver(at, { event: "something is done" }), 204)
      const report = yield* Fiber.join(collecting)
      assert.strictEqual(report.tasks.completed.tasks, 4)
      assert.strictEqual(gets(service).length, 4)
      assert.match((yield* Effect.flip(send(at, signed(completed([]))))).message, /ECONNREFUSED/)
    }).pipe(Effect.provide(layer))
  })

  test("finds the truth by GET, whatever a delivery says", function* () {
    let done = false
    const { layer, service, settings, url } = yield* jobOf(1, (request, before) =>
      ScriptedService.isPost(request) || done
        ? ScriptedService.obliging(request, before)
        : ScriptedService.pending(request),
    )
    yield* Effect.gen(function* () {
      const running = yield* Effect.forkChild(Flow.run(settings))
      const at = yield* url
      yield* Effect.repeat(Effect.yieldNow, { until: () => service.received.length === 1 })
      assert.strictEqual(yield* deliver(at, completed(["task_0"])), 204)
      yield* Effect.repeat(Effect.yieldNow, { until: () => gets(service).length === 1 })
      assert.strictEqual(yield* completedTasks, 0)
      done = true
      // The same message once more, as a service repeats it.
      assert.strictEqual(yield* deliver(at, completed(["task_0"])), 204)
      const report = yield* Fiber.join(running)
      assert.strictEqual(report.dataset?.rows, 1)
      assert.strictEqual(gets(service).length, 2)
    }).pipe(Effect.provide(layer))
  })

  test("loses no delivery that overtakes the answer to its task's creation", function* () {
    let at = ""
    const { layer, settings, url } = yield* jobOf(6, async (request, before) => {
      if (request.method === "POST") {
        const ordinal = before.filter(({ method }) => method === "POST").length
        assert.strictEqual(await delivered(at, `task_${ordinal}`), 204)
      }
      return ScriptedService.obliging(request, before)
    })
    yield* Effect.gen(function* () {
      const running = yield* Effect.forkChild(Flow.run(settings))
      at = yield* url
      const report = yield* Fiber.join(running)
      assert.strictEqual(report.tasks.completed.tasks, 6)
      assert.strictEqual(report.dataset?.rows, 6)
    }).pipe(Effect.provide(layer))
  })

  test("loses no delivery that comes while its task is being looked at", function* () {
    const looking = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    const { layer, service, settings, url } = yield* jobOf(1, async (request, before) => {
      if (request.method === "POST" || gets({ received: before }).length > 0) {
        return ScriptedService.obliging(request, before)
      }
      looking.resolve()
      await answered.promise
      return { status: 200, body: { task_id: "task_0", status: "in_progress" } }
    })
    yield* Effect.gen(function* () {
      yield* Flow.submit(settings)
      const collecting = yield* Effect.forkChild(Flow.collect(settings))
      const at = yield* url
      yield* deliver(at, completed(["task_0"]))
      yield* Effect.promise(() => looking.promise)
      assert.strictEqual(yield* deliver(at, completed(["task_0"])), 204)
      answered.resolve()
      const report = yield* Fiber.join(collecting)
      assert.strictEqual(report.tasks.completed.tasks, 1)
      assert.strictEqual(gets(service).length, 2)
    }).pipe(Effect.provide(layer))
  })
})
