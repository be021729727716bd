/**
 * The effective settings of a command: command line, else environment, else the job's last run (for commands that reuse
 * its settings), else `prefstream.yaml` in this folder or the nearest parent that has one. Of what that file said to the
 * last run, what it says now comes first.
 *
 * Guarantees: a setting is taken whole from the first place that has it; settings from files are appended to the
 * arguments, so that the flags check them; a message that names such a flag also names its place. A pipeline file has
 * settings of its own: with one, no other file is read.
 */
import { Config, Console, Context, Effect, FileSystem, Option, Path, type PlatformError, Predicate } from "effect"
import type { CommandDescriptor } from "effect/cli/Completions"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import { isPipelineFile } from "../flags/PipelineName.ts"
import { UsageError } from "../output/ExitStatus.ts"
import type { Setting, SettingsFile } from "./SettingsFile.ts"
import { commandLineOnly, followers, kept, replaced } from "./Scopes.ts"
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
  /** The command line, with the settings from files. */
  readonly args: ReadonlyArray<string>
}

/** A file of settings, and what it says for a command. */
export interface Project {
  readonly file: string
  readonly settings: ReadonlyArray<Setting>
}

const none = (args: ReadonlyArray<string>): Settings => ({
  parsed: undefined,
  all: [],
  fromLastRun: [],
  project: undefined,
  problem: undefined,
  args,
})

/** The settings of the running command. */
export const Current = Context.Reference<Settings>("prefstream/cli/Settings", { defaultValue: () => none([]) })

const variableIn = (description: string | undefined): string | undefined =>
  /\[(PREFSTREAM_[A-Z_]+)/.exec(description ?? "")?.[1]

const fromEnvironment = (parsed: ParsedArguments.ParsedArguments) =>
  Effect.forEach(parsed.flags, ({ description, name }) => {
    const variable = variableIn(description)
    if (variable === undefined || parsed.given.has(name)) return Effect.succeed([])
    return Effect.map(Config.option(Config.String(variable)), (value) =>
      Option.match(value, {
        onNone: () => [],
        onSome: (text): ReadonlyArray<Setting> =>
          text.trim() === "" ? [] : [{ name, values: [text], from: variable }],
      }),
    )
  }).pipe(Effect.map((found) => found.flat()))

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

/** All commands and their flags; the latter are read only where a key is not a flag of the command itself. */
export const Commands = Context.Reference<{
  readonly names: ReadonlySet<string>
  readonly allFlagNames: Effect.Effect<ReadonlySet<string>>
}>("prefstream/cli/Commands", { defaultValue: () => ({ names: new Set(), allFlagNames: Effect.succeed(new Set()) }) })

/** Completes a command line with the settings from elsewhere. */
export const of = Effect.fn("Settings.of")(function* (args: ReadonlyArray<string>, root: CommandDescriptor) {
  const parsed = ParsedArguments.parse(args, root)
  // What `init` is given is what it writes.
  if (parsed === undefined || parsed.command === "init" || parsed.operands.some(isPipelineFile))
    return { ...none(args), all: parsed === undefined ? [] : given(parsed), parsed }
  const chosen = [...given(parsed), ...(yield* fromEnvironment(parsed))]
  const filled = filledIn(args, parsed, chosen)
  return parsed.command !== "doctor"
    ? yield* filled
    : yield* filled.pipe(Effect.catch((problem) => Effect.succeed({ ...none(args), all: chosen, parsed, problem })))
})

const filledIn = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  parsed: ParsedArguments.ParsedArguments,
  chosen: ReadonlyArray<Setting>,
) {
  const project = yield* projectOf(parsed)
  const directory = textOf("dir", [...chosen, ...(project?.settings ?? [])]) ?? JobFolder.defaultDirectory
  const left = followers.has(parsed.command) ? yield* lastRun(directory, parsed) : nothing
  const last = isOfOther(left.all, chosen) ? nothing : left
  const isOfPipeline = isPipelineFile(textOf("files", last.given) ?? "")

  const gone = new Set([...parsed.given.keys()].flatMap((name) => replaced[name] ?? []))
  const all = [...chosen]
  const extra: Array<string> = []
  const files = [last.project.settings, project?.settings ?? []]
  // What the same file says by now comes first.
  if (project !== undefined && (yield* isSameFile(project.file, last.project.file))) files.reverse()
  for (const setting of isOfPipeline ? last.given : [...last.given, ...files.flat()]) {
    if (gone.has(setting.name) || all.some(({ name }) => name === setting.name)) continue
    const texts = yield* argumentsOf(setting, parsed)
    if (texts.length === 0) continue
    extra.push(...texts)
    all.push(setting)
  }
  return {
    parsed,
    all,
    fromLastRun: last.all.filter((setting) => all.includes(setting)),
    project,
    problem: undefined,
    args: [...args.slice(0, parsed.end), ...extra, ...args.slice(parsed.end)],
  } satisfies Settings
})

