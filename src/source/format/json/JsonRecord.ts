/**
 * The JSON of one record.
 *
 * Guarantees: what is not JSON by RFC 8259 is a failure, with two exceptions: `NaN`, which Python writes for what is missing,
 * is null, as in Parquet; and a byte order mark, which files have in the middle that were put together of several, is left
 * out. So it is in `json`, which others may parse again.
 */
import { Result } from "effect"
import * as Json from "../../../io/Json.ts"

export interface JsonRecord {
  readonly value: unknown
  /** The text with null for `NaN`. */
  readonly json: string
}

/** @param end the name of the text's end in messages */
export const parse = (text: string, end?: string): Result.Result<JsonRecord, string> => {
  const asItIs = Result.map(Json.parse(text, end), (value) => ({ value, json: text }))
  if (Result.isSuccess(asItIs)) return asItIs
  const json = nanAsNull(text.replace(/^\uFEFF/, ""))
  if (json === text) return asItIs
  return Result.match(Json.parse(json, end), {
    onFailure: () => asItIs,
    onSuccess: (value) => Result.succeed({ value, json }),
  })
}

/** The text, or the beginning of one, with null for each `NaN` outside strings. */
export const nanAsNull = (text: string): string => {
  let written = ""
  let from = 0
  for (let at = text.indexOf("NaN") === -1 ? text.length : 0; at < text.length; at++) {
    if (text.charCodeAt(at) === Json.QUOTE) {
      const end = Json.endOfString(text, at)
      at = end === -1 ? text.length : end
    } else if (text.startsWith("NaN", at)) {
      written += `${text.slice(from, at)}null`
      from = at + "NaN".length
      at = from - 1
    }
  }
  return written + text.slice(from)
}
