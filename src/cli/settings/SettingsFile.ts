/**
 * Reads a file of settings: `prefstream.yaml`, or what the last run left in its job folder. Its keys are the flags
 * without their dashes, and `files` the arguments; under the name of a command are settings of that command alone.
 *
 * ```yaml
 * files: items/*.jsonl
 * dir: week-48
 * votes: 3
 * threshold: { position-bias: 0.6 }
 * serve: { port: 8484 }
 * ```
 *
 * Guarantees: a relative path means the file's own folder; secrets are refused; an error names file, line, key and what
 * was expected. Values are checked by their flags, as if they were typed.
 */
import { Effect, FileSystem, Path, Predicate } from "effect"
import { isMap, isScalar, isSeq, LineCounter, type Pair, parseDocument, type ParsedNode, stringify } from "yaml"
import * as Sync from "../../node/Sync.ts"
import { groups } from "../flags/Groups.ts"
import { hasPassword } from "../flags/LedgerFlags.ts"
import { UsageError } from "../output/ExitStatus.ts"

/** Values as they are typed on a command line; a flag without a value is true or false. */
export interface Setting {
  readonly name: string
  readonly values: ReadonlyArray<string> | boolean
  /** `prefstream.yaml:3`, or the name of a variable. */
  readonly from: string
}

/** Flags whose values are paths. */
export const paths: ReadonlySet<string> = new Set([
  "completions", "database", "dir", "evaluation-prompts", "files", "gold", "guidelines-file", "judge-template", "ledger",
  "prefstream.yaml", "rubric",
]) // prettier-ignore

const isPath = (name: string, value: string): boolean =>
  (paths.has(name) && value !== "-" && !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) ||
  (name === "expert" && value.startsWith("gold:"))

/** The same file as the path names in its own folder, for this process's folder. */
const located = (name: string, value: string, move: (path: string) => string): string =>
  !isPath(name, value) ? value : name === "expert" ? `gold:${move(value.slice(5))}` : move(value)

/** Paths as another folder would name them. */
const movedTo = (path: Path.Path, from: string, to: string) => (value: string) =>
  path.isAbsolute(value) ? value : shown(path, path.join(from, value), to)

/** The path from a folder, or the whole one if that is shorter. */
const shown = (path: Path.Path, file: string, from: string): string => {
  const relative = path.relative(from, file) || "."
  return relative.length < file.length ? relative : file
}

const moved = (setting: Setting, move: (path: string) => string): Setting => ({
  ...setting,
  values: Predicate.isBoolean(setting.values)
    ? setting.values
    : setting.values.map((value) => located(setting.name, value, move)),
})

/** Flags that may be written as a map: each of its members is a value `NAME=VALUE`, or all of it is one, as JSON. */
const maps = new Map<string, "members" | "json">([
  ["judge-body", "json"],
  ["price", "members"],
  ["split", "members"],
  ["threshold", "members"],
])

const secrets = new Map([
  ["token", "PREFSTREAM_TOKEN"],
  ["webhook-secret", "PREFSTREAM_WEBHOOK_SECRET"],
  ["judge-api-key", "PREFSTREAM_JUDGE_API_KEY"],
])

/** What `serve` takes from its own section alone: elsewhere it is said of runs, and would multiply votes or replace people. */
const ofRuns = new Set(["votes", "gold", ...(groups["EXPERTS"] ?? [])])

const textOf = (node: unknown): string | undefined => {
  if (!isScalar(node) || node.value === null) return undefined
  // A number as it was written: 0.10, 1e6.
  return Predicate.isString(node.value) ? node.value : (node.source ?? JSON.stringify(node.value))
}

const valuesOf = (name: string, node: ParsedNode | null): Setting["values"] | undefined => {
  if (isScalar(node) && Predicate.isBoolean(node.value)) return node.value
  const form = maps.get(name)
  if (isMap(node) && form === "json") return [JSON.stringify(node.toJSON())]
  const texts =
    isMap(node) && form === "members"
      ? node.items.map(({ key, value }) => {
          const [name, text] = [textOf(key), textOf(value)]
          return name === undefined || text === undefined ? undefined : `${name}=${text}`
        })
      : (isSeq(node) ? node.items : [node]).map(textOf)
  return texts.every(Predicate.isNotUndefined) ? texts : undefined
}

/** Settings for all commands, and those for one of them, which come first. */
export interface SettingsFile {
  readonly of: (command: string) => ReadonlyArray<Setting>
  readonly all: ReadonlyArray<Setting>
}

