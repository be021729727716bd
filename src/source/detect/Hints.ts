/** Names options that may be missing from the detected layout, before anything is sent. */
import { Result } from "effect"
import { quoteNames } from "../../io/Values.ts"
import * as UnusedContext from "../item/UnusedContext.ts"
import * as ColumnModels from "../layout/ColumnModels.ts"
import { flags, type Layout, type LayoutOptions } from "../layout/Layout.ts"
import * as Field from "../record/Field.ts"
import type { Row } from "../record/Row.ts"
import * as JsonTexts from "./JsonTexts.ts"

export const of = (
  rows: ReadonlyArray<Row>,
  layout: Layout,
  setOptions: LayoutOptions,
  layoutOptions: LayoutOptions,
): ReadonlyArray<string> => {
  const media = UnusedContext.hints(rows.map(layout.unusedIn))
  return [
    ...media,
    ...(media.length > 0 || setOptions.layout !== undefined ? [] : misfit(rows, layout, setOptions, layoutOptions)),
    ...JsonTexts.hints(rows, layoutOptions),
    ...models(layoutOptions),
  ]
}

const misfit = (
  rows: ReadonlyArray<Row>,
  layout: Layout,
  { completion, key }: LayoutOptions,
  { model }: LayoutOptions,
): ReadonlyArray<string> => {
  if (layout.reads === "items") {
    const [first, ...others] = rows.map((row) => layout.toRecord(row))
    return first !== undefined && Result.isFailure(first) && others.every(Result.isFailure)
      ? [
          `none of the first ${rows.length} records fits this layout, which was detected (${first.failure.reason}): set ${flags.layout}, ${flags.prompt}, and ${flags.completion} or ${flags.completions}`,
        ]
      : []
  }
  const parts = rows.flatMap((row) => Result.getOrUndefined(layout.toPart(row)) ?? [])
  const isGuessed = completion === undefined && key === undefined && model === undefined
  return isGuessed && parts.length > 0 && new Set(parts.map((part) => part.key)).size === parts.length
    ? [
        `layout long was detected, but no two of the first ${rows.length} records share a prompt: if a record has all of its completions, set ${flags.completion} for each column of them; if other files have the others, name these, too`,
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
    : [`no models; ${flags.modelsFromColumns} names them after the columns, ${quoteNames(names)}`]
}
