/**
 * What every ledger must do, whichever database it stands on.
 *
 * `database` gives an empty database each time it is built. Time is the test's own.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Stream, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { defaultJob, Ledger, type LedgerOptions } from "../../../src/task/ledger/Ledger.ts"
import * as LedgerCheck from "../../../src/task/ledger/care/LedgerCheck.ts"
import { type Delivery, type ItemDetails, type Run, TaskState } from "../../../src/task/ledger/schema/Model.ts"
import * as Sha256 from "../../../src/node/Sha256.ts"
import * as Payload from "../../../src/task/ledger/schema/Payload.ts"
import { items } from "../../support/items.ts"
import { difficultTexts } from "../../support/pairs.ts"
import { campaignConformance } from "./campaignConformance.ts"
import { conversationConformance } from "./conversationConformance.ts"
import { deliveryConformance } from "./deliveryConformance.ts"
import { fingerprintConformance } from "./fingerprintConformance.ts"
import { resolveConformance } from "./resolveConformance.ts"
import { spendingConformance } from "./spendingConformance.ts"
import {
  batchItem,
  batchItems,
  newTask,
  newTasks,
  plan,
  reject,
  type LedgerTest,
  bring,
  itemsByState,
  claimAll,
  recordStep,
  split,
  statesOf,
  submitted,
} from "../support.ts"
import { column, columns } from "../../support/columns.ts"

type Service = (typeof Ledger)["Service"]

/** Identities stand in text columns, which not every database fills with every text. */
const withoutNul = (text: string) => text.replaceAll("\0", "")

/** The items of tasks that came to nothing. */
const lostOf = (tasks: ReadonlyArray<{ readonly items: ReadonlyArray<ItemDetails> }>) =>
  tasks.flatMap(({ items }) => items.map(({ item_id }) => item_id))

/** What a run plans with that was not told otherwise. */
const usual = { votes: 1, voters: null, overBudget: 0, shuffleSeed: Option.some(0) }
const never = Option.none<never>()
const seqs = (tasks: ReadonlyArray<{ readonly seq: number }>) => tasks.map(({ seq }) => seq)
const planned = Ledger.use((ledger) => ledger.plannedAfter(-1))
const ids = (due: { readonly tasks: ReadonlyArray<{ readonly taskId: string }> }) =>
  due.tasks.map(({ taskId }) => taskId)

/** Postpones a task that is due. */
const postpone = Effect.fnUntraced(function* (seq: number, millis: number) {
  const ledger = yield* Ledger
  const { tasks } = yield* ledger.due(10, never)
  assert.include(
    tasks.map((task) => task.seq),
    seq,
  )
  yield* ledger.postpone(seq, millis)
})

const delivery = (id: string, sentAt: number, taskIds?: ReadonlyArray<string>): Delivery => ({
  id,
  sentAt,
  taskIds: Option.fromNullishOr(taskIds),
})

/** Everything that a step of reading may change, as it can be seen from outside. */
const readState = Effect.fnUntraced(function* (run: Run, of: ReturnType<typeof batchItems>) {
  const ledger = yield* Ledger
  return {
    counts: yield* ledger.counts,
    planned: yield* ledger.plannedAfter(-1),
    classifications: yield* ledger.classify({ ...run, run: run.run + 1 }, of),
    rejects: yield* Stream.runCollect(ledger.rejects(run.run)),
    lastRun: yield* ledger.lastRun,
  }
})

