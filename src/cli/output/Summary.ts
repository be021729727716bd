/** Formats the report of a run for a terminal: files and counts, what to do next, and one pair. */
import { Console, Effect } from "effect"
import { render } from "../../domain/Conversation.ts"
import * as Origin from "../../domain/Origin.ts"
import type { DatasetInfo } from "../../dataset/Dataset.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import { count, excerpt, number, plural } from "../../io/Values.ts"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import type { RejectCount } from "../../pipeline/RejectCounts.ts"
import type { RunReport } from "../../pipeline/RunReport.ts"
import { isOver as isOverBudget } from "../../pipeline/SpendingReport.ts"
import * as ExitStatus from "./ExitStatus.ts"
import { inFlags, inRejects } from "./Flags.ts"
import * as JudgeCosts from "./JudgeCosts.ts"
import { hasRoom, routing, spending } from "./SpendingSummary.ts"
import { duration, present, printable, type Rows, rowsOf, size, table } from "./Text.ts"

export interface Options extends TextOptions {
  readonly json?: boolean | undefined
  readonly judgeCache?: string | undefined
}

export interface TextOptions {
  readonly directory: string
  readonly given: string
  readonly later?: string | undefined
  readonly ledger?: string | undefined
}

export const end = Effect.fn("Summary.end")(function* (report: Pick<RunReport, "status">) {
  const status = ExitStatus.ofRun[report.status]
  if (status !== ExitStatus.done) return yield* new ExitStatus.Finished({ status })
})

export const finish = Effect.fn("Summary.finish")(function* (report: RunReport, options: Options) {
  const judges = yield* JudgeCosts.read(options.directory, options.judgeCache)
  yield* Console.log(
    options.json
      ? JSON.stringify({ ...inRejects(report), judges })
      : printable(text(report, options, JudgeCosts.rows(judges))),
  )
  yield* end(report)
})

/** `submit` does not wait for results, so it succeeds without them. It fails if the budget does not allow all votes. */
export const finishSubmit = Effect.fn("Summary.finishSubmit")(function* (report: RunReport, options: Options) {
  const { planned, submitting } = report.tasks
  const isOver = report.spending !== null && isOverBudget(report.spending)
  const isSent =
    report.shared_with_workers || (isOver ? planned.tasks + submitting.tasks === 0 : report.not_submitted === 0)
  yield* finish(report, options).pipe(
    Effect.catchTag("Finished", (end) => {
      if (report.status !== "waiting" || !isSent) return end
      return isOver ? new ExitStatus.Finished({ status: ExitStatus.budget }) : Effect.void
    }),
  )
})

export const text = (report: RunReport, options: TextOptions, more: Rows = []): string => {
  const { directory, ledger = JobFolder.ledger(directory) } = options
  return [
    ...headline(report, options),
    "",
    ...table([
      ["read", `${count(report.read, "record")} = ${reading(report)}`],
      ["", earlier(report.earlier)],
      ["tasks", tasks(report)],
      ...voteRows(report),
      ...routing(report),
      ...(report.spending === null ? [] : spending(report.spending)),
      ...rejects(report, directory),
      ["pruned", report.pruned > 0 && `results of ${count(report.pruned, "item")}, removed from the ledger`],
      ...(report.dataset === null ? [] : dataset(report.dataset)),
      ["left out", leftOut(report.left_out ?? [])],
      ...more,
      ["ledger", ledger],
    ]),
    ...issues(report, resolveCommand(options)),
    ...(report.example === null ? [] : ["", "Example pair:", "", ...pair(report.example)]),
  ].join("\n")
}

const resolveCommand = ({ given }: TextOptions): string => `prefstream resolve ${given}`

