/**
 * The time of a task's next poll, as the column `due_at` stores it.
 *
 * Guarantees: a completed task has the value 0 and is not polled. If the service may have changed the result, the value
 * is negative, and the task is polled again at the time that `dueOfChanged` returns.
 */

export const notDue = Number.MAX_SAFE_INTEGER

/** A completed task with this value is due at once. */
export const changedDueAt = -1

export const changedDueAtTime = (at: number): number => -at - 1

export const dueOfChanged = (dueAt: number): number => -dueAt - 1
