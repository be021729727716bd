/**
 * The time of a task's next poll, as the column `due_at` stores it.
 *
 * Guarantees: a completed task has 0, and is never due. If the service may have changed the task's result, the number
 * is negative, and the task is due at the time that `dueOfChanged` returns.
 */

export const notDue = Number.MAX_SAFE_INTEGER

/** A completed task with this time is due at once. */
export const changedDueAt = -1

export const changedDueAtTime = (at: number): number => -at - 1

export const dueOfChanged = (dueAt: number): number => -dueAt - 1
