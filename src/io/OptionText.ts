/** Formats options in messages as code, such as `keep: 3`. For the command line, `cli/output/Flags` inserts flags. */
import { Context } from "effect"
import { isObject } from "./Values.ts"

/** Rewrites the reasons in the rejects file. The command line replaces the options in a reason with their flags. */
export const Wording = Context.Reference<(reason: string) => string>("prefstream/io/OptionText/Wording", {
  defaultValue: () => (reason) => reason,
})

export const of = (name: string): string => `\`${name}\``

/** For a list in `completions`, returns text that `cli/output/Flags` replaces by the flag `--completion-path`. */
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
