/**
 * Serializes a row as one line of JSON whose column types readers infer correctly.
 *
 * Guarantees: `JSON.parse` gives the row back. Numbers of a `float64` column always have a decimal point:
 * `load_dataset` infers types from the first 10 MB of a file, and fails if a fraction follows integers only.
 */
import { Record } from "effect"
import type { Features, JsonRow } from "./Features.ts"

/** The line, without its end. */
export const make = (features: Features): ((row: JsonRow) => string) => {
  const floats = new Set(Record.keys(features).filter((column) => features[column] === "float64"))
  if (floats.size === 0) return (row) => JSON.stringify(row)
  return (row) =>
    `{${Object.entries(row)
      .map(
        ([column, value]) =>
          `${JSON.stringify(column)}:${
            floats.has(column) && Number.isSafeInteger(value) ? `${JSON.stringify(value)}.0` : JSON.stringify(value)
          }`,
      )
      .join(",")}}`
}
