/** Before anything is sent, suggests options that the detected layout may need. */
import { Result } from "effect"
import * as OptionText from "../../io/OptionText.ts"
import { isEmpty, plural, quoteNames } from "../../io/Values.ts"
import { eachCompletion } from "./CompletionFinder.ts"
import * as CellText from "../item/CellText.ts"
import * as UnusedContext from "../item/UnusedContext.ts"
import * as ColumnModels from "../layout/ColumnModels.ts"
import type { Layout, LayoutOptions } from "../layout/Layout.ts"
import * as Field from "../record/Field.ts"
import type { Row } from "../record/Row.ts"

export const of = (
  rows: ReadonlyArray<Row>,
  layout: Layout,
  setOptions: LayoutOptions,
  layoutOptions: LayoutOptions,
  fileCount: number,
): ReadonlyArray<string> => {
  const media = UnusedContext.hints(rows.map(layout.unusedIn))
  return [
    ...media,
    ...(media.length > 0 || setOptions.layout !== undefined
      ? []
      : misfit(rows, layout, setOptions, layoutOptions, fileCount)),
    ...jsonTexts(rows, layoutOptions),
    ...models(layoutOptions),
  ]
}

const misfit = (
  rows: ReadonlyArray<Row>,
  layout: Layout,
  { completion, key }: LayoutOptions,
  { model }: LayoutOptions,
  fileCount: number,
): ReadonlyArray<string> => {
  if (layout.reads === "items") {
    const [first, ...others] = rows.map((row) => layout.toRecord(row))
    return first !== undefined && Result.isFailure(first) && others.every(Result.isFailure)
      ? [
          `the detected layout does not fit ${plural(rows.length, "the first record", `any of the first ${rows.length} records`)} (${first.failure.reason}). Set ${OptionText.of("layout")}, ${OptionText.of("prompt")}, and one of ${OptionText.of("completion")} and ${OptionText.of("completions")}`,
        ]
      : []
  }
  if (fileCount > 1) return []
  const parts = rows.flatMap((row) => Result.getOrUndefined(layout.toPart(row)) ?? [])
  const isGuessed = completion === undefined && key === undefined && model === undefined
  return isGuessed && parts.length > 0 && new Set(parts.map((part) => part.key)).size === parts.length
    ? [
        `the detected layout is long (one completion per record), but the first ${rows.length} records all have different prompts. If each record has several completions, name all their fields with ${eachCompletion}. If other files contain more completions of these prompts, add these files to the input`,
      ]
    : []
}

const models = ({ completions = [], layout, model, modelsFromColumns }: LayoutOptions): ReadonlyArray<string> => {
  if (layout !== "wide" || model !== undefined || modelsFromColumns === true || typeof completions === "string")
    return []
  const fields = completions.flatMap((path) => Result.getOrUndefined(Field.parse(path)) ?? [])
  const names = ColumnModels.candidates(fields)
  return names === undefined
    ? []
    : [
        `the completions have no model names; to use the column names ${quoteNames(names)}, set ${OptionText.of("modelsFromColumns")}`,
      ]
}

const jsonTexts = (
  rows: ReadonlyArray<Row>,
  { completion, completions, layout, prompt }: LayoutOptions,
): ReadonlyArray<string> => {
  const prompts = layout === "long" && completion === undefined ? undefined : prompt
  const texts = layout === "items" || prompt === undefined ? completion : (completions ?? completion)
  return [
    ...hintsFor(rows, "prompt", prompts),
    ...hintsFor(rows, typeof texts === "string" ? "completion" : "completions", texts),
  ]
}

const hintsFor = (
  rows: ReadonlyArray<Row>,
  option: "prompt" | "completion" | "completions",
  paths: string | ReadonlyArray<string> = [],
): ReadonlyArray<string> =>
  [paths].flat().flatMap((path) => {
    const field = Result.getOrUndefined(Field.parse(path))
    if (field === undefined || field.isTemplate || path.endsWith("[]")) return []
    const values = rows
      .map(({ isTextual, value }) => Result.getOrUndefined(CellText.read(field.get(value, isTextual), path, isTextual)))
      .filter((value) => !isEmpty(value))
    return values.length > 0 && values.every(isListAsText)
      ? [
          `${JSON.stringify(field.label)} contains JSON lists as text; to read them as lists, set ${OptionText.set({ [option]: option === "completions" ? [`${path}[]`] : `${path}[]` })}`,
        ]
      : []
  })

const isListAsText = (value: unknown): boolean => typeof value === "string" && Array.isArray(Field.fromText(value))
