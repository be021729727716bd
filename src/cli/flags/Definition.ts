/**
 * Defines options. In addition to its flag, each option has a definition that help, `prefstream.yaml`, its schema, the
 * job folder, and shell completion read. The environment or a settings file supplies values that are not typed.
 *
 * The library's flags have no place for a definition, so a table maps flags to definitions. Each command carries the
 * definitions of its own flags as an annotation. This file loads no stage of the pipeline.
 */
import { Context, Effect, Predicate } from "effect"
import { UsageError } from "../output/ExitStatus.ts"
import { Command, Flag, Param } from "effect/cli"

/** The groups of flags, in the order of the help. A run saves the settings of groups that are `true`. */
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
  /** Whether `--help` shows the flag in a command with many flags. Only `--help-all` shows the others there. */
  readonly isEssential?: true
  readonly default?: string | number
  /** The environment variable that sets the option if it is not typed. */
  readonly environment?: `PREFSTREAM_${string}`
  /** Text that help adds after the name of the variable. */
  readonly note?: string
  /** Whether only the command line can set the option: it is for one invocation, or dangerous as a habit. */
  readonly isTypedOnly?: true
  /** Whether a run saves the option in the job folder; default: the value of its group. */
  readonly isKept?: true
  /**
   * `whole`: the value is a path. `gold`: if the value begins with `gold:`, the rest is a path. Paths in a settings
   * file are relative to the folder of that file.
   */
  readonly path?: "whole" | "gold"
  /** The kind of map that a settings file may have. `json` becomes one value, the others become `NAME=VALUE` values. */
  readonly map?: "numbers" | "prices" | "json"
  readonly isRepeatable?: true
  readonly isSwitch?: true
  /** Values, or beginnings of values, that shell completion offers. */
  readonly values?: ReadonlyArray<string>
  /** Names of other flags or of groups. If this option is typed, their settings from files are ignored. */
  readonly replaces?: ReadonlyArray<string>
}

const definitions = new WeakMap<Param.Any, Definition>()

export const define =
  (definition: Definition) =>
  <P extends Param.Any>(param: P): P => {
    definitions.set(param, { ...definitions.get(param), ...definition })
    return param
  }

const innerOf = (param: Param.Any): Param.Any | undefined =>
  Predicate.hasProperty(param, "param") && Param.isParam(param.param) ? param.param : undefined

/** The definition of a flag. A flag that wraps another one inherits its definition. */
const definitionOf = (param: Param.Any): Definition => {
  const inner = innerOf(param)
  return { ...(inner && definitionOf(inner)), ...definitions.get(param) }
}

/** Assigns flags to a group. Flags that already have a group keep it. */
export const inGroup = <F extends { readonly [name: string]: Param.Any }>(group: keyof typeof groups, flags: F): F => {
  for (const flag of Object.values(flags)) define({ group, ...definitionOf(flag) })(flag)
  return flags
}

/**
 * The values of an option from any source, as texts that a user would type. An option without a value is true or false.
 */
export interface Setting {
  readonly name: string
  readonly values: ReadonlyArray<string> | boolean
  /** The source, such as `prefstream.yaml:3`, or the name of an environment variable. */
  readonly from: string
}

export const isFromEnvironment = ({ from }: Setting): boolean => from.startsWith("PREFSTREAM_")

/** The settings of the running command that were not typed, by name. */
export const Untyped = Context.Reference<ReadonlyMap<string, Setting>>("prefstream/cli/Untyped", {
  defaultValue: () => new Map(),
})

export type Definitions = Readonly<Record<string, Definition>>

/** The annotation of a command that carries the definitions of its flags, by name. */
export const Table = Context.Reference<Definitions>("prefstream/cli/Definitions", { defaultValue: () => ({}) })

/** The definitions of commands and their subcommands. If several options have the same name, the first one wins. */
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

/** Makes a command that carries the definitions of its flags. */
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

/** Fails for an invalid value. The message names the environment variable that set it, or else the flag. */
export const refuse = Effect.fnUntraced(function* (name: string, problem: string) {
  const setting = (yield* Untyped).get(name)
  const source = setting !== undefined && isFromEnvironment(setting) ? setting.from : `--${name}`
  return yield* new UsageError({ message: `${source}: ${problem}` })
})

/** Makes a flag take the value of its setting if it is not typed. */
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

/** The typed files, or else those of the settings. */
export const orFiles = (files: ReadonlyArray<string>) =>
  Effect.map(Untyped, (untyped) => {
    const values = untyped.get("files")?.values ?? []
    return files.length > 0 || Predicate.isBoolean(values) ? files : values
  })
