/** Steps of reading as the submit loop hands them to the ledger. */
import { assert } from "@effect/vitest"
import { Array as Arr, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { toTaskPrompt, type PromptItem, type SourceItem } from "../../src/domain/PromptItem.ts"
import { rlhfRanking, type TaskPrompt } from "../../src/domain/Task.ts"
import * as ItemBytes from "../../src/domain/ItemBytes.ts"
import type { Reject } from "../../src/domain/Reject.ts"
import * as Sha256 from "../../src/node/Sha256.ts"
import * as Payload from "../../src/task/ledger/schema/Payload.ts"
import type { BatchItem } from "../../src/task/ledger/schema/Model.ts"
import { Ledger, type LedgerReader } from "../../src/task/ledger/Ledger.ts"
import type { NewTask, ReadCounts, Run, StateCounts, TaskState } from "../../src/task/ledger/schema/Model.ts"
import { halve } from "../../src/task/plan/TaskRequests.ts"
import { items } from "../support/items.ts"

export const batchItem = ({ completionOrigins, item, origin }: SourceItem): BatchItem => {
  const { prompt } = toTaskPrompt(item)
  const bytes = ItemBytes.make(prompt, item.completions)
  const contentHash = Sha256.hex(bytes.utf8)
  const itemId = item.id ?? contentHash
  return { item, origin, completionOrigins, prompt, bytes, contentHash, itemId }
}

/** `n` items with the ids `item-0`, `item-1` and so on, from `first` on. */
export const batchItems = (first: number, n: number, of: (i: number) => Partial<PromptItem> = () => ({})) =>
  items(first + n, (i) => ({ id: `item-${i}`, ...of(i) }))
    .slice(first)
    .map(batchItem)

/** `prompts` are for a test that splits a task. */
export const newTask = (of: ReadonlyArray<BatchItem>): NewTask & { readonly prompts: ReadonlyArray<TaskPrompt> } => {
  if (!Arr.isReadonlyArrayNonEmpty(of)) throw new Error("a task has items")
  const prompts = of.map(({ item }) => toTaskPrompt(item))
  const body = Payload.encode(JSON.stringify({ task_type: rlhfRanking, prompts }))
  return { items: of, prompts, body, idempotencyKey: Sha256.hex(body) }
}

/** Tasks of the given sizes, or so many of one item, over items in a row, of which the first is the `first`th. */
export const newTasks = (
  sizes: number | ReadonlyArray<number>,
  first = 0,
): ReadonlyArray<ReturnType<typeof newTask>> => {
  let next = first
  return (typeof sizes === "number" ? Array.from({ length: sizes }, () => 1) : sizes).map((size) => {
    next += size
    return newTask(batchItems(next - size, size))
  })
}

export const reject = (line: number) =>
  ({
    file: "bad.jsonl",
    line,
    code: "invalid_json",
    reason: `no JSON in line ${line}`,
    raw: "{",
  }) satisfies Reject

export const nothing: ReadCounts = { read: 0, new: 0, known: 0, duplicates: 0, reordered: 0, rejected: 0 }

type ReadStep = Parameters<(typeof Ledger)["Service"]["record"]>[1]

/** Records a step of reading that plans nothing. */
export const recordStep = (
  run: Run,
  counts: Partial<ReadCounts>,
  of: Partial<Pick<ReadStep, "known" | "rejects" | "finished">> = {},
) =>
  Ledger.use((ledger) =>
    ledger.record(run, {
      tasks: [],
      known: [],
      rejects: [],
      counts: { ...nothing, ...counts },
      finished: true,
      ...of,
    }),
  )

/** A test over a new ledger, and the database that it stands on. */
export type LedgerTest = (
  name: string,
  body: (
    ledger: (typeof Ledger)["Service"],
  ) => Effect.fn.Return<void, unknown, Ledger | LedgerReader | SqlClient.SqlClient>,
) => void

/** Records tasks in a run of their own under these terms, and gives it. Each first vote's items were read, but for gold. */
export const plan = Effect.fnUntraced(function* (
  tasks: ReadonlyArray<NewTask>,
  terms?: Parameters<(typeof Ledger)["Service"]["startRun"]>[0],
) {
  const ledger = yield* Ledger
  const run = yield* ledger.startRun(terms)
  const read = tasks.flatMap(({ items, vote = 1 }) =>
    vote === 1 ? items.filter(({ isCheck }) => isCheck !== true) : [],
  ).length
  yield* ledger.record(run, {
    tasks,
    known: [],
    rejects: [],
    counts: { ...nothing, read, new: read },
    finished: true,
  })
  return run
})

/** Takes every planned task, whatever their number. */
export const claimAll = Effect.gen(function* () {
  const ledger = yield* Ledger
  const planned = ledger.plannedAfter(-1)
  for (let page = yield* planned; page.length > 0; page = yield* planned) yield* Effect.forEach(page, ledger.claim)
})

/** Plans tasks of these sizes, or so many of one item, and submits them; each is named by its place: `task_0` is the first. */
export const submitted = Effect.fnUntraced(function* (
  sizes: number | ReadonlyArray<number>,
  firstPollDelay: number | ((seq: number) => number) = 0,
) {
  const ledger = yield* Ledger
  const tasks = newTasks(sizes)
  yield* plan(tasks)
  yield* claimAll
  let seq = 0
  for (const { items } of tasks) {
    const delay = typeof firstPollDelay === "number" ? firstPollDelay : firstPollDelay(seq)
    yield* ledger.markSubmitted(seq, `task_${seq}`, delay)
    seq += items.length
  }
})

/** Brings the task at `seq`, which is planned, into a state. */
export const bring = Effect.fnUntraced(function* (seq: number, state: TaskState) {
  const ledger = yield* Ledger
  const task = (yield* ledger.plannedAfter(seq - 1)).find((task) => task.seq === seq)!
  if (state === "planned") return
  if (state === "superseded") {
    yield* ledger.startRun({ guidelines: "others", newCampaign: true })
    return
  }
  assert.isTrue(yield* ledger.claim(task))
  switch (state) {
    case "submitting":
      return
    case "in_doubt":
      return yield* ledger.markInDoubt(seq, "hm")
    case "refused":
      return yield* ledger.markRefused(seq, "no")
  }
  yield* ledger.markSubmitted(seq, `task_${seq}`, 0)
  switch (state) {
    case "completed":
      return yield* ledger.markCompleted(seq, "{}")
    case "invalid":
      return yield* ledger.markInvalid(seq, "{}", "odd")
    case "failed":
      return yield* ledger.markFailed(seq, "gone")
    case "given_up":
      return yield* ledger.giveUp([seq + 1])
  }
})

/** Splits the task at `seq` into its halves, as the loop that sends does; gives their keys. */
export const split = Effect.fnUntraced(function* (seq: number, vote = 1) {
  const ledger = yield* Ledger
  const halves = halve(yield* ledger.request(seq), vote)
  yield* ledger.split(seq, halves)
  return halves
})

/** How many items are in each state that has some. */
export const itemsByState = (counts: StateCounts): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).flatMap(([state, { items }]) => (items === 0 ? [] : [[state, items]])))

export const statesOf = Ledger.use((ledger) => Effect.map(ledger.counts, itemsByState))
