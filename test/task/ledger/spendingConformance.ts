/** What every ledger must do with budgets: which votes count, and that no more are planned than it allows. */
import { assert, describe } from "@effect/vitest"
import { type Array as Arr, Effect, Option } from "effect"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import type { BatchItem, Run, RunTerms } from "../../../src/task/ledger/Model.ts"
import type { SpendingTerms } from "../../../src/task/ledger/Spending.ts"
import * as Allotment from "../../../src/task/plan/Allotment.ts"
import { newTasks } from "../../../src/task/plan/TaskRequests.ts"
import { batchItems, nothing, type LedgerTest } from "../support.ts"

const costs: SpendingTerms = { price: "0.40", budget: "4.00" }

/** Plans batches of these sizes, as far as the run's budget goes. */
const planWithin = Effect.fnUntraced(function* (
  run: Run,
  sizes: ReadonlyArray<number>,
  { first = 0, read = 0, votes = 1 } = {},
) {
  const ledger = yield* Ledger
  let from = first
  const batches = sizes.map((size) => {
    const items = batchItems(from, size)
    from += size
    return items as Arr.NonEmptyArray<BatchItem>
  })
  const items = read + from - first
  const beyond = yield* ledger.record(run, {
    tasks: (left) => {
      const { batches: within, beyond } = Allotment.within(batches, votes, left)
      return { tasks: within.flatMap((batch) => newTasks(batch, { votes })), beyond }
    },
    known: [],
    rejects: [],
    counts: { ...nothing, read: items, new: items },
    finished: true,
  })
  return beyond.map(({ itemId }) => itemId)
})

const begin = (terms: RunTerms & SpendingTerms & { readonly newCampaign?: boolean } = {}) =>
  Ledger.use((ledger) => ledger.startRun(terms))

const counted = Ledger.use((ledger) =>
  Effect.map(ledger.spending, (spending) => {
    const { committed, spent } = Option.getOrThrow(spending)
    return spent.votes + committed.votes
  }),
)

const votesLeft = Ledger.use((ledger) => ledger.votesLeft)

const startsWith = (terms: RunTerms & SpendingTerms) => Effect.andThen(begin(terms), votesLeft)

const send = Effect.fnUntraced(function* (seq: number) {
  const ledger = yield* Ledger
  const task = (yield* ledger.plannedAfter(seq - 1)).find((task) => task.seq === seq)!
  assert.isTrue(yield* ledger.claim(task))
})

const submitted = Effect.fnUntraced(function* (seq: number) {
  const ledger = yield* Ledger
  yield* send(seq)
  yield* ledger.markSubmitted(seq, `task_${seq}`, 0)
})

const statesOf = Effect.gen(function* () {
  const ledger = yield* Ledger
  const counts = yield* ledger.counts
  return Object.fromEntries(
    Object.entries(counts).flatMap(([state, { items }]) => (items === 0 ? [] : [[state, items]])),
  )
})

