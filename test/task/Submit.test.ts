import { assert, describe } from "@effect/vitest"
import { Clock, type Duration, Effect, Fiber, Latch, Layer, Option, Result, Stream } from "effect"
import { ServiceProfile } from "../../src/api/ServiceProfile.ts"
import type { TaskRequest } from "../../src/domain/Task.ts"
import { collect } from "../../src/task/Collect.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { submit } from "../../src/task/Submit.ts"
import { stepRecords } from "../../src/task/Plan.ts"
import { items, records } from "../support/items.ts"
import { inProcess, type job, temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const batch = { maxPrompts: 2, maxBytes: 1_000_000 }

const posts = (service: Pick<ScriptedService.ScriptedService, "received">) =>
  service.received.filter(({ method }) => method === "POST")
const promptsOf = (request: ScriptedService.Received) =>
  (JSON.parse(request.body) as TaskRequest).prompts.map(({ prompt }) => prompt)
const problem = (status: number, detail: string) => ({
  status,
  headers: { "content-type": "application/problem+json" },
  body: { type: "about:blank", status, title: "Title", detail },
})

const ledgerState = Ledger.use((ledger) =>
  Effect.all({ counts: ledger.counts, run: ledger.lastRun, issues: ledger.issues(10) }),
)

const countsOf = (state: Effect.Success<typeof ledgerState>) => Option.getOrThrow(state.run).counts

describe("submit", () => {
  test("sends what a slow source has given, before it gives more", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const sent = yield* Latch.make()
      const service = yield* ScriptedService.make((request, before) => {
        if (posts({ received: [...before, request] }).length === 2) sent.openUnsafe()
        return ScriptedService.obliging(request, before)
      })
      const clock = yield* Clock.Clock
      let passed = 0
      const jumping: Clock.Clock = Object.assign(Object.create(clock), {
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + passed),
      })
      const [early, late] = [items(6).slice(0, 4), items(6).slice(4)]
      const slow = records(early).pipe(
        Stream.concat(Stream.fromEffectDrain(Effect.sync(() => void (passed = 6_000)))),
        Stream.concat(records(late.slice(0, 1))),
        Stream.concat(Stream.fromEffectDrain(sent.await)),
        Stream.concat(records(late.slice(1))),
      )
      yield* submit(slow, { batch }).pipe(
        Effect.provideService(Clock.Clock, jumping),
        inProcess(directory, service.profile),
      )
      assert.deepStrictEqual(
        posts(service).flatMap(promptsOf).toSorted(),
        items(6).map(({ item }) => item.prompt),
      )
    }))

  test("sends each item once, in tasks that carry token, key, type and guidelines", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const state = yield* submit(records(items(5)), { batch, guidelines: "Be kind." }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      const sent = posts(service)
      assert.deepStrictEqual(sent.flatMap(promptsOf).toSorted(), [
        "prompt 0",
        "prompt 1",
        "prompt 2",
        "prompt 3",
        "prompt 4",
      ])
      assert.strictEqual(sent.length, 3)
      for (const request of sent) {
        assert.strictEqual(request.path, "/v1/tasks")
        assert.strictEqual(request.headers.authorization, "Bearer secret-token")
        assert.match(request.headers["content-type"] ?? "", /^application\/json/)
        const body = JSON.parse(request.body) as TaskRequest
        assert.strictEqual(body.task_type, "rlhf_ranking")
        assert.strictEqual(body.guidelines, "Be kind.")
      }
      assert.strictEqual(new Set(sent.map(({ headers }) => headers["idempotency-key"])).size, 3)
      assert.deepStrictEqual(state.counts.submitted, { tasks: 3, items: 5 })
      assert.deepStrictEqual(countsOf(state), { read: 5, new: 5, known: 0, duplicates: 0, reordered: 0, rejected: 0 })
    }))

  test("submits nothing twice: not repeats in the input, nor what an earlier run submitted", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const [a, b, c] = items(3)
      yield* submit(records([a!, b!, a!]), { batch }).pipe(inProcess(directory, service.profile))
      const state = yield* submit(records([a!, b!, a!, c!]), { batch }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      assert.deepStrictEqual(posts(service).flatMap(promptsOf), ["prompt 0", "prompt 1", "prompt 2"])
      assert.deepStrictEqual(countsOf(state), { read: 4, new: 1, known: 2, duplicates: 1, reordered: 0, rejected: 0 })
    }))

  test("rejects an id that stood for other content, in the same run and in a later one", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const withId = items(2, () => ({ id: "same" }))
      const run = submit(records(withId), { batch }).pipe(
        Effect.flatMap(({ run }) => Ledger.use((ledger) => Stream.runCollect(ledger.rejects(run)))),
        inProcess(directory, service.profile),
      )
      for (const rejects of [yield* run, yield* run]) {
        assert.strictEqual(rejects.length, 1)
        assert.strictEqual(rejects[0]?.code, "conflicting_id")
        assert.match(rejects[0]?.reason ?? "", /"same"/)
        assert.strictEqual(rejects[0]?.line, 2)
      }
      assert.deepStrictEqual(posts(service).flatMap(promptsOf), ["prompt 0"])
    }))

  test("accounts for every record: read = new + known + duplicates + rejected", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const good = items(30)
      const mixed = Array.from({ length: 90 }, (_, i) =>
        i % 9 === 0
          ? Result.fail({ file: "f", line: i, code: "invalid_json" as const, reason: "r", raw: "{" })
          : Result.succeed(good[(i * 7) % 30]!),
      )
      const state = yield* submit(Stream.fromIterable(mixed), { batch }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      const counts = countsOf(state)
      assert.strictEqual(counts.read, 90)
      assert.strictEqual(counts.rejected, 10)
      assert.strictEqual(counts.read, counts.new + counts.known + counts.duplicates + counts.rejected)
      assert.strictEqual(posts(service).flatMap(promptsOf).length, counts.new)
    }))

  for (const status of [401, 403]) {
    test(`stops at once on ${status}, and keeps the tasks for later`, () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        const service = yield* ScriptedService.make(() => problem(status, "unknown token"), { concurrency: 1 })
        const failure = yield* submit(records(items(20)), { batch }).pipe(
          Effect.flip,
          inProcess(directory, service.profile),
        )
        assert.strictEqual(failure._tag, "AnnotationClientError")
        assert.match(String(failure.message), /refuses the token .*unknown token/)
        assert.notInclude(String(failure.message), "secret-token")
        assert.strictEqual(posts(service).length, 1)
        const { counts } = yield* ledgerState.pipe(inProcess(directory, service.profile))
        assert.deepStrictEqual(counts.planned, { tasks: 10, items: 20 })
      }))
  }

  for (const [status, name] of [
    [402, "Payment Required"],
    [407, "Proxy Authentication Required"],
    [426, "Upgrade Required"],
  ] as const) {
    test(`stops at once on ${status}, and keeps the tasks for later, also those that are looked at`, () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        let isSettled = false
        const service = yield* ScriptedService.make(
          (request, before) => {
            if (!isSettled) return problem(status, "not yet")
            const taken = before.filter((_, i) => i > 0)
            return request.method === "GET" ? problem(status, "not yet") : ScriptedService.obliging(request, taken)
          },
          { concurrency: 1 },
        )
        const ended = (loop: Effect.Effect<unknown, unknown, Layer.Success<ReturnType<typeof job>>>) =>
          loop.pipe(Effect.flip, inProcess(directory, service.profile))
        const told = new RegExp(`refuses every request \\(${status} ${name}\\): not yet`)
        assert.match(String(yield* ended(submit(records(items(20)), { batch }))), told)
        assert.strictEqual(posts(service).length, 1)
        const state = ledgerState.pipe(inProcess(directory, service.profile))
        assert.deepStrictEqual((yield* state).counts.planned, { tasks: 10, items: 20 })
        isSettled = true
        yield* submit(records(items(20)), { batch }).pipe(inProcess(directory, service.profile))
        assert.match(String(yield* ended(collect())), told)
        assert.deepStrictEqual((yield* state).counts.submitted, { tasks: 10, items: 20 })
      }))
  }

  test("stops where the service refuses the first tasks and takes none; all can be sent again", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      let isMended = false
      const service = yield* ScriptedService.make(
        (request, before) => (isMended ? ScriptedService.obliging(request, before) : problem(400, "what is that?")),
        { concurrency: 1 },
      )
      const failure = yield* submit(records(items(60)), { batch }).pipe(
        Effect.flip,
        inProcess(directory, service.profile),
      )
      assert.match(
        String(failure.message),
        /refused the first 20 requests of this run.*\(400 Bad Request\): what is that\?.*--resubmit refused/,
      )
      const { counts } = yield* ledgerState.pipe(inProcess(directory, service.profile))
      // Each task of two, and then its halves: six tasks and, of the seventh, the whole and its first half.
      assert.strictEqual(posts(service).length, 20)
      assert.deepStrictEqual([counts.refused, counts.planned.items], [{ tasks: 13, items: 13 }, 47])
      isMended = true
      const after = yield* submit(records(items(60)), { batch, resubmit: ["refused"] }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      assert.deepStrictEqual(after.counts.submitted, { tasks: 37, items: 60 })
    }))

  test("goes on where the service refuses many tasks after it took one", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(
        (request, before) =>
          before.length === 0 ? ScriptedService.obliging(request, before) : problem(400, "what is that?"),
        { concurrency: 1 },
      )
      const { counts } = yield* submit(records(items(60)), { batch }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      assert.deepStrictEqual([counts.submitted.items, counts.refused.items], [2, 58])
    }))

  for (const status of [400, 422]) {
    for (const bad of [0, 2, 59]) {
      test(`on ${status} refuses only the item at fault, number ${bad} of the first task, with the service's reason`, () =>
        Effect.gen(function* () {
          const directory = yield* temporaryDirectory
          const service = yield* ScriptedService.make(
            (request, before) =>
              promptsOf(request).includes(`prompt ${bad}`)
                ? problem(status, `prompt ${bad} is not allowed`)
                : ScriptedService.obliging(request, before),
            { concurrency: 1 },
          )
          const { dropped, state } = yield* Effect.gen(function* () {
            yield* submit(records(items(62)), { batch: { maxPrompts: 60, maxBytes: 1_000_000 } })
            const ledger = yield* Ledger
            return { state: yield* ledgerState, dropped: yield* Stream.runCollect(ledger.dropped(Option.none())) }
          }).pipe(inProcess(directory, service.profile))
          assert.strictEqual(state.counts.submitted.items, 61)
          assert.deepStrictEqual(state.counts.refused, { tasks: 1, items: 1 })
          assert.match(state.issues[0]?.reason ?? "", new RegExp(`${status}.*prompt ${bad} is not allowed`))
          assert.deepStrictEqual(
            dropped.flatMap((task) => task.items.map(({ origin }) => origin.line)),
            [bad + 1],
          )
          assert.strictEqual(
            new Set(posts(service).map(({ headers }) => headers["idempotency-key"])).size,
            posts(service).length,
          )
        }))
    }
  }

  test("refuses a task of several items as a whole on a status that is not about its items", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make((request, before) =>
        request.body.includes("prompt 2") ? problem(415, "no JSON, please") : ScriptedService.obliging(request, before),
      )
      const { counts } = yield* submit(records(items(6)), { batch }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      assert.deepStrictEqual([counts.submitted.items, counts.refused], [4, { tasks: 1, items: 2 }])
    }))

  test("halves a task on 413 until it passes, and refuses a single item that is too large", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make((request, before) =>
        request.method === "POST" && (promptsOf(request).length > 2 || request.body.includes("prompt 5"))
          ? problem(413, "too large")
          : ScriptedService.obliging(request, before),
      )
      const state = yield* submit(records(items(8)), { batch: { maxPrompts: 8, maxBytes: 1_000_000 } }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      assert.deepStrictEqual(state.counts.submitted.items, 7)
      assert.deepStrictEqual(state.counts.refused, { tasks: 1, items: 1 })
      assert.strictEqual(
        new Set(posts(service).map(({ headers }) => headers["idempotency-key"])).size,
        posts(service).length,
      )
      // What was halved is asked, answered and joined like anything else.
      yield* collect({ submittingDone: yield* Latch.make(true) }).pipe(
        inProcess(
          directory,
          (yield* ScriptedService.make((request) =>
            ScriptedService.completedBy(posts(service), request.path.split("/").at(-1)!),
          )).profile,
        ),
      )
      const judged = yield* Ledger.use((ledger) => ledger.counts).pipe(inProcess(directory, service.profile))
      assert.strictEqual(judged.completed.items, 7)
    }))

  test("after a 413 halves tasks of as many items and bytes before they are sent, and no others", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(
        (request, before) =>
          request.method === "POST" && request.body.length > 1_000
            ? problem(413, "too large")
            : ScriptedService.obliging(request, before),
        { concurrency: 1 },
      )
      // Three batches of four items, of which those of the second are short.
      const input = items(12, (i) => ({ prompt: `prompt ${i} ${"x".repeat(i < 4 || i >= 8 ? 700 : 0)}` }))
      yield* submit(records(input), { batch: { maxPrompts: 4, maxBytes: 1_000_000 }, shuffleSeed: false }).pipe(
        inProcess(directory, service.profile),
      )
      assert.deepStrictEqual(
        posts(service).map((request) => promptsOf(request).length),
        [4, 2, 1, 1, 1, 1, 4, 1, 1, 1, 1],
      )
    }))

  test("sends each half once while the input is still being read", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const firstHalfArrived = yield* Latch.make()
      const another = Promise.withResolvers<void>()
      const service = yield* ScriptedService.make(
        async (request, before) => {
          const prompts = promptsOf(request)
          if (prompts.length > stepRecords / 2) return problem(413, "too large")
          if (prompts[0] === "prompt 0") {
            firstHalfArrived.openUnsafe()
            // Until another task arrives, so that the planned tasks are asked for while the second half is one of them.
            await another.promise
          } else another.resolve()
          return ScriptedService.obliging(request, before)
        },
        { concurrency: 4 },
      )
      // A step of reading is a task.
      const input = items(2 * stepRecords)
      const later = Stream.unwrap(Effect.as(firstHalfArrived.await, records(input.slice(stepRecords))))
      const state = yield* submit(Stream.concat(records(input.slice(0, stepRecords)), later), {
        batch: { maxPrompts: stepRecords, maxBytes: 1_000_000 },
      }).pipe(Effect.andThen(ledgerState), inProcess(directory, service.profile))
      assert.deepStrictEqual(state.counts.submitted, { tasks: 4, items: 2 * stepRecords })
      const taken = posts(service)
        .map(promptsOf)
        .filter((prompts) => prompts.length <= stepRecords / 2)
      assert.sameMembers(
        taken.map(([first]) => first),
        [0, 0.5, 1, 1.5].map((steps) => `prompt ${steps * stepRecords}`),
      )
    }))

  test("has no more requests under way at once than the profile allows", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const full = Promise.withResolvers<void>()
      let underWay = 0
      let most = 0
      const service = yield* ScriptedService.make(
        async (request, before) => {
          most = Math.max(most, ++underWay)
          // Answered when as many have arrived as may.
          if (underWay === 3) full.resolve()
          await full.promise
          await new Promise((resolve) => void setImmediate(resolve))
          underWay--
          return ScriptedService.obliging(request, before)
        },
        { concurrency: 3 },
      )
      yield* submit(records(items(40)), { batch }).pipe(inProcess(directory, service.profile))
      assert.strictEqual(posts(service).length, 20)
      assert.strictEqual(most, 3)
    }))

  test("takes more records at once than a statement takes values", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const bad = (line: number) => Result.fail({ file: "f", line, code: "invalid_json" as const, reason: "r" })
      const all = [
        ...items(40_000).map((item) => Result.succeed(item)),
        ...Array.from({ length: 20_000 }, (_, i) => bad(i)),
      ]
      const run = submit(Stream.fromArray(all), { batch: { maxPrompts: 10_000, maxBytes: 10_000_000 } }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      const first = yield* run
      assert.deepStrictEqual(countsOf(first), {
        read: 60_000,
        new: 40_000,
        known: 0,
        duplicates: 0,
        reordered: 0,
        rejected: 20_000,
      })
      assert.deepStrictEqual(first.counts.submitted, { tasks: 4, items: 40_000 })
      assert.strictEqual(countsOf(yield* run).known, 40_000)
      assert.strictEqual(posts(service).length, 4)
    }))

  test("tries again after 429, no sooner than Retry-After says, with the same key", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make((request, before) =>
        before.length === 0
          ? { ...problem(429, "slow down"), headers: { "retry-after": "1" } }
          : ScriptedService.obliging(request, before.slice(1)),
      )
      yield* submit(records(items(1)), { batch }).pipe(inProcess(directory, service.profile))
      const [first, second, ...more] = posts(service)
      assert.strictEqual(more.length, 0)
      assert.isAtLeast(second!.at - first!.at, 1000)
      assert.strictEqual(second?.headers["idempotency-key"], first?.headers["idempotency-key"])
    }))

  test("gives up when the run's patience is over, and keeps the task for later", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(
        () => ({ ...problem(503, "down for maintenance"), headers: { "retry-after": "0" } }),
        { patience: 0, idempotencyKey: "honored" },
      )
      const failure = yield* submit(records(items(1)), { batch }).pipe(
        Effect.flip,
        inProcess(directory, service.profile),
      )
      assert.match(String(failure.message), /unavailable \(503\): down for maintenance/)
      assert.strictEqual(posts(service).length, 1)
      const { counts } = yield* ledgerState.pipe(inProcess(directory, service.profile))
      assert.deepStrictEqual(counts.planned, { tasks: 1, items: 1 })
    }))

  test("where keys are ignored, holds a task whose answer was lost, and never sends it again", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make((request, before) =>
        request.body.includes("prompt 0") ? "reset" : ScriptedService.obliging(request, before),
      )
      const run = submit(records(items(4)), { batch }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      const state = yield* run
      assert.deepStrictEqual(state.counts.in_doubt, { tasks: 1, items: 2 })
      assert.deepStrictEqual(state.counts.submitted, { tasks: 1, items: 2 })
      yield* run
      assert.strictEqual(posts(service).filter(({ body }) => body.includes("prompt 0")).length, 1)
    }))

  test("where keys are honored, sends a task whose answer was lost again, with the same key", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(
        (request, before) => (before.length === 0 ? "reset" : ScriptedService.obliging(request, before.slice(1))),
        { idempotencyKey: "honored" },
      )
      const state = yield* submit(records(items(2)), { batch }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      assert.deepStrictEqual(state.counts.submitted, { tasks: 1, items: 2 })
      assert.strictEqual(posts(service).length, 2)
      assert.strictEqual(new Set(posts(service).map(({ headers }) => headers["idempotency-key"])).size, 1)
    }))

  test("what was being sent when a process died is sent again or held, by what the service honors", () =>
    Effect.gen(function* () {
      for (const idempotencyKey of ["honored", "ignored"] as const) {
        const directory = yield* temporaryDirectory
        const service = yield* ScriptedService.make(ScriptedService.obliging, { idempotencyKey })
        const failing = yield* ScriptedService.make(() => problem(401, "no"), { idempotencyKey })
        yield* submit(records(items(2)), { batch }).pipe(Effect.flip, inProcess(directory, failing.profile))
        yield* Ledger.use((ledger) => Effect.flatMap(ledger.plannedAfter(-1), Effect.forEach(ledger.claim))).pipe(
          inProcess(directory, service.profile),
        )
        const state = yield* submit(records(items(2)), { batch }).pipe(
          Effect.andThen(ledgerState),
          inProcess(directory, service.profile),
        )
        assert.strictEqual(posts(service).length, idempotencyKey === "honored" ? 1 : 0)
        assert.strictEqual(state.counts[idempotencyKey === "honored" ? "submitted" : "in_doubt"].tasks, 1)
      }
    }))

  test("where keys are honored, sends nothing again under a key that may be forgotten: in one run, and in the next", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(
        (request, before) =>
          before.every(({ method }) => method !== "POST") ? "reset" : ScriptedService.obliging(request, before),
        { idempotencyKey: "honored" },
      )
      const submitting = (idempotencyKeyLifetime: Duration.Input) =>
        submit(records(items(2)), { batch }).pipe(
          Effect.andThen(ledgerState),
          inProcess(
            directory,
            Layer.effect(
              ServiceProfile,
              Effect.map(ServiceProfile, (profile) => ({ ...profile, idempotencyKeyLifetime })),
            ).pipe(Layer.provide(service.profile)),
          ),
        )
      for (let i = 0; i < 2; i++) {
        const { counts, issues } = yield* submitting("1 milli")
        assert.strictEqual(counts.in_doubt.tasks, 1)
        assert.match(issues[0]?.reason ?? "", /may have forgotten its Idempotency-Key \(after 1ms\)/)
        assert.strictEqual(posts(service).length, 1)
      }
      assert.strictEqual((yield* submitting("1 hour")).counts.submitted.tasks, 1)
      const keys = posts(service).map(({ headers }) => headers["idempotency-key"])
      assert.deepStrictEqual(keys, [keys[0], keys[0]])
    }))

  test("holds a task whose creation was answered without an id", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(() => ({ status: 200, body: { ok: true } }))
      const state = yield* submit(records(items(2)), { batch }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      assert.strictEqual(state.counts.in_doubt.tasks, 1)
      assert.match(state.issues[0]?.reason ?? "", /no task id at any of task_id, id/)
    }))

  test("counts what the service refuses against the limit of rejects, too", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(() => problem(422, "no"), { concurrency: 1 })
      const failure = yield* submit(records(items(20)), { batch, maxRejects: 3 }).pipe(
        Effect.flip,
        inProcess(directory, service.profile),
      )
      assert.strictEqual(failure._tag, "TooManyRejects")
      // Two tasks of two items, each as a whole and in halves.
      assert.strictEqual(posts(service).length, 6)
    }))

  for (const [what, answer, reason] of [
    ["that breaks down", problem(500, "oops"), /unavailable \(500\): oops/],
    ["whose answers name no task", { status: 200, body: { ok: true } }, /no task id at any of task_id, id/],
    [
      "whose ids are longer than every ledger takes",
      { status: 201, body: { task_id: "x".repeat(1001) } },
      /no task id at any of task_id, id/,
    ],
  ] as const) {
    test(`does not give a whole job to a service ${what}`, () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        const service = yield* ScriptedService.make(
          (request, before) => (request.method === "POST" ? answer : ScriptedService.obliging(request, before)),
          { concurrency: 1 },
        )
        const failure = yield* submit(records(items(40)), { batch }).pipe(
          Effect.flip,
          inProcess(directory, service.profile),
        )
        assert.match(String(failure.message), reason)
        const { counts } = yield* ledgerState.pipe(inProcess(directory, service.profile))
        assert.deepStrictEqual([counts.in_doubt.tasks, counts.planned.tasks], [5, 15])
      }))
  }

  test("waits for a service that is down before more comes to be in doubt, asks by GET alone, and ends in the end", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(() => problem(500, "oops"), { concurrency: 1, patience: "2 seconds" })
      const failure = yield* submit(records(items(40)), { batch }).pipe(
        Effect.flip,
        inProcess(directory, service.profile),
      )
      assert.match(String(failure.message), /has been down since .*500: oops/)
      assert.strictEqual(posts(service).length, 3)
      assert.isAtLeast(service.received.length, 4)
      const { counts } = yield* ledgerState.pipe(inProcess(directory, service.profile))
      assert.deepStrictEqual([counts.in_doubt.tasks, counts.planned.tasks], [3, 17])
    }))

  test("where keys are honored, leaves a task that can't be created for the next run, and submits the others", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      let mended = false
      const service = yield* ScriptedService.make(
        (request, before) =>
          request.body.includes("prompt 2") && !mended
            ? problem(500, "oops")
            : ScriptedService.obliging(
                request,
                before.filter(({ body }) => mended || !body.includes("prompt 2")),
              ),
        { concurrency: 1, retries: 1, idempotencyKey: "honored" },
      )
      const run = submit(records(items(8)), { batch })
      const failure = yield* run.pipe(Effect.flip, inProcess(directory, service.profile))
      assert.match(String(failure.message), /unavailable \(500\): oops/)
      const { counts } = yield* ledgerState.pipe(inProcess(directory, service.profile))
      assert.deepStrictEqual([counts.submitted.tasks, counts.planned.tasks], [3, 1])
      mended = true
      const after = yield* run.pipe(Effect.andThen(ledgerState), inProcess(directory, service.profile))
      assert.deepStrictEqual([after.counts.submitted.tasks, after.counts.planned.tasks], [4, 0])
    }))

  test("ends at once where the token is refused, though others wait as long as the service asked", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const both = Promise.withResolvers<void>()
      const service = yield* ScriptedService.make(
        async (_, before) => {
          if (before.length === 0) {
            await both.promise
            return problem(401, "unknown token")
          }
          setImmediate(both.resolve)
          return { ...problem(429, "slow down"), headers: { "retry-after": "600" } }
        },
        { concurrency: 2 },
      )
      const failure = yield* submit(records(items(8)), { batch }).pipe(
        Effect.flip,
        inProcess(directory, service.profile),
      )
      assert.match(String(failure.message), /refuses the token/)
      const { counts } = yield* ledgerState.pipe(inProcess(directory, service.profile))
      assert.strictEqual(counts.planned.tasks, 4)
    }))

  for (const [what, headers] of [
    ["503", {}],
    ["503 with a time to come back", { "retry-after": "0" }],
  ] as const) {
    test(`where keys are ignored, takes ${what} for a request that may have been taken`, () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        // The first task is taken all the same.
        const service = yield* ScriptedService.make((request, before) =>
          before.length === 0
            ? { ...problem(503, "upstream broke off"), headers }
            : ScriptedService.obliging(request, before),
        )
        const state = yield* submit(records(items(2)), { batch }).pipe(
          Effect.andThen(ledgerState),
          inProcess(directory, service.profile),
        )
        assert.strictEqual(state.counts.in_doubt.tasks, 1)
        assert.strictEqual(posts(service).length, 1)
      }))
  }

  test("a refusal after a try that may have been taken leaves the task in doubt", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(
        (_, before) => (before.length === 0 ? "reset" : problem(422, "this key is taken")),
        { idempotencyKey: "honored" },
      )
      const state = yield* submit(records(items(2)), { batch }).pipe(
        Effect.andThen(ledgerState),
        inProcess(directory, service.profile),
      )
      assert.strictEqual(state.counts.in_doubt.tasks, 1)
      assert.match(state.issues[0]?.reason ?? "", /earlier try may have created the task.*this key is taken/)
    }))

  test("stops reading when more records are rejected than allowed", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const bad = Stream.range(1, 5000).pipe(
        Stream.map((line) => Result.fail({ file: "f", line, code: "invalid_json" as const, reason: "r" })),
      )
      const failure = yield* submit(bad, { batch, maxRejects: 10 }).pipe(
        Effect.flip,
        inProcess(directory, service.profile),
      )
      assert.strictEqual(failure._tag, "TooManyRejects")
    }))

  test("says that nobody listens at the address, and leaves nothing in doubt", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const service = yield* Effect.scoped(ScriptedService.make(ScriptedService.obliging, { patience: 0 }))
      const failure = yield* submit(records(items(1)), { batch }).pipe(
        Effect.flip,
        inProcess(directory, service.profile),
      )
      assert.match(String(failure.message), /unavailable: connection refused \(ECONNREFUSED\)/)
      const { counts } = yield* ledgerState.pipe(inProcess(directory, service.profile))
      assert.deepStrictEqual(counts.planned, { tasks: 1, items: 1 })
    }))
})

