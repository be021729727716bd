/** Limits and options that the service checks and the pages show. Pages load this file, so it loads no other package. */
export { maxVotes } from "../../api/MaxVotes.ts"

/** Maximum characters of texts that people enter. */
export const maxLength = {
  name: 100,
  password: 1_000,
  code: 200,
  /** A text that a list is filtered by. */
  filter: 200,
  url: 2_000,
  /** Why a prompt is withdrawn, or votes are declared void. */
  reason: 1_000,
  decision: 10_000,
  guidelines: 1_000_000,
  qualificationGuidelines: 100_000,
  rationale: 20_000,
  editedCompletion: 200_000,
  /** Why an expert skips or flags an item. */
  comment: 2_000,
} as const

export const minPasswordLength = 10
export const maxKeepHours = 24 * 30
export const maxQualificationItems = 1_000
/** Prompts of a task in one answer. */
export const promptsPerPage = 20

/**
 * A viewer reads; a manager also runs the work: tasks, experts, groups; an admin also has operators, tokens, webhook and
 * audit log. Each role may do what those before it may.
 */
export const roles = ["viewer", "manager", "admin"] as const
type Role = (typeof roles)[number]
export const isAtLeast = (role: Role, min: Role): boolean => roles.indexOf(role) >= roles.indexOf(min)

export const taskStatuses = ["pending", "in_progress", "completed", "cancelled"] as const

/** `waiting`: without a vote. `open`: misses votes. `disputed`: has them all, they differ, and nobody has decided. */
export const itemStates = ["waiting", "open", "done", "disputed", "decided", "withdrawn", "cancelled"] as const

/** From the group that is judged first to the last. */
export const priorities = ["urgent", "high", "normal", "low"] as const