export const spendingConformance = (test: LedgerTest) =>
  describe("budgets", () => {
    test(
      "plan what they allow and no vote more, cutting the last batch, and count the rest",
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const run = yield* begin(costs)
        assert.strictEqual(yield* votesLeft, 10)
        assert.deepStrictEqual(yield* planWithin(run, [2, 2, 3, 1], { votes: 2 }), ["item-5", "item-6", "item-7"])
        assert.strictEqual(yield* counted, 10)
        const last = Option.getOrThrow(yield* ledger.lastRun)
        assert.deepStrictEqual([last.counts.read, last.counts.new, last.overBudget], [8, 5, 3])
        assert.deepStrictEqual(
          (yield* ledger.plannedAfter(-1)).map(({ itemCount }) => itemCount),
          [2, 2, 2, 2, 1, 1],
        )
        // Nothing is left, however little is asked for.
        assert.deepStrictEqual(yield* planWithin(yield* begin(), [1], { first: 20 }), ["item-20"])
      }),
    )

    test(
      "hold for the job: a run that says nothing has that of the one before, and none lifts it",
      Effect.gen(function* () {
        const ledger = yield* Ledger
        assert.strictEqual(yield* startsWith({}), Infinity)
        assert.strictEqual(yield* startsWith({ price: "0.3" }), Infinity)
        assert.strictEqual(yield* startsWith({ budget: "1" }), 3)
        assert.strictEqual(yield* startsWith({ price: "0.25" }), 4)
        assert.strictEqual(yield* startsWith({}), 4)
        assert.strictEqual(yield* startsWith({ budget: "none" }), Infinity)
        const spending = Option.getOrThrow(yield* ledger.spending)
        assert.deepStrictEqual(spending.budget, Option.none())
        assert.deepStrictEqual(spending.prices.other, { units: 25n, scale: 2 })
      }),
    )

    test(
      "count what is planned, sent, in doubt, and was given; not what was refused, canceled, or never sent",
      Effect.gen(function* () {
        const ledger = yield* Ledger
        yield* planWithin(yield* begin({ price: 1, budget: 100 }), [1, 2, 3, 4, 5, 6, 7])
        assert.strictEqual(yield* counted, 28)
        yield* submitted(0)
        yield* ledger.markCompleted(0, "{}")
        yield* send(1)
        yield* ledger.markInDoubt(1, "no answer")
        assert.strictEqual(yield* counted, 28)
        yield* send(3)
        yield* ledger.markRefused(3, "no")
        assert.strictEqual(yield* counted, 25)
        yield* submitted(6)
        yield* ledger.markFailed(6, "canceled", "task_6", true)
        assert.strictEqual(yield* counted, 21)
        yield* submitted(10)
        yield* ledger.markFailed(10, "expired", "task_10")
        assert.strictEqual(yield* counted, 21)
        const { committed, spent } = Option.getOrThrow(yield* ledger.spending)
        assert.deepStrictEqual([spent.votes, committed.votes], [6, 15])
      }),
    )

    test(
      "count earlier attempts that the service created, also of tasks that were halved or given up since",
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const run = yield* begin({ price: 1, budget: 100 })
        yield* planWithin(run, [4, 4, 4, 4])
        for (const seq of [0, 4]) yield* submitted(seq)
        yield* ledger.markFailed(0, "expired", "task_0")
        yield* ledger.markFailed(4, "canceled", "task_4", true)
        yield* send(8)
        yield* ledger.markRefused(8, "no")
        assert.strictEqual(yield* counted, 8)
        yield* ledger.replan(run.campaign, ["failed", "refused"], 3)
        assert.strictEqual(yield* counted, 20)
        const [task] = (yield* ledger.plannedAfter(-1)).filter(({ seq }) => seq === 0)
        yield* ledger.claim(task!)
        const { items, prompts, body } = yield* ledger.request(0)
        const half = (key: string, from: number) => ({
          idempotencyKey: key,
          body,
          items: items.slice(from, from + 2),
          prompts: prompts.slice(from, from + 2),
        })
        yield* ledger.split(0, [half("first", 0), half("second", 2)])
        assert.strictEqual(yield* counted, 20)
        // Given up: once sent, it counts; never sent, or refused, it does not.
        yield* ledger.giveUp([1, 9, 13])
        assert.strictEqual(yield* counted, 4 + 2 + 4)
        yield* ledger.sendAgain([13])
        assert.strictEqual(yield* counted, 14)
      }),
    )

    test(
      "let as many tasks be resubmitted as fit",
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const run = yield* begin({ price: 1, budget: 13 })
        yield* planWithin(run, [3, 3, 3])
        for (const seq of [0, 3, 6]) {
          yield* submitted(seq)
          yield* ledger.markFailed(seq, "expired", `task_${seq}`)
        }
        assert.strictEqual(yield* ledger.replan(run.campaign, ["failed"], 3), 1)
        assert.strictEqual(yield* counted, 12)
      }),
    )

    test(
      "that are lowered hold back the last tasks that were never sent, until they are raised",
      Effect.gen(function* () {
        const ledger = yield* Ledger
        yield* planWithin(yield* begin({ price: 1, budget: 12 }), [4, 4, 4])
        yield* submitted(0)
        yield* begin({ budget: 9 })
        assert.deepStrictEqual(yield* statesOf, { submitted: 4, planned: 4, superseded: 4 })
        assert.strictEqual(Option.getOrThrow(yield* ledger.spending).held, 4)
        yield* begin({ budget: 2 })
        assert.deepStrictEqual(yield* statesOf, { submitted: 4, superseded: 8 })
        yield* begin({ budget: 8 })
        assert.deepStrictEqual(yield* statesOf, { submitted: 4, planned: 4, superseded: 4 })
        yield* begin({ budget: "none" })
        assert.deepStrictEqual(yield* statesOf, { submitted: 4, planned: 8 })
      }),
    )

    test(
      "stay kept where a run returns to a campaign whose tasks were never sent",
      Effect.gen(function* () {
        const [one, two] = [{ guidelines: "one" }, { guidelines: "two" }]
        yield* planWithin(yield* begin({ ...one, price: 1, budget: 6 }), [4])
        yield* planWithin(yield* begin({ ...two, newCampaign: true }), [2, 2, 2])
        assert.deepStrictEqual(yield* statesOf, { superseded: 4, planned: 6 })
        yield* submitted(4)
        yield* submitted(6)
        yield* begin({ ...one, newCampaign: true })
        assert.deepStrictEqual(yield* statesOf, { submitted: 4, superseded: 6 })
        assert.strictEqual(yield* counted, 4)
      }),
    )
  })
