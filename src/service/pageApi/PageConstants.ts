/** Limits, options, and text formats of the service and its pages. Pages load this file, so it imports no package. */
export { maxVotes } from "../../api/MaxVotes.ts"

/** The maximum lengths of texts that people enter, in UTF-16 code units. */
export const maxLength = {
  name: 100,
  names: 50_000,
  password: 1_000,
  code: 200,
  filter: 200,
  url: 2_000,
  reason: 1_000,
  decision: 10_000,
  guidelines: 1_000_000,
  qualificationGuidelines: 100_000,
  rationale: 20_000,
  editedCompletion: 200_000,
  comment: 2_000,
} as const

export const minPasswordLength = 10
export const linkHours = { "sign-in": 24, invitation: 7 * 24 } as const
export const maxInvitations = 500
export const maxKeepHours = 24 * 30
export const maxQualificationItems = 1_000
/** Default percentages of right answers: a person needs `qualify` to begin work, and is paused below `stay`. */
export const proposedPercent = { qualify: 80, stay: 70 } as const
/** A person can be paused after at least `min` gold items. Only the latest `max` gold items count. */
export const countedGoldItems = { min: 5, max: 20 } as const
export const promptsPerPage = 20

/** Managers change tasks, experts, and groups. Only admins see the audit log, operators, tokens, and the webhook. */
export const roles = ["viewer", "manager", "admin"] as const
type Role = (typeof roles)[number]
export const isAtLeast = (role: Role, min: Role): boolean => roles.indexOf(role) >= roles.indexOf(min)

export const taskStatuses = ["pending", "in_progress", "completed", "cancelled"] as const

/**
 * A `waiting` item has no votes, and an `open` item has some. A filter for `open` finds both. A `disputed` item has all
 * its votes, but the votes differ, and no lead has decided.
 */
export const itemStates = ["waiting", "open", "done", "disputed", "decided", "withdrawn", "cancelled"] as const

/** The priorities, in the order in which their groups are judged. */
export const priorities = ["urgent", "high", "normal", "low"] as const

/** Splits a list of names, which are separated by line breaks or commas. Lines are counted from 1. */
export const splitNames = (text: string): ReadonlyArray<{ readonly name: string; readonly line: number }> =>
  text.split(/\r\n|[\r\n]/).flatMap((row, i) =>
    row.split(",").flatMap((part) => {
      const name = part.trim().replace(/\s+/gu, " ")
      return name === "" ? [] : [{ name, line: i + 1 }]
    }),
  )
