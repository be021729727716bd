/**
 * Reads and writes settings in YAML. A key is a flag, `files`, or a command with its own settings. Paths are relative
 * to the folder of the YAML file.
 */
import { Effect, FileSystem, Path, Predicate } from "effect"
import { isMap, isScalar, isSeq, LineCounter, type Pair, parseDocument, type ParsedNode, stringify } from "yaml"
import { didYouMean } from "../../io/NearestName.ts"
import { joinWords } from "../../io/Values.ts"
import { secrets } from "./Secrets.ts"
import * as Sync from "../../node/Sync.ts"
import type { Definition, Setting } from "../flags/Definition.ts"
import { hasPassword } from "../flags/LedgerFlags.ts"
import { usageError } from "../output/ExitStatus.ts"

export type Find = (name: string) => Effect.Effect<Definition | undefined>

const located = ({ path }: Definition, value: string, move: (path: string) => string): string => {
  if (path === "gold") return value.startsWith("gold:") ? `gold:${move(value.slice(5))}` : value
  return path === undefined || value === "-" || /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : move(value)
}

const movedTo = (path: Path.Path, from: string, to: string) => (value: string) =>
  path.isAbsolute(value) ? value : shown(path, path.join(from, value), to)

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

const isOfRuns = (name: string, { group }: Definition): boolean =>
  group === "EXPERTS" || name === "votes" || name === "gold"

const textOf = (node: unknown): string | undefined => {
  if (!isScalar(node) || node.value === null) return undefined
  // A number such as 0.10 or 1e6 stays as it is written in the file.
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

export interface SettingsFile {
  readonly of: (command: string) => ReadonlyArray<Setting>
  readonly all: ReadonlyArray<Setting>
}

const yamlAdvice: { readonly [code: string]: string } = {
  BAD_INDENT: "check the indentation, and whether each [ or { has its ] or }",
  BLOCK_AS_IMPLICIT_KEY: "a value with a colon and a space needs quotes",
  DUPLICATE_KEY: "the setting is already set above",
  TAB_AS_INDENT: "indent with spaces, not tabs",
}

const adviceOn = (name: string, names: ReadonlyArray<string>): string => {
  const spelled = name.replaceAll("_", "-").toLowerCase()
  return !names.includes(spelled) && /(^|-)(key|password|secret|token)$/.test(spelled)
    ? `: secrets are set in the environment, as ${joinWords([...secrets.values()], "or")}`
    : `${didYouMean(spelled, names)}: expected the word files, or the name of a flag without its leading dashes, such as votes`
}

export const read = Effect.fn("SettingsFile.read")(function* (
  file: string,
  commands: ReadonlySet<string>,
  find: Find,
  names: Effect.Effect<ReadonlyArray<string>>,
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const text = yield* fs.readFileString(file)
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const name = shown(path, path.resolve(file), path.resolve())
  const at = (offset: number) => `${name}:${lines.linePos(offset).line}`
  const refuse = (offset: number, problem: string) => usageError(`${at(offset)}: ${problem}`)

  const [error] = document.errors
  if (error !== undefined) {
    return yield* refuse(error.pos[0], `invalid YAML: ${yamlAdvice[error.code] ?? error.message.replace(/\s+/g, " ")}`)
  }
  const root = document.contents
  if (root === null) return { of: () => [], all: [] } satisfies SettingsFile
  if (!isMap(root)) return yield* refuse(root.range[0], "expected settings as NAME: VALUE, one per line")

  const move = movedTo(path, path.dirname(path.resolve(file)), path.resolve())
  const settingOf = Effect.fnUntraced(function* ({ key, value }: Pair<ParsedNode, ParsedNode | null>) {
    const name = textOf(key)
    const wrong = (problem: string) => refuse(key.range[0], problem)
    if (name === undefined) return yield* wrong("expected the name of a setting")
    const secret = secrets.get(`--${name}`)
    if (secret !== undefined) {
      return yield* wrong(
        `${name}: a secret must not be in a file, which may be copied or committed: set the environment variable ${secret}`,
      )
    }
    const definition = yield* find(name)
    if (definition === undefined) {
      return yield* wrong(`unknown setting ${JSON.stringify(name)}${adviceOn(name, yield* names)}`)
    }
    if (definition.isTypedOnly === true) {
      return yield* wrong(`${name} cannot be set in a file: give it on the command line as --${name}`)
    }
    const values = valuesOf(definition, value)
    if (name === "ledger" && Array.isArray(values) && values.some(hasPassword)) {
      return yield* wrong(
        "ledger: a password must not be in a file, which may be copied or committed: set the password in PGPASSWORD, or the whole URL in PREFSTREAM_LEDGER",
      )
    }
    if (values !== undefined) return moved({ name, values, from: at(key.range[0]) }, definition, move)
    const orMap = definition.map === undefined ? "" : ", or a map"
    return yield* wrong(
      `${name}: expected ${definition.isSwitch === true ? "true or false" : `a value, or a list of values${orMap}`}`,
    )
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
    of: (command) => [...(own.get(command.split(" ")[0] ?? "") ?? []), ...(command === "serve" ? forServe : shared)],
    all: [...shared, ...[...own.values()].flat()],
  } satisfies SettingsFile
})

const header = `# Settings of this job's last run. audit, collect, doctor, export, export-votes, leaderboard, ledger, plan, resolve, and status reuse them.
`

type Written = Pick<Setting, "name" | "values">

const entries = (settings: ReadonlyArray<Written>) =>
  Object.fromEntries(
    settings.map(({ name, values }) => [
      name,
      Predicate.isBoolean(values) || values.length !== 1 ? values : plain(values[0] ?? ""),
    ]),
  )

export const text = (settings: ReadonlyArray<Written>, project: ReadonlyArray<Written> = []): string =>
  settings.length + project.length === 0
    ? ""
    : stringify({ ...entries(settings), ...(project.length > 0 && { project: entries(project) }) })

const plain = (value: string): string | number => (/^(0|[1-9]\d{0,8})$/.test(value) ? Number(value) : value)

/** Writes another file and renames it, so that no other process reads an incomplete file. */
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
