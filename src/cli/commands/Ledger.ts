/** `prefstream ledger` has a subcommand for each kind of ledger maintenance. */
import { Clock, Console, DateTime, Duration, Effect, FileSystem, Option, Path, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import * as LedgerMaintenance from "../../task/ledger/care/LedgerMaintenance.ts"
import type { CheckReport } from "../../task/ledger/care/LedgerCheck.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import { count } from "../../io/Values.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { makeCommand } from "../flags/Definition.ts"
import { ledgerFlags, noSuchLedger, placeOf } from "../flags/LedgerFlags.ts"
import { endOfDryRun } from "../flags/PipelineFile.ts"
import { check } from "../flags/FlagCombinations.ts"
import { option, parsed, parseDuration, toggle } from "../flags/Values.ts"
import { present, printable, size } from "../output/Text.ts"

const isMissing = Schema.is(LedgerLocation.LedgerMissing)
const isNotForPostgres = Schema.is(LedgerMaintenance.NotForPostgres)

const usage = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ExitStatus.UsageError, R> =>
  Effect.mapError(effect, (failure) => {
    if (isMissing(failure)) return noSuchLedger(failure)
    return isNotForPostgres(failure) ? ExitStatus.usageError(failure.message) : failure
  })

const print = (json: boolean | undefined, report: object, text: string) =>
  Console.log(json ? JSON.stringify(report) : printable(text))

const pruned = ({ items, tasks }: CheckReport["pruned"]): string =>
  tasks === 0 ? "" : `; ${count(tasks, "result")} of ${count(items, "item")} pruned`

const checkCommand = makeCommand(
  "check",
  "Check the integrity of a ledger. Finds damaged pages, items in no task or in two tasks, results that are missing or do not match their tasks, and inconsistent counts. " +
    "Changes nothing, and can run while a job uses the ledger. Exits with 1 if there are errors.",
  {
    quick: toggle("quick", "Do not check requests and results; these checks take most of the time", {
      isTypedOnly: true,
    }),
    ...ledgerFlags,
  },
  Effect.fn("prefstream ledger check")(function* (flags) {
    const { location } = yield* placeOf(flags)
    yield* endOfDryRun()
    const report = yield* LedgerMaintenance.check(location, { quick: flags.quick }).pipe(usage)
    const { findings, items, results, seconds, tasks } = report
    const place = LedgerLocation.describe(location)
    const text =
      findings.length === 0
        ? `${place} has no integrity errors: ${count(items, "item")} in ${count(tasks, "task")}, ${count(results, "result")}${pruned(report.pruned)} (${seconds.toFixed(1)} s).`
        : [
            `${place} has integrity errors:`,
            ...findings.map(({ code, message }) => `  ${code}: ${message}`),
            "Restore a backup, or build a new ledger from the SQL that `sqlite3 ledger.db .recover` prints. If a task is missing from the restored ledger, the next run sends the task again. A service that ignores Idempotency-Key bills this task again.",
          ].join("\n")
    yield* print(flags.json, report, text)
    if (findings.length > 0) return yield* new ExitStatus.Finished({ status: ExitStatus.failure })
  }),
).pipe(Command.withShortDescription("Check the integrity of the ledger"))

/** If `name` is an existing folder, each backup gets a file in it, named after the time. */
const backupFile = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const info = yield* Effect.option(fs.stat(name))
  if (!Option.exists(info, ({ type }) => type === "Directory")) return name
  const time = DateTime.formatIso(yield* DateTime.now).replace(/[-:]|\.\d+/g, "")
  return path.join(name, `ledger-${time}.db`)
})

const backupCommand = makeCommand(
  "backup",
  "Write a consistent copy of the ledger to a new file, and check the copy. Can run while a job uses the ledger.",
  {
    file: Argument.String("FILE").pipe(
      Argument.withDescription(
        "New file for the copy, or an existing folder in which to create the file ledger-TIME.db",
      ),
    ),
    ...ledgerFlags,
  },
  Effect.fn("prefstream ledger backup")(function* (flags) {
    const { location } = yield* placeOf(flags)
    yield* endOfDryRun()
    const report = yield* LedgerMaintenance.backup(location, yield* backupFile(flags.file)).pipe(usage)
    const { bytes, items, path, results, tasks } = report
    yield* print(
      flags.json,
      report,
      `${path}: ${count(items, "item")} in ${count(tasks, "task")}, ${count(results, "result")} (${size(bytes)}), checked.`,
    )
  }),
  {
    "prefstream ledger backup --dir week-48 week-48.backup.db": "Copy week-48/ledger.db",
    "prefstream schedule --cron @daily -- ledger backup --dir week-48 backups":
      "Each night: copy to a new file in the folder backups",
  },
).pipe(Command.withShortDescription("Copy the ledger to a file"))

