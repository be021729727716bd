/** The first records determine the layout. A later record is rejected if its new fields would change the layout. */
import { Result } from "effect"
import { describeValue, isEmpty, isObject, plural } from "../../io/Values.ts"
import { reject, type Row, type RowResult } from "../record/Row.ts"
import * as Detect from "./Detect.ts"
import * as Field from "../record/Field.ts"
import * as OptionText from "../../io/OptionText.ts"
import { fieldOptions, type LayoutOptions } from "../layout/Layout.ts"

export interface LateFields {
  readonly columns: ReadonlyArray<string>
  readonly check: (row: Row) => RowResult
}

const shownFieldsOf = ({ completion, completions, history, layout, prompt, system }: LayoutOptions): string =>
  JSON.stringify([layout, prompt, system, history, completions, completion])

const maxSampleNames = 250

const maxRememberedNames = 100_000

export const of = (
  sampleRows: ReadonlyArray<Row>,
  setOptions: LayoutOptions,
  detectedOptions: LayoutOptions,
): LateFields => {
  const filled = new Set(sampleRows.flatMap(({ value }) => filledNames(value)))
  const compared =
    filled.size <= maxSampleNames
      ? filled
      : new Set(fieldOptions.flatMap((option) => Field.columnsOf(detectedOptions[option])))
  const sample = sampleRows.map((row) => withMembers(row, (name) => compared.has(name)))
  const partsWith = (rows: ReadonlyArray<Row>) =>
    Result.match(Detect.detect([...sample, ...rows], setOptions), {
      onFailure: () => undefined,
      onSuccess: shownFieldsOf,
    })
  const parts = partsWith([])
  const layoutChangingNames = (names: ReadonlyArray<string>, row: Row): ReadonlyArray<string> => {
    const isTried = new Set(names)
    if (
      names.length === 0 ||
      partsWith([withMembers(row, (name) => isTried.has(name) || compared.has(name))]) === parts
    )
      return []
    if (names.length === 1) return names
    const middle = names.length >> 1
    const some = [...layoutChangingNames(names.slice(0, middle), row), ...layoutChangingNames(names.slice(middle), row)]
    return some.length === 0 ? names : some
  }
  const [lastRow] = sampleRows.slice(-1)
  const empty = [...new Set(sampleRows.flatMap(({ value }) => namesOf(value)))].filter((name) => !filled.has(name))
  const rememberedNames = new Set(filled)
  return {
    columns: lastRow === undefined ? [] : layoutChangingNames(empty, withTexts(lastRow, empty)),
    check: (row) => {
      const lateNames = namesOf(row.value).filter(
        (name) => !rememberedNames.has(name) && !isEmpty(valueAt(row.value, name)),
      )
      const [name] = layoutChangingNames(lateNames, row)
      if (name !== undefined) {
        const expected = `expected no value, because the field had none in the first ${plural(sampleRows.length, "record", `${sampleRows.length} records`)}, and a value would change the detected layout`
        const advice = `set the paths explicitly (${OptionText.of("prompt")}, ${OptionText.of("system")}, ${OptionText.of("history")}, ${OptionText.of("completion")}, ${OptionText.of("completions")})`
        return reject(
          row.place,
          "invalid_shape",
          `${Field.ofMember(name)}: ${expected}; found ${describeValue(valueAt(row.value, name))}; ${advice}`,
        )
      }
      if (rememberedNames.size < maxRememberedNames) for (const one of lateNames) rememberedNames.add(one)
      return Result.succeed(row)
    },
  }
}

const namesOf = (value: unknown): ReadonlyArray<string> => (isObject(value) ? Object.keys(value) : [])

const valueAt = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)

const filledNames = (value: unknown): ReadonlyArray<string> =>
  namesOf(value).filter((name) => !isEmpty(valueAt(value, name)))

const withTexts = (row: Row, names: ReadonlyArray<string>): Row => ({
  ...row,
  value: isObject(row.value) ? { ...row.value, ...Object.fromEntries(names.map((name) => [name, "text"])) } : row.value,
})

const withMembers = (row: Row, isKept: (name: string) => boolean): Row => ({
  ...row,
  value: isObject(row.value)
    ? Object.fromEntries(Object.entries(row.value).filter(([name]) => isKept(name)))
    : row.value,
})
