/**
 * The command line, as a function from arguments to an exit status.
 *
 * Guarantees: data goes to stdout and talk to stderr; an expected failure is one line
 * that says what to do, without a stack; a bug is logged with its stack, on stderr
 * too; the status is that of `ExitStatus`.
 */
import { Cause, Console, Effect, Schema } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import { collectCommand } from "./CollectCommand.ts"
import * as ExitStatus from "./ExitStatus.ts"
import { messageOf } from "./Failure.ts"
import { exportCommand } from "./ExportCommand.ts"
import { ledgerCommand } from "./LedgerCommand.ts"
import { isBusy } from "./JobFlags.ts"
import { resolveCommand } from "./ResolveCommand.ts"
import { inspectCommand } from "./InspectCommand.ts"
import { runCommand } from "./RunCommand.ts"
import { scheduleCommand } from "./ScheduleCommand.ts"
import { serveCommand } from "./ServeCommand.ts"
import { statusCommand } from "./StatusCommand.ts"
import { submitCommand } from "./SubmitCommand.ts"
import * as Talk from "./Talk.ts"
import { verifyCommand } from "./VerifyCommand.ts"
import { validateCommand } from "./ValidateCommand.ts"
import { version } from "../node/Version.ts"

const command = Command.make("prefstream").pipe(
  Command.withDescription(
    "Human preferences for reward models: prompts and candidate completions go to an annotation service, preference pairs come back as Parquet and JSONL.",
  ),
  Command.withSubcommands([
    runCommand,
    submitCommand,
    collectCommand,
    exportCommand,
    statusCommand,
    inspectCommand,
    validateCommand,
    verifyCommand,
    resolveCommand,
    ledgerCommand,
    scheduleCommand,
    serveCommand,
  ]),
)

/** A wrong command line is told in a line each, without the whole help before it. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.andThen(
          Effect.forEach(event.errors, ({ message }) => Talk.say(message.replace(/\n\s*/g, " ")), { discard: true }),
          Console.error(`See ${event.commandPath.join(" ")} --help.`),
        )
      : CliOutput.defaultPresenter.present(event),
}

/** Without the shell completions' flag, which would take `--completions` from the join. */
const config = CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.LogLevel] })

const isFinished = Schema.is(ExitStatus.Finished)

/** What is mended on the command line, and not in the files. */
const isSetting = (reason: string): boolean => reason === "LayoutUnknown" || reason === "InvalidOption"

/** The status for a failure, after it was said. */
const statusOf = Effect.fnUntraced(function* (failure: unknown) {
  if (isFinished(failure)) return failure.status
  yield* Talk.say(messageOf(failure))
  return isBusy(failure) ? ExitStatus.busy : ExitStatus.failure
})

export const main = (args: ReadonlyArray<string>) =>
  Command.runWith(command, { version })(args).pipe(
    Effect.as(ExitStatus.done),
    Effect.catchTags({
      ShowHelp: ({ errors }) => Effect.succeed(errors.length === 0 ? ExitStatus.done : ExitStatus.usage),
      UsageError: ({ message }) => Effect.as(Talk.say(message), ExitStatus.usage),
      TermsChanged: ({ message }) => Effect.as(Talk.say(message), ExitStatus.usage),
      NoSuchCampaign: ({ message }) => Effect.as(Talk.say(message), ExitStatus.usage),
      DatasetSettingsInvalid: ({ message }) => Effect.as(Talk.say(message), ExitStatus.usage),
      SplitsInvalid: ({ message }) => Effect.as(Talk.say(message), ExitStatus.usage),
      SourceError: ({ message, reason }) =>
        Effect.as(Talk.say(message), isSetting(reason._tag) ? ExitStatus.usage : ExitStatus.failure),
      TooManyRejects: ({ message }) => Effect.as(Talk.say(message), ExitStatus.rejects),
    }),
    Effect.catch(statusOf),
    Effect.catchDefect((defect) => Effect.as(Effect.logError(Cause.die(defect)), ExitStatus.failure)),
    Effect.provide(Talk.layer),
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.provideService(CliConfig.CliConfig, config),
  )
