/**
 * The settings of a command: what its words give, else the environment, else what the last run of the job was given
 * (for commands that go on with it), else `prefstream.yaml`, which is looked for upward from this folder. Of what that
 * file said to the last run, what it says now comes first.
 *
 * Guarantees: a setting is taken whole from the first place that has it; settings from files are added to the words of
 * the command line, so that its flags check them; a message that names such a flag also names its place. A pipeline file
 * has settings of its own: beside one, no other file is read.
 */
import { Config, Console, Context, Effect, FileSystem, Option, Path, type PlatformError, Predicate } from "effect"
import type { CommandDescriptor } from "effect/cli/Completions"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import { groups } from "../flags/Groups.ts"
import { isPipelineFile } from "../flags/PipelineName.ts"
import { UsageError } from "../output/ExitStatus.ts"
import type { Setting, SettingsFile } from "./SettingsFile.ts"
import * as Words from "./Words.ts"

export const fileName = "prefstream.yaml"

/** What is asked of one call, and would be wrong or dangerous as a habit: no keys. */
export const ofOneCall: ReadonlySet<string> = new Set([
  "adopt", "all", "before", "campaign", "dry-run", "give-up", "json", "moved", "new-campaign", "now", "quick",
  "rejects", "results", "resubmit", "send-again", "show", "sign-in-link",
]) // prettier-ignore

/** What a job folder keeps of a run: what later commands of the job also take, and no addresses of files. */
const kept: ReadonlySet<string> = new Set(
  ["job", "ledger", "SERVICE", "WEBHOOK", "DATASET"]
    .flatMap((name) => groups[name] ?? [name])
    .filter((name) => !ofOneCall.has(name)),
)

/** Who gives one of these on a command line does not mean the others, wherever they stand. */
const replaced: { readonly [given: string]: ReadonlyArray<string> } = {
  guidelines: ["guidelines-file"],
  "guidelines-file": ["guidelines"],
  listen: ["once"],
  once: groups["WEBHOOK"] ?? [],
}

/** Commands that go on with what the last run was given. */
const followers = new Set([
  "collect", "doctor", "export", "resolve", "status", "ledger backup", "ledger check", "ledger compact", "ledger prune",
]) // prettier-ignore

export interface Settings {
  readonly words: Words.Words | undefined
  /** What holds, from wherever. */
  readonly all: ReadonlyArray<Setting>
  /** Those of them that the last run of the job was given. */
  readonly remembered: ReadonlyArray<Setting>
  readonly project: Project | undefined
  /** What is wrong with a file of settings, for the command that diagnoses it. */
  readonly problem: unknown
  /** The command line with what files say. */
  readonly args: ReadonlyArray<string>
}

/** A file of settings, and what it says for a command. */
export interface Project {
  readonly file: string
  readonly settings: ReadonlyArray<Setting>
}

const none = (args: ReadonlyArray<string>): Settings => ({
  words: undefined,
  all: [],
  remembered: [],
  project: undefined,
  problem: undefined,
  args,
})

/** Of the command that is being carried out. */
export const Current = Context.Reference<Settings>("prefstream/cli/Settings", { defaultValue: () => none([]) })

const variableIn = (description: string | undefined): string | undefined =>
  /\[(PREFSTREAM_[A-Z_]+)/.exec(description ?? "")?.[1]

const fromEnvironment = (words: Words.Words) =>
  Effect.forEach(words.flags, ({ description, name }) => {
    const variable = variableIn(description)
    if (variable === undefined || words.given.has(name)) return Effect.succeed([])
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

/** Where a flag stands that was given. */
const typed = "the command line"

const given = ({ given }: Words.Words): ReadonlyArray<Setting> =>
  [...given].map(([name, values]) => ({ name, values, from: typed }))

/** Another job's settings, though in this folder. */
const isOfOther = (last: ReadonlyArray<Setting>, chosen: ReadonlyArray<Setting>): boolean =>
  ["job", "ledger"].some((name) => {
    const [was, is] = [textOf(name, last), textOf(name, chosen)]
    return is !== undefined && is !== was && (name === "job" || was !== undefined)
  })

/** What there is; the flags are asked for where a key is none of the command's own. */
export const Commands = Context.Reference<{
  readonly names: ReadonlySet<string>
  readonly everyFlag: Effect.Effect<ReadonlySet<string>>
}>("prefstream/cli/Commands", { defaultValue: () => ({ names: new Set(), everyFlag: Effect.succeed(new Set()) }) })

/** Fills in what the words of a command line leave open. */
export const of = Effect.fn("Settings.of")(function* (args: ReadonlyArray<string>, root: CommandDescriptor) {
  const words = Words.of(args, root)
  // What `init` is given is what it writes.
  if (words === undefined || words.command === "init" || words.operands.some(isPipelineFile))
    return { ...none(args), all: words === undefined ? [] : given(words), words }
  const chosen = [...given(words), ...(yield* fromEnvironment(words))]
  const filled = filledIn(args, words, chosen)
  return words.command !== "doctor"
    ? yield* filled
    : yield* filled.pipe(Effect.catch((problem) => Effect.succeed({ ...none(args), all: chosen, words, problem })))
})

const filledIn = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  words: Words.Words,
  chosen: ReadonlyArray<Setting>,
) {
  const project = yield* projectOf(words)
  const directory = textOf("dir", [...chosen, ...(project?.settings ?? [])]) ?? JobFolder.defaultDirectory
  const left = followers.has(words.command) ? yield* lastRun(directory, words) : nothing
  const last = isOfOther(left.all, chosen) ? nothing : left
  const isOfPipeline = isPipelineFile(textOf("files", last.given) ?? "")

  const gone = new Set([...words.given.keys()].flatMap((name) => replaced[name] ?? []))
  const all = [...chosen]
  const extra: Array<string> = []
  const files = [last.project.settings, project?.settings ?? []]
  // What the same file says by now comes first.
  if (project !== undefined && (yield* isSameFile(project.file, last.project.file))) files.reverse()
  for (const setting of isOfPipeline ? last.given : [...last.given, ...files.flat()]) {
    if (gone.has(setting.name) || all.some(({ name }) => name === setting.name)) continue
    const texts = yield* wordsOf(setting, words)
    if (texts.length === 0) continue
    extra.push(...texts)
    all.push(setting)
  }
  return {
    words,
    all,
    remembered: last.all.filter((setting) => all.includes(setting)),
    project,
    problem: undefined,
    args: [...args.slice(0, words.end), ...extra, ...args.slice(words.end)],
  } satisfies Settings
})

/** Reads a file of settings whose keys are flags. */
const read = Effect.fnUntraced(function* (file: string, sections: ReadonlySet<string>, words: Words.Words) {
  const reader = yield* Effect.promise(() => import("./SettingsFile.ts"))
  const settings = yield* reader.read(file, sections)
  yield* checkKeys(settings, words, (yield* Commands).everyFlag)
  return settings
})

const projectOf = Effect.fnUntraced(function* (words: Words.Words) {
  const file = yield* projectFile
  if (file === undefined) return undefined
  const settings = yield* read(file, (yield* Commands).names, words)
  const path = yield* Path.Path
  return { file: path.relative("", file), settings: settings.of(words.command) } satisfies Project
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
  words: Words.Words,
): Effect.fn.Return<LastRun, UsageError | PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const file = JobFolder.settings(directory)
  if (!(yield* fs.exists(file))) return nothing
  const settings = yield* read(file, new Set(["project"]), words)
  const all = settings.all.filter(({ name }) => name !== fileName)
  const given = settings.of("")
  const ofProject = all.filter((setting) => !given.includes(setting))
  return { all, given, project: { file: textOf(fileName, settings.all) ?? "", settings: ofProject } }
})

