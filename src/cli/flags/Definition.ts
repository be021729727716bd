/**
 * The table of options: beside its flag, each option has the definition that help, `prefstream.yaml`, its schema, the job
 * folder, and shell completion read. A value that is not typed comes from the environment or a file of settings.
 *
 * Guarantees: loads no stage. The library's flags have no place for a definition, so it stands in a table beside them;
 * each command carries the definitions of its own flags as an annotation.
 */
import { Context, Effect, Predicate } from "effect"
import { UsageError } from "../output/ExitStatus.ts"
import { Command, Flag, Param } from "effect/cli"

/** The groups of help, in its order. A run saves the settings of the groups that are true in its job folder. */
export const groups = {
  INPUT: false,
  VOTES: false,
  TASKS: false,
  SERVICE: true,
  WEBHOOK: true,
  EXPERTS: false,
  DATASET: true,
  JOB: false,
} as const

export interface Definition {
  readonly group?: keyof typeof groups
  /** Shown without `--help-all` where a command has many flags. */
  readonly isEssential?: true
  readonly default?: string | number
  /** The variable that sets it, if it is not typed. */
  readonly environment?: `PREFSTREAM_${string}`
  /** What help adds to the variable. */
  readonly note?: string
  /** For a single invocation: dangerous as a habit, and refused in a file. */
  readonly isTypedOnly?: true
  /** Whether a run saves it in the job folder. Default: that of its group. */
  readonly isKept?: true
  /** Whether the value is a path, relative to the file that has it, or begins with `gold:` and is one then. */
  readonly path?: "whole" | "gold"
  /** A map in a file: of values `NAME=VALUE`, or one value as JSON. */
  readonly map?: "numbers" | "prices" | "json"
  readonly isRepeatable?: true
  readonly isSwitch?: true
  /** Beginnings of values, for shell completion. */
  readonly values?: ReadonlyArray<string>
  /** Other flags, or groups of them, whose settings a typed value replaces. */
  readonly replaces?: ReadonlyArray<string>
}

const definitions = new WeakMap<Param.Any, Definition>()

/** Adds to the definition of a flag. */
export const define =
  (definition: Definition) =>
  <P extends Param.Any>(param: P): P => {
    definitions.set(param, { ...definitions.get(param), ...definition })
    return param
  }

const innerOf = (param: Param.Any): Param.Any | undefined =>
  Predicate.hasProperty(param, "param") && Param.isParam(param.param) ? param.param : undefined

/** A flag that is made of another has its definition, too. */
const definitionOf = (param: Param.Any): Definition => {
  const inner = innerOf(param)
  return { ...(inner && definitionOf(inner)), ...definitions.get(param) }
}

/** Flags of one group, but for those that have another. */
export const inGroup = <F extends { readonly [name: string]: Param.Any }>(group: keyof typeof groups, flags: F): F => {
  for (const flag of Object.values(flags)) define({ group, ...definitionOf(flag) })(flag)
  return flags
}

/** A value of an option, from anywhere: as it is typed on a command line; a flag without a value is true or false. */
export interface Setting {
  readonly name: string
  readonly values: ReadonlyArray<string> | boolean
  /** `prefstream.yaml:3`, or the name of a variable. */
  readonly from: string
}

export const isFromEnvironment = ({ from }: Setting): boolean => from.startsWith("PREFSTREAM_")

/** The settings of the running command that are not typed, by name. */
export const Untyped = Context.Reference<ReadonlyMap<string, Setting>>("prefstream/cli/Untyped", {
  defaultValue: () => new Map(),
})

export type Definitions = Readonly<Record<string, Definition>>

/** The definitions of a command's flags, by name. */
export const Table = Context.Reference<Definitions>("prefstream/cli/Definitions", { defaultValue: () => ({}) })

/** The definitions of commands and their subcommands; of those with the same name, the first. */
export const definitionsOf = (commands: ReadonlyArray<Command.Command.Any>): Definitions =>
  Object.assign(
    {},
    ...commands
      .toReversed()
      .flatMap(({ annotations, subcommands }) => [
        ...subcommands.toReversed().map(({ commands }) => definitionsOf(commands)),
        Context.get(annotations, Table),
      ]),
  )

export const nameOf = (param: Param.Any): string => {
  const inner = innerOf(param)
  if (inner !== undefined) return nameOf(inner)
  return Predicate.hasProperty(param, "name") ? String(param.name) : ""
}

/** A command whose options are in its table. */
export const makeCommand = <const Name extends string, const C extends Command.Command.Config, R, E>(
  name: Name,
  config: C,
  handler: (config: Command.Command.Config.Infer<C>) => Effect.Effect<void, E, R>,
) => {
  const params = Object.values(config).filter(Param.isParam)
  const flags = params.filter(({ kind }) => kind === "flag")
  const table = flags.map((flag) => [nameOf(flag), definitionOf(flag)] as const)
  return Command.make(name, config, handler).pipe(Command.annotate(Table, Object.fromEntries(table)))
}

/** Refuses the value of an option, by the name of its flag or of the variable that sets it. */
export const refuse = Effect.fnUntraced(function* (name: string, problem: string) {
  const setting = (yield* Untyped).get(name)
  const source = setting !== undefined && isFromEnvironment(setting) ? setting.from : `--${name}`
  return yield* new UsageError({ message: `${source}: ${problem}` })
})

/** The flag, with the value of its setting where it is not typed. */
export const orSetting = <A>(flag: Flag.Flag<A>): Flag.Flag<A> =>
  Flag.mapEffect(flag, (value) =>
    Effect.flatMap(Untyped, (untyped) => {
      const name = nameOf(flag)
      const setting = untyped.get(name)
      if (setting === undefined) return Effect.succeed(value)
      const texts = Predicate.isBoolean(setting.values) ? [String(setting.values)] : setting.values
      return Effect.map(flag.parse({ flags: { [name]: texts }, arguments: [] }), ([, value]) => value)
    }),
  )

/** The files that are named, or else those of the settings. */
export const orFiles = (files: ReadonlyArray<string>) =>
  Effect.map(Untyped, (untyped) => {
    const values = untyped.get("files")?.values ?? []
    return files.length > 0 || Predicate.isBoolean(values) ? files : values
  })
