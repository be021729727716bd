/** The words of a command line: which command they name, which flags they give, and which arguments. */
import type { CommandDescriptor, FlagDescriptor } from "effect/cli/Completions"

export interface Words {
  /** `run`, `ledger check`. */
  readonly command: string
  /** How many words there are up to the last one of the command. */
  readonly end: number
  readonly flags: ReadonlyArray<FlagDescriptor>
  /** Of the command: `FILE`, `PIPELINE`. */
  readonly operandName: string | undefined
  readonly given: ReadonlyMap<string, ReadonlyArray<string> | boolean>
  readonly operands: ReadonlyArray<string>
}

const isWord = (word: string) => word === "-" || !word.startsWith("-") || /^-[\d.]/.test(word)

/** What the library takes as the value of a flag without one. */
const literals = new Map([
  ...["true", "yes", "on", "1", "y"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0", "n"].map((word) => [word, false] as const),
])

/** Undefined for a command line without a command, or one that asks for help. */
export const of = (args: ReadonlyArray<string>, root: CommandDescriptor): Words | undefined => {
  let found = root
  const names: Array<string> = []
  let end = 0
  for (const [i, word] of args.entries()) {
    if (word === "--" || found.subcommands.length === 0) break
    const next = found.subcommands.find(({ name }) => name === word)
    if (next === undefined) continue
    found = next
    names.push(word)
    end = i + 1
  }
  if (names.length === 0 || found.subcommands.length > 0) return undefined

  const byWord = new Map<string, { readonly flag: FlagDescriptor; readonly isOn: boolean }>()
  for (const flag of found.flags) {
    byWord.set(`--${flag.name}`, { flag, isOn: true })
    for (const alias of flag.aliases) byWord.set(`${alias.length === 1 ? "-" : "--"}${alias}`, { flag, isOn: true })
    if (flag.type._tag === "Boolean" && flag.negation !== false) {
      byWord.set(`--${flag.negation ?? `no-${flag.name}`}`, { flag, isOn: false })
    }
  }
  const given = new Map<string, ReadonlyArray<string> | boolean>()
  const operands: Array<string> = []
  for (let i = end; i < args.length; i++) {
    const word = args[i] ?? ""
    if (word === "--help" || word === "-h") return undefined
    if (word === "--") {
      operands.push(...args.slice(i + 1))
      break
    }
    if (isWord(word)) {
      operands.push(word)
      continue
    }
    const equals = word.indexOf("=")
    const name = equals < 0 ? word : word.slice(0, equals)
    const attached = equals < 0 ? undefined : word.slice(equals + 1)
    const known = byWord.get(name)
    // What is no flag is the library's to refuse.
    if (known === undefined) continue
    const { flag, isOn } = known
    if (flag.type._tag === "Boolean") {
      const value = literals.get(attached ?? args[i + 1] ?? "")
      if (attached === undefined && value !== undefined) i++
      given.set(flag.name, (value ?? true) === isOn)
    } else {
      const before = given.get(flag.name)
      given.set(flag.name, [...(Array.isArray(before) ? before : []), attached ?? args[++i] ?? ""])
    }
  }
  return { command: names.join(" "), end, flags: found.flags, operandName: found.arguments[0]?.name, given, operands }
}
