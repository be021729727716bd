/** Labels for states, and texts for problems. */
import type { Problem } from "../shared/api.ts"
import type { Delivery, WebhookSettings } from "../../pageApi/WebhookApi.ts"
import type { TaskItem, TaskSummary } from "../../pageApi/TasksApi.ts"
import type { Priority } from "../../pageApi/GroupsApi.ts"
import type { ItemState } from "../../pageApi/ItemsApi.ts"
import { plural } from "./format.ts"

export type Tone = "neutral" | "accent" | "good" | "warn" | "bad"

export interface Label {
  readonly words: string
  readonly tone: Tone
}

export const statusLabel: Readonly<Record<TaskSummary["status"], Label>> = {
  pending: { words: "Pending", tone: "neutral" },
  in_progress: { words: "In progress", tone: "accent" },
  completed: { words: "Completed", tone: "good" },
  cancelled: { words: "Cancelled", tone: "neutral" },
}

export const priorityLabel: Readonly<Record<Priority, Label>> = {
  urgent: { words: "Urgent", tone: "bad" },
  high: { words: "High", tone: "warn" },
  normal: { words: "Normal", tone: "neutral" },
  low: { words: "Low", tone: "neutral" },
}

export const itemStateLabel: Readonly<Record<ItemState, Label>> = {
  waiting: { words: "No votes yet", tone: "neutral" },
  open: { words: "Needs votes", tone: "accent" },
  done: { words: "Done", tone: "good" },
  disputed: { words: "Experts disagree", tone: "warn" },
  decided: { words: "Decided by a lead", tone: "good" },
  withdrawn: { words: "Withdrawn", tone: "warn" },
  cancelled: { words: "Cancelled", tone: "neutral" },
}

export const deliveryLabel: Readonly<Record<Delivery["state"], Label>> = {
  waiting: { words: "Waiting", tone: "accent" },
  delivered: { words: "Delivered", tone: "good" },
  failed: { words: "Failed", tone: "bad" },
}

type Shown = Pick<Problem, "status" | "detail">

export const problemWords = ({ status, detail }: Shown): string =>
  status === 401 ? "Your session has ended. Sign in, then try again." : detail

export const signInWords = ({ detail }: Shown): string => detail

export const itemLabel = (item: TaskItem, task: TaskSummary): Label => {
  const isFlagged = item.flags.length > 0
  if (item.withdrawal !== null) return { words: "Withdrawn", tone: "warn" }
  if (item.decision !== null && !isFlagged) return { words: "Decided by a lead", tone: "good" }
  if (item.done) return isFlagged ? { words: "Flagged, done", tone: "warn" } : { words: "Done", tone: "good" }
  const votes = `${item.votes.length} of ${plural(task.votes_per_prompt + item.extra_votes, "vote")}`
  if (isFlagged) return { words: `Flagged, ${votes}`, tone: "warn" }
  return { words: votes, tone: item.votes.length > 0 ? "accent" : "neutral" }
}

export const failureWords = ({
  last_error,
  last_status,
}: Pick<NonNullable<WebhookSettings["failing"]>, "last_error" | "last_status">): string =>
  [last_status === null ? null : `answered ${last_status}`, last_error].filter((part) => part !== null).join(", ")

export const attemptsWords = (delivery: Delivery): string =>
  delivery.attempts === 0
    ? "not attempted yet"
    : `${plural(delivery.attempts, "attempt")}, last: ${delivery.last_status ?? "no answer"}`

export const pausedLabel: Label = { words: "Paused", tone: "warn" }
