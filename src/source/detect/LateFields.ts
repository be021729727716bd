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
import type { LayoutOptions } from "../layout/Layout.ts"
import { flags } from "../layout/Layout.ts"

export interface LateFields {
  /** Top-level members that must be read in addition to those of the layout, empty so far. */
  readonly columns: ReadonlyArray<string>
  readonly check: (row: Row) => RowResult
}

/** New names that are tried: each detects the layout anew. */
const maxTries = 200

/** What experts see depends on these. */
const partsOf = ({ completion, completions, history, layout, prompt, system }: LayoutOptions): string =>
  JSON.stringify([layout, prompt, system, history, completions, completion])

/**
 * @param seen the first records
 * @param given what was set
 * @param found what was found
 */
export const of = (seen: ReadonlyArray<Row>, given: LayoutOptions, found: LayoutOptions): LateFields => {
  const filled = new Set(seen.flatMap(({ value }) => namesOf(value).filter((name) => !isEmpty(valueAt(value, name)))))
  const parts = partsOf(found)
  const verdicts = new Map<string, boolean>()
  const wouldMatter = (name: string, row: Row): boolean => {
    const known = verdicts.get(name)
    if (known !== undefined) return known
    if (verdicts.size === maxTries) return false
    const other = Detect.detect([...seen, row], given)
    const verdict = Result.isFailure(other) || partsOf(other.success) !== parts
    verdicts.set(name, verdict)
    return verdict
  }
  const [last] = seen.slice(-1)
  const empty = [...new Set(seen.flatMap(({ value }) => namesOf(value)))].filter((name) => !filled.has(name))
  const columns = last === undefined ? [] : empty.filter((name) => wouldMatter(name, withText(last, name)))
  // A column's text there says little of its later values.
  verdicts.clear()
  return {
    columns,
    check: (row) => {
      for (const name of namesOf(row.value)) {
        if (filled.has(name)) continue
        const value = valueAt(row.value, name)
        if (isEmpty(value) || !wouldMatter(name, row)) continue
        const expected = `expected no value, because the layout was detected from the first ${seen.length} records, which have none here`
        const advice = `set the paths explicitly (${flags.prompt}, ${flags.system}, ${flags.history}, ${flags.completion}, ${flags.completions})`
        return reject(
          row.place,
          "invalid_shape",
          `${Field.ofMember(name)}: ${expected}; found ${describeValue(value)}; ${advice}`,
        )
      }
      return Result.succeed(row)
    },
  }
}

const namesOf = (value: unknown): ReadonlyArray<string> => (isObject(value) ? Object.keys(value) : [])

const valueAt = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)

const withText = (row: Row, name: string): Row => ({
  ...row,
  value: isObject(row.value) ? Object.fromEntries([...Object.entries(row.value), [name, "text"]]) : row.value,
})
