/** Records as a layout reads them, which is found by looking at them or set. */
import { Result } from "effect"
import type { SourceItem } from "../../../src/domain/PromptItem.ts"
import * as Detect from "../../../src/source/detect/Detect.ts"
import type { LayoutOptions, Part } from "../../../src/source/layout/Layout.ts"
import * as MakeLayout from "../../../src/source/layout/MakeLayout.ts"
import type { Row } from "../../../src/source/record/Row.ts"

/** @param isTextual as the cells of CSV are */
export const toRows = (values: ReadonlyArray<unknown>, isTextual = false): ReadonlyArray<Row> =>
  values.map((value, i) => ({
    place: { file: "f", line: i + 1, raw: undefined },
    value,
    ...(isTextual ? { isTextual: true as const } : undefined),
  }))

/** What is said of a layout that is none is its description. */
export const look = (values: ReadonlyArray<unknown>, options: LayoutOptions = {}, isTextual = false) => {
  const rows = toRows(values, isTextual)
  const layout = Result.flatMap(Detect.detect(rows, options), MakeLayout.make)
  if (Result.isFailure(layout)) return { description: layout.failure, columns: [], items: [], parts: [], reasons: [] }
  const { columns, description } = layout.success
  const read = layout.success.reads === "items" ? layout.success.toRecord : layout.success.toPart
  const results = rows.map((row): Result.Result<SourceItem | Part, { readonly reason: string }> => read(row))
  const successes = results.flatMap((result) => (Result.isSuccess(result) ? [result.success] : []))
  return {
    description,
    columns,
    items: successes.flatMap((success) => ("item" in success ? [success.item] : [])),
    parts: successes.flatMap((success) => ("key" in success ? [success] : [])),
    reasons: results.flatMap((result) => (Result.isFailure(result) ? [result.failure.reason] : [])),
  }
}

export const user = <A>(content: A) => ({ role: "user", content })
export const assistant = <A>(content: A) => ({ role: "assistant", content })
/** Messages of user and assistant in turn. */
export const chat = (...texts: ReadonlyArray<string>) =>
  texts.map((text, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content: text }))
