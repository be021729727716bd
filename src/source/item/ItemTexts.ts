/**
 * The texts of an item as JSON, taken from its line: writing them again would take longer than parsing the line.
 *
 * Guarantees: they are what `JSON.stringify` makes of the item's texts. Found only in lines whose first members are the
 * prompt and the completions, after an id if there is one, as `JSON.stringify` and Python's `json.dumps` write them.
 */
import { Result } from "effect"
import type { PromptItem } from "../../domain/PromptItem.ts"
import * as Json from "../../io/Json.ts"
import type { Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"

/** The item with its texts, if the row has them under their own names. */
export const addTo = (record: SourceRecord, { isWellFormed, json: line }: Row): SourceRecord => {
  if (Result.isFailure(record) || line === undefined || isWellFormed !== true) return record
  const { item } = record.success
  const json = find(line, item)
  return json === undefined ? record : Result.succeed({ ...record.success, texts: { of: item, json } })
}

const beforePrompt = /\{(?:"id": ?(?:"[^"\\]*"|\d+), ?)?"prompt": ?(?=")/y
const beforeCompletions = /, ?"completions": ?\[(?=")/y
const between = /, ?(?=")/y

/** Where the match that begins at `at` ends; -1 if there is none. */
const endOf = (pattern: RegExp, line: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.test(line) ? pattern.lastIndex : -1
}

/** `line` is valid JSON without `\u`; of the other escapes, `JSON.stringify` writes all but `\/`. */
const find = (line: string, { completions }: PromptItem): ReadonlyArray<string> | undefined => {
  if (line.includes("\\/")) return undefined
  const texts: Array<string> = []
  let at = 0
  for (let i = 0; i <= completions.length; i++) {
    const start = endOf(i === 0 ? beforePrompt : i === 1 ? beforeCompletions : between, line, at)
    if (start === -1) return undefined
    at = Json.endOfString(line, start) + 1
    texts.push(line.slice(start, at))
  }
  // Of members with the same name, the last one counts.
  const isRepeated = line.includes('"prompt"', at) || line.includes('"completions"', at)
  return line.charCodeAt(at) === Json.CLOSE_BRACKET && !isRepeated ? texts : undefined
}
