/**
 * The column `due_at`: when a task is next polled, in epoch milliseconds. For a completed task, 0 means that it is not
 * polled, and `-1 - time` that it is polled at `time`.
 */

export const notDue = Number.MAX_SAFE_INTEGER

export const changedDueAt = -1

export const changedDueAtTime = (at: number): number => -at - 1

export const dueOfChanged = (dueAt: number): number => -dueAt - 1
