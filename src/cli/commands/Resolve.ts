/**
 * Changes all selected tasks or none. Fails if one of the tasks does not allow the decision, or if a process other than
 * a worker uses the ledger.
 */
import { Console, Effect, FileSystem, Option, Predicate } from "effect"
import { Argument, type Command, Flag } from "effect/cli"
import * as IdLimit from "../../domain/IdLimit.ts"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import * as RejectsFile from "../../pipeline/RejectsFile.ts"
import { issuesOf } from "../../pipeline/Issues.ts"
import { issueReport } from "../../pipeline/RunReport.ts"
import { Ledger, LedgerReader } from "../../task/ledger/Ledger.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import type { TaskState } from "../../task/ledger/schema/Model.ts"
import { count, joinWords, plural } from "../../io/Values.ts"
import { usageError } from "../output/ExitStatus.ts"
import { makeCommand } from "../flags/Definition.ts"
import { existingLedger, givenOf, ledgerFlags, placeOf } from "../flags/LedgerFlags.ts"
import { check } from "../flags/FlagCombinations.ts"
import { literals, repeated, toggle } from "../flags/Values.ts"
import { printable } from "../output/Text.ts"
import * as IssueList from "../output/IssueList.ts"

const asUsage = ({ message }: { readonly message: string }) => Effect.fail(usageError(message))

// prettier-ignore
const states = [
  "in_doubt", "failed", "invalid", "refused", "given_up", "planned", "submitted",
] as const satisfies ReadonlyArray<TaskState>

const flags = {
  tasks: Argument.Int("TASK").pipe(
    Argument.withDescription("Task numbers, as listed by prefstream resolve"),
    Argument.variadic(),
  ),
  all: literals("all", states, "Select all tasks in STATE, instead of task numbers", {
    metavar: "STATE",
    isTypedOnly: true,
  }),
  adopt: repeated(
    Flag.String("adopt"),
    "TASK_ID",
    "Link the task to TASK_ID at the service, and poll that id from now on; repeat for each task",
    { isTypedOnly: true },
  ),
  sendAgain: toggle(
    "send-again",
    "Send the tasks again in the next run; a task that the service already has is billed twice",
    {
      isTypedOnly: true,
    },
  ),
  giveUp: toggle("give-up", "Stop sending and polling the tasks; items that are in no other task become rejects", {
    isTypedOnly: true,
  }),
  ...ledgerFlags,
}

export const command = makeCommand(
  "resolve",
  "List the tasks that need attention, with their items and reasons. A task needs attention if it is in doubt, failed, " +
    "invalid, or refused. A task in doubt may have reached the service. If you record no decision, prefstream sends such a task again only if you set --idempotency-key honored, and only until the task's idempotency key expires. " +
    "The result of an invalid task does not match the task. " +
    "To record a decision, name the tasks and add --adopt, --send-again, or --give-up.",
  flags,
  Effect.fn("prefstream resolve")(
    function* (flags) {
      yield* check(flags)
      const { directory, location } = yield* placeOf(flags)
      const decision = yield* decisionOf(flags)
      // Without `--dir`, the default folder may belong to another job. The other job's rejects file must not change.
      const isFolderOfJob =
        flags.dir !== undefined || (location._tag === "File" && location.path === JobFolder.ledger(directory))
      const isIdle = Option.isNone(yield* LedgerLocation.holder(location))
      const read = Effect.provide(existingLedger(location))
      const numbers = yield* numbersOf(flags, decision, isIdle).pipe(read)
      const placeFlags = yield* givenOf(flags, flags.dir)
      const printJson = Effect.flatMap(issuesOf(numbers).pipe(read), (tasks) => Console.log(JSON.stringify(tasks)))
      if (decision === undefined) {
        return yield* flags.json
          ? printJson
          : Effect.flatMap(IssueList.text(numbers, placeFlags).pipe(read), (text) => Console.log(printable(text)))
      }
      const decided = yield* decide(numbers, decision, flags.all).pipe(
        Effect.tap(() => (isFolderOfJob ? rewriteRejects(directory) : Effect.void)),
        Effect.provide(LedgerLocation.layerAlongsideWorkers(location)),
      )
      if (flags.json) return yield* printJson
      const after = yield* LedgerReader.use((ledger) => ledger.tasksOf(decided.numbers)).pipe(read)
      const anew = after.filter(({ attempt }, i) => attempt !== decided.tasks[i]!.attempt).length
      const hints = IssueList.waitAgain(after.map(issueReport), placeFlags)
      yield* Console.log(printable([describeDecision(decided, decision, anew), ...hints].join("\n")))
    },
    Effect.catchTags({ NoSuchTask: asUsage, NotResolvable: asUsage, TaskIdTaken: asUsage }),
  ),
  {
    "prefstream resolve --dir week-48": "List the tasks that need attention",
    "prefstream resolve 21 --adopt task_8f3a --dir week-48": "Task 21 exists at the service as task_8f3a",
    "prefstream resolve 21 41 --adopt task_8f3a --adopt task_902c --dir week-48":
      "Several tasks, with their ids in the same order",
    "prefstream resolve 21 41 --send-again --dir week-48": "Tasks 21 and 41 did not arrive: send them again",
    "prefstream resolve --all failed --give-up --dir week-48": "Give up all failed tasks",
  },
)