describe("submit, interrupted", () => {
  test("finishes and records the request under way, so that nothing is in doubt", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const received = yield* Latch.make()
      const answer = Promise.withResolvers<void>()
      const service = yield* ScriptedService.make(
        async (request, before) => {
          received.openUnsafe()
          await answer.promise
          return ScriptedService.obliging(request, before)
        },
        { concurrency: 1 },
      )
      const state = yield* Effect.gen(function* () {
        const running = yield* Effect.forkChild(submit(records(items(6)), { batch }))
        yield* received.await
        const stopping = yield* Effect.forkChild(Fiber.interrupt(running))
        answer.resolve()
        yield* Fiber.join(stopping)
        return yield* ledgerState
      }).pipe(inProcess(directory, service.profile))
      assert.strictEqual(state.counts.submitted.tasks, posts(service).length)
      assert.strictEqual(state.counts.submitting.tasks, 0)
      assert.strictEqual(state.counts.in_doubt.tasks, 0)
      assert.isBelow(posts(service).length, 3)
    }))

  test("does not wait for the next try, and leaves the task for later", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const received = yield* Latch.make()
      const service = yield* ScriptedService.make(() => {
        received.openUnsafe()
        return { status: 429, headers: { "retry-after": "3000" } }
      })
      const state = yield* Effect.gen(function* () {
        const running = yield* Effect.forkChild(submit(records(items(1)), { batch }))
        yield* received.await
        yield* Fiber.interrupt(running)
        return yield* ledgerState
      }).pipe(inProcess(directory, service.profile))
      assert.deepStrictEqual(state.counts.planned, { tasks: 1, items: 1 })
      assert.strictEqual(posts(service).length, 1)
    }))
})
