/** The optional members `group`, `votes`, and `voters` of a task's request. They are not in the contract. */

/** The optional members of a task's request that the service accepts. */
export interface TaskMembers {
  /** Whether a task may name its `group`. */
  readonly group: boolean
  /** Maximum `votes` that a task may ask for on each prompt. 0: a task cannot ask for votes. */
  readonly maxVotes: number
  /** Whether a task may set `voters`, to accept votes from language models only or from people only. Default: false. */
  readonly voters?: boolean | undefined
}

export const none: TaskMembers = { group: false, maxVotes: 0 }

export const form =
  '"declared", or an object with these members: group (true or false), maxVotes (a whole number, 0 or more), voters (true or false; optional)'

export const isSetting = (value: TaskMembers | "declared"): boolean =>
  value === "declared" ||
  (typeof value.group === "boolean" &&
    Number.isInteger(value.maxVotes) &&
    value.maxVotes >= 0 &&
    (value.voters === undefined || typeof value.voters === "boolean"))
