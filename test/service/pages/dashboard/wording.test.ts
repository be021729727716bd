import { assert, it } from "@effect/vitest"
import type { TaskItem, TaskSummary } from "../../../../src/service/pageApi/TasksApi.ts"
import { itemLabel, problemWords, signInWords } from "../../../../src/service/pages/dashboard/wording.ts"

it("problems are told in the service's own words; 401 says itself what is wrong while signing in, and is a session that has ended after it", () => {
  assert.strictEqual(problemWords({ status: 409, detail: "The task is complete." }), "The task is complete.")
  const refused = { status: 401, detail: "The name or the password is wrong." }
  assert.strictEqual(signInWords(refused), "The name or the password is wrong.")
  assert.strictEqual(problemWords(refused), "Your session has ended. Sign in, then try again.")
})

// What the label is made of.
const task = { votes_per_prompt: 3, extra_votes: 0 } as TaskSummary
const open = { done: false, extra_votes: 0, decision: null, withdrawal: null } as const
const item = { ...open, votes: [], flags: [], set_aside: [] } as Partial<TaskItem> as TaskItem
const vote = { expert: "expert_1", expert_name: "Ada", choice: 0, order: [0, 1], seconds: 1 }

it("items say how far they are, and that somebody flagged them, also when they are done", () => {
  const flagged: TaskItem = { ...item, flags: [{ expert_name: "Ada", kind: "other", comment: "cut off" }] }
  const skipped: TaskItem = { ...item, set_aside: [{ expert_name: "Ada", kind: "skip", reason: "" }] }
  assert.deepStrictEqual(itemLabel(item, task), { words: "0 of 3 votes", tone: "neutral" })
  assert.deepStrictEqual(itemLabel({ ...item, votes: [vote] }, task), { words: "1 of 3 votes", tone: "accent" })
  assert.deepStrictEqual(itemLabel(flagged, task), { words: "Flagged, 0 of 3 votes", tone: "warn" })
  assert.deepStrictEqual(itemLabel(skipped, task), { words: "0 of 3 votes", tone: "neutral" })
  assert.deepStrictEqual(itemLabel({ ...item, done: true }, task), { words: "Done", tone: "good" })
  const decision = { choice: 0, rationale: "", by: "Lea", at: 0 }
  assert.strictEqual(itemLabel({ ...item, done: true, decision }, task).words, "Decided by a lead")
  assert.deepStrictEqual(itemLabel({ ...flagged, done: true }, task), { words: "Flagged, done", tone: "warn" })
  assert.strictEqual(itemLabel(item, { ...task, votes_per_prompt: 1 }).words, "0 of 1 vote")
})
