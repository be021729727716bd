/**
 * A row as a line of JSON, in a form whose column types readers infer right.
 *
 * Guarantees: `JSON.parse` gives the row back. Numbers of a `float64` column always have a point:
 * `load_dataset` takes the types from a file's first 10 MB, and where all of a column's numbers
 * are whole there, fails at the first fraction after them.
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
