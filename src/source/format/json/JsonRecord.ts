/** Python writes `NaN` for missing values: it becomes null, as in Parquet. A byte order mark is removed. */
import { Result } from "effect"
import * as Json from "../../../io/Json.ts"
import { type Place, reject, type RowResult } from "../../record/Row.ts"

export interface JsonRecord {
  readonly value: unknown
  readonly json: string
}

export const parse = (text: string, end?: string): Result.Result<JsonRecord, string> => {
  const unchanged = Result.map(Json.parse(text, end), (value) => ({ value, json: text }))
  if (Result.isSuccess(unchanged)) return unchanged
  const json = nanAsNull(text.replace(/^\uFEFF/, ""))
  if (json === text) return unchanged
  return Result.match(Json.parse(json, end), {
    onFailure: () => unchanged,
    onSuccess: (value) => Result.succeed({ value, json }),
  })
}

export const toRow = (place: Place, text: string, end?: string, isWellFormed?: boolean): RowResult =>
  Result.match(parse(text, end), {
    onFailure: (problem) => reject(place, "invalid_json", problem),
    onSuccess: ({ json, value }) => Result.succeed({ place, value, json, isWellFormed }),
  })

export const nanAsNull = (text: string): string => {
  let output = ""
  let from = 0
  for (let at = text.indexOf("NaN") === -1 ? text.length : 0; at < text.length; at++) {
    if (text.charCodeAt(at) === Json.QUOTE) {
      const end = Json.endOfString(text, at)
      at = end === -1 ? text.length : end
    } else if (text.startsWith("NaN", at)) {
      output += `${text.slice(from, at)}null`
      from = at + "NaN".length
      at = from - 1
    }
  }
  return output + text.slice(from)
}
