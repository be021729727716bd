/**
 * The effective settings of a command: command line, else environment, else the job's last run (for commands that reuse
 * its settings), else `prefstream.yaml` in this folder or the nearest parent that has one. Of what that file said to the
 * last run, what it says now comes first.
 *
 * Guarantees: a setting is taken whole from the first place that has it; the flags read and check the values of settings
 * that are not typed, and their messages name the place. A pipeline file has settings of its own: with one, no other file
 * is read.
 */
import { Config, Console, Context, Effect, FileSystem, Option, Path, type PlatformError, Predicate } from "effect"
import type { Command } from "effect/cli"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import {
  type Definition,
  type Definitions,
  groups,
  isFromEnvironment,
  type Setting,
  Untyped,
} from "../flags/Definition.ts"
import { isPipelineFile } from "../flags/PipelineName.ts"
import { UsageError } from "../output/ExitStatus.ts"
import * as ParsedArguments from "./ParsedArguments.ts"

export const fileName = "prefstream.yaml"

export interface Settings {
  readonly parsed: ParsedArguments.ParsedArguments | undefined
  /** The effective settings, from wherever. */
  readonly all: ReadonlyArray<Setting>
  /** Those of them that come from the job's last run. */
  readonly fromLastRun: ReadonlyArray<Setting>
  readonly project: Project | undefined
  /** What is wrong with a file of settings, for the command that diagnoses it. */
  readonly problem: unknown
}

/** A file of settings, and what it says for a command. */
export interface Project {
  readonly file: string
  readonly settings: ReadonlyArray<Setting>
}

const none: Settings = { parsed: undefined, all: [], fromLastRun: [], project: undefined, problem: undefined }

/** The settings of the running command. */
export const Current = Context.Reference<Settings>("prefstream/cli/Settings", { defaultValue: () => none })

/** Runs a command with these settings. */
export const provide =
  (settings: Settings) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const untyped = settings.all.filter(({ from }) => from !== typed)
    return effect.pipe(
      Effect.provideService(Current, settings),
      Effect.provideService(Untyped, new Map(untyped.map((setting) => [setting.name, setting]))),
    )
  }

const fromEnvironment = ({ definitions, given }: ParsedArguments.ParsedArguments) =>
  Effect.forEach(Object.entries(definitions), ([name, { environment }]) => {
    if (environment === undefined || given.has(name)) return Effect.succeed([])
    return Effect.map(Config.option(Config.String(environment)), (value) =>
      Option.match(value, {
        onNone: () => [],
        onSome: (text): ReadonlyArray<Setting> =>
          text.trim() === "" ? [] : [{ name, values: [text], from: environment }],
      }),
    )
  }).pipe(Effect.map((settings) => settings.flat()))

/** The file that PREFSTREAM_CONFIG names, or the nearest one upward from here. */
const projectFile = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const named = yield* Config.option(Config.String("PREFSTREAM_CONFIG"))
  if (Option.isSome(named) && named.value.trim() !== "") {
    if (yield* fs.exists(named.value)) return named.value
    return yield* new UsageError({ message: `PREFSTREAM_CONFIG: there is no file ${named.value}` })
  }
  for (let folder = path.resolve(); ; folder = path.dirname(folder)) {
    const file = path.join(folder, fileName)
    if (yield* fs.exists(file)) return file
    if (path.dirname(folder) === folder) return undefined
  }
})

const isSameFile = (one: string, other: string) =>
  Effect.map(Path.Path, ({ resolve }) => resolve(one) === resolve(other))

const textOf = (name: string, settings: ReadonlyArray<Setting>): string | undefined => {
  const values = settings.find((setting) => setting.name === name)?.values
  return Predicate.isBoolean(values) ? undefined : values?.[0]
}

/** Where a flag is set that was typed. */
const typed = "the command line"

const given = ({ given }: ParsedArguments.ParsedArguments): ReadonlyArray<Setting> =>
  [...given].map(([name, values]) => ({ name, values, from: typed }))

/** Another job's settings, though in this folder. */
const isOfOther = (last: ReadonlyArray<Setting>, chosen: ReadonlyArray<Setting>): boolean =>
  ["job", "ledger"].some((name) => {
    const [was, is] = [textOf(name, last), textOf(name, chosen)]
    return is !== undefined && is !== was && (name === "job" || was !== undefined)
  })

