/**
 * The members `group` and `votes` of a task's request, which the contract does not have.
 *
 * Guarantees: a client sends them only to a service that declares them, or if its user says so.
 */

/** Members of a task's request that the service takes besides the contract's. */
export interface TaskMembers {
  /** Whether a task may name its `group`. */
  readonly group: boolean
  /** Maximum `votes` that a task may ask for on each prompt. 0: a task cannot ask for votes. */
  readonly maxVotes: number
}

export const none: TaskMembers = { group: false, maxVotes: 0 }

export const form = '"declared", or an object with group (true or false) and maxVotes (a whole number)'

export const isSetting = (value: TaskMembers | "declared"): boolean =>
  value === "declared" || (typeof value.group === "boolean" && Number.isInteger(value.maxVotes) && value.maxVotes >= 0)
