/** `prefstream init` overwrites no file. If it can read no item, it writes nothing. */
import { Console, Effect, FileSystem, Option, Path, Predicate, Schema, Stdio } from "effect"
import { Prompt } from "effect/cli"
import * as Inspection from "../../pipeline/Inspection.ts"
import { count } from "../../io/Values.ts"
import { makeCommand } from "../flags/Definition.ts"
import { datasetFlags } from "../flags/DatasetFlags.ts"
import { inputFlags, printDetected, sourceOf } from "../flags/InputFlags.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { check } from "../flags/FlagCombinations.ts"
import { fromEnvironment, serviceFlags } from "../flags/ServiceFlags.ts"
import { itemFlags, parseVotes, votesForm } from "../flags/TaskFlags.ts"
import { usageError } from "../output/ExitStatus.ts"
import { say } from "../output/Text.ts"
import * as Settings from "../settings/Settings.ts"
import * as SettingsFile from "../settings/SettingsFile.ts"
import { counts } from "../output/DryRunSummary.ts"

const environmentFile = ".env.example"

const suggestions: { readonly [name: string]: readonly [value: string, meaning: string] } = {
  dir: ["prefstream-job", "job folder with ledger, rejects, and dataset"],
  "guidelines-file": ["guidelines.md", "instructions for the experts"],
  votes: ["3", "votes per item, by different experts; each vote is billable"],
  "base-url": ["https://host/v1", "address of the annotation service (or set PREFSTREAM_BASE_URL)"],
  threshold: ["{ disagreement: 0.3 }", "fail instead of writing a dataset that exceeds a threshold"],
  split: ["{ test: 0.1 }", "share of items in a split; the rest go to train"],
  format: ["[trl]", "trainer formats to write, in addition to Parquet and JSON Lines"],
}

const environment = `# Copy to .env, fill in, and load it: set -a; . ./.env; set +a
# PREFSTREAM_BASE_URL=https://host/v1
PREFSTREAM_TOKEN=
# Secret of the webhooks that run --listen and collect --listen receive
PREFSTREAM_WEBHOOK_SECRET=
`

const schemaComment = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = "dist/prefstream.schema.json"
  for (let folder = path.resolve(); ; folder = path.dirname(folder)) {
    for (const schema of [path.join(folder, "node_modules/prefstream", file), path.join(folder, file)]) {
      if (yield* fs.exists(schema)) return [`# yaml-language-server: $schema=${path.relative("", schema)}`]
    }
    if (path.dirname(folder) === folder) return []
  }
})

export const command = makeCommand(
  "init",
  "Inspect input files, and write the given flags to prefstream.yaml. Also write .env.example. Without FILE, prompt for the files and main settings.",
  { ...inputFlags, ...itemFlags, baseUrl: serviceFlags.baseUrl, ...datasetFlags, dir: ledgerFlags.dir },
  Effect.fn("prefstream init")(function* (commandFlags) {
    const fs = yield* FileSystem.FileSystem
    if (yield* fs.exists(Settings.fileName)) {
      return yield* usageError(`${Settings.fileName} already exists: edit it, or remove it first`)
    }
    const isAsked = commandFlags.files.length === 0 && (yield* (yield* Stdio.Stdio).stdinIsTerminal)
    const answers = isAsked ? yield* ask : []
    const flags = { ...commandFlags, files: answers.find(({ name }) => name === "files")?.values ?? commandFlags.files }
    yield* check(flags)
    if (flags.files.includes("-"))
      return yield* usageError("-: expected file names instead of stdin, because later runs read the files again")
    const source = yield* sourceOf(flags)
    yield* printDetected(source)
    const inspection = yield* Inspection.inspect(source, { show: 0 })
    if (inspection.items === 0) {
      return yield* usageError(
        `no item can be read (${counts(inspection)}): run prefstream inspect to see why, and set --layout and the --…-path flags`,
      )
    }
    const { parsed } = yield* Settings.Current
    const settings = [
      { name: "files", values: flags.files },
      ...[...(parsed?.given ?? [])].map(([name, values]) => ({ name, values })),
      ...answers.filter(({ name }) => name !== "files"),
    ]
    const valueOf = (name: string) => {
      const values = settings.find((setting) => setting.name === name)?.values
      return Predicate.isBoolean(values) ? undefined : values?.[0]
    }
    const missing = Object.entries(suggestions).filter(([name]) => !settings.some((setting) => setting.name === name))
    yield* fs.writeFileString(
      Settings.fileName,
      [
        "# Settings of prefstream. Each name is a flag without the leading --. To see the effective settings, run prefstream config.",
        ...(yield* schemaComment),
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
    const isAddressed = yield* fromEnvironment({ baseUrl: valueOf("base-url") }).pipe(
      Effect.map(({ baseUrl }) => baseUrl !== undefined),
      Effect.orElseSucceed(() => false),
    )
    const next =
      isAddressed || ["1", undefined].includes(valueOf("votes"))
        ? "start a job with prefstream run"
        : "set PREFSTREAM_BASE_URL to the address of a service where several people vote"
    yield* say(`settings written; ${next}. To check what a job needs, run prefstream doctor`, "info")
  }),
  {
    "prefstream init items.jsonl": "One file",
    "prefstream init question.jsonl --completions 'answers/*.jsonl' --key question_id --dir arena --votes 3":
      "One file of completions per model, and some settings",
  },
)

const isUrl = Schema.is(Schema.String.check(Schema.isPattern(/^(https?:\/\/\S+)?$/)))
const isVotes = (text: string) => text === "" || Option.isSome(parseVotes(text))

const wordsOf = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/"([^"]+)"|'([^']+)'|(\S+)/g), ([, double, single, bare]) => double ?? single ?? bare ?? "")

const ask = Effect.gen(function* () {
  const prompt = (message: string, isValid: (text: string) => boolean, expected: string) =>
    Prompt.run(
      Prompt.String({
        message,
        validate: (text) => (isValid(text.trim()) ? Effect.succeed(text.trim()) : Effect.fail(expected)),
      }),
    )
  const files = yield* prompt(
    "Input files (a pattern, or names separated by spaces; quote a name that contains spaces)",
    (text) => text !== "",
    "Expected a file name",
  )
  const address = "Address of the annotation service (empty: start a trial service on this machine)"
  const baseUrl = yield* prompt(address, isUrl, "Expected http://… or https://…")
  const votes = baseUrl === "" ? "" : yield* prompt("Votes per item (empty: 1)", isVotes, `Expected ${votesForm}`)
  return [
    { name: "files", values: wordsOf(files) },
    ...(baseUrl === "" ? [] : [{ name: "base-url", values: [baseUrl] }]),
    ...(votes === "" ? [] : [{ name: "votes", values: [votes] }]),
  ]
}).pipe(Effect.catchTag("QuitError", () => usageError("init: nothing was written")))
