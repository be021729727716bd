/**
 * A setting comes from the first of these sources: the command line, the environment, the last run's command line, the
 * last run's `prefstream.yaml`, and the nearest `prefstream.yaml`. Only commands that continue a job, such as `status`,
 * use the last run. A job with a pipeline file uses no `prefstream.yaml`.
 */
import { Config, Console, Context, Effect, FileSystem, Option, Path, type PlatformError, Predicate } from "effect"
import type { Command } from "effect/cli"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import {
  type Definition,
  type Definitions,
  definitionsOf,
  groups,
  isFromEnvironment,
  type Setting,
  UntypedSettings,
} from "../flags/Definition.ts"
import { isPipelineFile } from "../flags/PipelineName.ts"
import { type UsageError, usageError } from "../output/ExitStatus.ts"
import * as ParsedArguments from "./ParsedArguments.ts"

export const fileName = "prefstream.yaml"

export interface Settings {
  readonly parsed: ParsedArguments.ParsedArguments | undefined
  readonly all: ReadonlyArray<Setting>
  readonly fromLastRun: ReadonlyArray<Setting>
  readonly project: Project | undefined
  readonly problem: unknown
}

export interface Project {
  readonly file: string
  readonly settings: ReadonlyArray<Setting>
}

const none: Settings = { parsed: undefined, all: [], fromLastRun: [], project: undefined, problem: undefined }

export const Current = Context.Reference<Settings>("prefstream/cli/Settings", { defaultValue: () => none })

