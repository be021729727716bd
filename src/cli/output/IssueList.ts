/** Lists the tasks that need attention, with the places of their items, and the possible decisions. */
import { Effect } from "effect"
import { issuesOf, type ListedTask } from "../../pipeline/Issues.ts"
import type { IssueReport } from "../../pipeline/RunReport.ts"
import { count, number as digits } from "../../io/Values.ts"
import { present, shellWord } from "./Text.ts"

const maxShown = 20

export const text = Effect.fnUntraced(function* (numbers: ReadonlyArray<number>, jobFlags: string) {
  const tasks = yield* issuesOf(numbers.slice(0, maxShown))
  const [first] = tasks
  if (first === undefined) return "No task needs attention."
  const more = numbers.length - tasks.length
  return [
    ...tasks.flatMap((task) => [...lines(task), ""]),
    ...(more === 0 ? [] : [`… and ${digits(more)} more; --json lists all tasks.`, ""]),
    "To decide, run one of these commands with task numbers, or with --all STATE for all tasks in a state:",
    ...choices(tasks, jobFlags),
    ...waitAgain(tasks, jobFlags),
  ].join("\n")
})

export const waitAgain = (tasks: ReadonlyArray<IssueReport>, jobFlags: string): ReadonlyArray<string> => {
  const flags = jobFlags === "" ? "" : ` ${jobFlags}`
  const lines = tasks.flatMap(({ state, task, task_id }) =>
    state === "given_up" && task_id !== null
      ? [
          `To poll task ${task} again by its id at the service (not billed): prefstream resolve ${task}${flags} --adopt ${shellWord(task_id)}`,
        ]
      : [],
  )
  const more = lines.length - maxShown
  return more <= 0
    ? lines
    : [
        ...lines.slice(0, maxShown),
        `… and ${digits(more)} more: prefstream resolve --all given_up --json${flags} lists their ids.`,
      ]
}

const lines = (task: ListedTask): ReadonlyArray<string> =>
  present([
    `Task ${task.task}: ${stateOf(task)}, ${count(task.items, "item")}: ${placesOf(task.places)}`,
    task.sent_at !== null && `  sent     ${task.sent_at}, Idempotency-Key ${task.idempotency_key}`,
    task.task_id !== null && `  task id  ${task.task_id}`,
    `  reason   ${task.state === "submitting" ? "the process was killed while sending the task" : (task.reason ?? "no reason given")}`,
    ...task.attempts_before.map(
      ({ attempt, reason, state, task_id }) =>
        `  attempt ${attempt}: ${state.replace("_", " ")}${task_id === null ? "" : ` (${task_id})`}${reason === null ? "" : `: ${reason}`}`,
    ),
  ])

const stateOf = ({ state }: IssueReport): string => (state === "submitting" ? "in doubt" : state.replace("_", " "))

const placesOf = (places: ListedTask["places"]): string => {
  if (places === null) return "pruned from the ledger"
  const spans: Array<{ file: string; by: "line" | "row"; from: number; to: number }> = []
  for (const { file, line, row } of places) {
    const [by, at] = row === undefined ? (["line", line ?? 0] as const) : (["row", row] as const)
    const last = spans.at(-1)
    if (last?.file === file && last.by === by && last.to + 1 === at) last.to = at
    else spans.push({ file, by, from: at, to: at })
  }
  const shown = spans
    .slice(0, 5)
    .map(({ by, file, from, to }) => `${file}${by === "line" ? ":" : ", row "}${from === to ? from : `${from}-${to}`}`)
  return spans.length > shown.length ? `${shown.join(", ")}, …` : shown.join(", ")
}

const doubtful = ["in_doubt", "submitting"]
const ended = ["failed", "invalid", "refused", "given_up"]
const endable = [...doubtful, "failed", "invalid", "refused", "planned", "submitted", "superseded"]

const decisions = [
  {
    flag: "--adopt TASK_ID",
    states: [...doubtful, ...ended],
    effect: "choose this if the service has the task under the id TASK_ID: the next run asks for the result of TASK_ID",
  },
  {
    flag: "--send-again",
    states: doubtful,
    effect:
      "choose this if the service does not have the task: the next run sends the task again (if the service has the task after all, it is billed twice)",
  },
  { flag: "--send-again", states: ended, effect: "the next run sends the task again, as a new, billable task" },
  {
    flag: "--give-up",
    states: endable,
    effect:
      "choose this to give up the task: prefstream stops sending and polling the task, and items that are in no other task become rejects",
  },
]

const choices = (tasks: ReadonlyArray<ListedTask>, jobFlags: string): ReadonlyArray<string> => {
  const lines = decisions.flatMap(({ effect, flag, states }) => {
    const task = tasks.find(({ state }) => states.includes(state))
    return task === undefined
      ? []
      : [`  prefstream resolve ${task.task}${jobFlags === "" ? "" : ` ${jobFlags}`} ${flag.padEnd(15)}  ${effect}`]
  })
  return lines.length === 0 ? ["  nothing to decide: the results of these tasks have arrived"] : lines
}
