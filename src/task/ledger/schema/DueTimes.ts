/**
 * The column `due_at`: when a task is next polled, in epoch milliseconds. A completed task has 0, and is not polled. If
 * its result may have changed, it has the negative number `-1 - time`, and is polled.
 */

export const notDue = Number.MAX_SAFE_INTEGER

/** `due_at` of a completed task that is due at once. */
export const changedDueAt = -1

export const changedDueAtTime = (at: number): number => -at - 1

export const dueOfChanged = (dueAt: number): number => -dueAt - 1
