/** Finds possibly misspelled paths in options: paths that the first records do not have. */
import * as Field from "../record/Field.ts"
import * as OptionText from "../../io/OptionText.ts"
import { quoteNames } from "../../io/Values.ts"
import { fieldOptions, type LayoutOptions } from "../layout/Layout.ts"

export interface UnknownFields {
  readonly columns: ReadonlyArray<string>
  readonly problem: string | undefined
}

const requiredOptions: ReadonlySet<string> = new Set(["prompt", "completions", "completion", "key"])

export const describeField = (name: string, option: keyof LayoutOptions, value?: unknown): string =>
  `${JSON.stringify(name)} (${OptionText.ofPath(option, value)})`

const maxShownNames = 20

export const missingMessage = (
  option: string,
  missing: ReadonlyArray<string>,
  members: ReadonlyArray<string>,
): string => `${option}: the first records have no ${quoted(missing)}; they have ${quoted(members)}`

export const undetectedMessage = (
  option: "key" | "prompt" | "completion",
  members: ReadonlyArray<string>,
  example: string | undefined,
): string =>
  `found no ${option} in ${quoted(members)}: set ${OptionText.of(option)} to the right field${example === undefined ? "" : `, such as ${OptionText.set({ [option]: example })}`}`

export const noMember = (members: ReadonlyArray<string>): string =>
  members.length === 0 ? "" : `; the first records have no field of this name; they have ${quoted(members)}`

const quoted = (names: ReadonlyArray<string>): string =>
  `${quoteNames(names.slice(0, maxShownNames))}${names.length > maxShownNames ? ", …" : ""}`

export const of = (options: LayoutOptions, members: ReadonlyArray<string>): UnknownFields => {
  const columns: Array<string> = []
  let problem: string | undefined
  for (const option of [...fieldOptions, "keep"] as const) {
    for (const text of [options[option] ?? []].flat()) {
      if (option === "keep" && text === "*") continue
      const names = option === "keep" ? [text] : Field.columnsOf(text)
      const missing = names.filter((name) => !members.includes(name))
      columns.push(...missing.map((name) => describeField(name, option, options[option])))
      if (requiredOptions.has(option) && missing.length > 0 && missing.length === names.length) {
        problem ??= missingMessage(OptionText.ofPath(option, options[option]), missing, members)
      }
    }
  }
  return { columns, problem }
}
