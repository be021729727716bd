/** `prefstream config` prints the settings that a command would use, and where each one is set. */
import { Config, Console, Effect, Option, Predicate } from "effect"
import { Argument, Command } from "effect/cli"
import { makeCommand } from "../flags/Definition.ts"
import { secrets } from "../settings/Secrets.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { text, toggle } from "../flags/Values.ts"
import { usageError } from "../output/ExitStatus.ts"
import { printable } from "../output/Text.ts"
import { schemaOf } from "../settings/Schema.ts"
import * as Settings from "../settings/Settings.ts"

const masked = (text: string): string =>
  text.replace(/(:\/\/[^:@]*):.*@/s, "$1:***@").replace(/([?&]password=)[^&#]*/gi, "$1***")

export const command = makeCommand(
  "config",
  `Show the settings that a command would use, and where each one is set: in the environment, by the job's last run, or in ${Settings.fileName}. The nearest such file in this folder or its parents is read; to read another one, set PREFSTREAM_CONFIG to its path.`,
  {
    command: Argument.String("COMMAND").pipe(
      Argument.withDescription("Command whose settings to show (default: run)"),
      Argument.variadic(),
    ),
    dir: text("dir", "DIR", "Job folder, for commands that reuse its last run's settings", { path: "whole" }),
    schema: toggle("schema", "Print the JSON Schema of prefstream.yaml, for editors", { isTypedOnly: true }),
    json: ledgerFlags.json,
  },
  Effect.fn("prefstream config")(function* ({ command, json, schema }) {
    if (schema) return yield* Console.log(JSON.stringify(schemaOf(yield* Settings.allCommands), undefined, 2))
    const names = command.length === 0 ? ["run"] : command
    const root = Command.make("prefstream").pipe(Command.withSubcommands(yield* (yield* Settings.Commands).load(names)))
    const directory = (yield* Settings.Current).parsed?.given.get("dir")
    const args = directory === undefined || Predicate.isBoolean(directory) ? names : [...names, "--dir", ...directory]
    const { all, parsed } = yield* Settings.of(args, root)
    if (parsed?.command !== names.join(" ")) {
      return yield* usageError(`config: expected a command, found ${names.join(" ")}`)
    }
    const present = yield* Effect.filter([...secrets.values()], (name) =>
      Effect.map(Config.option(Config.String(name)), Option.isSome),
    )
    const shown = all.map(({ values, ...setting }) => ({
      ...setting,
      values: Predicate.isBoolean(values) ? values : values.map(masked),
    }))
    const settings = [...shown, ...present.map((name) => ({ name, values: ["(not shown)"], from: "the environment" }))]
    if (json) return yield* Console.log(JSON.stringify(settings))
    const rows = settings.map(
      ({ from, name, values }) =>
        [
          name,
          (Predicate.isBoolean(values) ? String(values) : values.join(", ")).replaceAll(/\s*\n\s*/g, " "),
          from,
        ] as const,
    )
    const widths = [0, 1].map((column) => Math.min(60, Math.max(0, ...rows.map((row) => row[column]!.length))))
    for (const row of rows) {
      yield* Console.log(printable(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")))
    }
    yield* Console.error(
      `${rows.length === 0 ? "No setting is set. All settings" : "All other settings"} have their default values: see prefstream ${parsed.command} --help-all`,
    )
  }),
  {
    "prefstream config": "Show the settings of prefstream run",
    "prefstream config export --dir week-48":
      "Show the settings of prefstream export, including those from the job's last run",
  },
)