export const ledgerConformance = (name: string, database: Layer.Layer<SqlClient.SqlClient, unknown>) => {
  const ledgerOf = (client: SqlClient.SqlClient, options?: LedgerOptions) =>
    Ledger.layer(options).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, client)))

  const test: LedgerTest = (name, body) =>
    it.effect(name, () =>
      Ledger.use(Effect.fnUntraced(body)).pipe(Effect.provide(Ledger.layer().pipe(Layer.provideMerge(database)))),
    )

  describe(`Ledger over ${name}`, () => {
    test("a snapshot sees one state while results come in, and holds them up in nothing", function* (ledger) {
      yield* submitted(3)
      const completed = Effect.map(ledger.counts, ({ completed }) => completed.tasks)
      const seen = yield* ledger.snapshot(
        Effect.gen(function* () {
          const before = yield* completed
          yield* ledger.markCompleted(0, '{"results":[]}')
          const after = yield* ledger.snapshot(completed)
          yield* ledger.markCompleted(1, '{"results":[]}')
          const streamed = yield* Stream.runCollect(ledger.turnarounds(Option.none()))
          return [before, after, streamed.length]
        }),
      )
      assert.deepStrictEqual(seen, [0, 0, 0])
      assert.strictEqual(yield* completed, 2)
    })

    describe("reading", () => {
      test("knows the last run that read something, what it read, and whether it came to the end", function* (ledger) {
        assert.deepStrictEqual(yield* ledger.lastRun, Option.none())
        const run = yield* ledger.startRun()
        assert.deepStrictEqual(yield* ledger.lastRun, Option.none())
        const counts = { read: 9, new: 4, known: 0, duplicates: 3, reordered: 0, rejected: 2 }
        const step = { tasks: newTasks([2]), known: [], rejects: [reject(1), reject(2)] }
        yield* ledger.record(run, { ...step, counts, finished: false })
        assert.deepStrictEqual(
          yield* ledger.lastRun,
          Option.some({ ...run, readFinished: false, ...usual, maxRejects: never, counts }),
        )
        const more = { ...counts, read: 10, known: 1 }
        yield* ledger.record(run, { tasks: [], known: [], rejects: [], counts: more, finished: true })
        yield* ledger.startRun()
        assert.deepStrictEqual(
          yield* ledger.lastRun,
          Option.some({ ...run, readFinished: true, ...usual, maxRejects: never, counts: more }),
        )
      })

      test("knows how many rejects the last run allowed, or which share, where there were more", function* (ledger) {
        const allowed = Effect.map(ledger.lastRun, (run) => Option.flatMap(run, ({ maxRejects }) => maxRejects))
        for (const maxRejects of ["0", "1000", "1%", "0.25%"]) {
          const run = yield* plan([])
          yield* recordStep(run, { read: 1, rejected: 1 }, { rejects: [reject(1)], finished: false })
          assert.deepStrictEqual(yield* allowed, Option.none())
          yield* ledger.endRun(run, { maxRejects })
          assert.deepStrictEqual(yield* allowed, Option.some(maxRejects))
        }
      })

      test("tells new, known, repeated and conflicting items apart", function* (ledger) {
        const [a, b, c] = batchItems(0, 3)
        const other = batchItem({ ...a!, item: { ...a!.item, prompt: "another prompt" } })
        const first = yield* plan([newTask([a!, b!])])
        assert.deepStrictEqual(yield* ledger.classify(first, [a!, c!, other, b!]), [
          "duplicate",
          "new",
          "conflict",
          "duplicate",
        ])
        const second = yield* ledger.startRun()
        assert.deepStrictEqual(yield* ledger.classify(second, [a!, b!, a!]), ["known", "known", "known"])
        yield* recordStep(second, { read: 1, known: 1 }, { known: [a!.itemId], finished: false })
        assert.deepStrictEqual(yield* ledger.classify(second, [a!, b!, other]), ["duplicate", "known", "conflict"])
        assert.deepStrictEqual(yield* ledger.classify(second, []), [])
      })

      test("plans the tasks of a step in statements of many rows", function* () {
        const spans: Array<Tracer.NativeSpan> = []
        const tracer = Tracer.make({
          span: (options) => {
            const span = new Tracer.NativeSpan(options)
            spans.push(span)
            return span
          },
        })
        const planned = Effect.andThen(
          plan(newTasks(Array.from({ length: 100 }, () => 2))),
          Ledger.use((ledger) => ledger.counts),
        )
        // A ledger of its own: what writes takes the tracer of who opened it.
        const counts = yield* planned.pipe(Effect.provide(Ledger.layer({ job: "traced" })), Effect.withTracer(tracer))
        assert.deepStrictEqual(counts.planned, { tasks: 100, items: 200 })
        const texts = spans.map(({ attributes }) => String(attributes.get("db.query.text")))
        const inserts = texts.filter((text) => /^INSERT INTO "?(item|task|task_request)"? /.test(text))
        assert.strictEqual(inserts.length, 4)
      })

      test("looks for more items at once than a statement takes values", function* (ledger) {
        yield* plan(newTasks([3]))
        const many = Array.from({ length: 70_000 }, (_, i) => ({ itemId: `item-${i}`, contentHash: "other" }))
        const classifications = yield* ledger.classify({ run: 2, campaign: 1 }, many)
        assert.strictEqual(classifications.length, many.length)
        assert.deepStrictEqual(classifications.slice(0, 4), ["conflict", "conflict", "conflict", "new"])
      })

      test("records a step whole, or nothing of it", function* (ledger) {
        yield* plan(newTasks([2]))
        const run = yield* ledger.startRun()
        const fresh = batchItems(2, 4)
        yield* recordStep(run, { read: 1, rejected: 1 }, { rejects: [reject(1)], finished: false })
        const seen = [...batchItems(0, 2), ...fresh]
        const before = yield* readState(run, seen)
        const step = {
          tasks: [newTask(fresh.slice(0, 3)), newTask(fresh.slice(3))],
          known: ["item-0"],
          rejects: [reject(2), reject(3)],
          counts: { read: 8, new: 4, known: 1, duplicates: 0, reordered: 0, rejected: 3 },
          finished: true,
        }
        // An item that has a task already, and a reject in the place of another: the first and the last to be written.
        const knownAgain = { ...step, tasks: [...step.tasks, newTask(batchItems(0, 1))] }
        const rejectAgain = { ...step, counts: { ...step.counts, rejected: 2 } }
        for (const failing of [knownAgain, rejectAgain]) {
          yield* ledger.planned.close
          assert.strictEqual((yield* Effect.flip(ledger.record(run, failing))).reason._tag, "UniqueViolation")
          assert.deepStrictEqual(yield* readState(run, seen), before)
          assert.isFalse(ledger.planned.isOpen())
        }
        yield* ledger.record(run, step)
        const after = yield* readState(run, seen)
        assert.deepStrictEqual(after.counts.planned, { tasks: 3, items: 6 })
        assert.deepStrictEqual(seqs(after.planned), [0, 2, 5])
        assert.deepStrictEqual(after.rejects, [reject(1), reject(2), reject(3)])
        assert.deepStrictEqual(new Set(after.classifications), new Set(["known"]))
        assert.deepStrictEqual(
          after.lastRun,
          Option.some({ ...run, readFinished: true, ...usual, maxRejects: never, counts: step.counts }),
        )
        assert.isTrue(ledger.planned.isOpen())
      })

      it.effect("takes ids of items and of tasks, and names of jobs, as long as they may be", () =>
        Effect.gen(function* () {
          const client = yield* SqlClient.SqlClient
          // Digits that no database makes shorter.
          const long = (name: string) =>
            Array.from({ length: 16 }, (_, i) => Sha256.hex(`${name} ${i}`))
              .join("")
              .slice(0, 1000)
          yield* Effect.gen(function* () {
            const ledger = yield* Ledger
            yield* plan([newTask([batchItem(items(1, () => ({ id: long("item") }))[0]!)])])
            yield* claimAll
            yield* ledger.recordDelivery(delivery("d", 1, [long("task")]))
            yield* ledger.markSubmitted(0, long("task"), 60_000)
            assert.deepStrictEqual(ids(yield* ledger.due(10, never)), [long("task")])
          }).pipe(Effect.provide(ledgerOf(client, { job: "p".repeat(100) })))
        }).pipe(Effect.provide(database)),
      )

      test("keeps each task's key, request and item details exactly", function* (ledger) {
        const task = newTask(
          difficultTexts.map((text, i) =>
            batchItem({
              item: {
                id: `${withoutNul(text)}${i}`,
                prompt: text,
                completions: [text, `${text}!`],
                ...(i % 2 === 0 && { metadata: { text, nested: [null, 1.5, { text }] } }),
                ...(i % 3 === 0 && { gold: { best_completion_index: 1, rationale: text } }),
              },
              origin: { file: `${text}.jsonl`, line: i + 1 },
            }),
          ),
        )
        yield* plan([task])
        assert.deepStrictEqual(columns(yield* planned, "seq", "itemCount", "idempotencyKey"), [
          [0, task.items.length, task.idempotencyKey],
        ])
        const question = yield* ledger.request(0)
        assert.strictEqual(Payload.decode(question.body), Payload.decode(task.body))
        assert.deepStrictEqual(
          question.items.map((details) => ({ ...details })),
          task.items.map(({ item, itemId, origin }) => ({
            item_id: itemId,
            origin,
            ...(item.metadata && { metadata: item.metadata }),
            ...(item.gold && { gold: item.gold }),
          })),
        )
      })

      test("gives out rejects in order, over more than a page, of the asked run only", function* (ledger) {
        const rejects = Array.from({ length: 70 }, (_, i) => ({
          ...reject(i + 1),
          raw: difficultTexts[i % difficultTexts.length]!,
          ...(i % 2 === 0 && { raw_base64: "AP8=", raw_bytes: i }),
        }))
        const run = yield* ledger.startRun()
        yield* recordStep(run, { read: 5, rejected: 5 }, { rejects: rejects.slice(0, 5), finished: false })
        yield* recordStep(run, { read: 70, rejected: 70 }, { rejects: rejects.slice(5) })
        const next = yield* ledger.startRun()
        yield* recordStep(next, { read: 1, rejected: 1 }, { rejects: [reject(99)] })
        assert.deepStrictEqual(yield* Stream.runCollect(ledger.rejects(run.run)), rejects)
        assert.deepStrictEqual(yield* Stream.runCollect(ledger.rejects(next.run)), [reject(99)])
        assert.deepStrictEqual(yield* Stream.runCollect(ledger.rejects(next.run + 1)), [])
      })
    })

    describe("planned tasks", () => {
      test("do not show once they are taken, and are taken once", function* (ledger) {
        yield* plan(newTasks([1, 1, 1]))
        const [, second] = yield* planned
        assert.isTrue(yield* ledger.claim(second!))
        assert.isFalse(yield* ledger.claim(second!))
        assert.deepStrictEqual(seqs(yield* planned), [0, 2])
        assert.deepStrictEqual((yield* ledger.counts).submitting, { tasks: 1, items: 1 })
        yield* ledger.markPlanned(1)
        assert.deepStrictEqual(seqs(yield* planned), [0, 1, 2])
        assert.isTrue(yield* ledger.claim(second!))
      })

      test("of many that take the same task, one gets it", function* (ledger) {
        yield* plan(newTasks([1]))
        const [task] = yield* planned
        const claims = yield* Effect.all(
          Array.from({ length: 20 }, () => ledger.claim(task!)),
          { concurrency: "unbounded" },
        )
        assert.strictEqual(claims.filter((claimed) => claimed).length, 1)
      })

      test("are not taken under the key that they had before they were split", function* (ledger) {
        yield* plan(newTasks([2]))
        const [whole] = yield* planned
        yield* split(0)
        assert.isFalse(yield* ledger.claim(whole!))
        assert.strictEqual((yield* ledger.counts).planned.tasks, 2)
      })
    })

    describe("states", () => {
      const moves: ReadonlyArray<{
        readonly to: TaskState
        readonly move: (ledger: Service) => Effect.Effect<unknown, unknown>
        readonly trouble?: { readonly taskId: string | null; readonly reason: string }
      }> = [
        { to: "submitting", move: () => Effect.void },
        { to: "planned", move: (ledger) => ledger.markPlanned(3) },
        { to: "submitted", move: (ledger) => ledger.markSubmitted(3, "task_x", 0) },
        { to: "refused", move: (ledger) => ledger.markRefused(3, "no"), trouble: { taskId: null, reason: "no" } },
        { to: "in_doubt", move: (ledger) => ledger.markInDoubt(3, "hm"), trouble: { taskId: null, reason: "hm" } },
        {
          to: "failed",
          move: (ledger) => Effect.andThen(ledger.markSubmitted(3, "task_x", 0), ledger.markFailed(3, "gone")),
          trouble: { taskId: "task_x", reason: "gone" },
        },
        {
          to: "invalid",
          move: (ledger) => Effect.andThen(ledger.markSubmitted(3, "task_x", 0), ledger.markInvalid(3, "{", "odd")),
          trouble: { taskId: "task_x", reason: "odd" },
        },
        {
          to: "completed",
          move: (ledger) => Effect.andThen(ledger.markSubmitted(3, "task_x", 0), ledger.markCompleted(3, "{}")),
        },
      ]
      for (const { move, to, trouble } of moves) {
        test(`a task becomes ${to}, and no other task with it`, function* (ledger) {
          yield* plan(newTasks([3, 2, 4]))
          const claimed = (yield* planned)[1]!
          yield* ledger.claim(claimed)
          yield* move(ledger)
          assert.deepStrictEqual(yield* statesOf, to === "planned" ? { planned: 9 } : { planned: 7, [to]: 2 })
          const { idempotencyKey } = claimed
          const issue = { number: 4, seq: 3, campaign: 1, attempt: 1, state: to, idempotencyKey, items: 2, sentAt: 0 }
          assert.deepStrictEqual(yield* ledger.issues(10), trouble === undefined ? [] : [{ ...issue, ...trouble }])
          assert.deepStrictEqual(seqs(yield* planned), to === "planned" ? [0, 3, 5] : [0, 5])
          assert.deepStrictEqual(ids(yield* ledger.due(10, never)), to === "submitted" ? ["task_x"] : [])
          assert.strictEqual((yield* Stream.runCollect(ledger.completed)).length, to === "completed" ? 1 : 0)
          assert.strictEqual((yield* Stream.runCollect(ledger.dropped(never))).length, to === "refused" ? 1 : 0)
        })
      }

      test("submitting a task opens `submitted`, once it can be found", function* (ledger) {
        yield* plan(newTasks([1]))
        yield* claimAll
        assert.isFalse(ledger.submitted.isOpen())
        yield* ledger.markSubmitted(0, "task_x", 0)
        assert.isTrue(ledger.submitted.isOpen())
      })

      for (const [owner, bring] of [
        ["a task that is outstanding", Effect.void],
        ["a task that is given up", Ledger.use((ledger) => ledger.giveUp([1]))],
        [
          "an earlier attempt of another task",
          Ledger.use((ledger) => Effect.andThen(ledger.markFailed(0, "gone"), ledger.sendAgain([1]))),
        ],
      ] as const) {
        test(`the id of ${owner} is not taken for another task, which is in doubt`, function* (ledger) {
          yield* plan(newTasks([1, 2]))
          yield* claimAll
          assert.isTrue(Option.isNone(yield* ledger.markSubmitted(0, "task_x", 0)))
          yield* bring
          const reason = yield* ledger.markSubmitted(1, "task_x", 0)
          assert.match(Option.getOrThrow(reason), /task_x, which task 1 already has/)
          const [second] = yield* ledger.tasksOf([2])
          assert.deepInclude(second, { state: "in_doubt", taskId: null, reason: Option.getOrThrow(reason) })
        })
      }

      test("a task may get the id that an earlier attempt of its own had", function* (ledger) {
        yield* plan(newTasks([1]))
        yield* claimAll
        yield* ledger.markSubmitted(0, "task_x", 0)
        yield* Effect.andThen(ledger.markFailed(0, "gone"), ledger.sendAgain([1]))
        yield* claimAll
        yield* ledger.markSubmitted(0, "task_x", 0)
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_x"])
      })

      for (const outcome of ["planned", "in_doubt"] as const) {
        test(`what was being sent when a process ended becomes ${outcome}, and nothing else does`, function* (ledger) {
          yield* plan(newTasks([1, 2, 3, 4]))
          const [first, second, third] = yield* planned
          yield* Effect.forEach([first!, second!, third!], ledger.claim)
          yield* ledger.markSubmitted(0, "task_x", 0)
          yield* ledger.settleInterrupted(outcome)
          const rest = outcome === "planned" ? { planned: 9 } : { planned: 4, in_doubt: 5 }
          assert.deepStrictEqual(yield* statesOf, { submitted: 1, ...rest })
          const issues = yield* ledger.issues(10)
          assert.deepStrictEqual(seqs(issues), outcome === "planned" ? [] : [1, 3])
          for (const { reason } of issues) assert.match(reason ?? "", /may have been sent/)
        })
      }

      test("is in doubt where its key may have been forgotten since its first try, whatever it was before", function* (ledger) {
        const settle = ledger.settleInterrupted("planned", Duration.hours(24))
        const day = Duration.toMillis("24 hours")
        yield* plan(newTasks([1, 1, 1, 1]))
        const [first, second, third] = yield* planned
        yield* TestClock.setTime(1000)
        yield* Effect.forEach([first!, second!, third!], ledger.claim)
        yield* ledger.markInDoubt(1, "hm")
        yield* ledger.release(2)
        yield* TestClock.setTime(2000)
        yield* settle
        yield* ledger.claim(first!)
        yield* ledger.claim(third!)
        yield* TestClock.setTime(1000 + day)
        yield* settle
        assert.deepStrictEqual(seqs(yield* planned), [0, 1, 2, 3])
        yield* TestClock.setTime(1001 + day)
        yield* settle
        assert.deepStrictEqual(seqs(yield* planned), [2, 3])
        const issues = yield* ledger.issues(10)
        assert.deepStrictEqual(seqs(issues), [0, 1])
        for (const { reason, state } of issues) {
          assert.strictEqual(state, "in_doubt")
          assert.match(reason ?? "", /may have been sent more than 1d ago, .* forgotten its Idempotency-Key/)
        }
        yield* ledger.settleInterrupted("planned")
        assert.deepStrictEqual(seqs(yield* planned), [0, 1, 2, 3])
      })

      test("is bound to the service that took its first task, until that is said to have moved", function* (ledger) {
        yield* plan(newTasks([1]))
        yield* ledger.bindService("here", false)
        yield* ledger.bindService("there", false)
        yield* Effect.forEach(yield* planned, ledger.claim)
        const refused = yield* Effect.flip(ledger.bindService("here", false))
        assert.strictEqual(refused._tag, "OtherService")
        assert.match(refused.message, /at there, not at here/)
        yield* ledger.bindService("there", false)
        yield* ledger.bindService("here", true)
        yield* ledger.bindService("here", false)
      })

      test("is at that service as long as a task is or may be there", function* (ledger) {
        yield* plan(newTasks([1, 1]))
        yield* claimAll
        yield* ledger.bindService("here", false)
        const elsewhere = Effect.flip(ledger.bindService("there", false))
        const moves = [
          ledger.markInDoubt(0, "hm"),
          ledger.markPlanned(0),
          ledger.markSubmitted(0, "task_0", 0),
          ledger.markInvalid(0, "", "odd"),
          ledger.markCompleted(0, "{}"),
          ledger.markFailed(0, "gone"),
        ]
        yield* ledger.markRefused(1, "no")
        for (const move of moves) {
          yield* move
          assert.strictEqual((yield* elsewhere)._tag, "OtherService")
        }
      })

      test("may be at another service while its tasks are only planned, given back or refused", function* (ledger) {
        yield* plan(newTasks([1, 1, 1]))
        yield* ledger.bindService("here", false)
        yield* claimAll
        yield* ledger.markRefused(0, "no")
        yield* ledger.release(1)
        yield* ledger.release(2)
        yield* ledger.bindService("there", false)
      })

      test("a split keeps the order and the items, and touches no other task", function* (ledger) {
        yield* plan(newTasks([2, 5, 2]))
        const before = yield* Effect.forEach([0, 7], ledger.request)
        const [, task] = yield* planned
        yield* ledger.claim(task!)
        const { items } = yield* ledger.request(2)
        const [first, second] = yield* split(2)
        assert.deepStrictEqual(columns(yield* planned, "seq", "part", "itemCount", "idempotencyKey").slice(1, 3), [
          [2, 1, 3, first!.idempotencyKey],
          [5, 1, 2, second!.idempotencyKey],
        ])
        assert.deepStrictEqual(seqs(yield* planned), [0, 2, 5, 7])
        assert.deepStrictEqual((yield* ledger.counts).planned, { tasks: 4, items: 9 })
        const halves = yield* Effect.forEach([2, 5], ledger.request)
        assert.deepStrictEqual(
          halves.flatMap((half) => half.items),
          items,
        )
        for (const [i, { body }] of halves.entries()) {
          assert.strictEqual(Payload.decode(body), Payload.decode([first!, second!][i]!.body))
        }
        assert.deepStrictEqual(yield* Effect.forEach([0, 7], ledger.request), before)
        // The items are as known as before, and the next task comes after them.
        assert.deepStrictEqual(
          new Set(yield* ledger.classify({ run: 2, campaign: 1 }, batchItems(0, 9))),
          new Set(["known"]),
        )
        yield* plan(newTasks([1], 9))
        assert.deepStrictEqual(seqs(yield* planned), [0, 2, 5, 7, 9])
      })

      test("a split is whole or not at all", function* (ledger) {
        yield* plan(newTasks([2, 2]))
        const before = yield* ledger.request(0)
        const [half] = newTasks([1])
        // The second half would take the next task's place.
        const failure = ledger.split(0, [
          { ...half!, items: before.items },
          { ...half!, items: before.items },
        ])
        assert.strictEqual((yield* Effect.flip(failure)).reason._tag, "UniqueViolation")
        assert.deepStrictEqual(yield* ledger.request(0), before)
        assert.deepStrictEqual((yield* ledger.counts).planned, { tasks: 2, items: 4 })
      })
    })

    describe("due tasks", () => {
      test("are due after their first look, longest due first, no more than asked for", function* (ledger) {
        yield* plan(newTasks([1, 1, 1, 1]))
        yield* claimAll
        assert.deepStrictEqual(yield* ledger.due(10, never), { tasks: [], wait: Option.none() })
        yield* TestClock.setTime(1_000)
        yield* ledger.markSubmitted(0, "late", 300)
        yield* ledger.markSubmitted(1, "early", 100)
        yield* ledger.markSubmitted(2, "also early", 99.5)
        yield* ledger.markSubmitted(3, "much later", 10_000)
        assert.deepStrictEqual(yield* ledger.due(10, never), { tasks: [], wait: Option.some(100) })
        yield* TestClock.setTime(1_040)
        assert.deepStrictEqual((yield* ledger.due(10, never)).wait, Option.some(60))
        yield* TestClock.setTime(1_100)
        const due = yield* ledger.due(10, never)
        assert.deepStrictEqual(
          due.tasks.map(({ seq, submittedAt, taskId }) => ({ seq, taskId, submittedAt })),
          [
            { seq: 1, taskId: "early", submittedAt: 1_000 },
            { seq: 2, taskId: "also early", submittedAt: 1_000 },
          ],
        )
        assert.deepStrictEqual(due.wait, Option.some(0))
        yield* TestClock.setTime(1_300)
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["early", "also early", "late"])
        assert.deepStrictEqual(ids(yield* ledger.due(2, never)), ["early", "also early"])
      })

      test("are due again after they were postponed, and all at once when asked", function* (ledger) {
        yield* submitted(3)
        yield* TestClock.setTime(5_000)
        yield* postpone(0, 200)
        yield* postpone(1, 100.4)
        yield* postpone(2, 300)
        assert.deepStrictEqual(yield* ledger.due(10, never), { tasks: [], wait: Option.some(101) })
        yield* TestClock.setTime(5_250)
        const due = yield* ledger.due(10, never)
        assert.deepStrictEqual(ids(due), ["task_1", "task_0"])
        // Their age goes on from when they were submitted.
        assert.deepStrictEqual(column(due.tasks, "submittedAt"), [0, 0])
        yield* ledger.makeDue
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_0", "task_1", "task_2"])
      })

      test("are due within the longest time between two looks, whatever it was before; hints stay", function* (ledger) {
        yield* TestClock.setTime(1_000)
        yield* submitted(4)
        for (const seq of [1, 2, 3]) yield* postpone(seq, 3_600_000)
        yield* postpone(0, 5_000)
        yield* ledger.recordDelivery({ id: "msg_0", sentAt: 0, taskIds: Option.some(["task_3"]) })
        yield* ledger.markFailed(2, "gone")
        yield* ledger.dueWithin(20_000.5)
        yield* TestClock.setTime(30_000)
        const { tasks } = yield* ledger.due(10, never)
        assert.deepStrictEqual(columns(tasks, "taskId", "dueAt"), [
          ["task_3", 0],
          ["task_0", 6_000],
          ["task_1", 21_001],
        ])
      })

      test("are those that came to nothing and are taken for outstanding again, one by one", function* (ledger) {
        yield* submitted(2, 60_000)
        yield* ledger.markFailed(0, "gone")
        yield* ledger.markFailed(1, "gone")
        yield* ledger.markOpen(0, "another")
        yield* ledger.markOpen(1, "task_1")
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_1"])
        assert.strictEqual((yield* ledger.counts).failed.tasks, 1)
      })

      test("up to a horizon do not grow by what becomes due later", function* (ledger) {
        yield* submitted(2)
        yield* ledger.makeDue
        yield* TestClock.setTime(1_000)
        const horizon = Option.some(1_000)
        assert.deepStrictEqual(ids(yield* ledger.due(10, horizon)), ["task_0", "task_1"])
        yield* postpone(0, 500)
        assert.deepStrictEqual(ids(yield* ledger.due(10, horizon)), ["task_1"])
        yield* postpone(1, 600)
        yield* TestClock.setTime(2_000)
        assert.deepStrictEqual(yield* ledger.due(10, horizon), { tasks: [], wait: Option.some(500) })
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_0", "task_1"])
      })

      test("are those that failed and whose results did not fit once more, and these keep their states meanwhile", function* (ledger) {
        yield* submitted(5, 60_000)
        yield* ledger.markInvalid(1, "first", "odd")
        yield* ledger.markFailed(2, "gone")
        yield* ledger.markInDoubt(3, "hm")
        yield* ledger.markCompleted(4, "{}")
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), [])
        yield* ledger.recheck
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_1", "task_2"])
        assert.deepStrictEqual(yield* statesOf, { submitted: 1, invalid: 1, failed: 1, in_doubt: 1, completed: 1 })
        // Whoever looks at them may be stopped before that: the reasons are there.
        assert.deepStrictEqual(column(yield* ledger.issues(9, ["failed", "invalid"]), "reason"), ["odd", "gone"])
        yield* ledger.markFailed(2, "still gone")
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_1"])
        // What comes now takes the place of what did not fit.
        yield* ledger.markCompleted(1, "second")
        const found = yield* Stream.runCollect(ledger.completed)
        assert.deepStrictEqual(
          found.map(({ result, taskId }) => [taskId, Payload.decode(result)]),
          [
            ["task_1", "second"],
            ["task_4", "{}"],
          ],
        )
      })
    })

    describe("results", () => {
      test("that did not fit stay when an answer that can't be read comes after them", function* (ledger) {
        const sql = yield* SqlClient.SqlClient
        const kept = Effect.map(sql<{ body: Uint8Array }>`SELECT body FROM task_result`, (rows) =>
          rows.map(({ body }) => Payload.decode(body)),
        )
        yield* submitted(2, 0)
        yield* ledger.markInvalid(0, "misfit", "odd")
        yield* ledger.markInvalid(0, undefined, "unreadable")
        yield* ledger.markInvalid(1, undefined, "unreadable")
        assert.deepStrictEqual(yield* kept, ["misfit"])
        assert.strictEqual((yield* ledger.counts).invalid.tasks, 2)
        assert.deepStrictEqual(column(yield* ledger.issues(9), "reason"), ["unreadable", "unreadable"])
      })

      test("come in the order of the items, over more than a page, exactly as they were recorded", function* (ledger) {
        const textOf = (i: number) => difficultTexts[i % difficultTexts.length]!
        const tasks = Array.from({ length: 70 }, (_, i) =>
          newTask(batchItems(2 * i, 2, (n) => ({ prompt: `${textOf(n)}${n}`, metadata: { text: textOf(n) } }))),
        )
        yield* plan(tasks)
        yield* claimAll
        const resultOf = (i: number) => `{ "text":${JSON.stringify(textOf(i))},  "raw":"${textOf(i)}" }\n${i}`
        // Completed in another order than planned; every tenth not at all.
        for (let i = 69; i >= 0; i--) {
          yield* ledger.markSubmitted(2 * i, `task_${withoutNul(textOf(i))}${i}`, 0)
          if (i % 10 !== 3) yield* ledger.markCompleted(2 * i, resultOf(i))
        }
        const found = yield* Stream.runCollect(ledger.completed)
        assert.deepStrictEqual(
          found.map(({ items, prompts, result, seq, taskId }) => [seq, taskId, prompts, items, Payload.decode(result)]),
          Array.from(tasks, ({ items }, i) => [
            2 * i,
            `task_${withoutNul(textOf(i))}${i}`,
            items.map(({ item, prompt }) => ({ prompt, completions: item.completions })),
            items.map(({ item, itemId, origin }) => ({ item_id: itemId, origin, metadata: item.metadata! })),
            resultOf(i),
          ]).filter((_, i) => i % 10 !== 3),
        )
      })

      test("of refused tasks are what was asked and why it was refused, over more than a page", function* (ledger) {
        const tasks = newTasks(50)
        yield* plan(tasks)
        yield* claimAll
        for (let seq = 0; seq < 50; seq++) yield* ledger.markRefused(seq, `reason ${seq}`)
        const refused = yield* Stream.runCollect(ledger.dropped(never))
        assert.deepStrictEqual(
          refused.map(({ items, reason }) => [
            reason,
            items.map(({ completions, item_id, prompt }) => [item_id, prompt, completions]),
          ]),
          tasks.map(({ items: [{ item }] }, i) => [`reason ${i}`, [[`item-${i}`, item.prompt, item.completions]]]),
        )
      })
    })

    describe("votes", () => {
      /** Two batches with three votes: of two items and a gold item between them, and of one item. */
      const voted = Effect.gen(function* () {
        const [a, gold, b, c] = batchItems(0, 4)
        const batches = [[a!, { ...gold!, isCheck: true, itemId: "gold:g:item-0" }, b!], [c!]]
        const tasks = batches.flatMap((items) =>
          [1, 2, 3].map((vote) => {
            const task = newTask(items)
            return { ...task, vote, votes: 3, idempotencyKey: `${vote} of ${task.idempotencyKey}` }
          }),
        )
        return yield* plan(tasks, { votes: 3, shuffleSeed: false })
      })

      test("stand one behind the other, and each item once, where its first vote has it", function* (ledger) {
        const run = yield* voted
        assert.deepStrictEqual(
          columns(yield* planned, "seq", "vote"),
          [0, 3, 6, 9, 10, 11].map((seq, i) => [seq, (i % 3) + 1]),
        )
        const sql = yield* SqlClient.SqlClient
        const items = yield* sql<{ item_id: string; seq: number }>`SELECT item_id, seq FROM item ORDER BY seq`
        assert.deepStrictEqual(
          items.map(({ item_id, seq }) => [item_id, Number(seq)]),
          [
            ["item-0", 0],
            ["item-2", 2],
            ["item-3", 9],
          ],
        )
        const { counts, gold, inputOf, votes } = yield* ledger.progress
        assert.deepStrictEqual([votes, gold], [3, 1])
        assert.deepStrictEqual(counts.planned, { tasks: 6, items: 12 })
        assert.deepStrictEqual(inputOf(run.campaign).planned, { tasks: 6, items: 3 })
        assert.deepStrictEqual(column(yield* Stream.runCollect(ledger.prompts), "itemId"), [
          "item-0",
          "item-2",
          "item-3",
        ])
        assert.deepInclude(Option.getOrThrow(yield* ledger.runOf(run.run)), { votes: 3, shuffleSeed: never })
        yield* plan(newTasks([1], 7))
        assert.strictEqual((yield* planned).at(-1)!.seq, 12)
      })

      test("count an item once: in any state that a vote of it has, and as lost where all are lost", function* (ledger) {
        const { run } = yield* voted
        yield* claimAll
        yield* ledger.markRefused(3, "no")
        yield* ledger.markRefused(9, "no")
        assert.deepStrictEqual(
          [yield* ledger.itemsIn(run, ["refused"]), yield* ledger.itemsIn(run, ["submitting"])],
          [3, 3],
        )
        assert.strictEqual(yield* ledger.itemsIn(run, TaskState.literals), 3)
        assert.deepStrictEqual([yield* ledger.itemsLost(run), yield* ledger.itemsLostWith(9)], [0, 0])
        assert.deepStrictEqual(yield* Stream.runCollect(ledger.dropped(never)).pipe(Effect.map(lostOf)), [])
        yield* ledger.markRefused(10, "no")
        yield* ledger.markInDoubt(11, "who knows")
        assert.strictEqual(yield* ledger.itemsLostWith(10), 0)
        yield* ledger.giveUp([12])
        assert.deepStrictEqual([yield* ledger.itemsLost(run), yield* ledger.itemsLostWith(11)], [1, 1])
        assert.deepStrictEqual(yield* Stream.runCollect(ledger.dropped(never)).pipe(Effect.map(lostOf)), ["item-3"])
      })

      test("are split each by itself: an item is lost only where all of its own tasks are", function* (ledger) {
        const { run } = yield* voted
        yield* claimAll
        for (const seq of [0, 3]) {
          yield* split(seq, 1 + seq / 3)
        }
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<Record<string, number>>`
          SELECT seq, item_count, new_items, batch, batch_items, vote, votes FROM task WHERE batch = 0 ORDER BY seq`
        assert.deepStrictEqual(
          rows.map((row) => Object.values(row).map(Number)),
          [
            [0, 2, 1, 0, 3, 1, 3],
            [2, 1, 1, 0, 3, 1, 3],
            [3, 2, 0, 0, 3, 2, 3],
            [5, 1, 0, 0, 3, 2, 3],
            [6, 3, 0, 0, 3, 3, 3],
          ],
        )
        for (const seq of [0, 3, 6]) yield* ledger.markRefused(seq, "no")
        assert.deepStrictEqual([yield* ledger.itemsLost(run), yield* ledger.itemsLostWith(6)], [1, 1])
        assert.deepStrictEqual(yield* Stream.runCollect(ledger.dropped(never)).pipe(Effect.map(lostOf)), ["item-0"])
        assert.strictEqual(yield* ledger.itemsIn(run, ["planned"]), 1)
        assert.deepStrictEqual((yield* LedgerCheck.check({ job: defaultJob })).findings, [])
      })

      test("come with their places, and with the times that they took", function* (ledger) {
        yield* voted
        yield* claimAll
        for (const [i, seq] of [0, 3, 10].entries()) {
          yield* ledger.markSubmitted(seq, `task_${seq}`, 0)
          yield* TestClock.adjust(1000 * (i + 1))
          yield* ledger.markCompleted(seq, "{}")
        }
        assert.deepStrictEqual(
          columns(yield* Stream.runCollect(ledger.completed), "seq", "batch", "batchItems", "vote", "votes"),
          [
            [0, 0, 3, 1, 3],
            [3, 0, 3, 2, 3],
            [10, 9, 1, 2, 3],
          ],
        )
        assert.deepStrictEqual(yield* Stream.runCollect(ledger.turnarounds(Option.some(1))), [1000, 2000, 3000])
        assert.deepStrictEqual(yield* Stream.runCollect(ledger.turnarounds(Option.some(2))), [])
      })
    })

    describe("webhook deliveries", () => {
      test("make the tasks that they name due at once, before all others, and no other", function* (ledger) {
        yield* submitted(4, 60_000)
        yield* TestClock.setTime(500)
        yield* ledger.markSubmitted(0, "task_0", 0)
        yield* TestClock.setTime(1_000)
        assert.strictEqual(yield* ledger.recordDelivery(delivery("a", 1, ["task_3", "task_1", "task_x"])), "due")
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_1", "task_3", "task_0"])
        assert.isTrue(ledger.hinted.isOpen())
        assert.deepStrictEqual(yield* ledger.lastDelivery, Option.some(1_000))
      })

      test("that name no task make all due, after those that were", function* (ledger) {
        yield* submitted(3, 60_000)
        yield* TestClock.setTime(1_000)
        yield* ledger.markSubmitted(2, "task_2", -500)
        assert.strictEqual(yield* ledger.recordDelivery(delivery("a", 1)), "due")
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_2", "task_0", "task_1"])
        assert.isTrue(ledger.hinted.isOpen())
      })

      test("that name only tasks of others, or none, change nothing", function* (ledger) {
        yield* submitted(2, 60_000)
        assert.strictEqual(yield* ledger.recordDelivery(delivery("a", 1, ["elsewhere", "Task_1"])), "unknown")
        assert.strictEqual(yield* ledger.recordDelivery(delivery("b", 1, [])), "unknown")
        assert.deepStrictEqual(yield* ledger.due(10, never), { tasks: [], wait: Option.some(60_000) })
        assert.isFalse(ledger.hinted.isOpen())
        assert.deepStrictEqual(yield* ledger.lastDelivery, Option.none())
      })

      test("make a completed task due once more, whose result may have changed; what no delivery names stays as it is", function* (ledger) {
        yield* submitted(3, 60_000)
        yield* Effect.forEach([0, 1, 2], (seq) => ledger.markCompleted(seq, `{"n":${seq}}`))
        yield* ledger.recordDelivery(delivery("all", 1))
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), [])
        yield* ledger.recordDelivery(delivery("a", 2, ["task_1", "task_0"]))
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_0", "task_1"])
        // While the service does not answer, in their turn.
        yield* ledger.postpone(0, 5_000, "task_0")
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_1"])
        yield* ledger.markCompleted(1, `{"n":"new"}`, "task_1")
        assert.deepStrictEqual(yield* ledger.due(10, never), { tasks: [], wait: Option.some(5_000) })
        yield* TestClock.setTime(5_000)
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_0"])
        yield* ledger.keepResult(0)
        assert.deepStrictEqual(yield* ledger.due(10, never), { tasks: [], wait: Option.none() })
        // An answer that comes when nothing is due any more changes nothing.
        yield* ledger.markFailed(0, "gone", "task_0")
        assert.strictEqual((yield* ledger.counts).completed.tasks, 3)
        yield* ledger.recheckCompleted
        assert.lengthOf((yield* ledger.due(10, never)).tasks, 3)
        yield* ledger.markOpen(2, "task_2")
        assert.strictEqual((yield* ledger.counts).submitted.tasks, 1)
      })

      test("change no task that is failed, invalid or in doubt", function* (ledger) {
        yield* submitted(4, 60_000)
        yield* ledger.markInvalid(1, "{}", "odd")
        yield* ledger.markFailed(2, "gone")
        yield* ledger.markInDoubt(3, "hm")
        const state = Effect.all({ counts: ledger.counts, issues: ledger.issues(10), due: ledger.due(10, never) })
        const before = yield* state
        yield* ledger.recordDelivery(delivery("a", 1, ["task_1", "task_2", "task_3"]))
        yield* ledger.recordDelivery(delivery("b", 1, ["elsewhere"]))
        assert.deepStrictEqual(yield* state, before)
      })

      test("count once each time they are sent", function* (ledger) {
        yield* submitted(1)
        const again = Effect.fnUntraced(function* (sentAt: number, taskIds?: ReadonlyArray<string>) {
          yield* postpone(0, 60_000)
          return yield* ledger.recordDelivery(delivery("a", sentAt, taskIds))
        })
        assert.strictEqual(yield* again(5, ["task_0"]), "due")
        assert.strictEqual(yield* again(5, ["task_0"]), "repeated")
        assert.strictEqual(yield* ledger.recordDelivery(delivery("a", 4, ["task_0"])), "repeated")
        assert.strictEqual(yield* ledger.recordDelivery(delivery("a", 5)), "repeated")
        assert.deepStrictEqual(yield* ledger.due(10, never), { tasks: [], wait: Option.some(60_000) })
        assert.strictEqual(yield* ledger.recordDelivery(delivery("a", 6, ["task_0"])), "due")
        assert.strictEqual(yield* again(7), "due")
        assert.strictEqual(yield* again(7), "repeated")
        assert.deepStrictEqual(yield* ledger.due(10, never), { tasks: [], wait: Option.some(60_000) })
        assert.strictEqual(yield* ledger.recordDelivery(delivery("b", 5, ["task_0"])), "due")
      })

      test("are remembered for two hours, in which the oldest and the newest that count have become too old", function* (ledger) {
        const sql = yield* SqlClient.SqlClient
        const remembered = sql<{ delivery_id: string }>`SELECT delivery_id FROM delivery ORDER BY delivery_id`
        yield* ledger.recordDelivery(delivery("a", 1))
        yield* TestClock.setTime(7_200_000)
        assert.strictEqual(yield* ledger.recordDelivery(delivery("a", 1)), "repeated")
        yield* TestClock.setTime(7_210_000)
        yield* ledger.recordDelivery(delivery("b", 1))
        assert.deepStrictEqual(
          (yield* remembered).map((row) => row.delivery_id),
          ["b"],
        )
      })

      test("that come during a look at a task have it looked at again, others do not", function* (ledger) {
        yield* submitted(3)
        yield* TestClock.setTime(1_000)
        const look = Effect.fnUntraced(function* (seq: number, during: Effect.Effect<unknown, unknown>) {
          const task = (yield* ledger.due(10, never)).tasks.find((task) => task.seq === seq)!
          yield* during
          yield* ledger.postpone(task.seq, 60_000)
          return (yield* ledger.due(10, never)).tasks.some((task) => task.seq === seq)
        })
        const hint = (id: string, taskIds?: ReadonlyArray<string>) => ledger.recordDelivery(delivery(id, 1, taskIds))
        assert.isTrue(yield* look(0, hint("a", ["task_0"])))
        // Due because of a hint when the look begins; then another one comes.
        assert.isTrue(yield* look(0, hint("b", ["task_0"])))
        assert.isTrue(yield* look(0, Effect.andThen(hint("c", ["task_0"]), hint("d", ["task_0"]))))
        assert.isTrue(yield* look(0, hint("e")))
        assert.isTrue(yield* look(1, hint("f")))
        assert.isFalse(yield* look(0, hint("g", ["task_1"])))
        assert.isFalse(yield* look(2, hint("h", ["task_x"])))
        assert.isFalse(yield* look(1, Effect.void))
      })

      test("of tasks of others are not kept where each task's id is known", function* (ledger) {
        const sql = yield* SqlClient.SqlClient
        yield* submitted(1)
        yield* ledger.recordDelivery(delivery("a", 1, ["elsewhere"]))
        assert.deepStrictEqual(yield* sql`SELECT task_id FROM hint`, [])
      })

      test("may name more tasks than a statement takes values", function* (ledger) {
        yield* submitted(2, 60_000)
        yield* plan(newTasks([1], 2))
        const many = Array.from({ length: 70_000 }, (_, i) => `task_${69_999 - i}`)
        assert.strictEqual(yield* ledger.recordDelivery(delivery("a", 1, many)), "due")
        assert.deepStrictEqual(ids(yield* ledger.due(10, never)), ["task_0", "task_1"])
      })
    })

    describe("jobs", () => {
      it.effect("of one database do not see each other", () =>
        Effect.gen(function* () {
          const client = yield* SqlClient.SqlClient
          const inJob = (job: string) => Effect.provide(ledgerOf(client, { job }))
          const state = Effect.gen(function* () {
            const ledger = yield* Ledger
            return {
              ...(yield* readState({ run: 1, campaign: 1 }, batchItems(0, 5))),
              due: yield* ledger.due(10, never),
              completed: yield* Stream.runCollect(ledger.completed),
              refused: yield* Stream.runCollect(ledger.dropped(never)),
              issues: yield* ledger.issues(10),
              refusedItems: yield* ledger.itemsIn(1, ["refused"]),
              itemsSeen: yield* ledger.itemsIn(1, TaskState.literals),
            }
          })
          const work = Effect.fnUntraced(function* (job: string) {
            const ledger = yield* Ledger
            const run = yield* plan(newTasks(5))
            assert.strictEqual(run.run, 1)
            yield* recordStep(run, { read: 6, new: 5, rejected: 1 }, { rejects: [reject(1)] })
            yield* ledger.bindService(job, false)
            for (const [seq, state] of (
              ["submitted", "completed", "refused", "invalid", "submitting"] as const
            ).entries()) {
              yield* bring(seq, state)
            }
          })
          const empty = yield* state.pipe(inJob("b"))
          yield* work("a").pipe(inJob("a"))
          const worked = yield* state.pipe(inJob("a"))
          assert.deepStrictEqual(yield* state.pipe(inJob("b")), empty)
          assert.deepStrictEqual(itemsByState(empty.counts), {})

          // Bound to a service of its own, which may change while it has no tasks itself.
          const bind = (service: string) => Ledger.use((ledger) => ledger.bindService(service, false))
          yield* Effect.andThen(bind("a"), bind("b")).pipe(inJob("b"))
          yield* bind("a").pipe(inJob("a"))

          // The same items and ordinals have room in both, and what is done to one is not done to the other.
          yield* work("b").pipe(inJob("b"))
          assert.deepStrictEqual(yield* state.pipe(inJob("b")), worked)
          yield* bind("a").pipe(inJob("a"))
          yield* bind("b").pipe(inJob("b"))
          yield* Ledger.use((ledger) =>
            Effect.all([
              ledger.settleInterrupted("in_doubt"),
              ledger.postpone(0, 1_000),
              ledger.recordDelivery(delivery("one", 1, ["task_0"])),
              ledger.recordDelivery(delivery("all", 1)),
              ledger.release(4),
              ledger.markInvalid(1, "", "odd"),
              ledger.recheck,
              ledger.makeDue,
              ledger.split(2, [{ idempotencyKey: "k", body: Payload.encode("{}"), prompts: [], items: [] }]),
            ]),
          ).pipe(inJob("b"))
          assert.deepStrictEqual(yield* state.pipe(inJob("a")), worked)
        }).pipe(Effect.provide(database)),
      )
    })

    campaignConformance(test)
    conversationConformance(test)
    deliveryConformance(test)
    fingerprintConformance(test)
    resolveConformance(test)
    spendingConformance(test)
  })
}
