/**
 * The column `due_at` of a task is the time of the next poll, in epoch milliseconds. A completed task has 0. If its
 * result may have changed, the completed task is polled again, and `due_at` is a negative number: `-time - 1`.
 */

export const notDue = Number.MAX_SAFE_INTEGER

export const changedDueNow = -1

export const changedDue = (value: number): number => -value - 1
