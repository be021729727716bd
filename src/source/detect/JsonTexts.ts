/** Finds texts that may be meant as lists. They stay text, and a hint names the option that reads them as lists. */
import { Result } from "effect"
import type { Row } from "../record/Row.ts"
import * as Field from "../record/Field.ts"
import * as CellText from "../item/CellText.ts"
import { isEmpty } from "../../io/Values.ts"
import type { LayoutOptions } from "../layout/Layout.ts"
import { flags } from "../layout/Layout.ts"

export const hints = (
  rows: ReadonlyArray<Row>,
  { completion, completions, layout, prompt }: LayoutOptions,
): ReadonlyArray<string> => {
  // In the other case, lists are already read as lists.
  const prompts = layout === "long" && completion === undefined ? undefined : prompt
  const texts = layout === "items" || prompt === undefined ? completion : (completions ?? completion)
  return [...hintsFor(rows, flags.prompt, prompts), ...hintsFor(rows, flags.completion, texts)]
}

const hintsFor = (
  rows: ReadonlyArray<Row>,
  flag: string,
  paths: string | ReadonlyArray<string> = [],
): ReadonlyArray<string> =>
  [paths].flat().flatMap((path) => {
    const field = Result.getOrUndefined(Field.parse(path))
    if (field === undefined || field.isTemplate || path.endsWith("[]")) return []
    const values = rows
      .map(({ isTextual, value }) => Result.getOrUndefined(CellText.read(field.get(value, isTextual), path, isTextual)))
      .filter((value) => !isEmpty(value))
    return values.length > 0 && values.every(isListAsText)
      ? [`${JSON.stringify(field.label)} holds JSON lists as text; they stay text unless ${flag} '${path}[]' is set`]
      : []
  })

const isListAsText = (value: unknown): boolean => typeof value === "string" && Array.isArray(Field.fromText(value))
