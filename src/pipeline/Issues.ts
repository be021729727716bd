/** The tasks that need attention. */
import { Effect, Option } from "effect"
import { Ledger, LedgerReader } from "../task/ledger/Ledger.ts"
import { issueStates } from "../task/ledger/reads/Status.ts"
import type { ItemDetails } from "../task/ledger/schema/Model.ts"
import { type IssueReport, issueReport } from "./RunReport.ts"

/** A task that needs attention, with its items and its earlier attempts. */
export interface ListedTask extends IssueReport {
  /** Where each item of the task is in the input; null if `ledger prune` removed the request. */
  readonly places: ReadonlyArray<Pick<ItemDetails, "item_id"> & ItemDetails["origin"]> | null
  /** Earlier attempts to send the task, oldest first. A `resolve` decision or a retry has replaced them. */
  readonly attempts_before: ReadonlyArray<
    Pick<IssueReport, "attempt" | "task_id" | "reason"> & { readonly state: string }
  >
}

export const issuesOf = Effect.fn("Job.issuesOf")(function* (numbers: ReadonlyArray<number>) {
  const ledger = yield* LedgerReader
  const tasks = yield* ledger.tasksOf(numbers)
  return yield* Effect.forEach(
    tasks,
    Effect.fnUntraced(function* (task) {
      const question = yield* ledger.storedRequest(task.seq)
      const before = task.attempt === 1 ? [] : yield* ledger.attempts(task.number)
      const listed: ListedTask = {
        ...issueReport(task),
        places: Option.match(question, {
          onNone: () => null,
          onSome: ({ items }) => items.map(({ item_id, origin }) => ({ item_id, ...origin })),
        }),
        attempts_before: before.map(({ attempt, reason, state, taskId }) => ({
          attempt,
          task_id: taskId,
          state,
          reason,
        })),
      }
      return listed
    }),
  )
})

/** Tasks that wait for a decision, those in doubt first. Includes tasks that a killed process began to send. */
export const issues = Effect.gen(function* () {
  const reader = yield* LedgerReader
  const isAlone = Option.exists(yield* Effect.serviceOption(Ledger), ({ isShared }) => !isShared)
  const states = isAlone ? [...issueStates, "submitting" as const] : issueStates
  const tasks = yield* reader.issues(Number.MAX_SAFE_INTEGER, states)
  return yield* issuesOf(tasks.map(({ number }) => number))
})
