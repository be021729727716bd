/**
 * Serializes a row as one line of JSON whose column types readers infer correctly.
 *
 * Guarantees: `JSON.parse` gives the row back. Numbers of a `float64` column always have a decimal point:
 * `load_dataset` infers types from the first 10 MB of a file, and fails if a fraction follows integers only.
 */
import { Record } from "effect"
import { type Cell, type EncodedRow, Text } from "./EncodedRow.ts"
import type { Features } from "./Features.ts"

/** The line, without its end. */
export const make = (features: Features): ((row: EncodedRow) => string) => {
  const floats = new Set(Record.keys(features).filter((column) => features[column] === "float64"))
  return ({ columns }) => {
    let members = ""
    for (const column in columns) {
      const value = columns[column]
      if (value === undefined) continue
      const point = floats.has(column) && Number.isSafeInteger(value) ? ".0" : ""
      members += `${members === "" ? "" : ","}${JSON.stringify(column)}:${jsonOf(value)}${point}`
    }
    return `{${members}}`
  }
}

const jsonOf = (value: Cell): string => {
  if (value instanceof Text) return value.json
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`)
  return `{${members.join(",")}}`
}