/** Reads a file of settings whose keys are flags. */
const read = Effect.fnUntraced(function* (
  file: string,
  sections: ReadonlySet<string>,
  parsed: ParsedArguments.ParsedArguments,
) {
  const reader = yield* Effect.promise(() => import("./SettingsFile.ts"))
  const settings = yield* reader.read(file, sections)
  yield* checkKeys(settings, parsed, (yield* Commands).allFlagNames)
  return settings
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

const checkKeys = Effect.fnUntraced(function* (
  file: SettingsFile,
  parsed: ParsedArguments.ParsedArguments,
  allFlagNames: Effect.Effect<ReadonlySet<string>>,
) {
  const own = new Set(["files", fileName, ...parsed.flags.map(({ name }) => name)])
  for (const { from, name } of file.all) {
    if (commandLineOnly.has(name)) {
      return yield* new UsageError({
        message: `${from}: ${name} cannot be set in a file: give it on the command line as --${name}`,
      })
    }
    if (own.has(name) || (yield* allFlagNames).has(name)) continue
    return yield* new UsageError({
      message: `${from}: there is no setting ${JSON.stringify(name)}: expected files, or the name of a flag without its dashes`,
    })
  }
})

/** A setting as it would be typed; nothing if the command has no such flag. */
const argumentsOf = Effect.fnUntraced(function* (setting: Setting, parsed: ParsedArguments.ParsedArguments) {
  const { from, name, values } = setting
  if (name === "files") {
    if (Predicate.isBoolean(values)) return yield* new UsageError({ message: `${from}: files: expected files` })
    const isWanted =
      parsed.operandName === "FILE" || (parsed.operandName === "PIPELINE" && values.every(isPipelineFile))
    return parsed.operands.length === 0 && isWanted ? values : []
  }
  const flag = parsed.flags.find((flag) => flag.name === name)
  if (flag === undefined) return []
  const isSwitch = flag.type._tag === "Boolean"
  if (isSwitch !== Predicate.isBoolean(values)) {
    return yield* new UsageError({ message: `${from}: ${name}: expected ${isSwitch ? "true or false" : "a value"}` })
  }
  return Predicate.isBoolean(values) ? [`--${values ? "" : "no-"}${name}`] : values.map((value) => `--${name}=${value}`)
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

/** Saves the settings of this run in its job folder, and of the run before those that this command has no flags for. */
export const save = Effect.fn("Settings.save")(function* (directory: string) {
  const { all, project, parsed } = yield* Current
  if (parsed === undefined) return
  const { write } = yield* Effect.promise(() => import("./SettingsFile.ts"))
  const program = parsed.operands.filter(isPipelineFile)
  const left = yield* Effect.orElseSucceed(lastRun(directory, parsed), () => nothing)
  const flags = new Set(["files", ...parsed.flags.map(({ name }) => name)])
  const without = isOfOther(left.all, all) ? [] : left.all.filter(({ name }) => !flags.has(name))
  const file = project?.file ?? left.project.file
  const ofFiles = new Set([
    ...(project?.settings ?? []),
    ...((yield* isSameFile(file, left.project.file)) ? left.project.settings : []),
  ])
  const settings = [
    ...(program.length === 0 ? [] : [{ name: "files", values: program, from: "" }]),
    // A job is found by its name; other variables apply only where they are set.
    ...all.filter(({ from, name }) => kept.has(name) && (!from.startsWith("PREFSTREAM_") || from === "PREFSTREAM_JOB")),
    ...without,
  ]
  const ofProject = settings.filter((setting) => ofFiles.has(setting))
  yield* write(
    JobFolder.settings(directory),
    settings.filter((setting) => !ofFiles.has(setting)),
    ofProject.length === 0 ? [] : [{ name: fileName, values: [file], from: "" }, ...ofProject],
  )
})
