/**
 * `prefstream schedule`: another command at the times of a cron expression, for where there is
 * no cron.
 *
 * Each run is a process of its own. So what a run takes in memory is given back, a run that
 * crashes does not end the schedule, and each run sees the pipeline file, and the prefstream,
 * that are there when it starts. A process group of its own, because Ctrl+C at a terminal goes
 * to a whole group: a run is told once to stop, by the schedule.
 *
 * Adapter: asks `node:process` how this process was started, and for its end.
 */
import process from "node:process"
import { Clock, Console, DateTime, Duration, Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ChildProcess } from "effect/process"
import * as CronJob from "../../pipeline/CronJob.ts"
import { version } from "../../node/Version.ts"
import { collectCommand } from "./Collect.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { exportCommand } from "./Export.ts"
import { messageOf } from "../output/Failure.ts"
import { ledgerCommand } from "./Ledger.ts"
import { runCommand } from "./Run.ts"
import * as Settings from "../flags/Settings.ts"
import * as Stop from "../output/Stop.ts"
import { submitCommand } from "./Submit.ts"
import { duration, printable } from "../output/Summary.ts"

/** What may be scheduled: commands that end by themselves, and can be checked without being carried out. */
const schedulable = Command.make("prefstream").pipe(
  Command.withSubcommands([runCommand, submitCommand, collectCommand, exportCommand, ledgerCommand]),
)

const names = ["run", "submit", "collect", "export", "ledger"]

/** Statuses after which a schedule goes on, whatever it was told: nothing went wrong. */
const expected: ReadonlyArray<number> = [ExitStatus.done, ExitStatus.waiting, ExitStatus.busy]

const timeOf = (time: DateTime.Zoned): string =>
  DateTime.formatIsoOffset(time).replace(/^(\S{10})T(\S{8})\.\d+(.*)$/, "$1 $2 $3")

export const scheduleCommand = Command.make(
  "schedule",
  {
    cron: Flag.String("cron").pipe(
      Flag.withMetavar("EXPRESSION"),
      Flag.withDescription(
        "When: minute, hour, day of month, month, day of week, as in '0 2 * * *'; seconds before them if there are six fields",
      ),
    ),
    timeZone: Flag.String("time-zone").pipe(
      Flag.withMetavar("ZONE"),
      Flag.withDescription("Time zone of the expression, such as Europe/Berlin (default: that of this machine)"),
      Flag.optional,
    ),
    now: Flag.Boolean("now").pipe(Flag.withDescription("Run at once, too"), Flag.withDefault(false)),
    stopOnFailure: Flag.Boolean("stop-on-failure").pipe(
      Flag.withDescription("End with a run's exit status when that is a failure: not 0, 3 or 75"),
      Flag.withDefault(false),
    ),
    command: Argument.String("COMMAND").pipe(
      Argument.withDescription(
        "After --: what to run, without prefstream: run, submit, collect, export or ledger, with its flags",
      ),
      Argument.variadic({ min: 1 }),
    ),
  },
  Effect.fn("prefstream schedule")(function* (flags) {
    const cron = yield* Result.match(CronJob.parse(flags.cron, Option.getOrUndefined(flags.timeZone)), {
      onFailure: ({ message, what }) =>
        Effect.fail(
          new ExitStatus.UsageError({ message: `--${what === "expression" ? "cron" : "time-zone"}: ${message}` }),
        ),
      onSuccess: Effect.succeed,
    })
    if (!(yield* check(flags.command))) return
    const zone = Option.getOrElse(cron.tz, () => DateTime.zoneMakeLocal())
    const say = Effect.fnUntraced(function* (message: string) {
      const now = DateTime.setZone(yield* DateTime.now, zone)
      yield* Console.error(`[${timeOf(now)}] ${printable(message)}`)
    })
    const told = withoutSecrets(flags.command).join(" ")
    const job = Effect.gen(function* () {
      const start = yield* Clock.currentTimeMillis
      const { end, status } = yield* Effect.scoped(carriedOut(flags.command))
      const seconds = ((yield* Clock.currentTimeMillis) - start) / 1000
      yield* say(`${end} after ${duration(seconds)}.`)
      if (flags.stopOnFailure && !expected.includes(status)) return yield* new ExitStatus.Finished({ status })
    }).pipe(Stop.waitingFor(Effect.succeedSome("the run")), Stop.breaksOff)
    const tell = (event: CronJob.Event) => {
      switch (event._tag) {
        case "Waiting":
          return say(`Next run at ${timeOf(event.due)}.`)
        case "Starting": {
          const late = Duration.toSeconds(event.late)
          const others = event.missed === 0 ? "" : `, and for ${event.missed} more that have passed`
          return say(
            `Starting: ${told}${late < 60 ? "" : `, ${duration(late)} late${others}: the machine slept, or its clock was set`}`,
          )
        }
        case "Skipped":
          return say(
            event.times === 1
              ? `Skipped ${timeOf(event.first)}: the run before was still going on.`
              : `Skipped ${event.times} times from ${timeOf(event.first)} to ${timeOf(event.last)}: the run before was still going on.`,
          )
      }
    }
    // A run that is told to stop keeps its own grace time.
    return yield* CronJob.run(job, { cron, now: flags.now, onEvent: tell }).pipe(
      Stop.isNormalEnd,
      Stop.withGrace(Duration.infinity),
    )
  }),
).pipe(
  Command.withDescription(
    "Run another command again and again, at the times of a cron expression. The command line is checked first. " +
      "Runs never overlap: a time that comes while a run is going on is skipped. A run that fails does not end the schedule. " +
      "A time that the machine slept through is made up for once, when it wakes up.",
  ),
  Command.withShortDescription("Run another command at the times of a cron expression"),
  Command.withExamples([
    {
      command:
        "prefstream schedule --cron '0 2 * * *' --time-zone Europe/Berlin -- run 'items/*.jsonl' --dir job --once",
      description: "Each night at two: submit what is new, and take what is there",
    },
  ]),
)