/** All commands and their options; the latter are read only where a key is no option of the command itself. */
export const Commands = Context.Reference<{
  readonly names: ReadonlySet<string>
  readonly allDefinitions: Effect.Effect<Definitions>
}>("prefstream/cli/Commands", { defaultValue: () => ({ names: new Set(), allDefinitions: Effect.succeed({}) }) })

/** Keys that are no flags. */
const otherKeys: Definitions = { files: { path: "whole" }, [fileName]: { path: "whole" } }

const finder = ({ definitions }: ParsedArguments.ParsedArguments) =>
  Effect.fnUntraced(function* (name: string): Effect.fn.Return<Definition | undefined> {
    return otherKeys[name] ?? definitions[name] ?? (yield* (yield* Commands).allDefinitions)[name]
  })

/** The settings of a command line, and those from elsewhere. */
export const of = Effect.fn("Settings.of")(function* (args: ReadonlyArray<string>, root: Command.Command.Any) {
  const parsed = ParsedArguments.parse(args, root)
  if (parsed === undefined) return none
  // What `init` is given is what it writes.
  if (parsed.command === "init") return { ...none, all: given(parsed), parsed }
  const chosen = [...given(parsed), ...(yield* fromEnvironment(parsed))]
  if (parsed.operands.some(isPipelineFile)) return { ...none, all: withoutService(chosen), parsed }
  const filled = filledIn(parsed, chosen)
  return parsed.command !== "doctor"
    ? yield* filled
    : yield* filled.pipe(Effect.catch((problem) => Effect.succeed({ ...none, all: chosen, parsed, problem })))
})

/** A pipeline file names its own service; a flag replaces it, and the environment does not. */
const withoutService = (settings: ReadonlyArray<Setting>): ReadonlyArray<Setting> =>
  settings.filter((setting) => setting.name !== "base-url" || !isFromEnvironment(setting))

const filledIn = Effect.fnUntraced(function* (parsed: ParsedArguments.ParsedArguments, chosen: ReadonlyArray<Setting>) {
  const project = yield* projectOf(parsed)
  const directory = textOf("dir", [...chosen, ...(project?.settings ?? [])]) ?? JobFolder.defaultDirectory
  const left = followers.has(parsed.command) ? yield* lastRun(directory, parsed) : nothing
  const last = isOfOther(left.all, chosen) ? nothing : left
  const isOfPipeline = isPipelineFile(textOf("files", last.given) ?? "")

  const replaced = new Set([...parsed.given.keys()].flatMap((name) => parsed.definitions[name]?.replaces ?? []))
  const isWanted = (setting: Setting) =>
    setting.name === "files"
      ? takesFiles(setting, parsed)
      : parsed.definitions[setting.name] !== undefined &&
        !replaced.has(setting.name) &&
        !replaced.has(parsed.definitions[setting.name]?.group ?? "")
  const files = [last.project.settings, project?.settings ?? []]
  // What the same file says by now comes first.
  if (project !== undefined && (yield* isSameFile(project.file, last.project.file))) files.reverse()
  const all = [...chosen]
  for (const setting of isOfPipeline ? last.given : [...last.given, ...files.flat()]) {
    if (isWanted(setting) && !all.some(({ name }) => name === setting.name)) all.push(setting)
  }
  return {
    parsed,
    all: isPipelineFile(textOf("files", all) ?? "") ? withoutService(all) : all,
    fromLastRun: last.all.filter((setting) => all.includes(setting)),
    project,
    problem: undefined,
  } satisfies Settings
})

/** Whether files of settings take the place of operands: a command that reads no items takes a pipeline file alone. */
const takesFiles = ({ values }: Setting, { operandName, operands }: ParsedArguments.ParsedArguments): boolean =>
  operands.length === 0 &&
  !Predicate.isBoolean(values) &&
  (operandName === "FILE" || (operandName === "PIPELINE" && values.every(isPipelineFile)))

/** Reads a file of settings whose keys are flags. */
const read = Effect.fnUntraced(function* (
  file: string,
  sections: ReadonlySet<string>,
  parsed: ParsedArguments.ParsedArguments,
) {
  const reader = yield* Effect.promise(() => import("./SettingsFile.ts"))
  return yield* reader.read(file, sections, finder(parsed))
})

const projectOf = Effect.fnUntraced(function* (parsed: ParsedArguments.ParsedArguments) {
  const file = yield* projectFile
  if (file === undefined) return undefined
  const settings = yield* read(file, (yield* Commands).names, parsed)
  const path = yield* Path.Path
  return { file: path.relative("", file), settings: settings.of(parsed.command) } satisfies Project
})

