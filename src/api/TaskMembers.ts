/** Members of a task's request beyond the contract. They are sent only if the service or a setting allows it. */

/** Members that the service accepts in a task's request in addition to the contract's. */
export interface TaskMembers {
  /** Whether a task may name its `group`. */
  readonly group: boolean
  /** Maximum `votes` that a task may ask for on each prompt. 0: a task cannot ask for votes. */
  readonly maxVotes: number
  /** Whether a task may ask for the votes of judges only, or of people only (`voters`). Default false. */
  readonly voters?: boolean | undefined
}

export const none: TaskMembers = { group: false, maxVotes: 0 }

export const form =
  '"declared", or an object with group (true or false), maxVotes (a whole number), and optionally voters (true or false)'

export const isSetting = (value: TaskMembers | "declared"): boolean =>
  value === "declared" ||
  (typeof value.group === "boolean" &&
    Number.isInteger(value.maxVotes) &&
    value.maxVotes >= 0 &&
    (value.voters === undefined || typeof value.voters === "boolean"))
