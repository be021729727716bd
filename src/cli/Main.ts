/**
 * The command line, as a function from arguments to an exit status.
 *
 * Guarantees: data goes to stdout, messages to stderr; an expected failure is one line
 * that says what to do, without a stack; a bug is logged with its stack, on stderr
 * too; the status is that of `ExitStatus`.
 */
import { Cause, Console, Effect, Schema } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import { commandsFor } from "./Commands.ts"
import * as ExitStatus from "./output/ExitStatus.ts"
import * as Log from "./output/Log.ts"
import { say } from "./output/Text.ts"
import * as Telemetry from "./Telemetry.ts"
import { version } from "../node/Version.ts"

const commandFor = (args: ReadonlyArray<string>) =>
  Effect.map(commandsFor(args), (commands) =>
    Command.make("prefstream").pipe(
      Command.withDescription(
        "Turn prompts and candidate completions into preference pairs for reward models: an annotation service judges them, and the pairs are written as Parquet and JSONL.",
      ),
      Command.withSubcommands(commands),
    ),
  )

const inOneLine = (message: string) =>
  message
    .replace(/\n\s*/g, " ")
    .replace("Expected: Schema validation failed: Expected a", "Expected: a")
    .replace(/Expected: Path does not exist: .*/, "There is no such file or folder")

/** Prints each error of the command line on one line, without the full help. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.andThen(
          Effect.forEach(event.errors, ({ message }) => say(inOneLine(message)), { discard: true }),
          Console.error(`See ${event.commandPath.join(" ")} --help.`),
        )
      : CliOutput.defaultPresenter.present(event),
}

/** Without the shell completions' flag, which would take `--completions` from the join. */
const config = CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.LogLevel] })

const isFinished = Schema.is(ExitStatus.Finished)

/** Errors to correct on the command line, not in the files. */
const isSetting = (reason: string): boolean => reason === "LayoutUnknown" || reason === "InvalidOption"

const wrongUsage = ({ message }: { readonly message: string }) => Effect.as(say(message), ExitStatus.usage)

/** Prints a failure and gives its status. */
const statusOf = Effect.fnUntraced(function* (failure: unknown) {
  if (isFinished(failure)) return failure.status
  const { isBusy, messageOf } = yield* Effect.promise(() => import("./output/Failure.ts"))
  yield* say(messageOf(failure))
  return isBusy(failure) ? ExitStatus.busy : ExitStatus.failure
})

export const main = (args: ReadonlyArray<string>) =>
  Effect.flatMap(commandFor(args), (command) => Command.runWith(command, { version })(args)).pipe(
    Effect.as(ExitStatus.done),
    Effect.catchTags({
      ShowHelp: ({ errors }) => Effect.succeed(errors.length === 0 ? ExitStatus.done : ExitStatus.usage),
      UsageError: wrongUsage,
      TermsChanged: wrongUsage,
      NoSuchCampaign: wrongUsage,
      DatasetSettingsInvalid: wrongUsage,
      SplitsInvalid: wrongUsage,
      UnknownScheme: wrongUsage,
      MalformedSecret: wrongUsage,
      MalformedTolerance: wrongUsage,
      SourceError: ({ message, reason }) =>
        Effect.as(say(message), isSetting(reason._tag) ? ExitStatus.usage : ExitStatus.failure),
      TooManyRejects: ({ message }) => Effect.as(say(message), ExitStatus.rejects),
    }),
    Effect.catch(statusOf),
    Effect.catchDefect((defect) => Effect.as(Effect.logError(Cause.die(defect)), ExitStatus.failure)),
    Effect.provide(Telemetry.layer(args)),
    Effect.catchTag(["OtlpSettingInvalid", "ConfigError"], wrongUsage),
    Effect.provide(Log.layer),
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.provideService(CliConfig.CliConfig, config),
  )