const checkKeys = Effect.fnUntraced(function* (
  file: SettingsFile,
  words: Words.Words,
  everyFlag: Effect.Effect<ReadonlySet<string>>,
) {
  const own = new Set(["files", fileName, ...words.flags.map(({ name }) => name)])
  for (const { from, name } of file.all) {
    if (ofOneCall.has(name)) {
      return yield* new UsageError({ message: `${from}: ${name} is asked of one call: give it as --${name}` })
    }
    if (own.has(name) || (yield* everyFlag).has(name)) continue
    return yield* new UsageError({
      message: `${from}: there is no setting ${JSON.stringify(name)}: expected files, or the name of a flag without its dashes`,
    })
  }
})

/** A setting as it would be typed; nothing if the command has no such flag. */
const wordsOf = Effect.fnUntraced(function* (setting: Setting, words: Words.Words) {
  const { from, name, values } = setting
  if (name === "files") {
    if (Predicate.isBoolean(values)) return yield* new UsageError({ message: `${from}: files: expected files` })
    const isWanted = words.operandName === "FILE" || (words.operandName === "PIPELINE" && values.every(isPipelineFile))
    return words.operands.length === 0 && isWanted ? values : []
  }
  const flag = words.flags.find((flag) => flag.name === name)
  if (flag === undefined) return []
  const isSwitch = flag.type._tag === "Boolean"
  if (isSwitch !== Predicate.isBoolean(values)) {
    return yield* new UsageError({ message: `${from}: ${name}: expected ${isSwitch ? "true or false" : "a value"}` })
  }
  return Predicate.isBoolean(values) ? [`--${values ? "" : "no-"}${name}`] : values.map((value) => `--${name}=${value}`)
})

/** A message, with the places of the flags that it names but nobody typed. */
export const explained = (message: string, { all }: Settings): string => {
  const places = all.filter(({ from, name }) => from !== typed && new RegExp(`--(no-)?${name}(?![\\w-])`).test(message))
  return places.length === 0
    ? message
    : `${message} (${places.map(({ from, name }) => `${name} is set in ${from}`).join("; ")})`
}

/** Says which settings of the last run hold, if any do. */
export const announce = Effect.gen(function* () {
  const { remembered } = yield* Current
  const names = remembered.filter(({ name }) => name !== "files").map(({ name }) => `--${name}`)
  if (names.length > 0) yield* Console.error(`As the last run was given: ${names.join(", ")}`)
})

/** Leaves what this run was given in its job folder, and of the run before what this command has no flags for. */
export const remember = Effect.fn("Settings.remember")(function* (directory: string) {
  const { all, project, words } = yield* Current
  if (words === undefined) return
  const { write } = yield* Effect.promise(() => import("./SettingsFile.ts"))
  const program = words.operands.filter(isPipelineFile)
  const left = yield* Effect.orElseSucceed(lastRun(directory, words), () => nothing)
  const flags = new Set(["files", ...words.flags.map(({ name }) => name)])
  const without = isOfOther(left.all, all) ? [] : left.all.filter(({ name }) => !flags.has(name))
  const file = project?.file ?? left.project.file
  const ofFiles = new Set([
    ...(project?.settings ?? []),
    ...((yield* isSameFile(file, left.project.file)) ? left.project.settings : []),
  ])
  const settings = [
    ...(program.length === 0 ? [] : [{ name: "files", values: program, from: "" }]),
    // A job is found by its name; what else the environment says holds where it is said.
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
