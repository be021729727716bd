/**
 * When a task is to be polled, as its column `due_at` has it.
 *
 * Guarantees: a completed task has 0, and is never due; where the service may have changed its result, it has a negative
 * number, and is due at the time that `dueOfChanged` gives.
 */

/** Of a task that is never due. */
export const notDue = Number.MAX_SAFE_INTEGER

/** Of a completed task that is due at once. */
export const changedDueAt = -1

/** Of a completed task that is due at this time. */
export const changedDueAtTime = (at: number): number => -at - 1

/** When a completed task is due: 0 where it is at once. */
export const dueOfChanged = (dueAt: number): number => -dueAt - 1
