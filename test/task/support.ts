/** Steps of reading as the submit loop hands them to the ledger. */
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
import type { NewTask, ReadCounts, Run } from "../../src/task/ledger/schema/Model.ts"
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

/** Tasks of the given sizes over items in a row, of which the first is the `first`th. */
export const newTasks = (sizes: ReadonlyArray<number>, first = 0): ReadonlyArray<ReturnType<typeof newTask>> =>
  sizes.map((size, i) =>
    newTask(
      batchItems(
        sizes.slice(0, i).reduce((sum, n) => sum + n, first),
        size,
      ),
    ),
  )

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

/** Records tasks in a run of their own, and gives it. */
export const plan = Effect.fnUntraced(function* (tasks: ReadonlyArray<NewTask>) {
  const ledger = yield* Ledger
  const run = yield* ledger.startRun()
  const read = tasks.reduce((sum, task) => sum + task.items.length, 0)
  yield* ledger.record(run, {
    tasks,
    known: [],
    rejects: [],
    counts: { ...nothing, read, new: read },
    finished: true,
  })
  return run
})
