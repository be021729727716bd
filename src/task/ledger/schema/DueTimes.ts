/** A task's next poll, as `due_at`: 0 for a completed task, negative if the service may have changed its result. */

export const notDue = Number.MAX_SAFE_INTEGER

/** The value of a completed task that is due at once. */
export const changedDueAt = -1

export const changedDueAtTime = (at: number): number => -at - 1

export const dueOfChanged = (dueAt: number): number => -dueAt - 1
