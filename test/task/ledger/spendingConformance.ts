/** What every ledger must do with budgets: which votes count, and that no more are planned than it allows. */
import { assert, describe } from "@effect/vitest"
import { type Array as Arr, Effect, Option } from "effect"
import * as Cost from "../../../src/domain/Cost.ts"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import type { BatchItem, Run, RunTerms } from "../../../src/task/ledger/schema/Model.ts"
import type { SpendingTerms } from "../../../src/task/ledger/writes/Spending.ts"
import * as VoteKinds from "../../../src/task/ledger/schema/VoteKinds.ts"
import * as Allotment from "../../../src/task/plan/Allotment.ts"
import { newTasks } from "../../../src/task/plan/TaskRequests.ts"
import { seeded } from "../../pair/stats/support.ts"
import { cases } from "../../support/cases.ts"
import { column } from "../../support/columns.ts"
import { batchItems, bring, nothing, split, statesOf, type LedgerTest } from "../support.ts"

const costs: SpendingTerms = { price: "0.40", budget: "4.00" }

/** Plans batches of these sizes, as far as the run's budget goes. */
const planWithin = Effect.fnUntraced(function* (
  run: Run,
  sizes: ReadonlyArray<number>,
  { first = 0, maxTaskVotes = 0, read = 0, votes = 1 } = {},
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
      return { tasks: within.flatMap((batch) => newTasks(batch, { votes, maxTaskVotes })), beyond }
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

const kindsIn = VoteKinds.reader("kind")

/** What the ledger is told of a result whose items have votes of these kinds. */
const ofKinds = (...items: ReadonlyArray<ReadonlyArray<string | null>>): string | null =>
  kindsIn(items.map((kinds) => ({ annotations: { votes: kinds.map((kind) => ({ kind })) } })))

const completed = Effect.fnUntraced(function* (seq: number, kinds: string | null) {
  const ledger = yield* Ledger
  yield* bring(seq, "submitted")
  yield* ledger.markCompleted(seq, "{}", `task_${seq}`, kinds)
})

/** Votes and cost of what is spent, by kind, and of what is committed, as texts. */
const charges = Ledger.use((ledger) =>
  Effect.map(ledger.spending, (spending) => {
    const { committed, kinds } = Option.getOrThrow(spending)
    const text = ({ cost, votes }: typeof committed) => `${votes} for ${Cost.format(cost)}`
    return [...kinds.map((each) => `${each.kind}: ${text(each)}`), `committed: ${text(committed)}`]
  }),
)

const byKind = { default: "0.40", judge: "0.01", specialist: "2.5" }

export const spendingConformance = (test: LedgerTest) =>
  describe("budgets", () => {
    test("plan what they allow and no vote more, cutting the last batch, and count the rest", function* (ledger) {
      const run = yield* begin(costs)
      assert.strictEqual(yield* votesLeft, 10)
      assert.deepStrictEqual(yield* planWithin(run, [2, 2, 3, 1], { votes: 2 }), ["item-5", "item-6", "item-7"])
      assert.strictEqual(yield* counted, 10)
      const last = Option.getOrThrow(yield* ledger.lastRun)
      assert.deepStrictEqual([last.counts.read, last.counts.new, last.overBudget], [8, 5, 3])
      assert.deepStrictEqual(column(yield* ledger.plannedAfter(-1), "itemCount"), [2, 2, 2, 2, 1, 1])
      // Nothing is left, however little is asked for.
      assert.deepStrictEqual(yield* planWithin(yield* begin(), [1], { first: 20 }), ["item-20"])
    })

    test("hold for the job: a run that says nothing has that of the one before, and none lifts it", function* (ledger) {
      assert.strictEqual(yield* startsWith({}), Infinity)
      assert.strictEqual(yield* startsWith({ price: "0.3" }), Infinity)
      assert.strictEqual(yield* startsWith({ budget: "1" }), 3)
      assert.strictEqual(yield* startsWith({ price: "0.25" }), 4)
      assert.strictEqual(yield* startsWith({}), 4)
      assert.strictEqual(yield* startsWith({ budget: "none" }), Infinity)
      const spending = Option.getOrThrow(yield* ledger.spending)
      assert.deepStrictEqual(spending.budget, Option.none())
      assert.deepStrictEqual(spending.prices.other, { units: 25n, scale: 2 })
    })

    test("count what is planned, sent, in doubt, and was given; not what was refused, canceled, or never sent", function* (ledger) {
      yield* planWithin(yield* begin({ price: 1, budget: 100 }), [1, 2, 3, 4, 5, 6, 7])
      assert.strictEqual(yield* counted, 28)
      yield* bring(0, "submitted")
      yield* ledger.markCompleted(0, "{}")
      yield* bring(1, "submitting")
      yield* ledger.markInDoubt(1, "no answer")
      assert.strictEqual(yield* counted, 28)
      yield* bring(3, "submitting")
      yield* ledger.markRefused(3, "no")
      assert.strictEqual(yield* counted, 25)
      yield* bring(6, "submitted")
      yield* ledger.markFailed(6, "canceled", "task_6", true)
      assert.strictEqual(yield* counted, 21)
      yield* bring(10, "submitted")
      yield* ledger.markFailed(10, "expired", "task_10")
      assert.strictEqual(yield* counted, 21)
      const { committed, spent } = Option.getOrThrow(yield* ledger.spending)
      assert.deepStrictEqual([spent.votes, committed.votes], [6, 15])
    })

    test("count earlier attempts that the service created, also of tasks that were halved or given up since", function* (ledger) {
      const run = yield* begin({ price: 1, budget: 100 })
      yield* planWithin(run, [4, 4, 4, 4])
      for (const seq of [0, 4]) yield* bring(seq, "submitted")
      yield* ledger.markFailed(0, "expired", "task_0")
      yield* ledger.markFailed(4, "canceled", "task_4", true)
      yield* bring(8, "submitting")
      yield* ledger.markRefused(8, "no")
      assert.strictEqual(yield* counted, 8)
      yield* ledger.replan(run.campaign, ["failed", "refused"], 3)
      assert.strictEqual(yield* counted, 20)
      const [task] = (yield* ledger.plannedAfter(-1)).filter(({ seq }) => seq === 0)
      yield* ledger.claim(task!)
      yield* split(0)
      assert.strictEqual(yield* counted, 20)
      // Given up: once sent, it counts; never sent, or refused, it does not.
      yield* ledger.giveUp([1, 9, 13])
      assert.strictEqual(yield* counted, 4 + 2 + 4)
      yield* ledger.sendAgain([13])
      assert.strictEqual(yield* counted, 14)
    })

    test("let as many tasks be resubmitted as fit", function* (ledger) {
      const run = yield* begin({ price: 1, budget: 13 })
      yield* planWithin(run, [3, 3, 3])
      for (const seq of [0, 3, 6]) {
        yield* bring(seq, "submitted")
        yield* ledger.markFailed(seq, "expired", `task_${seq}`)
      }
      assert.strictEqual(yield* ledger.replan(run.campaign, ["failed"], 3), 1)
      assert.strictEqual(yield* counted, 12)
    })

    test("count all votes of a task that is resubmitted", function* (ledger) {
      const run = yield* begin({ price: 1, budget: 16 })
      yield* planWithin(run, [3, 1], { votes: 3, maxTaskVotes: 3 })
      for (const seq of [0, 9]) {
        yield* bring(seq, "submitted")
        yield* ledger.markFailed(seq, "expired", `task_${seq}`)
      }
      assert.strictEqual(yield* ledger.replan(run.campaign, ["failed"], 3), 1)
      assert.strictEqual(yield* counted, 15)
    })

    test("that are lowered hold back the last tasks that were never sent, until they are raised", function* (ledger) {
      yield* planWithin(yield* begin({ price: 1, budget: 12 }), [4, 4, 4])
      yield* bring(0, "submitted")
      yield* begin({ budget: 9 })
      assert.deepStrictEqual(yield* statesOf, { submitted: 4, planned: 4, superseded: 4 })
      assert.strictEqual(Option.getOrThrow(yield* ledger.spending).held.votes, 4)
      yield* begin({ budget: 2 })
      assert.deepStrictEqual(yield* statesOf, { submitted: 4, superseded: 8 })
      yield* begin({ budget: 8 })
      assert.deepStrictEqual(yield* statesOf, { submitted: 4, planned: 4, superseded: 4 })
      yield* begin({ budget: "none" })
      assert.deepStrictEqual(yield* statesOf, { submitted: 4, planned: 8 })
    })

    test("stay kept where a run returns to a campaign whose tasks were never sent", function* () {
      const [one, two] = [{ guidelines: "one" }, { guidelines: "two" }]
      yield* planWithin(yield* begin({ ...one, price: 1, budget: 6 }), [4])
      yield* planWithin(yield* begin({ ...two, newCampaign: true }), [2, 2, 2])
      assert.deepStrictEqual(yield* statesOf, { superseded: 4, planned: 6 })
      yield* bring(4, "submitted")
      yield* bring(6, "submitted")
      yield* begin({ ...one, newCampaign: true })
      assert.deepStrictEqual(yield* statesOf, { submitted: 4, superseded: 6 })
      assert.strictEqual(yield* counted, 4)
    })

    test("count what is not back at the highest price, and what is back at that of its kind", function* (ledger) {
      const run = yield* begin({ price: byKind, budget: 20 })
      assert.deepStrictEqual(yield* planWithin(run, [3, 3, 3]), ["item-8"])
      assert.deepStrictEqual(yield* charges, ["committed: 8 for 20.00"])
      yield* completed(0, ofKinds(["judge"], ["judge"], ["specialist", "judge"]))
      yield* completed(3, ofKinds(["person"], [null], []))
      assert.deepStrictEqual(yield* charges, [
        "judge: 2 for 0.02",
        "person: 1 for 0.40",
        "specialist: 1 for 2.50",
        "null: 2 for 5.00",
        "committed: 2 for 5.00",
      ])
      // What ended without a result may have been of any kind.
      yield* bring(6, "submitted")
      yield* ledger.markFailed(6, "expired", "task_6")
      assert.strictEqual(yield* votesLeft, 2)
      assert.deepStrictEqual((yield* charges).slice(-2), ["null: 4 for 10.00", "committed: 0 for 0.00"])
      // The room is for what is planned next.
      assert.deepStrictEqual(yield* planWithin(run, [6], { first: 9, read: 9 }), [
        "item-11",
        "item-12",
        "item-13",
        "item-14",
      ])
      assert.strictEqual(yield* votesLeft, 0)
    })

    test("count each vote at the prices that held when its task was planned; the present ones where there were none", function* (ledger) {
      yield* planWithin(yield* begin(), [1])
      yield* planWithin(yield* begin({ price: "0.40" }), [2], { first: 1 })
      const run = yield* begin({ price: { default: "1", judge: "0.5" }, budget: 100 })
      yield* planWithin(run, [4], { first: 3 })
      for (const seq of [0, 1, 3])
        yield* completed(seq, seq === 0 ? null : ofKinds(...Array.from({ length: seq + 1 }, () => ["judge"])))
      assert.deepStrictEqual(yield* charges, ["judge: 6 for 2.80", "null: 1 for 1", "committed: 0 for 0"])
      yield* begin({ price: "3" })
      assert.deepStrictEqual(yield* charges, ["judge: 6 for 2.80", "null: 1 for 3", "committed: 0 for 0"])
      // A task that is planned again has the price of that day, its attempt before that of its own.
      const failing = yield* begin({ price: "5" })
      yield* planWithin(failing, [2], { first: 7 })
      yield* bring(7, "submitted")
      yield* ledger.markFailed(7, "expired", "task_7")
      yield* begin({ price: "0.1" })
      yield* ledger.replan(failing.campaign, ["failed"], 3)
      assert.deepStrictEqual((yield* charges).slice(-2), ["null: 3 for 10.1", "committed: 2 for 0.2"])
      // Those that are held back are planned again at the present price, too.
      yield* begin({ budget: "13.1" })
      assert.strictEqual((yield* statesOf)["planned"], 2)
      yield* begin({ budget: "13.09" })
      assert.strictEqual((yield* statesOf)["superseded"], 2)
      yield* begin({ price: "0.05", budget: "12.95" })
      assert.deepStrictEqual((yield* charges).slice(-1), ["committed: 2 for 0.10"])
    })

    test("count a task of another campaign, given up and sent again, at the present price", function* (ledger) {
      yield* planWithin(yield* begin({ guidelines: "one", price: "0.40" }), [4])
      yield* begin({ guidelines: "two", newCampaign: true, price: "0.10" })
      assert.deepStrictEqual(yield* statesOf, { superseded: 4 })
      yield* ledger.giveUp([1])
      yield* ledger.sendAgain([1])
      assert.deepStrictEqual((yield* charges).slice(-1), ["committed: 4 for 0.40"])
    })

    test("keep the price of a task that is halved", function* () {
      yield* planWithin(yield* begin({ price: "0.40" }), [4])
      yield* begin({ price: "9" })
      yield* bring(0, "submitting")
      yield* split(0)
      assert.deepStrictEqual(yield* charges, ["committed: 4 for 1.60"])
    })

    for (const seed of cases([1, 2], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])) {
      test(`are never exceeded, at the highest price of what is not back, whatever happens to tasks (seed ${seed})`, function* (ledger) {
        const random = seeded(seed)
        const below = (n: number) => Math.floor(random() * n)
        const kinds = ["judge", "person", "specialist", null] as const
        /** In hundredths, as the job's prices are. */
        const prices = () => ({ default: 1 + below(100), judge: 1 + below(10), specialist: 1 + below(300) })
        type Of = ReturnType<typeof prices>
        const amounts = (of: Of) => ({
          default: `${of.default / 100}`,
          judge: `${of.judge / 100}`,
          specialist: `${of.specialist / 100}`,
        })
        const highest = ({ default: other, judge, specialist }: Of) => Math.max(other, judge, specialist)
        const priceOf = (of: Of, kind: (typeof kinds)[number]) =>
          kind === null ? highest(of) : kind === "person" ? of.default : of[kind]
        /** What each task counts at by this test's own reckoning, and what its earlier attempts do. */
        const tasks = new Map<number, { items: number; of: Of; cost: number; before: number; state: string }>()
        let [present, budget, read] = [prices(), 5_000, 0]
        let run = yield* begin({ price: amounts(present), budget: budget / 100 })
        const one = (state: string) => {
          const all = [...tasks].filter(([, task]) => task.state === state)
          return all[below(all.length)]
        }
        for (let step = 0; step < 150; step++) {
          const planned = one("planned")
          const open = one("submitted")
          switch (below(9)) {
            case 0: {
              present = prices()
              budget += below(400)
              run = yield* begin({ price: amounts(present), budget: budget / 100 })
              break
            }
            case 1:
            case 2: {
              const sizes = Array.from({ length: 1 + below(3) }, () => 1 + below(6))
              yield* planWithin(run, sizes, { first: read, read })
              read += sizes.reduce((sum, size) => sum + size, 0)
              for (const { itemCount: items, seq } of yield* ledger.plannedAfter(-1)) {
                if (tasks.has(seq)) continue
                const cost = highest(present) * items
                tasks.set(seq, { items, of: present, cost, before: 0, state: "planned" })
              }
              break
            }
            case 3:
            case 4: {
              if (planned === undefined) break
              const [seq, task] = planned
              yield* bring(seq, "submitting")
              const taken = below(3)
              if (taken === 0) yield* ledger.markRefused(seq, "no")
              else yield* ledger.markSubmitted(seq, `task_${seq}_${step}`, 0)
              Object.assign(task, taken === 0 ? { state: "refused", cost: 0 } : { state: "submitted" })
              break
            }
            case 5: {
              const failed = (yield* ledger.replannable(run.campaign, ["failed", "refused"], 9)).map(({ seq }) => seq)
              yield* ledger.replan(run.campaign, ["failed", "refused"], 9)
              const again = new Set((yield* ledger.plannedAfter(-1)).map(({ seq }) => seq))
              for (const seq of failed.filter((seq) => again.has(seq))) {
                const task = tasks.get(seq)!
                Object.assign(task, { before: task.before + task.cost, cost: highest(present) * task.items })
                Object.assign(task, { of: present, state: "planned" })
              }
              break
            }
            default: {
              if (open === undefined) break
              const [seq, task] = open
              if (below(4) === 0) {
                const isCanceled = below(2) === 0
                yield* ledger.markFailed(seq, "ended", undefined, isCanceled)
                Object.assign(task, { state: "failed", ...(isCanceled && { cost: 0 }) })
                break
              }
              const given = Array.from({ length: task.items }, () => kinds[below(4)]!)
              yield* ledger.markCompleted(seq, "{}", undefined, ofKinds(...given.map((kind) => [kind])))
              const cost = given.reduce((sum, kind) => sum + priceOf(task.of, kind), 0)
              assert.isAtMost(cost, task.cost)
              Object.assign(task, { state: "completed", cost })
            }
          }
          const reckoned = [...tasks.values()].reduce((sum, { before, cost }) => sum + before + cost, 0)
          assert.isAtMost(reckoned, budget, `step ${step}`)
          const { committed, spent } = Option.getOrThrow(yield* ledger.spending)
          const { scale, units } = Cost.plus(spent.cost, committed.cost)
          assert.strictEqual(Number(units) / 10 ** scale, reckoned / 100, `step ${step}`)
          const room = Math.floor((budget - reckoned) / highest(present))
          assert.strictEqual(yield* votesLeft, room, `step ${step}`)
        }
        assert.isAbove([...tasks.values()].filter(({ state }) => state === "completed").length, 5)
      })
    }
  })