type Decision =
  | { readonly verb: "adopt"; readonly taskIds: ReadonlyArray<string> }
  | { readonly verb: "sendAgain" | "giveUp" }

type Flags = Command.Command.Config.Infer<typeof flags>

const decisionOf = Effect.fnUntraced(function* ({ adopt, all, giveUp, sendAgain, tasks }: Flags) {
  const decision: Decision | undefined =
    adopt.length > 0
      ? { verb: "adopt", taskIds: adopt.map((taskId) => taskId.trim()) }
      : sendAgain
        ? { verb: "sendAgain" }
        : giveUp
          ? { verb: "giveUp" }
          : undefined
  if (tasks.length > 0 && all !== undefined) return yield* usageError("give task numbers or --all, not both")
  if (decision === undefined) return undefined
  if (tasks.length === 0 && all === undefined) {
    return yield* usageError("give task numbers, as listed by `prefstream resolve`, or --all STATE")
  }
  if (decision.verb === "adopt") {
    if (new Set(tasks).size !== decision.taskIds.length || tasks.length !== decision.taskIds.length) {
      return yield* usageError(
        `--adopt: expected one task number for each TASK_ID, found ${count(tasks.length, "task number")} and ${count(decision.taskIds.length, "TASK_ID", "TASK_IDs")}`,
      )
    }
    const problem = decision.taskIds.map(IdLimit.problemOf).find(Predicate.isNotUndefined)
    if (problem !== undefined) return yield* usageError(`--adopt: ${problem}`)
  }
  return decision
})

const numbersOf = Effect.fnUntraced(function* (
  { all, tasks }: Pick<Flags, "all" | "tasks">,
  decision: Decision | undefined,
  isIdle: boolean,
) {
  const ledger = yield* LedgerReader
  if (tasks.length > 0) return (yield* ledger.tasksOf(tasks)).map(({ number }) => number)
  const interrupted: ReadonlyArray<TaskState> = isIdle ? ["submitting"] : []
  const wanted: ReadonlyArray<TaskState> = [
    ...(all === undefined ? (["in_doubt", "failed", "invalid", "refused"] as const) : [all]),
    ...(all === undefined || all === "in_doubt" ? interrupted : []),
  ]
  const tasksInState = yield* ledger.issues(Number.MAX_SAFE_INTEGER, wanted)
  if (decision !== undefined && tasksInState.length === 0) {
    return yield* usageError(`no task ${all === undefined ? "needs attention" : `is in state ${all}`}`)
  }
  return tasksInState.map(({ number }) => number)
})

const decide = Effect.fnUntraced(function* (
  numbers: ReadonlyArray<number>,
  decision: Decision,
  only: TaskState | undefined,
) {
  const ledger = yield* Ledger
  if (!ledger.isShared) yield* ledger.holdInterrupted
  const tasks = yield* decision.verb === "adopt"
    ? ledger.adopt(numbers, decision.taskIds)
    : ledger[decision.verb](numbers, only)
  return {
    tasks,
    numbers: tasks.map(({ number }) => number),
    sender: ledger.isShared ? "the workers" : "the next prefstream run or prefstream submit",
  }
})

const rewriteRejects = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  if (yield* fs.exists(directory)) yield* RejectsFile.write(directory)
})

const describeDecision = (
  { numbers, sender }: Effect.Success<ReturnType<typeof decide>>,
  decision: Decision,
  anew: number,
): string => {
  const [number] = numbers
  const tasks = plural(numbers.length, `Task ${number}`, count(numbers.length, "task"))
  switch (decision.verb) {
    case "adopt":
      return `${tasks} ${plural(numbers.length, "is", "are")} linked to ${joinWords(decision.taskIds)} at the service, and will be polled by ${sender === "the workers" ? sender : "the next run, or by prefstream collect"}.`
    case "sendAgain":
      if (anew === 0) return `${tasks} will be sent again by ${sender}.`
      return numbers.length === 1
        ? `${tasks} will be sent again by ${sender}, as a new, billable task.`
        : `${tasks} will be sent again by ${sender}, ${anew} of them as new, billable tasks.`
    case "giveUp":
      return `${tasks} ${plural(numbers.length, "is", "are")} given up. Items that are in no other task become rejects.`
  }
}
