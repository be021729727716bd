/**
 * The column `due_at` of a task is the time of the next poll, in epoch milliseconds. For a completed task, 0 means no
 * further poll, and a negative number means a poll at the time `-due_at - 1`.
 */

export const notDue = Number.MAX_SAFE_INTEGER

export const changedDueNow = -1

/** For a completed task, converts a negative `due_at` to the time of the poll, or a time to the negative `due_at`. */
export const changedDue = (value: number): number => -value - 1
