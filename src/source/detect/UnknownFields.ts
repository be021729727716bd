/** Fields that are set but in none of the first records: perhaps misspelled. */
import { Result } from "effect"
import * as Field from "../record/Field.ts"
import { quoteNames } from "../../io/Values.ts"
import { fieldOptions, type LayoutOptions } from "../layout/Layout.ts"
import { flags } from "../layout/Layout.ts"
import * as UnusedContext from "../item/UnusedContext.ts"

export interface UnknownFields {
  /** Such as `"winer" (--gold-path)`. */
  readonly columns: ReadonlyArray<string>
  /** Why no item can come of it: a field that every item needs has nothing at all. */
  readonly nothingOf: string | undefined
}

const needed: ReadonlySet<string> = new Set(["prompt", "completions", "completion", "key"])

export const named = (name: string, option: keyof typeof flags): string => `${JSON.stringify(name)} (${flags[option]})`

/** How many names of members a message lists. */
const maxShownNames = 20

/** One line: what is missing, and what there is. */
export const nothingAt = (
  option: keyof typeof flags,
  missing: ReadonlyArray<string>,
  members: ReadonlyArray<string>,
): string => `${flags[option]}: the first records have no ${quoted(missing)}; they have ${quoted(members)}`

/** Says that no field was found for an option that was not set. */
export const notFound = (
  option: "key" | "prompt" | "completion",
  members: ReadonlyArray<string>,
  example: string | undefined,
): string =>
  `found no ${option} in ${quoted(members)}: set ${flags[option]} to its field${example === undefined ? "" : `, such as ${flags[option]} ${UnusedContext.quoted(example)}`}`

/** After what is wrong with a path: that it is no member's name either. */
export const noMember = (members: ReadonlyArray<string>): string =>
  members.length === 0 ? "" : `; nor is it a name in the first records, which have ${quoted(members)}`

const quoted = (names: ReadonlyArray<string>): string =>
  `${quoteNames(names.slice(0, maxShownNames))}${names.length > maxShownNames ? ", …" : ""}`

/** @param members the names that the records have at their top */
export const of = (options: LayoutOptions, members: ReadonlyArray<string>): UnknownFields => {
  const columns: Array<string> = []
  let nothingOf: string | undefined
  for (const option of [...fieldOptions, "keep"] as const) {
    for (const text of [options[option] ?? []].flat()) {
      if (option === "keep" && text === "*") continue
      const columnsOf =
        option === "keep"
          ? [text]
          : Result.match(Field.parse(text), { onFailure: () => [], onSuccess: (field) => field.columns })
      const missing = columnsOf.filter((name) => !members.includes(name))
      columns.push(...missing.map((name) => named(name, option)))
      if (
        needed.has(option) &&
        columnsOf.length > 0 &&
        missing.length === columnsOf.length &&
        nothingOf === undefined
      ) {
        nothingOf = nothingAt(option, missing, members)
      }
    }
  }
  return { columns, nothingOf }
}
