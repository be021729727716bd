/**
 * Formats options for messages, in backticks, as a program writes them: `` `prompt` ``, `` `quote: "none"` ``. Values
 * are JSON, so that the command line can print flags instead (`cli/output/Flags.ts`).
 */
import { isObject } from "./Values.ts"

export const of = (name: string): string => `\`${name}\``

/**
 * Formats the name of an option that is a path. If `completions` has several paths, ` path` is added, because the
 * command line has another flag for them (`--completion-path`).
 */
export const ofPath = (name: string, value: unknown): string =>
  `${of(name)}${name === "completions" && Array.isArray(value) ? " path" : ""}`

/** Formats several options as members of an object literal. */
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
