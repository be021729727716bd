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
import { secrets } from "./Secrets.ts"
import * as Sync from "../../node/Sync.ts"
import type { Definition, Setting } from "../flags/Definition.ts"
import { hasPassword } from "../flags/LedgerFlags.ts"
import { UsageError } from "../output/ExitStatus.ts"

/** Finds the definition of a key; undefined for what is no option of any command. */
export type Find = (name: string) => Effect.Effect<Definition | undefined>

/** The value with its path as `move` gives it, if it has one. */
const located = ({ path }: Definition, value: string, move: (path: string) => string): string => {
  if (path === "gold") return value.startsWith("gold:") ? `gold:${move(value.slice(5))}` : value
  return path === undefined || value === "-" || /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : move(value)
}

/** Paths as another folder would name them. */
const movedTo = (path: Path.Path, from: string, to: string) => (value: string) =>
  path.isAbsolute(value) ? value : shown(path, path.join(from, value), to)

/** The path from a folder, or the whole one if that is shorter. */
const shown = (path: Path.Path, file: string, from: string): string => {
  const relative = path.relative(from, file) || "."
  return relative.length < file.length ? relative : file
}

const moved = (setting: Setting, definition: Definition, move: (path: string) => string): Setting => ({
  ...setting,
  values: Predicate.isBoolean(setting.values)
    ? setting.values
    : setting.values.map((value) => located(definition, value, move)),
})

/** What `serve` takes from its own section alone: elsewhere it is said of runs, and would multiply votes or replace people. */
const isOfRuns = (name: string, { group }: Definition): boolean =>
  group === "EXPERTS" || name === "votes" || name === "gold"

const textOf = (node: unknown): string | undefined => {
  if (!isScalar(node) || node.value === null) return undefined
  // A number as it was written: 0.10, 1e6.
  return Predicate.isString(node.value) ? node.value : (node.source ?? JSON.stringify(node.value))
}

const valuesOf = ({ isSwitch, map }: Definition, node: ParsedNode | null): Setting["values"] | undefined => {
  if (isScalar(node) && Predicate.isBoolean(node.value)) return isSwitch === true ? node.value : undefined
  if (isSwitch === true) return undefined
  if (isMap(node) && map === "json") return [JSON.stringify(node.toJSON())]
  const texts =
    isMap(node) && map !== undefined
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

export const read = Effect.fn("SettingsFile.read")(function* (file: string, commands: ReadonlySet<string>, find: Find) {
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
    const secret = secrets.get(`--${name}`)
    if (secret !== undefined) {
      return yield* refuse(key.range[0], `${name}: files are copied and committed: set the secret in ${secret}`)
    }
    const definition = yield* find(name)
    if (definition === undefined) {
      return yield* refuse(
        key.range[0],
        `there is no setting ${JSON.stringify(name)}: expected files, or the name of a flag without its dashes`,
      )
    }
    if (definition.isTypedOnly === true) {
      return yield* refuse(key.range[0], `${name} cannot be set in a file: give it on the command line as --${name}`)
    }
    const values = valuesOf(definition, value)
    if (name === "ledger" && Array.isArray(values) && values.some(hasPassword)) {
      return yield* refuse(
        key.range[0],
        "ledger: files are copied and committed: set a password in PGPASSWORD, or the whole URL in PREFSTREAM_LEDGER",
      )
    }
    if (values !== undefined) return moved({ name, values, from: at(key.range[0]) }, definition, move)
    const expected =
      definition.isSwitch === true
        ? "true or false"
        : `a value, or a list of values${definition.map === undefined ? "" : ", or a map"}`
    return yield* refuse(key.range[0], `${name}: expected ${expected}`)
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
  const forServe = yield* Effect.filter(shared, ({ name }) =>
    Effect.map(find(name), (definition) => !isOfRuns(name, definition ?? {})),
  )
  return {
    of: (command) => [
      // A section is that of all subcommands.
      ...(own.get(command.split(" ")[0] ?? "") ?? []),
      ...(command === "serve" ? forServe : shared),
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
  find: Find,
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const move = movedTo(path, path.resolve(), path.dirname(path.resolve(file)))
  const movedAll = Effect.forEach((setting: Setting) =>
    Effect.map(find(setting.name), (definition) => moved(setting, definition ?? {}, move)),
  )
  const partial = `${file}.partial`
  yield* fs.writeFileString(partial, header + text(yield* movedAll(settings), yield* movedAll(project)))
  yield* Sync.file(partial)
  yield* fs.rename(partial, file)
})
