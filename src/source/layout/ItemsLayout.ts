/** A gold value that is not an object is the zero-based index of the best completion, or the name of its model. */
import { Result } from "effect"
import * as ItemDecoder from "../item/ItemDecoder.ts"
import { originOf, reject, type Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import * as BestCompletion from "../item/BestCompletion.ts"
import { type Field, fromText } from "../record/Field.ts"
import { describeValue, isEmpty, isObject } from "../../io/Values.ts"
import type { MetadataReader } from "../item/Metadata.ts"
import type { PromptItem } from "../../domain/PromptItem.ts"
import * as Json from "../../io/Json.ts"

export interface ItemsFields {
  readonly id: Field
  readonly prompt: Field
  readonly completions: Field
  readonly models: Field
  readonly gold: Field
  readonly kept: MetadataReader
  readonly areDefault: boolean
}

export const toRecord = (fields: ItemsFields): ((row: Row) => SourceRecord) => {
  const names: ItemDecoder.MemberNames = {
    id: fields.id.name,
    prompt: fields.prompt.name,
    completions: fields.completions,
    models: fields.models,
    gold: fields.gold.name,
  }
  const lists = [fields.completions, fields.models].flatMap(fields.kept.listsOf)
  const completionLists = lists.filter((path, i) => lists.findIndex((other) => other.join() === path.join()) === i)
  return (row) => {
    const { isTextual, isWellFormed, place, plain, value } = row
    if (!isObject(value)) return ItemDecoder.decode(value, place)
    if (fields.areDefault && plain?.of === value) {
      const { identity, item } = plain
      return Result.succeed({ item, origin: originOf(place), identity })
    }
    const gold = goldOf(fields, row)
    if (Result.isFailure(gold)) return reject(place, "invalid_shape", `${fields.gold.name}: ${gold.failure}`)
    if (fields.areDefault && gold.success === undefined)
      return addTexts(ItemDecoder.decode(value, place, {}, isTextual, isWellFormed), row)
    const metadata = fields.kept.of(row)
    if (Result.isFailure(metadata)) return reject(place, "invalid_shape", metadata.failure)
    const completions = fields.completions.get(value, isTextual)
    const item = {
      id: fields.id.get(value, isTextual) ?? null,
      prompt: fields.prompt.get(value, isTextual),
      ...(completions === undefined ? undefined : { completions }),
      models: modelsOf(fields.models.get(value, isTextual)) ?? null,
      gold: gold.success === undefined ? (fields.gold.get(value, isTextual) ?? null) : gold.success,
      metadata: metadata.success ?? null,
    }
    const record = ItemDecoder.decode(item, place, names, isTextual, isWellFormed)
    return lists.length === 0 ? record : Result.map(record, (source) => ({ ...source, completionLists }))
  }
}

/** Copies the JSON of an item's texts from its line, which is faster than `JSON.stringify`. */
const addTexts = (record: SourceRecord, { isWellFormed, json: line }: Row): SourceRecord => {
  if (Result.isFailure(record) || line === undefined || isWellFormed !== true) return record
  const { item } = record.success
  const json = findTexts(line, item)
  return json === undefined ? record : Result.succeed({ ...record.success, texts: { of: item, json } })
}

const beforePrompt = /\{(?:"id": ?(?:"[^"\\]*"|\d+), ?)?"prompt": ?(?=")/y
const beforeCompletions = /, ?"completions": ?\[(?=")/y
const between = /, ?(?=")/y

const endOfMatch = (pattern: RegExp, line: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.test(line) ? pattern.lastIndex : -1
}

/** Returns `undefined` if `JSON.stringify` might write the texts differently. @param line valid JSON without `\u` */
const findTexts = (line: string, { completions }: PromptItem): ReadonlyArray<string> | undefined => {
  if (line.includes("\\/")) return undefined
  const texts: Array<string> = []
  let at = 0
  for (let i = 0; i <= completions.length; i++) {
    const start = endOfMatch(i === 0 ? beforePrompt : i === 1 ? beforeCompletions : between, line, at)
    if (start === -1) return undefined
    at = Json.endOfString(line, start) + 1
    texts.push(line.slice(start, at))
  }
  // If a member occurs twice, JSON parsers use the last one.
  const isRepeated = line.includes('"prompt"', at) || line.includes('"completions"', at)
  return line.charCodeAt(at) === Json.CLOSE_BRACKET && !isRepeated ? texts : undefined
}

const modelsOf = (models: unknown): unknown => (Array.isArray(models) && models.every(isEmpty) ? undefined : models)

const goldOf = (fields: ItemsFields, { isTextual, value }: Row): Result.Result<unknown, string> => {
  const fieldValue = fields.gold.get(value, isTextual)
  if (fieldValue === undefined) return Result.succeed(undefined)
  const gold = fromText(fieldValue)
  if (gold === undefined || gold === null || isObject(gold)) return Result.succeed(undefined)
  if (BestCompletion.isNone(gold)) return Result.succeed(null)
  const index = BestCompletion.indexOf(gold)
  if (index !== undefined) return Result.succeed({ best_completion_index: index })
  const models = fromText(fields.models.get(value, isTextual))
  const indices = Array.isArray(models) ? models.flatMap((model, i) => (model === gold ? [i] : [])) : []
  return indices.length === 1
    ? Result.succeed({ best_completion_index: indices[0] })
    : Result.fail(
        `expected an object, the index of a completion, or the name of its model, found ${describeValue(gold)}`,
      )
}
