/**
 * The column `due_at` of a task: the time of its next poll, in epoch milliseconds. A completed task has 0 for no
 * further poll, or the negative number `-1 - time` for a poll at `time`.
 */

export const notDue = Number.MAX_SAFE_INTEGER

export const changedDueNow = -1

/** Converts the time of a poll to its negative number (`-1 - time`), and back. */
export const changedDue = (value: number): number => -value - 1
