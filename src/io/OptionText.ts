/** Formats options as a program writes them. The command line prints flags instead (`cli/output/Flags.ts`). */
import { Context } from "effect"
import { isObject } from "./Values.ts"

/** Rewrites the reasons that a command writes to files. The command line replaces options by flags. */
export const Wording = Context.Reference<(reason: string) => string>("prefstream/io/OptionText/Wording", {
  defaultValue: () => (reason) => reason,
})

export const of = (name: string): string => `\`${name}\``

/** With the word "path", the command line names the flag `--completion-path` (`cli/output/Flags`). */
export const ofPath = (name: string, value: unknown): string =>
  `${of(name)}${name === "completions" && Array.isArray(value) ? " path" : ""}`

export const set = (options: { readonly [name: string]: unknown }): string =>
  of(
    Object.entries(options)
      .map(([name, value]) => `${name}: ${literal(value)}`)
      .join(", "),
  )

const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${literal(member)}`)
  return `{ ${members.join(", ")} }`
}
