/** Parses a command line: finds the command that it names, and the command's flags and operands. */
import { type Command, Completions } from "effect/cli"
import { type Definitions, definitionsOf } from "../flags/Definition.ts"

export interface ParsedArguments {
  readonly command: string
  readonly definitions: Definitions
  readonly operandName: string | undefined
  readonly given: ReadonlyMap<string, ReadonlyArray<string> | boolean>
  readonly operands: ReadonlyArray<string>
}

const isOperand = (argument: string) => argument === "-" || !argument.startsWith("-") || /^-[\d.]/.test(argument)

const literals = new Map([
  ...["true", "yes", "on", "1", "y"].map((argument) => [argument, true] as const),
  ...["false", "no", "off", "0", "n"].map((argument) => [argument, false] as const),
])

export const parse = (args: ReadonlyArray<string>, root: Command.Command.Any): ParsedArguments | undefined => {
  let command = root
  const names: Array<string> = []
  let end = 0
  for (const [i, argument] of args.entries()) {
    const subcommands = command.subcommands.flatMap(({ commands }) => commands)
    if (argument === "--" || subcommands.length === 0) break
    const next = subcommands.find(({ name }) => name === argument)
    if (next === undefined) continue
    command = next
    names.push(argument)
    end = i + 1
  }
  if (names.length === 0 || command.subcommands.length > 0) return undefined

  const { arguments: operandTypes, flags } = Completions.fromCommand(command)
  const byName = new Map<string, { readonly flag: Completions.FlagDescriptor; readonly isOn: boolean }>()
  for (const flag of flags) {
    byName.set(`--${flag.name}`, { flag, isOn: true })
    for (const alias of flag.aliases) byName.set(`${alias.length === 1 ? "-" : "--"}${alias}`, { flag, isOn: true })
    if (flag.type._tag === "Boolean" && flag.negation !== false) {
      byName.set(`--${flag.negation ?? `no-${flag.name}`}`, { flag, isOn: false })
    }
  }
  const valuesByFlag = new Map<string, ReadonlyArray<string> | boolean>()
  const operands: Array<string> = []
  for (let i = end; i < args.length; i++) {
    const argument = args[i] ?? ""
    if (argument === "--help" || argument === "-h") return undefined
    if (argument === "--") {
      operands.push(...args.slice(i + 1))
      break
    }
    if (isOperand(argument)) {
      operands.push(argument)
      continue
    }
    const equals = argument.indexOf("=")
    const name = equals < 0 ? argument : argument.slice(0, equals)
    const attached = equals < 0 ? undefined : argument.slice(equals + 1)
    const match = byName.get(name)
    if (match === undefined) continue
    const { flag, isOn } = match
    if (flag.type._tag === "Boolean") {
      const value = literals.get(attached ?? args[i + 1] ?? "")
      if (attached === undefined && value !== undefined) i++
      valuesByFlag.set(flag.name, (value ?? true) === isOn)
    } else {
      const before = valuesByFlag.get(flag.name)
      valuesByFlag.set(flag.name, [...(Array.isArray(before) ? before : []), attached ?? args[++i] ?? ""])
    }
  }
  return {
    command: names.join(" "),
    definitions: definitionsOf([command]),
    operandName: operandTypes[0]?.name,
    given: valuesByFlag,
    operands,
  }
}
