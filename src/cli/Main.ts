/** Runs a command line and returns its `ExitStatus`. Data goes to stdout, messages go to stderr. */
import { Cause, Config, Console, Effect, Layer, Option, Struct } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import { commandNames, commandsFor } from "./Commands.ts"
import { secrets } from "./settings/Secrets.ts"
import * as ExitStatus from "./output/ExitStatus.ts"
import * as Help from "./flags/Help.ts"
import * as Flags from "./output/Flags.ts"
import * as LogFormat from "./output/LogFormat.ts"
import * as Log from "./output/Log.ts"
import { columns } from "./output/Stdout.ts"
import { inOneLine, say } from "./output/Text.ts"
import * as Settings from "./settings/Settings.ts"
import * as OptionText from "../io/OptionText.ts"
import { version } from "../node/Version.ts"

const commandFor = (args: ReadonlyArray<string>) =>
  Effect.map(commandsFor(args), (commands) =>
    Command.make("prefstream").pipe(
      Command.withDescription(
        "Turn prompts and candidate completions into preference pairs for reward models. Experts judge the completions at an annotation service; prefstream writes the pairs as Parquet and JSONL.",
      ),
      Command.withSubcommands(commands),
    ),
  )

const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.andThen(
          Effect.flatMap(Settings.Current, (settings) =>
            Effect.forEach(event.errors, ({ message }) => say(Settings.withSources(inOneLine(message), settings)), {
              discard: true,
            }),
          ),
          Console.error(`See ${event.commandPath.join(" ")} --help.`),
        )
      : CliOutput.defaultPresenter.present(event),
}

const config = CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.LogLevel] })

const words = (args: ReadonlyArray<string>) => {
  const all = LogFormat.split(args).rest
  const [first, ...rest] = all
  const isKnown = rest[0] === undefined || rest[0].startsWith("-") || rest[0] === "help" || commandNames.has(rest[0])
  const rewritten =
    first === "help" ? [...rest, ...(isKnown ? ["--help"] : [])] : first === "version" ? ["--version", ...rest] : all
  const end = rewritten.indexOf("--")
  const place = rewritten.indexOf("--help-all")
  const isAll = place !== -1 && (end === -1 || place < end)
  return { args: isAll ? rewritten.with(place, "--help") : rewritten, isAll }
}

const formatter = (isAll: boolean): CliOutput.Formatter => ({
  ...Struct.omit(CliOutput.defaultFormatter(), ["formatHelpDoc"]),
  formatHelpDoc: (doc) => Help.text(doc, { columns: columns(), isAll }),
})

const refuseSecrets = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  for (const [flag, variable] of secrets) {
    if (args.some((word) => word === flag || word.startsWith(`${flag}=`))) {
      return yield* ExitStatus.usageError(
        `${flag}: all users of this machine can read a secret on the command line; set ${variable} instead`,
      )
    }
  }
})

const checkThreads = Effect.gen(function* () {
  const value = yield* Config.withDefault(Config.String("PREFSTREAM_THREADS"), "")
  if (!["", "0", "1"].includes(value)) {
    return yield* ExitStatus.usageError(`PREFSTREAM_THREADS: expected 0 or 1, found ${JSON.stringify(value)}`)
  }
})

const isSetting = (reason: string): boolean => reason === "LayoutUnknown" || reason === "InvalidOption"

const wrongUsage = ({ message }: { readonly message: string }) => Effect.as(say(message), ExitStatus.usage)

const statusOf = Effect.fnUntraced(function* (failure: unknown) {
  const { isBusy, messageOf } = yield* Effect.promise(() => import("./output/Failure.ts"))
  yield* say(messageOf(failure))
  return isBusy(failure) ? ExitStatus.busy : ExitStatus.failure
})

const carriedOut = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  yield* refuseSecrets(args)
  yield* checkThreads
  const command = yield* commandFor(args)
  const settings = yield* Settings.of(args, command)
  return yield* Command.runWith(command, { version })(args).pipe(
    Effect.catchTag("UsageError", ({ message }) =>
      Effect.fail(ExitStatus.usageError(Settings.withSources(message, settings))),
    ),
    Settings.provide(settings),
  )
})

const exportingCommands = ["run", "submit", "collect", "export", "worker", "serve"]

const collectors = ["", "TRACES_", "METRICS_", "LOGS_"].map((signal) =>
  Config.option(Config.String(`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`)),
)

const telemetry = (args: ReadonlyArray<string>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      if (!args.some((arg) => exportingCommands.includes(arg))) return Layer.empty
      if (!(yield* Effect.all(collectors)).some(Option.isSome)) return Layer.empty
      return (yield* Effect.promise(() => import("../telemetry/Otlp.ts"))).layer
    }),
  )

export const main = (commandLine: ReadonlyArray<string>) => {
  const { args, isAll } = words(commandLine)
  return carriedOut(args).pipe(
    Effect.as(ExitStatus.done),
    Effect.catchTags({
      Finished: ({ status }) => Effect.succeed(status),
      ShowHelp: ({ errors }) => Effect.succeed(errors.length === 0 ? ExitStatus.done : ExitStatus.usage),
      UsageError: wrongUsage,
      TermsChanged: wrongUsage,
      PriceMissing: wrongUsage,
      VotersNotTaken: wrongUsage,
      NoSuchCampaign: wrongUsage,
      SettingInvalid: ({ message, setting }) =>
        wrongUsage({ message: message.replace(setting, Flags.flagOf(setting)) }),
      SplitsInvalid: wrongUsage,
      InvalidWebhookSetting: wrongUsage,
      MalformedSecret: wrongUsage,
      SourceError: ({ message, reason }) =>
        Effect.as(say(message), isSetting(reason._tag) ? ExitStatus.usage : ExitStatus.failure),
      TooManyRejects: ({ message }) => Effect.as(say(message), ExitStatus.rejects),
    }),
    Effect.catch(statusOf),
    Effect.catchDefect((defect) => Effect.as(Effect.logError(Cause.die(defect)), ExitStatus.failure)),
    Effect.provide(telemetry(args)),
    Effect.catchTag(["OtlpSettingInvalid", "ConfigError"], wrongUsage),
    Effect.provide(Log.layer),
    Effect.provideService(OptionText.Wording, Flags.inFlags),
    Effect.provideService(Settings.Commands, { names: commandNames, load: commandsFor }),
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.provideService(CliConfig.CliConfig, config),
    Effect.provide(CliOutput.layer(formatter(isAll))),
  )
}