const headline = (report: RunReport, options: TextOptions): ReadonlyArray<string> => {
  const { given, later } = options
  const after = report.seconds === null ? "" : ` after ${duration(report.seconds)}`
  const unsent = report.tasks.planned.tasks + report.tasks.submitting.tasks
  const open = unsent + report.tasks.submitted.tasks
  const doubts = report.tasks.in_doubt.tasks
  const unusable = report.tasks.failed.tasks + report.tasks.invalid.tasks
  const unfinished = describeUnfinished(unusable, report.tasks)
  const ended = (what: string) => {
    const sentence = what.endsWith(".") ? what : `${what}.`
    return report.seconds === null
      ? `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`
      : `Ended${after}: ${sentence}`
  }
  switch (report.status) {
    case "thresholds_exceeded":
      return [ended("a threshold is exceeded, and the dataset was not written")]
    case "done":
      return [
        `${report.seconds === null ? "All tasks are done" : `Done in ${duration(report.seconds)}`}${exceptRefused(report)}.`,
      ]
    case "over_budget":
      return [
        `${ended("the budget is used up, and some items were not sent")} ${hasRoom(report) ? "The votes cost less than planned, so the budget allows more votes. Next: " : "Next: raise the budget (--budget), and "}${later ?? repeat}.`,
      ]
    case "no_pairs":
      return [ended("the results gave no pairs, and no dataset was written")]
    case "waiting":
      if (open === 0) {
        const plan = `to request these votes, run prefstream submit ${given} with the same input`
        const next = later ?? (report.shared_with_workers ? "wait for the workers to request these votes" : plan)
        return [`Items ${report.wanted_votes === 0 ? "may need" : "need"} further votes. Next: ${next}.`]
      }
      return [
        `Results are outstanding${after}${unsent === 0 ? "" : `: ${unfinished}`}.`,
        `Next: ${later ?? afterWaiting(report.shared_with_workers, unsent, given)}.`,
      ]
    case "stopped":
      return [`Stopped${after}, before all input was read and submitted. Next: ${later ?? repeat}.`]
    case "unfinished":
      if (report.campaign === null) {
        return [
          "No run has read any input yet: the first run ended or was killed before reading. Run the same command again.",
        ]
      }
      return [
        report.max_rejects === null
          ? "The last run did not finish reading its input. Run the same command again to continue."
          : `The last run stopped at ${count(report.rejected, "rejected record")} (--max-rejects ${report.max_rejects}). Correct the input, or raise --max-rejects, and run the same command again.`,
      ]
    case "all_rejected":
      return [ended(whyAllRejected(report))]
    case "in_doubt":
      return [
        `${ended(`${count(doubts, "task is", "tasks are")} in doubt`)} The service may have received ${plural(doubts, "this task", "these tasks")}. To avoid paying twice, prefstream does not send ${plural(doubts, "this task", "these tasks")} again automatically.`,
        ...(unusable === 0 && open === 0
          ? []
          : [
              `In addition, ${unfinished}.${report.shared_with_workers ? " The job's worker processes send the unsent tasks, and ask the service for the results." : ""}`,
            ]),
        `If the service honors the header Idempotency-Key, ${honoring(report)}. prefstream then sends each of these tasks again with the same key as before. If the service has already received a task with this key, the service creates no second task. Tasks whose keys have expired (--idempotency-key-lifetime) are not sent again.`,
        `If the service ignores the header Idempotency-Key, check which of these tasks the service has. Then decide what to do with each task: ${resolveCommand(options)}`,
      ]
    case "results_invalid":
      return [
        open === 0
          ? `${ended("some tasks have no usable result")} Next: ${later ?? `prefstream collect ${given}`}. This command asks the service for these results again.`
          : report.shared_with_workers
            ? `${ended(unfinished)} Next: ${afterWaiting(true, unsent, given)}.`
            : `${ended(unfinished)} Next: ${later ?? (unsent === 0 ? `prefstream collect ${given}` : repeat)}. This command asks the service for all missing results.`,
      ]
  }
}

const repeat = "repeat the command that submitted the tasks"

const honoring = ({ shared_with_workers, seconds }: RunReport): string => {
  const flag = "and add `--idempotency-key honored`"
  if (shared_with_workers) return `start the workers again, ${flag}`
  return seconds === null ? `${repeat}, ${flag}` : `run the same command again, ${flag}`
}

const afterWaiting = (sharedWithWorkers: boolean, unsent: number, jobFlags: string): string => {
  if (sharedWithWorkers) return `wait for the worker processes; when all tasks are done, prefstream export ${jobFlags}`
  return unsent === 0 ? `prefstream collect ${jobFlags}, then prefstream export ${jobFlags}` : repeat
}

const whyAllRejected = ({ tasks, issues }: RunReport): string => {
  const refused = tasks.refused.tasks
  if (refused === 0) return "all records were rejected"
  const all = Object.values(tasks).every((of) => of === tasks.refused || of.tasks === 0) ? "all " : ""
  const first = issues.find(({ state }) => state === "refused")?.reason
  return `the service refused ${all}${count(refused, "task")}${first == null ? "" : `. First reason: ${first}`}`
}

const exceptRefused = ({ tasks: { refused }, votes }: RunReport): string =>
  refused.tasks === 0
    ? ""
    : `, except ${count(refused.tasks, "task")} (${count(refused.items, unit({ votes }))}) that the service refused`

const describeUnfinished = (unusable: number, { planned, submitted, submitting }: RunReport["tasks"]): string =>
  listed(
    present([
      unusable > 0 && `${count(unusable, "task")} ${plural(unusable, "has", "have")} no usable result`,
      planned.tasks > 0 && `${count(planned.tasks, "task")} ${plural(planned.tasks, "is", "are")} not sent yet`,
      submitting.tasks > 0 && `${count(submitting.tasks, "task")} may have been sent`,
      submitted.tasks > 0 &&
        `${count(submitted.tasks, "task")} still ${plural(submitted.tasks, "waits", "wait")} for results`,
    ]),
  )

const listed = (clauses: ReadonlyArray<string>): string =>
  [...clauses.slice(0, -2), clauses.slice(-2).join(", and ")].join(", ")

export const duplicates = (report: { readonly duplicates: number; readonly reordered: number }): string =>
  count(report.duplicates, "duplicate") +
  (report.reordered === 0 ? "" : ` (${number(report.reordered)} with the completions in another order)`)