export const provide =
  (settings: Settings) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const untyped = settings.all.filter(({ from }) => from !== typed)
    return effect.pipe(
      Effect.provideService(Current, settings),
      Effect.provideService(UntypedSettings, new Map(untyped.map((setting) => [setting.name, setting]))),
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

const projectFile = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const named = yield* Config.option(Config.String("PREFSTREAM_CONFIG"))
  if (Option.isSome(named) && named.value.trim() !== "") {
    if (yield* fs.exists(named.value)) return named.value
    return yield* usageError(`PREFSTREAM_CONFIG: there is no file ${named.value}`)
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

const typed = "the command line"

const typedSettings = ({ given }: ParsedArguments.ParsedArguments): ReadonlyArray<Setting> =>
  [...given].map(([name, values]) => ({ name, values, from: typed }))

const isOfOtherJob = (last: ReadonlyArray<Setting>, chosen: ReadonlyArray<Setting>): boolean =>
  ["job", "ledger"].some((name) => {
    const [was, is] = [textOf(name, last), textOf(name, chosen)]
    return is !== undefined && is !== was && (name === "job" || was !== undefined)
  })

export const Commands = Context.Reference<{
  readonly names: ReadonlySet<string>
  readonly load: (args: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Command.Command.Any>>
}>("prefstream/cli/Commands", { defaultValue: () => ({ names: new Set(), load: () => Effect.succeed([]) }) })

export const allCommands = Effect.flatMap(Commands, ({ load, names }) => load([...names]))

const otherKeys: Definitions = { files: { path: "whole" }, [fileName]: { path: "whole" } }

const finder = ({ definitions }: ParsedArguments.ParsedArguments) =>
  Effect.fnUntraced(function* (name: string): Effect.fn.Return<Definition | undefined> {
    return otherKeys[name] ?? definitions[name] ?? definitionsOf(yield* allCommands)[name]
  })

export const of = Effect.fn("Settings.of")(function* (args: ReadonlyArray<string>, root: Command.Command.Any) {
  const parsed = ParsedArguments.parse(args, root)
  if (parsed === undefined) return none
  if (parsed.command === "init") return { ...none, all: typedSettings(parsed), parsed }
  const chosen = [...typedSettings(parsed), ...(yield* fromEnvironment(parsed))]
  if (parsed.operands.some(isPipelineFile)) return { ...none, all: withoutService(chosen), parsed }
  const filled = filledIn(parsed, chosen)
  return parsed.command !== "doctor"
    ? yield* filled
    : yield* filled.pipe(Effect.catch((problem) => Effect.succeed({ ...none, all: chosen, parsed, problem })))
})

const withoutService = (settings: ReadonlyArray<Setting>): ReadonlyArray<Setting> =>
  settings.filter((setting) => setting.name !== "base-url" || !isFromEnvironment(setting))

const filledIn = Effect.fnUntraced(function* (parsed: ParsedArguments.ParsedArguments, chosen: ReadonlyArray<Setting>) {
  const project = yield* projectOf(parsed)
  const directory = textOf("dir", [...chosen, ...(project?.settings ?? [])]) ?? JobFolder.defaultDirectory
  const lastRunSettings = followers.has(parsed.command) ? yield* lastRun(directory, parsed) : nothing
  const last = isOfOtherJob(lastRunSettings.all, chosen) ? nothing : lastRunSettings
  const isOfPipeline = isPipelineFile(textOf("files", last.given) ?? "")

  const replaced = new Set([...parsed.given.keys()].flatMap((name) => parsed.definitions[name]?.replaces ?? []))
  const isWanted = (setting: Setting) =>
    setting.name === "files"
      ? takesFiles(setting, parsed)
      : parsed.definitions[setting.name] !== undefined &&
        !replaced.has(setting.name) &&
        !replaced.has(parsed.definitions[setting.name]?.group ?? "")
  const files = [last.project.settings, project?.settings ?? []]
  // If the last run used the same `prefstream.yaml`, the file may have changed since. Its current settings come first.
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

const takesFiles = ({ values }: Setting, { operandName, operands }: ParsedArguments.ParsedArguments): boolean =>
  operands.length === 0 &&
  !Predicate.isBoolean(values) &&
  (operandName === "FILE" || (operandName === "PIPELINE" && values.every(isPipelineFile)))

const read = Effect.fnUntraced(function* (
  file: string,
  sections: ReadonlySet<string>,
  parsed: ParsedArguments.ParsedArguments,
) {
  const reader = yield* Effect.promise(() => import("./SettingsFile.ts"))
  const names = Effect.map(allCommands, (commands) => ["files", ...Object.keys(definitionsOf(commands))])
  return yield* reader.read(file, sections, finder(parsed), names)
})

const projectOf = Effect.fnUntraced(function* (parsed: ParsedArguments.ParsedArguments) {
  const file = yield* projectFile
  if (file === undefined) return undefined
  const settings = yield* read(file, (yield* Commands).names, parsed)
  return { file: (yield* Path.Path).relative("", file), settings: settings.of(parsed.command) } satisfies Project
})

const nothing = { all: [], given: [], project: { file: "", settings: [] } } satisfies LastRun

interface LastRun {
  readonly all: ReadonlyArray<Setting>
  readonly given: ReadonlyArray<Setting>
  readonly project: Project
}

const lastRun = Effect.fnUntraced(function* (
  directory: string,
  parsed: ParsedArguments.ParsedArguments,
): Effect.fn.Return<LastRun, UsageError | PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const file = JobFolder.settings(directory)
  if (!(yield* fs.exists(file))) return nothing
  const settings = yield* read(file, new Set(["project"]), parsed)
  const all = settings.all.filter(({ name }) => name !== fileName)
  const commandSettings = settings.of("")
  const ofProject = all.filter((setting) => !commandSettings.includes(setting))
  return { all, given: commandSettings, project: { file: textOf(fileName, settings.all) ?? "", settings: ofProject } }
})

export const withSources = (message: string, { all }: Settings): string => {
  const isNamed = ({ name, values }: Setting) =>
    name === "files"
      ? !Predicate.isBoolean(values) && values.some((file) => message.startsWith(`${file}: `))
      : new RegExp(`--(no-)?${name}(?![\\w-])`).test(message)
  const places = all.filter((setting) => setting.from !== typed && isNamed(setting))
  return places.length === 0
    ? message
    : `${message} (${places.map(({ from, name }) => `${name} is set in ${from}`).join("; ")})`
}

export const announceFromLastRun = Effect.gen(function* () {
  const { fromLastRun } = yield* Current
  const names = fromLastRun.filter(({ name }) => name !== "files").map(({ name }) => `--${name}`)
  if (names.length > 0)
    yield* Console.error(`Using settings of the last run: ${names.join(", ")} (see settings.yaml in the job folder)`)
})

export const mayBeNew = Effect.fnUntraced(function* (newLedger: boolean | undefined, directory: string) {
  const { all, parsed } = yield* Current
  if (newLedger !== undefined || parsed === undefined) return newLedger
  return isOfOtherJob((yield* Effect.orElseSucceed(lastRun(directory, parsed), () => nothing)).all, all)
})

const isKept = ({ name }: Setting, { definitions }: ParsedArguments.ParsedArguments): boolean => {
  const { group, isKept, isTypedOnly } = definitions[name] ?? {}
  return isTypedOnly !== true && (isKept ?? (group !== undefined && groups[group]))
}

const followers: ReadonlySet<string> = new Set([
  "audit", "collect", "doctor", "export", "export-votes", "leaderboard", "plan", "resolve", "status", "ledger backup", "ledger check", "ledger compact", "ledger prune",
]) // prettier-ignore

export const save = Effect.fn("Settings.save")(function* (directory: string) {
  const { all, project, parsed } = yield* Current
  if (parsed === undefined) return
  const { write } = yield* Effect.promise(() => import("./SettingsFile.ts"))
  const program = parsed.operands.filter(isPipelineFile)
  const lastRunSettings = yield* Effect.orElseSucceed(lastRun(directory, parsed), () => nothing)
  const without = isOfOtherJob(lastRunSettings.all, all)
    ? []
    : lastRunSettings.all.filter(({ name }) => name !== "files" && parsed.definitions[name] === undefined)
  const file = project?.file ?? lastRunSettings.project.file
  const ofFiles = new Set([
    ...(project?.settings ?? []),
    ...((yield* isSameFile(file, lastRunSettings.project.file)) ? lastRunSettings.project.settings : []),
  ])
  const settings = [
    ...(program.length === 0 ? [] : [{ name: "files", values: program, from: "" }]),
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
