/** Messages show options as code, such as `keep: 3`. On the command line, `cli/output/Flags` shows flags instead. */
import { Context } from "effect"
import { isObject } from "./Values.ts"

/** Changes a reason before it goes to the rejects file. The command line replaces the options in it with flags. */
export const Wording = Context.Reference<(reason: string) => string>("prefstream/io/OptionText/Wording", {
  defaultValue: () => (reason) => reason,
})

export const of = (name: string): string => `\`${name}\``

/** If `completions` is a list of paths, adds " path". `cli/output/Flags` shows both words as `--completion-path`. */
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