const reading = (report: RunReport): string =>
  present([
    report.imported > 0 ? `${number(report.imported)} imported` : `${number(report.submitted)} submitted`,
    report.not_submitted > 0 && `${number(report.not_submitted)} not submitted yet`,
    duplicates(report),
    `${number(report.rejected)} rejected`,
  ]).join(" + ") + (report.known === 0 ? "" : `; ${number(report.known)} known from an earlier run`)

export const rejectCount = ({ code, count, first }: RejectCount): string =>
  `${number(count)} ${code}, first ${Origin.describe(first)}: ${inFlags(first.reason)}`

export const earlier = ({ read, rejected }: RunReport["earlier"]): string | false => {
  if (read + rejected === 0) return false
  const counts = present([
    read > 0 && `read ${count(read, "record")}`,
    rejected > 0 && `rejected ${count(rejected, "record")}`,
  ])
  return `these counts are for the last run only; earlier runs ${counts.join(" and ")} from other files`
}

const rejects = ({ earlier, rejected, rejects }: RunReport, directory: string): Rows =>
  rejected + earlier.rejected === 0
    ? []
    : rowsOf("rejects", [JobFolder.rejects(directory), ...(rejects ?? []).map(rejectCount)])

export const unit = ({ votes }: Pick<RunReport, "votes">): string => (votes === 1 ? "item" : "vote")

const tasks = (report: Pick<RunReport, "tasks" | "votes">): string =>
  Object.entries(report.tasks)
    .filter(([, { tasks }]) => tasks > 0)
    .map(([state, { items, tasks }]) => `${number(tasks)} ${state.replace("_", " ")} (${count(items, unit(report))})`)
    .join(", ") || "none"

const voteRows = ({ gold, votes, wanted_votes }: Pick<RunReport, "gold" | "votes" | "wanted_votes">): Rows => [
  ["votes", votes > 1 && `up to ${number(votes)} per item`],
  ["", wanted_votes > 0 && `${count(wanted_votes, "item")} ${plural(wanted_votes, "needs", "need")} another vote`],
  [
    "gold",
    gold > 0 && `${count(gold, "gold item")} mixed in${votes === 1 ? "" : ", with the same number of votes each"}`,
  ],
]

const dataset = ({ directory, files, formats, omitted, rows, splits }: DatasetInfo): Rows => [
  ["dataset", `${count(rows, "pair")} in ${directory}`],
  ["", splits.length > 1 && splits.map(({ rows, split }) => `${split} ${number(rows)}`).join(", ")],
  ["", folders(files)],
  ...[{ format: "data, jsonl", omitted }, ...formats]
    .filter(({ omitted }) => omitted.count > 0)
    .map(({ format, omitted: { count: omitted, first } }) => {
      const [one] = first
      const why = one === undefined ? "" : `; first: item ${excerpt(one.item_id, 60)}: ${one.field}: ${one.reason}`
      return ["", `${count(omitted, "pair")} could not be written to ${format}${why}`] as const
    }),
  ["report", files.some(({ path }) => path === "report.html") && `${directory}/report.html`],
]

const folders = (files: DatasetInfo["files"]): string =>
  [...Map.groupBy(files, ({ path }) => path.split("/").slice(0, -1).join("/"))]
    .filter(([folder]) => folder !== "")
    .map(([folder, files]) => `${folder} (${size(files.reduce((sum, { bytes }) => sum + bytes, 0))})`)
    .join(", ")

const issues = ({ issues, tasks }: RunReport, resolve: string): ReadonlyArray<string> => {
  const all = tasks.in_doubt.tasks + tasks.failed.tasks + tasks.invalid.tasks + tasks.refused.tasks
  return issues.length === 0
    ? []
    : [
        "",
        ...issues.map(
          ({ attempt, reason, state, task, task_id }) =>
            `${state.replace("_", " ")}: task ${task}${task_id === null ? "" : ` (${task_id})`}${attempt === 1 ? "" : `, attempt ${attempt}`}: ${reason ?? "no reason given"}`,
        ),
        ...(all > issues.length ? [`… and ${count(all - issues.length, "more task")}`] : []),
        `To list and resolve these tasks: ${resolve}`,
      ]
}

const pair = (pair: PreferencePair): ReadonlyArray<string> =>
  (["prompt", "chosen", "rejected", "rationale", "item_id", "task_id", "metadata"] as const).flatMap((column) => {
    const value = column === "prompt" ? render(pair.prompt) : pair[column]
    return value === null ? [] : [`  ${column.padEnd(11)}${excerpt(value, maxShownCharacters)}`]
  })

const maxShownCharacters = 200

const leftOut = (reasons: NonNullable<RunReport["left_out"]>): string | false => {
  const items = reasons.reduce((sum, { count }) => sum + count, 0)
  const counts = reasons.map(({ count, reason }) => `${number(count)} ${whyLost(reason)}`).join(", ")
  return items > 0 && `${count(items, "item")}: ${counts}`
}

const whyLost = (reason: string): string => {
  if (reason === "tie") return "tie (all votes are ties, or several completions are best and --ties is drop)"
  if (reason === "no_pair") return "no pair (the best completion is blank, or equal to the others)"
  return reason.replaceAll("_", " ")
}