const nothing = { all: [], given: [], project: { file: "", settings: [] } } satisfies LastRun

interface LastRun {
  readonly all: ReadonlyArray<Setting>
  /** On its command line. */
  readonly given: ReadonlyArray<Setting>
  readonly project: Project
}

/** What the last run left in its job folder. */
const lastRun = Effect.fnUntraced(function* (
  directory: string,
  parsed: ParsedArguments.ParsedArguments,
): Effect.fn.Return<LastRun, UsageError | PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const file = JobFolder.settings(directory)
  if (!(yield* fs.exists(file))) return nothing
  const settings = yield* read(file, new Set(["project"]), parsed)
  const all = settings.all.filter(({ name }) => name !== fileName)
  const given = settings.of("")
  const ofProject = all.filter((setting) => !given.includes(setting))
  return { all, given, project: { file: textOf(fileName, settings.all) ?? "", settings: ofProject } }
})

/** A message, with the sources of the flags that it names but that were not typed. */
export const withSources = (message: string, { all }: Settings): string => {
  const places = all.filter(({ from, name }) => from !== typed && new RegExp(`--(no-)?${name}(?![\\w-])`).test(message))
  return places.length === 0
    ? message
    : `${message} (${places.map(({ from, name }) => `${name} is set in ${from}`).join("; ")})`
}

/** Prints which settings of the last run are used, if any. */
export const announceFromLastRun = Effect.gen(function* () {
  const { fromLastRun } = yield* Current
  const names = fromLastRun.filter(({ name }) => name !== "files").map(({ name }) => `--${name}`)
  if (names.length > 0)
    yield* Console.error(`Using settings of the last run: ${names.join(", ")} (see settings.yaml in the job folder)`)
})

/** Whether a ledger may be created in a used job folder: it is asked for, or another job than the folder's is named. */
export const mayBeNew = Effect.fnUntraced(function* (newLedger: boolean | undefined, directory: string) {
  const { all, parsed } = yield* Current
  if (newLedger !== undefined || parsed === undefined) return newLedger
  return isOfOther((yield* Effect.orElseSucceed(lastRun(directory, parsed), () => nothing)).all, all)
})

/** Whether later commands of the job reuse the setting. */
const isKept = ({ name }: Setting, { definitions }: ParsedArguments.ParsedArguments): boolean => {
  const { group, isKept, isTypedOnly } = definitions[name] ?? {}
  return isTypedOnly !== true && (isKept ?? (group !== undefined && groups[group]))
}

/** Commands that reuse the settings of the last run. */
const followers: ReadonlySet<string> = new Set([
  "collect", "doctor", "export", "export-votes", "leaderboard", "plan", "resolve", "status", "ledger backup", "ledger check", "ledger compact", "ledger prune",
]) // prettier-ignore

/** Saves the settings of this run in its job folder, and of the run before those that this command has no flags for. */
export const save = Effect.fn("Settings.save")(function* (directory: string) {
  const { all, project, parsed } = yield* Current
  if (parsed === undefined) return
  const { write } = yield* Effect.promise(() => import("./SettingsFile.ts"))
  const program = parsed.operands.filter(isPipelineFile)
  const left = yield* Effect.orElseSucceed(lastRun(directory, parsed), () => nothing)
  const without = isOfOther(left.all, all)
    ? []
    : left.all.filter(({ name }) => name !== "files" && parsed.definitions[name] === undefined)
  const file = project?.file ?? left.project.file
  const ofFiles = new Set([
    ...(project?.settings ?? []),
    ...((yield* isSameFile(file, left.project.file)) ? left.project.settings : []),
  ])
  const settings = [
    ...(program.length === 0 ? [] : [{ name: "files", values: program, from: "" }]),
    // A job is found by its name; other variables apply only where they are set.
    ...all.filter((setting) => isKept(setting, parsed) && (!isFromEnvironment(setting) || setting.name === "job")),
    ...without,
  ]
  const ofProject = settings.filter((setting) => ofFiles.has(setting))
  yield* write(
    JobFolder.settings(directory),
    settings.filter((setting) => !ofFiles.has(setting)),
    ofProject.length === 0 ? [] : [{ name: fileName, values: [file], from: "" }, ...ofProject],
    finder(parsed),
  )
})
