/** Reads task ids at paths such as `data.tasks[*].id`. An id is a whole number, or a text that the ledger can hold. */
import { Option } from "effect"
import * as IdLimit from "../domain/IdLimit.ts"

export const one = (json: unknown, paths: ReadonlyArray<string>): Option.Option<string> =>
  Option.fromNullishOr(paths.flatMap((path) => valuesAt(json, path)).flatMap(idOf)[0])

export const all = (json: unknown, paths: ReadonlyArray<string>): Option.Option<ReadonlyArray<string>> => {
  const values = paths.flatMap((path) => valuesAt(json, path.replace(/\[\*\]$/, "")))
  const ids = new Set(values.flat().flatMap(idOf))
  return ids.size > 0 || values.some((value) => Array.isArray(value) && value.length === 0)
    ? Option.some([...ids])
    : Option.none()
}

// The ledger's databases cannot store a NUL in text, so a task id has none.
const isId = (text: string): boolean => text !== "" && !text.includes("\0") && IdLimit.fits(text)

const idOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "number") return Number.isSafeInteger(value) ? [String(value)] : []
  return typeof value === "string" && isId(value) ? [value] : []
}

const valuesAt = (json: unknown, path: string): ReadonlyArray<unknown> =>
  path
    .replaceAll("[*]", ".[*]")
    .split(".")
    .reduce<ReadonlyArray<unknown>>((values, segment) => values.flatMap((value) => membersOf(value, segment)), [json])

const membersOf = (value: unknown, segment: string): ReadonlyArray<unknown> => {
  if (segment === "[*]") return Array.isArray(value) ? value : []
  return typeof value === "object" && value !== null && Object.hasOwn(value, segment)
    ? [Reflect.get(value, segment)]
    : []
}