export const read = Effect.fn("SettingsFile.read")(function* (file: string, commands: ReadonlySet<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const text = yield* fs.readFileString(file)
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const name = shown(path, path.resolve(file), path.resolve())
  const at = (offset: number) => `${name}:${lines.linePos(offset).line}`
  const refuse = (offset: number, problem: string) => new UsageError({ message: `${at(offset)}: ${problem}` })

  const [error] = document.errors
  if (error !== undefined) return yield* refuse(error.pos[0], `invalid YAML: ${error.message.replace(/\s+/g, " ")}`)
  const root = document.contents
  if (root === null) return { of: () => [], all: [] } satisfies SettingsFile
  if (!isMap(root)) return yield* refuse(root.range[0], "expected settings as NAME: VALUE, one per line")

  const move = movedTo(path, path.dirname(path.resolve(file)), path.resolve())
  const settingOf = Effect.fnUntraced(function* ({ key, value }: Pair<ParsedNode, ParsedNode | null>) {
    const name = textOf(key)
    if (name === undefined) return yield* refuse(key.range[0], "expected the name of a setting")
    const secret = secrets.get(name)
    if (secret !== undefined) {
      return yield* refuse(key.range[0], `${name}: files are copied and committed: set the secret in ${secret}`)
    }
    const values = valuesOf(name, value)
    if (name === "ledger" && Array.isArray(values) && values.some(hasPassword)) {
      return yield* refuse(
        key.range[0],
        "ledger: files are copied and committed: set a password in PGPASSWORD, or the whole URL in PREFSTREAM_LEDGER",
      )
    }
    if (values !== undefined) return moved({ name, values, from: at(key.range[0]) }, move)
    const other = maps.has(name) ? ", or a map" : ""
    return yield* refuse(key.range[0], `${name}: expected a value, or a list of values${other}`)
  })
  const isSection = ({ key, value }: Pair<ParsedNode, ParsedNode | null>) =>
    isMap(value) && commands.has(textOf(key) ?? "")

  const [common, sections] = [false, true].map((wanted) => root.items.filter((pair) => isSection(pair) === wanted))
  const shared = yield* Effect.forEach(common ?? [], settingOf)
  const own = new Map<string, ReadonlyArray<Setting>>()
  for (const { key, value } of sections ?? []) {
    if (isMap<ParsedNode, ParsedNode | null>(value)) {
      own.set(textOf(key) ?? "", yield* Effect.forEach(value.items, settingOf))
    }
  }
  return {
    of: (command) => [
      // A section is that of all subcommands.
      ...(own.get(command.split(" ")[0] ?? "") ?? []),
      ...(command === "serve" ? shared.filter(({ name }) => !ofRuns.has(name)) : shared),
    ],
    all: [...shared, ...[...own.values()].flat()],
  } satisfies SettingsFile
})

const header = `# What the last run of this job was given. collect, export, leaderboard, plan, resolve, status and ledger go on with it.
`

type Written = Pick<Setting, "name" | "values">

const entries = (settings: ReadonlyArray<Written>) =>
  Object.fromEntries(
    settings.map(({ name, values }) => [
      name,
      Predicate.isBoolean(values) || values.length !== 1 ? values : plain(values[0] ?? ""),
    ]),
  )

/** Settings as a file has them; those of a project's file in a section. */
export const text = (settings: ReadonlyArray<Written>, project: ReadonlyArray<Written> = []): string =>
  settings.length + project.length === 0
    ? ""
    : stringify({ ...entries(settings), ...(project.length > 0 && { project: entries(project) }) })

/** A whole number without the quotes that a text would need. */
const plain = (value: string): string | number => (/^(0|[1-9]\d{0,8})$/.test(value) ? Number(value) : value)

/** Writes settings to a file, which another process finds whole or not at all; those of the project's file in a section. */
export const write = Effect.fn("SettingsFile.write")(function* (
  file: string,
  settings: ReadonlyArray<Setting>,
  project: ReadonlyArray<Setting>,
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const move = movedTo(path, path.resolve(), path.dirname(path.resolve(file)))
  const [given, ofProject] = [settings, project].map((all) => all.map((setting) => moved(setting, move)))
  const partial = `${file}.partial`
  yield* fs.writeFileString(partial, header + text(given ?? [], ofProject))
  yield* Sync.file(partial)
  yield* fs.rename(partial, file)
})
