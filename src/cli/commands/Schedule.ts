/** Adapter: starts each run of a schedule in its own process group, so that Ctrl+C does not signal the run. */
import process from "node:process"
import { Duration, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ChildProcess } from "effect/process"
import * as CronJob from "../../pipeline/CronJob.ts"
import { joinWords } from "../../io/Values.ts"
import { version } from "../../node/Version.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import * as LogFormat from "../output/LogFormat.ts"
import { messageOf } from "../output/Failure.ts"
import { makeCommand } from "../flags/Definition.ts"
import { DryRun } from "../flags/PipelineFile.ts"
import { required, text, toggle } from "../flags/Values.ts"
import * as Stop from "../../pipeline/Stop.ts"
import { duration } from "../output/Text.ts"
import * as Settings from "../settings/Settings.ts"
import { schedulable } from "./Schedulable.ts"

const names: ReadonlyArray<string> = schedulable.map(({ name }) => name)

/** After these exit statuses, the schedule continues even with `--stop-on-failure`. */
const expected: ReadonlyArray<number> = [ExitStatus.done, ExitStatus.waiting, ExitStatus.busy]

export const command = makeCommand(
  "schedule",
  "Run another command on a cron schedule. The command line is checked first. Runs never overlap. " +
    "If a run is due before the previous run ends, the due run is skipped. If runs are missed because the machine sleeps, one run replaces the missed runs after wake-up. " +
    "Skipped and missed runs are logged. A failed run does not end the schedule.",
  {
    cron: required(
      Flag.String("cron"),
      "EXPRESSION",
      "Minute, hour, day of month, month, day of week, as in '0 2 * * *'; or @hourly, @daily, @weekly, …",
    ),
    timeZone: text("time-zone", "ZONE", "Time zone of the expression, such as Europe/Berlin", {
      default: "the machine's",
    }),
    now: toggle("now", "Also run immediately", { isTypedOnly: true }),
    stopOnFailure: toggle(
      "stop-on-failure",
      "If a run's exit status is not 0, 3, or 75, end the schedule with the same exit status",
    ),
    command: Argument.String("COMMAND").pipe(
      Argument.withDescription(`Command to run, written after "--": ${joinWords(names, "or")}, with its flags`),
      Argument.variadic({ min: 1 }),
    ),
  },
  Effect.fn("prefstream schedule")(function* (flags) {
    const cron = yield* Effect.fromResult(CronJob.parse(flags.cron, flags.timeZone)).pipe(
      Effect.mapError(({ message, what }) =>
        ExitStatus.usageError(`--${what === "expression" ? "cron" : "time-zone"}: ${message}`),
      ),
    )
    if (!(yield* check(flags.command))) return
    const job = Effect.gen(function* () {
      yield* Effect.logInfo(`starting: ${flags.command.join(" ")}`)
      const [elapsed, { end, status }] = yield* Effect.timed(Effect.scoped(carriedOut(flags.command)))
      yield* Effect.logInfo(`${end} after ${duration(Duration.toSeconds(elapsed))}`)
      if (flags.stopOnFailure && !expected.includes(status)) return yield* new ExitStatus.Finished({ status })
    }).pipe(Stop.withOptions({ inFlight: Effect.succeedSome("the run"), isNormalEnd: false }))
    return yield* CronJob.run(job, { cron, now: flags.now }).pipe(
      Stop.withOptions({ isNormalEnd: true, grace: Duration.infinity }),
    )
  }),
  {
    "prefstream schedule --cron '0 2 * * *' --time-zone Europe/Berlin -- run 'items/*.jsonl' --dir job --once":
      "Each night at two: submit new items, and export the results so far",
  },
)

const check = Effect.fnUntraced(function* (command: ReadonlyArray<string>) {
  const [name = ""] = command
  if (!names.includes(name)) {
    return yield* ExitStatus.usageError(`expected ${joinWords(names, "or")} after --, found ${name}`)
  }
  const commands = yield* Effect.all(schedulable.map((each) => each.for(command)))
  const root = Command.make("prefstream").pipe(Command.withSubcommands(commands))
  const settings = yield* Settings.of(command, root)
  return yield* Command.runWith(root, { version })(command).pipe(
    Effect.as(false),
    Settings.provide(settings),
    Effect.provideService(DryRun, true),
    Effect.catchTags({
      Finished: (end) => (end.status === ExitStatus.done ? Effect.succeed(true) : end),
      ShowHelp: () => new ExitStatus.Finished({ status: ExitStatus.usage }),
    }),
  )
})

const carriedOut = Effect.fnUntraced(
  function* (command: ReadonlyArray<string>) {
    const [, script = ""] = process.argv
    let pid: number | undefined
    const kill = () => killGroup(pid)
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("exit", kill)),
      () => Effect.sync(() => process.off("exit", kill)),
    )
    const run = yield* ChildProcess.make(
      process.execPath,
      [...process.execArgv, script, "--log-format", yield* LogFormat.Current, ...command],
      { stdin: "ignore", stdout: "inherit", stderr: "inherit", detached: true },
    )
    pid = run.pid
    return yield* Effect.match(run.exitCode, {
      onSuccess: (status) => ({ status: Number(status), end: `ended with ${status} (${ExitStatus.meaning(status)})` }),
      onFailure: () => ({ status: ExitStatus.failure, end: "killed by a signal" }),
    })
  },
  Effect.catchTag("PlatformError", (failure) =>
    Effect.succeed({ status: ExitStatus.failure, end: `could not be started (${messageOf(failure)})` }),
  ),
)

const killGroup = (pid: number | undefined): void => {
  if (pid === undefined) return
  // `kill` throws if the run has just ended.
  try {
    process.kill(-pid, "SIGKILL")
  } catch {}
}
