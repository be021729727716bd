/** Each option has a flag, and a definition for help, settings files, their schema, and shell completion. */
import { Context, Effect, Predicate } from "effect"
import { usageError } from "../output/ExitStatus.ts"
import { Command, Flag, Param } from "effect/cli"

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
  readonly isEssential?: true
  readonly default?: string | number
  readonly environment?: `PREFSTREAM_${string}`
  readonly note?: string
  /** Only the command line can set the option, because it is for one invocation, or too dangerous for a file. */
  readonly isTypedOnly?: true
  readonly isKept?: true
  /** The part of the value that is a file's path: the whole value, or the text after `gold:`. */
  readonly path?: "whole" | "gold"
  /** A settings file may set a YAML map. For `json`, the map becomes one JSON text; otherwise, `NAME=VALUE` texts. */
  readonly map?: "numbers" | "prices" | "json"
  readonly isRepeatable?: true
  readonly isSwitch?: true
  readonly values?: ReadonlyArray<string>
  /** Flags or groups whose settings in files are ignored if this flag is on the command line. */
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

const definitionOf = (param: Param.Any): Definition => {
  const inner = innerOf(param)
  return { ...(inner && definitionOf(inner)), ...definitions.get(param) }
}

export const inGroup = <F extends { readonly [name: string]: Param.Any }>(group: keyof typeof groups, flags: F): F => {
  for (const flag of Object.values(flags)) define({ group, ...definitionOf(flag) })(flag)
  return flags
}

export interface Setting {
  readonly name: string
  readonly values: ReadonlyArray<string> | boolean
  readonly from: string
}

export const isFromEnvironment = ({ from }: Setting): boolean => from.startsWith("PREFSTREAM_")

export const UntypedSettings = Context.Reference<ReadonlyMap<string, Setting>>("prefstream/cli/UntypedSettings", {
  defaultValue: () => new Map(),
})

export type Definitions = Readonly<Record<string, Definition>>

export const Table = Context.Reference<Definitions>("prefstream/cli/Definitions", { defaultValue: () => ({}) })

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

export const makeCommand = <const Name extends string, const C extends Command.Command.Config, R, E>(
  name: Name,
  description: string,
  config: C,
  handler: (config: Command.Command.Config.Infer<C>) => Effect.Effect<void, E, R>,
  examples: Readonly<Record<string, string>> = {},
) => {
  const flags = Object.values(config)
    .filter(Param.isParam)
    .filter(({ kind }) => kind === "flag")
  return Command.make(name, config, handler).pipe(
    Command.annotate(Table, Object.fromEntries(flags.map((flag) => [nameOf(flag), definitionOf(flag)]))),
    Command.withDescription(description),
    Command.withExamples(Object.entries(examples).map(([command, description]) => ({ command, description }))),
  )
}

export const refuse = Effect.fnUntraced(function* (name: string, problem: string) {
  const setting = (yield* UntypedSettings).get(name)
  const source = setting !== undefined && isFromEnvironment(setting) ? setting.from : `--${name}`
  return yield* usageError(`${source}: ${problem}`)
})

export const orSetting = <A>(flag: Flag.Flag<A>): Flag.Flag<A> =>
  Flag.mapEffect(flag, (value) =>
    Effect.flatMap(UntypedSettings, (untyped) => {
      const name = nameOf(flag)
      const setting = untyped.get(name)
      if (setting === undefined) return Effect.succeed(value)
      const texts = Predicate.isBoolean(setting.values) ? [String(setting.values)] : setting.values
      return Effect.map(flag.parse({ flags: { [name]: texts }, arguments: [] }), ([, value]) => value)
    }),
  )

export const orFiles = (files: ReadonlyArray<string>) =>
  Effect.map(UntypedSettings, (untyped) => {
    const values = untyped.get("files")?.values ?? []
    return files.length > 0 || Predicate.isBoolean(values) ? files : values
  })
