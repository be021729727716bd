/**
 * When a task is to be polled, as its column `due_at` has it.
 *
 * Guarantees: a completed task has 0, and is never due; where the service may have changed its result, it has a negative
 * number, and is due at the time that `dueOfChanged` gives.
 */

/** A task with this time is never due. */
export const notDue = Number.MAX_SAFE_INTEGER

/** A completed task with this time is due at once. */
export const changedDueAt = -1

export const changedDueAtTime = (at: number): number => -at - 1

export const dueOfChanged = (dueAt: number): number => -dueAt - 1
