/**
 * Fields that are empty in the first records, so that the detected layout ignores them.
 *
 * Guarantees: a later record that fills such a field, where it would be part of the prompt or a completion, is a
 * reject.
 */
import { Result } from "effect"
import { reject, type Row, type RowResult } from "../record/Row.ts"
import * as Detect from "./Detect.ts"
import * as Field from "../record/Field.ts"
import { describeValue, isEmpty, isObject } from "../../io/Values.ts"
import { fieldOptions, flags, type LayoutOptions } from "../layout/Layout.ts"

export interface LateFields {
  /** Top-level members that must be read in addition to those of the layout, empty so far. */
  readonly columns: ReadonlyArray<string>
  readonly check: (row: Row) => RowResult
}

/** What experts see depends on these. */
const partsOf = ({ completion, completions, history, layout, prompt, system }: LayoutOptions): string =>
  JSON.stringify([layout, prompt, system, history, completions, completion])

/** Of more names, such as ids, only those of the layout are compared with a late one. */
const maxSampleNames = 250

/** Names without effect that are remembered; others are tried again. */
const maxRememberedNames = 100_000

/**
 * @param seen the first records
 * @param given what was set
 * @param found what was found
 */
export const of = (seen: ReadonlyArray<Row>, given: LayoutOptions, found: LayoutOptions): LateFields => {
  const filled = new Set(seen.flatMap(({ value }) => filledNames(value)))
  const compared = filled.size <= maxSampleNames ? filled : new Set(columnsOf(found))
  const sample = seen.map((row) => only(row, (name) => compared.has(name)))
  const partsWith = (rows: ReadonlyArray<Row>) =>
    Result.match(Detect.detect([...sample, ...rows], given), { onFailure: () => undefined, onSuccess: partsOf })
  const parts = partsWith([])
  /** Those of the names that change the layout: all are tried at once, then halves. */
  const decisive = (names: ReadonlyArray<string>, row: Row): ReadonlyArray<string> => {
    const isTried = new Set(names)
    if (names.length === 0 || partsWith([only(row, (name) => isTried.has(name) || compared.has(name))]) === parts)
      return []
    if (names.length === 1) return names
    const middle = names.length >> 1
    const some = [...decisive(names.slice(0, middle), row), ...decisive(names.slice(middle), row)]
    return some.length === 0 ? names : some
  }
  const [last] = seen.slice(-1)
  const empty = [...new Set(seen.flatMap(({ value }) => namesOf(value)))].filter((name) => !filled.has(name))
  const known = new Set(filled)
  return {
    columns: last === undefined ? [] : decisive(empty, withTexts(last, empty)),
    check: (row) => {
      const late = namesOf(row.value).filter((name) => !known.has(name) && !isEmpty(valueAt(row.value, name)))
      const [name] = decisive(late, row)
      if (name !== undefined) {
        const expected = `expected no value, because the layout was detected from the first ${seen.length} records, which have none here`
        const advice = `set the paths explicitly (${flags.prompt}, ${flags.system}, ${flags.history}, ${flags.completion}, ${flags.completions})`
        return reject(
          row.place,
          "invalid_shape",
          `${Field.ofMember(name)}: ${expected}; found ${describeValue(valueAt(row.value, name))}; ${advice}`,
        )
      }
      if (known.size < maxRememberedNames) for (const one of late) known.add(one)
      return Result.succeed(row)
    },
  }
}

const columnsOf = (options: LayoutOptions): ReadonlyArray<string> =>
  fieldOptions.flatMap((option) =>
    [options[option] ?? []].flat().flatMap((text) => Result.getOrUndefined(Field.parse(text))?.columns ?? []),
  )

const namesOf = (value: unknown): ReadonlyArray<string> => (isObject(value) ? Object.keys(value) : [])

const valueAt = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)

const filledNames = (value: unknown): ReadonlyArray<string> =>
  namesOf(value).filter((name) => !isEmpty(valueAt(value, name)))

const withTexts = (row: Row, names: ReadonlyArray<string>): Row => ({
  ...row,
  value: isObject(row.value) ? { ...row.value, ...Object.fromEntries(names.map((name) => [name, "text"])) } : row.value,
})

/** The row with some of its members. */
const only = (row: Row, isKept: (name: string) => boolean): Row => ({
  ...row,
  value: isObject(row.value)
    ? Object.fromEntries(Object.entries(row.value).filter(([name]) => isKept(name)))
    : row.value,
})