const compactCommand = makeCommand(
  "compact",
  "Compress requests and results, and free unused space, such as the space of pruned data. Needs free disk space of up to twice the ledger's size. Stop the job first.",
  ledgerFlags,
  Effect.fn("prefstream ledger compact")(function* (flags) {
    const { location } = yield* placeOf(flags)
    yield* endOfDryRun()
    const report = yield* LedgerMaintenance.compact(location).pipe(usage)
    yield* print(
      flags.json,
      report,
      `${LedgerLocation.describe(location)}: ${size(report.before)} before, ${size(report.after)} now.`,
    )
  }),
).pipe(Command.withShortDescription("Compress the ledger, and free unused space"))

const before = option(
  parsed(
    "before",
    (text): Option.Option<(now: number) => number> => {
      const age = parseDuration(text)
      if (Option.isSome(age)) return Option.some((now) => now - Duration.toMillis(age.value))
      const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN
      return Number.isNaN(time) ? Option.none() : Option.some(() => time)
    },
    "a date such as 2026-01-31, a time such as 2026-01-31T12:00Z, or an age such as 90d",
  ),
  "TIME",
  "Minimum age of the data to remove: a date such as 2026-01-31 (UTC), or an age such as 90d",
  { isTypedOnly: true },
)

const pruneCommand = makeCommand(
  "prune",
  "Remove data that later runs do not need: rejects of earlier runs, and processed webhook deliveries. With --results, also remove requests and results of old tasks. " +
    "The ledger keeps a record of the items in these tasks, so later runs do not submit these items again. Stop the job first.",
  {
    before,
    results: toggle(
      "results",
      "Also remove requests and results of completed tasks; later datasets omit these results",
      {
        isTypedOnly: true,
      },
    ),
    dryRun: toggle("dry-run", "Print what would be removed, and change nothing", { isTypedOnly: true }),
    ...ledgerFlags,
  },
  Effect.fn("prefstream ledger prune")(function* (flags) {
    yield* check(flags)
    const { location } = yield* placeOf(flags)
    const now = yield* Clock.currentTimeMillis
    const time = flags.before?.(now)
    if (time !== undefined && time > now) return yield* ExitStatus.usageError("--before: expected a time in the past")
    yield* endOfDryRun()
    const report = yield* LedgerMaintenance.prune(location, {
      before: time,
      results: flags.results,
      dryRun: flags.dryRun,
    }).pipe(usage)
    const { deliveries, rejects, results } = report
    const what = present([
      `${count(rejects, "reject")} of earlier runs`,
      count(deliveries, "webhook delivery", "webhook deliveries"),
      (flags.results ?? false) &&
        `the requests and results of ${count(results.tasks, "task")} (${count(results.items, "item")})`,
    ]).join(", ")
    const gone = rejects + deliveries + results.tasks > 0
    yield* print(
      flags.json,
      report,
      flags.dryRun
        ? `Would remove ${what}.`
        : `Removed ${what}.${gone && location._tag === "File" ? "\nThe file keeps its size and reuses the space; to shrink the file, run prefstream ledger compact." : ""}`,
    )
  }),
  {
    "prefstream ledger prune --dir job --before 90d --dry-run":
      "Show which data would be removed because it is older than 90 days",
    "prefstream ledger prune --dir job --before 2026-01-01 --results":
      "Remove requests and results from before 2026. Later exports lack these results, so copy the dataset first",
  },
).pipe(Command.withShortDescription("Remove old rejects, webhook deliveries, requests, and results"))

export const command = Command.make("ledger").pipe(
  Command.withDescription("Check, back up, compact, or prune the ledger of a job."),
  Command.withSubcommands([checkCommand, backupCommand, compactCommand, pruneCommand]),
)
