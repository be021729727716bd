/** Copies the JSON of an item's texts from its line, which is faster than `JSON.stringify`. */
import { Result } from "effect"
import type { PromptItem } from "../../domain/PromptItem.ts"
import * as Json from "../../io/Json.ts"
import type { Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"

export const addTo = (record: SourceRecord, { isWellFormed, json: line }: Row): SourceRecord => {
  if (Result.isFailure(record) || line === undefined || isWellFormed !== true) return record
  const { item } = record.success
  const json = findTexts(line, item)
  return json === undefined ? record : Result.succeed({ ...record.success, texts: { of: item, json } })
}

const beforePrompt = /\{(?:"id": ?(?:"[^"\\]*"|\d+), ?)?"prompt": ?(?=")/y
const beforeCompletions = /, ?"completions": ?\[(?=")/y
const between = /, ?(?=")/y

const endOf = (pattern: RegExp, line: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.test(line) ? pattern.lastIndex : -1
}

/** Returns `undefined` if `JSON.stringify` might write the texts differently. @param line valid JSON without `\u` */
const findTexts = (line: string, { completions }: PromptItem): ReadonlyArray<string> | undefined => {
  if (line.includes("\\/")) return undefined
  const texts: Array<string> = []
  let at = 0
  for (let i = 0; i <= completions.length; i++) {
    const start = endOf(i === 0 ? beforePrompt : i === 1 ? beforeCompletions : between, line, at)
    if (start === -1) return undefined
    at = Json.endOfString(line, start) + 1
    texts.push(line.slice(start, at))
  }
  // If a member occurs twice, JSON parsers use the last one.
  const isRepeated = line.includes('"prompt"', at) || line.includes('"completions"', at)
  return line.charCodeAt(at) === Json.CLOSE_BRACKET && !isRepeated ? texts : undefined
}
