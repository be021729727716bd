/**
 * `prefstream init`: inspects input files, and writes the settings of a run to `prefstream.yaml` and the names of the
 * environment variables to `.env.example`.
 *
 * Guarantees: overwrites no file; writes nothing if no item can be read.
 */
import { Console, Effect, FileSystem, Schema, Stdio } from "effect"
import { Command, Prompt } from "effect/cli"
import * as Inspection from "../../pipeline/Inspection.ts"
import { datasetFlags } from "../flags/DatasetFlags.ts"
import { inputFlags, printDetected, sourceOf } from "../flags/InputFlags.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { check } from "../flags/Rules.ts"
import { serviceFlags } from "../flags/ServiceFlags.ts"
import { itemFlags } from "../flags/TaskFlags.ts"
import { UsageError } from "../output/ExitStatus.ts"
import { count, say } from "../output/Text.ts"
import * as Settings from "../settings/Settings.ts"
import * as SettingsFile from "../settings/SettingsFile.ts"
import { counts } from "../output/PreviewSummary.ts"

const environmentFile = ".env.example"

/** What most jobs need sooner or later, as comments for those that were not given. */
const suggestions: { readonly [name: string]: readonly [value: string, meaning: string] } = {
  dir: ["prefstream-job", "job folder with ledger, rejects and dataset"],
  "guidelines-file": ["guidelines.md", "instructions for the experts"],
  votes: ["3", "tasks for each item, for different experts"],
  "base-url": ["https://host/v1", "annotation service; or PREFSTREAM_BASE_URL"],
  threshold: ["{ disagreement: 0.3 }", "fail rather than write a dataset that is worse"],
  split: ["{ test: 0.1 }", "share of the items in a split; the rest is train"],
  format: ["[trl]", "files that a trainer reads, in addition to Parquet and JSON Lines"],
}

const environment = `# Copy to .env, fill in, and load it: set -a; . ./.env; set +a
PREFSTREAM_BASE_URL=
PREFSTREAM_TOKEN=
# Of the webhooks that run --listen and collect --listen receive
PREFSTREAM_WEBHOOK_SECRET=
`

export const initCommand = Command.make(
  "init",
  {
    ...inputFlags,
    ...itemFlags,
    baseUrl: serviceFlags.baseUrl,
    ...datasetFlags,
    dir: ledgerFlags.dir,
  },
  Effect.fn("prefstream init")(function* (given) {
    const fs = yield* FileSystem.FileSystem
    if (yield* fs.exists(Settings.fileName)) {
      return yield* new UsageError({ message: `${Settings.fileName} already exists: edit it, or remove it first` })
    }
    const isAsked = given.files.length === 0 && (yield* (yield* Stdio.Stdio).stdinIsTerminal)
    const asked = isAsked ? yield* ask : []
    const flags = { ...given, files: asked.find(({ name }) => name === "files")?.values ?? given.files }
    yield* check(flags)
    const source = yield* sourceOf(flags)
    yield* printDetected(source)
    const inspection = yield* Inspection.inspect(source, { show: 0 })
    if (inspection.items === 0) {
      return yield* new UsageError({
        message: `no item can be read (${counts(inspection)}): run prefstream inspect to see why, and set --layout and the --…-path flags`,
      })
    }
    const { parsed } = yield* Settings.Current
    const settings = [
      { name: "files", values: flags.files },
      ...[...(parsed?.given ?? [])].map(([name, values]) => ({ name, values })),
      ...asked.filter(({ name }) => name !== "files"),
    ]
    const missing = Object.entries(suggestions).filter(([name]) => !settings.some((setting) => setting.name === name))
    yield* fs.writeFileString(
      Settings.fileName,
      [
        "# Settings of prefstream: flags without their dashes. prefstream config shows the effective ones.",
        "# yaml-language-server: $schema=node_modules/prefstream/src/cli/settings/prefstream.schema.json",
        SettingsFile.text(settings).trimEnd(),
        "",
        ...missing.map(([name, [value, meaning]]) => `${`# ${name}: ${value}`.padEnd(36)}# ${meaning}`),
        "",
      ].join("\n"),
    )
    const isNew = !(yield* fs.exists(environmentFile))
    if (isNew) yield* fs.writeFileString(environmentFile, environment)
    yield* Console.error(`${count(inspection.read, "record")}: ${counts(inspection)}`)
    yield* Console.log([Settings.fileName, ...(isNew ? [environmentFile] : [])].join("\n"))
    yield* say("written; try it with prefstream run, or check what it needs with prefstream doctor", "info")
  }),
).pipe(
  Command.withDescription(
    "Inspect input files, and write prefstream.yaml with the given flags, and .env.example. Without FILE, prompt for what is needed.",
  ),
  Command.withExamples([
    { command: "prefstream init items.jsonl", description: "One file" },
    {
      command: "prefstream init question.jsonl --completions 'answers/*.jsonl' --key question_id --dir arena --votes 3",
      description: "A file of completions for each model, and some settings",
    },
  ]),
)

const isUrl = Schema.is(Schema.String.check(Schema.isPattern(/^(https?:\/\/\S+)?$/)))
const isVotes = Schema.is(Schema.String.check(Schema.isPattern(/^([1-9]\d?)?$/)))

const valid = (isValid: (text: string) => boolean, expected: string) => (text: string) =>
  isValid(text.trim()) ? Effect.succeed(text.trim()) : Effect.fail(expected)

/** What cannot be detected from the files. */
const ask = Effect.gen(function* () {
  const files = yield* Prompt.run(
    Prompt.String({
      message: "Files of items (a pattern, or several names with spaces between them)",
      validate: valid((text) => text !== "", "Name a file"),
    }),
  )
  const baseUrl = yield* Prompt.run(
    Prompt.String({
      message: "Address of the annotation service (empty: one on this machine, to try things out)",
      validate: valid(isUrl, "Expected http://… or https://…"),
    }),
  )
  const votes =
    baseUrl === ""
      ? ""
      : yield* Prompt.run(
          Prompt.String({ message: "Votes for each item (empty: 1)", validate: valid(isVotes, "Expected 1 to 99") }),
        )
  return [
    { name: "files", values: files.split(/\s+/) },
    ...(baseUrl === "" ? [] : [{ name: "base-url", values: [baseUrl] }]),
    ...(votes === "" ? [] : [{ name: "votes", values: [votes] }]),
  ]
}).pipe(Effect.catchTag("QuitError", () => new UsageError({ message: "init: nothing was written" })))
