/**
 * The column `due_at` of a task is the time of the next poll, in epoch milliseconds. Completed tasks are an exception.
 * If a completed task needs no further poll, `due_at` is 0. If the task is polled again at `time`, `due_at` is the
 * negative number `-1 - time`.
 */

export const notDue = Number.MAX_SAFE_INTEGER

export const changedDueNow = -1

/** Converts the time of a completed task's next poll to `due_at`, and `due_at` to the time. */
export const changedDue = (value: number): number => -value - 1
