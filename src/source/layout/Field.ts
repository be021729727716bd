/**
 * Where a part of an item stands in a record: a field path, or a template of several.
 */
import { Result } from "effect"
import * as FieldPath from "./FieldPath.ts"

export interface Field {
  /** As it was written. */
  readonly text: string
  /** The top-level members that it reads. */
  readonly columns: ReadonlyArray<string>
  /** `undefined` where nothing is there. */
  readonly get: (record: unknown) => unknown
}

/** The failure says what is wrong with the text, and where. */
export const parse = (text: string): Result.Result<Field, string> =>
  Result.map(FieldPath.parse(text), (path) => ({ ...path, columns: [text.replace(/[.[].*$/s, "")] }))