/** The words of a command line, without those that nobody else is to read. */
const withoutSecrets = (command: ReadonlyArray<string>): ReadonlyArray<string> =>
  command.map((word, i) =>
    /^--(token|webhook-secret)$/.test(command[i - 1] ?? "")
      ? "***"
      : word.replace(/^(--(?:token|webhook-secret)=).*/s, "$1***"),
  )

/** Finds out now, and not at two in the morning, whether a command line is right; not so if all that it asks for is help. */
const check = Effect.fnUntraced(function* (command: ReadonlyArray<string>) {
  const [name = ""] = command
  if (!names.includes(name)) {
    return yield* new ExitStatus.UsageError({
      message: `expected run, submit, collect, export or ledger after --, found ${name}`,
    })
  }
  return yield* Command.runWith(schedulable, { version })(command).pipe(
    Effect.as(false),
    Effect.provideService(Settings.Checking, true),
    Effect.catchTags({
      Finished: (end) => (end.status === ExitStatus.done ? Effect.succeed(true) : end),
      // It was told already.
      ShowHelp: () => new ExitStatus.Finished({ status: ExitStatus.usage }),
    }),
  )
})

/** Runs the command as a process, to its end. To interrupt it tells the process to stop, and waits for it. */
const carriedOut = Effect.fnUntraced(
  function* (command: ReadonlyArray<string>) {
    const [, script = ""] = process.argv
    let pid: number | undefined
    const kill = () => killGroup(pid)
    // Released after the run, which is waited for: until then it is to be killed with this process.
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("exit", kill)),
      () => Effect.sync(() => process.off("exit", kill)),
    )
    const run = yield* ChildProcess.make(process.execPath, [...process.execArgv, script, ...command], {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      detached: true,
    })
    pid = run.pid
    return yield* Effect.match(run.exitCode, {
      onSuccess: (status) => ({ status: Number(status), end: `Ended with ${status} (${ExitStatus.meaning(status)})` }),
      onFailure: () => ({ status: ExitStatus.failure, end: "Killed by a signal" }),
    })
  },
  Effect.catchTag("PlatformError", (failure) =>
    Effect.succeed({ status: ExitStatus.failure, end: `Could not be started: ${messageOf(failure)};` }),
  ),
)

/** When this process ends without waiting for a run, the run is not to stay behind. */
const killGroup = (pid: number | undefined): void => {
  if (pid === undefined) return
  // It may have ended in this moment, which is as good.
  try {
    process.kill(-pid, "SIGKILL")
  } catch {}
}
