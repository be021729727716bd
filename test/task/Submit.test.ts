import { assert, describe } from "@effect/vitest"
import { Clock, type Duration, Effect, Fiber, Latch, Layer, Option, Stream } from "effect"
import { ServiceProfile, type ServiceSettings } from "../../src/api/ServiceProfile.ts"
import type { SourceItem } from "../../src/domain/PromptItem.ts"
import type { TaskRequest } from "../../src/domain/Task.ts"
import { collect } from "../../src/task/Collect.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { submit, type SubmitOptions } from "../../src/task/Submit.ts"
import { stepRecords } from "../../src/task/Plan.ts"
import { items, records } from "../support/items.ts"
import { inProcess, temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const batch = { maxPrompts: 2, maxBytes: 1_000_000 }

const postsIn = (received: ReadonlyArray<ScriptedService.Received>) =>
  received.filter(({ method }) => method === "POST")
const keysOf = (requests: ReadonlyArray<ScriptedService.Received>) =>
  new Set(requests.map(({ headers }) => headers["idempotency-key"]))
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

type Odd = ScriptedService.Answer | false

/** A job at a service that obliges, unless the test has another answer. Each effect is a process of its own. */
const job = Effect.fnUntraced(function* (
  odd: (...args: Parameters<typeof ScriptedService.obliging>) => Odd | Promise<Odd>,
  settings?: Partial<ServiceSettings>,
) {
  const service = yield* ScriptedService.make(
    async (request, before) => (await odd(request, before)) || ScriptedService.obliging(request, before),
    settings,
  )
  const directory = yield* temporaryDirectory
  const process = inProcess(directory, service.profile)
  const submitting = (of: ReadonlyArray<SourceItem>, options: SubmitOptions = {}) =>
    submit(records(of), { batch, ...options })
  return {
    directory,
    process,
    service,
    /** Requests to create a task. */
    posts: () => postsIn(service.received),
    stateNow: process(ledgerState),
    /** Submits, and gives the state of the ledger after it. */
    submitted: (...args: Parameters<typeof submitting>) =>
      submitting(...args).pipe(Effect.andThen(ledgerState), process),
    /** Submits, and gives the failure. */
    failed: (...args: Parameters<typeof submitting>) => submitting(...args).pipe(Effect.flip, process),
  }
})

describe("submit", () => {
  test("asks for one vote in a task whose item may get more later, though no number is set", function* () {
    const { posts, submitted } = yield* job(() => false, { taskMembers: { group: false, maxVotes: 25 } })
    yield* submitted(items(1), { votesUpTo: 3 })
    assert.deepStrictEqual(
      posts().map(({ body }) => (JSON.parse(body) as TaskRequest).votes),
      [1],
    )
  })

  test("sends what a slow source has given, before it gives more", function* () {
    const sent = yield* Latch.make()
    const { posts, process } = yield* job((request, before) => {
      if (postsIn([...before, request]).length === 2) sent.openUnsafe()
      return false
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
    yield* submit(slow, { batch }).pipe(Effect.provideService(Clock.Clock, jumping), process)
    assert.deepStrictEqual(
      posts().flatMap(promptsOf).toSorted(),
      items(6).map(({ item }) => item.prompt),
    )
  })

  test("stops at once where it is to be paid first, and keeps the tasks for later, also those that are polled", function* () {
    let isSettled = false
    const { failed, posts, process, stateNow, submitted } = yield* job(
      (request, before) =>
        isSettled && request.method === "POST"
          ? ScriptedService.obliging(request, before.slice(1))
          : problem(402, "not yet"),
      { concurrency: 1 },
    )
    const told = /refuses every request \(402 Payment Required\): not yet/
    assert.match((yield* failed(items(20))).message, told)
    assert.strictEqual(posts().length, 1)
    assert.deepStrictEqual((yield* stateNow).counts.planned, { tasks: 10, items: 20 })
    isSettled = true
    yield* submitted(items(20))
    assert.match(String(yield* collect().pipe(Effect.flip, process)), told)
    assert.deepStrictEqual((yield* stateNow).counts.submitted, { tasks: 10, items: 20 })
  })

  test("stops where the service refuses the first tasks and takes none; all can be sent again", function* () {
    let isMended = false
    const { failed, posts, stateNow, submitted } = yield* job(() => !isMended && problem(400, "what is that?"), {
      concurrency: 1,
    })
    const failure = yield* failed(items(30))
    assert.match(
      String(failure.message),
      /refused the first 20 requests of this run.*\(400 Bad Request\): what is that\?.*`resubmit: \["refused"\]`/,
    )
    const { counts } = yield* stateNow
    // Each task of two, and then its halves: six tasks and, of the seventh, the whole and its first half.
    assert.strictEqual(posts().length, 20)
    assert.deepStrictEqual([counts.refused, counts.planned.items], [{ tasks: 13, items: 13 }, 17])
    isMended = true
    const after = yield* submitted(items(30), { resubmit: ["refused"] })
    assert.deepStrictEqual(after.counts.submitted, { tasks: 22, items: 30 })
  })

  test("goes on where the service refuses many tasks after it took one", function* () {
    const { submitted } = yield* job((_, before) => before.length > 0 && problem(400, "what is that?"), {
      concurrency: 1,
    })
    const { counts } = yield* submitted(items(24))
    assert.deepStrictEqual([counts.submitted.items, counts.refused.items], [2, 22])
  })

  for (const [status, bad] of [
    [400, 0],
    [422, 2],
    [451, 3],
    [400, 59],
  ] as const) {
    test(`on ${status} refuses only the item at fault, number ${bad} of the first task, with the service's reason`, function* () {
      const { posts, process } = yield* job(
        (request) => promptsOf(request).includes(`prompt ${bad}`) && problem(status, `prompt ${bad} is not allowed`),
        { concurrency: 1 },
      )
      const { dropped, state } = yield* Effect.gen(function* () {
        yield* submit(records(items(62)), { batch: { maxPrompts: 60, maxBytes: 1_000_000 } })
        const ledger = yield* Ledger
        return { state: yield* ledgerState, dropped: yield* Stream.runCollect(ledger.dropped(Option.none())) }
      }).pipe(process)
      assert.strictEqual(state.counts.submitted.items, 61)
      assert.deepStrictEqual(state.counts.refused, { tasks: 1, items: 1 })
      assert.match(state.issues[0]?.reason ?? "", new RegExp(`${status}.*prompt ${bad} is not allowed`))
      assert.deepStrictEqual(
        dropped.flatMap((task) => task.items.map(({ origin }) => origin.line)),
        [bad + 1],
      )
      assert.strictEqual(keysOf(posts()).size, posts().length)
    })
  }

  test("refuses a task of several items as a whole on a status that is not about its items", function* () {
    const { submitted } = yield* job(({ body }) => body.includes("prompt 2") && problem(415, "no JSON, please"))
    const { counts } = yield* submitted(items(6))
    assert.deepStrictEqual([counts.submitted.items, counts.refused], [4, { tasks: 1, items: 2 }])
  })

  test("halves a task on 413 until it passes, and refuses a single item that is too large", function* () {
    const { posts, process, submitted } = yield* job(
      (request) =>
        request.method === "POST" &&
        (promptsOf(request).length > 2 || request.body.includes("prompt 5")) &&
        problem(413, "too large"),
    )
    const { counts } = yield* submitted(items(8), { batch: { maxPrompts: 8, maxBytes: 1_000_000 } })
    assert.deepStrictEqual(counts.submitted.items, 7)
    assert.deepStrictEqual(counts.refused, { tasks: 1, items: 1 })
    assert.strictEqual(keysOf(posts()).size, posts().length)
    // What was halved is asked, answered and joined like anything else.
    const judged = yield* Effect.andThen(collect(), ledgerState).pipe(process)
    assert.strictEqual(judged.counts.completed.items, 7)
  })

  test("after a 413 halves tasks of as many items and bytes before they are sent, and no others", function* () {
    const { posts, submitted } = yield* job(
      ({ body, method }) => method === "POST" && body.length > 1_000 && problem(413, "too large"),
      { concurrency: 1 },
    )
    // Three batches of four items, of which those of the second are short.
    const input = items(12, (i) => ({ prompt: `prompt ${i} ${"x".repeat(i < 4 || i >= 8 ? 700 : 0)}` }))
    yield* submitted(input, { batch: { maxPrompts: 4, maxBytes: 1_000_000 }, shuffleSeed: false })
    assert.deepStrictEqual(
      posts().map((request) => promptsOf(request).length),
      [4, 2, 1, 1, 1, 1, 4, 1, 1, 1, 1],
    )
  })

  test("sends each half once while the input is still being read", function* () {
    const firstHalfArrived = yield* Latch.make()
    const another = Promise.withResolvers<void>()
    const { posts, process } = yield* job(
      async (request) => {
        const prompts = promptsOf(request)
        if (prompts.length > stepRecords / 2) return problem(413, "too large")
        if (prompts[0] === "prompt 0") {
          firstHalfArrived.openUnsafe()
          // Until another task arrives, so that the planned tasks are asked for while the second half is one of them.
          await another.promise
        } else another.resolve()
        return false
      },
      { concurrency: 4 },
    )
    // A step of reading is a task.
    const input = items(2 * stepRecords)
    const later = Stream.unwrap(Effect.as(firstHalfArrived.await, records(input.slice(stepRecords))))
    const state = yield* submit(Stream.concat(records(input.slice(0, stepRecords)), later), {
      batch: { maxPrompts: stepRecords, maxBytes: 1_000_000 },
    }).pipe(Effect.andThen(ledgerState), process)
    assert.deepStrictEqual(state.counts.submitted, { tasks: 4, items: 2 * stepRecords })
    const taken = posts()
      .map(promptsOf)
      .filter((prompts) => prompts.length <= stepRecords / 2)
    assert.sameMembers(
      taken.map(([first]) => first),
      [0, 0.5, 1, 1.5].map((steps) => `prompt ${steps * stepRecords}`),
    )
  })

  test("has no more requests under way at once than the profile allows", function* () {
    const full = Promise.withResolvers<void>()
    let underWay = 0
    let most = 0
    const { posts, submitted } = yield* job(
      async () => {
        most = Math.max(most, ++underWay)
        // Answered when as many have arrived as may.
        if (underWay === 3) full.resolve()
        await full.promise
        await new Promise((resolve) => void setImmediate(resolve))
        underWay--
        return false as const
      },
      { concurrency: 3 },
    )
    yield* submitted(items(40))
    assert.strictEqual(posts().length, 20)
    assert.strictEqual(most, 3)
  })

  test("where keys are ignored, holds a task whose answer was lost, and never sends it again", function* () {
    const { posts, submitted } = yield* job(({ body }) => body.includes("prompt 0") && "reset")
    const run = submitted(items(4))
    const state = yield* run
    assert.deepStrictEqual(state.counts.in_doubt, { tasks: 1, items: 2 })
    assert.deepStrictEqual(state.counts.submitted, { tasks: 1, items: 2 })
    yield* run
    assert.strictEqual(posts().filter(({ body }) => body.includes("prompt 0")).length, 1)
  })

  test("what was being sent when a process died is sent again or held, by what the service honors", function* () {
    for (const idempotencyKey of ["honored", "ignored"] as const) {
      let isRefusing = true
      const { failed, posts, process, submitted } = yield* job(() => isRefusing && problem(401, "no"), {
        idempotencyKey,
      })
      yield* failed(items(2))
      yield* Ledger.use((ledger) => Effect.flatMap(ledger.plannedAfter(-1), Effect.forEach(ledger.claim))).pipe(process)
      isRefusing = false
      const { counts } = yield* submitted(items(2))
      assert.strictEqual(posts().length, idempotencyKey === "honored" ? 2 : 1)
      assert.strictEqual(counts[idempotencyKey === "honored" ? "submitted" : "in_doubt"].tasks, 1)
    }
  })

  test("where keys are honored, sends nothing again under a key that may be forgotten: in one run, and in the next", function* () {
    const { directory, posts, service } = yield* job(
      (_, before) => before.every(({ method }) => method !== "POST") && "reset",
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
      assert.match(issues[0]?.reason ?? "", /more than 1ms ago, so the service may have forgotten its Idempotency-Key/)
      assert.strictEqual(posts().length, 1)
    }
    assert.strictEqual((yield* submitting("1 hour")).counts.submitted.tasks, 1)
    const keys = posts().map(({ headers }) => headers["idempotency-key"])
    assert.deepStrictEqual(keys, [keys[0], keys[0]])
  })

  for (const [what, answer, reason] of [
    ["that breaks down", problem(500, "oops"), /unavailable \(500\): oops/],
    ["whose answers name no task", { status: 200, body: { ok: true } }, /no task id at any of task_id, id/],
    [
      "whose ids are longer than every ledger takes",
      { status: 201, body: { task_id: "x".repeat(1001) } },
      /no task id at any of task_id, id/,
    ],
  ] as const) {
    test(`does not give a whole job to a service ${what}`, function* () {
      const { failed, stateNow } = yield* job(({ method }) => method === "POST" && answer, { concurrency: 1 })
      assert.match((yield* failed(items(40))).message, reason)
      const { counts } = yield* stateNow
      assert.deepStrictEqual([counts.in_doubt.tasks, counts.planned.tasks], [5, 15])
    })
  }

  test("waits for a service that is down before more comes to be in doubt, asks by GET alone, and ends in the end", function* () {
    const { failed, posts, service, stateNow } = yield* job(() => problem(500, "oops"), {
      concurrency: 1,
      patience: "2 seconds",
    })
    assert.match((yield* failed(items(40))).message, /has been down since .*500: oops/)
    assert.strictEqual(posts().length, 3)
    assert.isAtLeast(service.received.length, 4)
    const { counts } = yield* stateNow
    assert.deepStrictEqual([counts.in_doubt.tasks, counts.planned.tasks], [3, 17])
  })

  test("where keys are honored, leaves a task that can't be created for the next run, and submits the others", function* () {
    let mended = false
    const { process, stateNow } = yield* job(
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
    const failure = yield* run.pipe(Effect.flip, process)
    assert.match(String(failure.message), /unavailable \(500\): oops/)
    const { counts } = yield* stateNow
    assert.deepStrictEqual([counts.submitted.tasks, counts.planned.tasks], [3, 1])
    mended = true
    const after = yield* run.pipe(Effect.andThen(ledgerState), process)
    assert.deepStrictEqual([after.counts.submitted.tasks, after.counts.planned.tasks], [4, 0])
  })

  test("ends at once where the token is refused, though others wait as long as the service asked", function* () {
    const both = Promise.withResolvers<void>()
    const { failed, stateNow } = yield* job(
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
    assert.match((yield* failed(items(8))).message, /refuses the token/)
    const { counts } = yield* stateNow
    assert.strictEqual(counts.planned.tasks, 4)
  })

  for (const [what, headers] of [
    ["503", {}],
    ["503 with a time to come back", { "retry-after": "0" }],
  ] as const) {
    test(`where keys are ignored, takes ${what} for a request that may have been taken`, function* () {
      // The first task is taken all the same.
      const { posts, submitted } = yield* job(
        (_, before) => before.length === 0 && { ...problem(503, "upstream broke off"), headers },
      )
      const state = yield* submitted(items(2))
      assert.strictEqual(state.counts.in_doubt.tasks, 1)
      assert.strictEqual(posts().length, 1)
    })
  }

  test("a refusal after a try that may have been taken leaves the task in doubt", function* () {
    const { submitted } = yield* job(
      (_, before) => (before.length === 0 ? "reset" : problem(422, "this key is taken")),
      { idempotencyKey: "honored" },
    )
    const state = yield* submitted(items(2))
    assert.strictEqual(state.counts.in_doubt.tasks, 1)
    assert.match(state.issues[0]?.reason ?? "", /earlier attempt may have created the task.*this key is taken/)
  })
})

test("submit, interrupted finishes and records the request under way, so that nothing is in doubt", function* () {
  const received = yield* Latch.make()
  const answer = Promise.withResolvers<void>()
  const { posts, process } = yield* job(
    async () => {
      received.openUnsafe()
      await answer.promise
      return false as const
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
  }).pipe(process)
  assert.strictEqual(state.counts.submitted.tasks, posts().length)
  assert.strictEqual(state.counts.submitting.tasks, 0)
  assert.strictEqual(state.counts.in_doubt.tasks, 0)
  assert.isBelow(posts().length, 3)
})
