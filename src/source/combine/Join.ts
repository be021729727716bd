/** Joins prompts with completions through a temporary file. Memory: 40 bytes per key plus the key's length. */
import { Effect, Result, Stream } from "effect"
import { describe, type Origin } from "../../domain/Origin.ts"
import type { PromptItem } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import * as CellText from "../item/CellText.ts"
import * as ItemDecoder from "../item/ItemDecoder.ts"
import * as Metadata from "../item/Metadata.ts"
import * as Messages from "../item/Messages.ts"
import * as PromptContext from "../item/PromptContext.ts"
import * as UnusedContext from "../item/UnusedContext.ts"
import * as PlaceName from "../place/PlaceName.ts"
import { type Field, fromText } from "../record/Field.ts"
import * as Key from "../record/Key.ts"
import { reject, type Row, type RowResult } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import { describeValue, isObject } from "../../io/Values.ts"
import * as JoinOptions from "./JoinOptions.ts"
import { FirstRows } from "./FirstRows.ts"
import * as KeyedRecords from "./KeyedRecords.ts"
import { KeyNumbers } from "./KeyNumbers.ts"
import * as PromptModels from "./PromptModels.ts"
import * as Scratch from "./Scratch.ts"

type Fields = JoinOptions.Resolved

interface Joined {
  readonly file: number
  readonly origin: Origin
  readonly completion: string
  readonly isJson: boolean
  readonly model: string | null
  readonly metadata: PromptItem["metadata"] | null
}

const promptList = 0
const rejectList = 1
const completionLists = 2

const tags = { json: 0, textual: 1, reject: 2 } as const

export const join = <R>(
  fields: Fields,
  promptRows: Stream.Stream<RowResult, SourceError, R>,
  completions: ReadonlyArray<Stream.Stream<RowResult, SourceError, R>>,
) =>
  Effect.gen(function* () {
    const scratch = yield* Scratch.make(fields.scratchDirectory)
    const prompts = yield* load(scratch, fields, promptRows, completions)
    return Scratch.stream(() => records(scratch, fields, prompts))
  }).pipe(Stream.unwrap)

const load = Effect.fnUntraced(function* <R>(
  scratch: Scratch.Scratch,
  fields: Fields,
  promptRows: Stream.Stream<RowResult, SourceError, R>,
  completions: ReadonlyArray<Stream.Stream<RowResult, SourceError, R>>,
) {
  const keys = new KeyNumbers()
  const firstRows = new FirstRows()
  const files = fields.prompts.map(PlaceName.describe).join(", ")
  const add = (decode: (row: Row) => Result.Result<Decoded, string>, prompts?: number) => (row: Row) => {
    const { place } = row
    const decoded = decode(row)
    if (Result.isFailure(decoded)) return reject(place, "invalid_shape", decoded.failure)
    const { head, key, tag, text } = decoded.success
    const rank = keys.of(Key.toTableKey(key))
    const first = firstRows.add(rank, place)
    if (first !== undefined) {
      const reason = `expected each key only once, but ${describeValue(key)} already occurs at ${describe(first)}`
      return reject(place, "duplicate_key", reason)
    }
    if (prompts !== undefined && rank >= prompts) {
      return reject(place, "no_match", `expected a prompt with key ${describeValue(key)} in ${files}, found none`)
    }
    const list = prompts === undefined ? promptList : KeyedRecords.listOf(rank, completionLists)
    return Result.succeed(scratch.add(list, { rank, tag, origin: place, head, text }))
  }
  const addAll = (
    list: number,
    rows: Stream.Stream<RowResult, SourceError, R>,
    add: (row: Row) => Result.Result<void, Reject>,
  ) => {
    firstRows.nextFile()
    return Stream.runForEachArray(rows, (chunk) =>
      Scratch.attempt(() => {
        for (const row of chunk) {
          const result = Result.flatMap(row, add)
          if (Result.isSuccess(result)) continue
          const { failure } = result
          const text = JSON.stringify(failure)
          scratch.add(list, { rank: keys.count, tag: tags.reject, origin: failure, head: "", text })
        }
      }),
    )
  }
  yield* addAll(
    promptList,
    promptRows,
    add((row) => decodePrompt(fields, row)),
  )
  const prompts = keys.count
  for (const [file, rows] of completions.entries()) {
    yield* addAll(
      rejectList,
      rows,
      add((row) => decodeCompletion(fields, file, fields.withoutIgnored(row)), prompts),
    )
  }
  return prompts
})

interface Decoded extends Pick<Scratch.Stored, "tag" | "head" | "text"> {
  readonly key: string
}

const decodePrompt = ({ promptKey }: Fields, { isTextual, json, place, value }: Row): Result.Result<Decoded, string> =>
  Result.map(ItemDecoder.decodeKey(promptKey.get(value, isTextual), promptKey.name), (key) =>
    // A JSON record is stored as its original text, because `JSON.stringify` may fail for deeply nested values.
    isTextual
      ? { key, tag: tags.textual, head: key, text: JSON.stringify([value, place.raw]) }
      : { key, tag: tags.json, head: key, text: json ?? place.raw ?? "null" },
  )

const decodeCompletion = (fields: Fields, file: number, row: Row): Result.Result<Decoded, string> => {
  const { completionKey, model: modelField } = fields
  const problem = UnusedContext.problemOf(fields.unusedOfCompletion(row, emptyItem))
  if (problem !== undefined) return Result.fail(JoinOptions.inJoin(problem))
  const valueAt = (field: Field) => field.get(row.value, row.isTextual)
  const key = ItemDecoder.decodeKey(valueAt(completionKey), completionKey.name)
  if (Result.isFailure(key)) return Result.fail(key.failure)
  const { name } = fields.completion
  const completion = Result.flatMap(CellText.read(valueAt(fields.completion), name, row.isTextual), (value) =>
    toCompletion(value, name),
  )
  if (Result.isFailure(completion)) return Result.fail(completion.failure)
  const model = modelField && ItemDecoder.decodeText(valueAt(modelField), modelField.name)
  if (model !== undefined && Result.isFailure(model)) return Result.fail(model.failure)
  return Result.map(fields.keptOfCompletions.of(row), (metadata) => {
    const { isJson, text } = completion.success
    const isPlain = !isJson && model === undefined && metadata === undefined
    return {
      key: key.success,
      tag: file,
      text,
      head: isPlain ? "" : JSON.stringify([isJson, model?.success, metadata]),
    }
  })
}

const toCompletion = (
  value: unknown,
  name: string,
): Result.Result<{ readonly text: string; readonly isJson: boolean }, string> =>
  Array.isArray(value) && value.length === 1 && typeof value[0] === "string"
    ? toCompletion(value[0], name)
    : Messages.isList(value) && value.length > 1
      ? Result.map(Messages.decode(value, name), (decoded) => ({ text: JSON.stringify(decoded), isJson: true }))
      : Result.map(ItemDecoder.decodeCompletion(value, undefined, name), (completion) =>
          typeof completion === "string"
            ? { text: completion, isJson: false }
            : { text: JSON.stringify(completion), isJson: true },
        )

const records = function* (
  scratch: Scratch.Scratch,
  fields: Fields,
  prompts: number,
): Generator<readonly [SourceRecord, number]> {
  scratch.finish()
  const rows = scratch.records(promptList)
  let next = rows.next()
  const joined = function* (to: number, completionsOf: ReadonlyMap<number, ReadonlyArray<Scratch.Located>>) {
    for (; next.done !== true && next.value.rank < to; next = rows.next()) {
      const completions = completionsOf.get(next.value.rank) ?? []
      const size = completions.reduce((sum, { size }) => sum + size, next.value.size)
      yield [toRecord(scratch, fields, scratch.read(next.value), completions), size] as const
    }
  }
  for (const batch of KeyedRecords.batches(scratch, completionLists, prompts)) {
    yield* joined(batch.to, KeyedRecords.byRank(batch.records()))
  }
  yield* joined(Infinity, new Map())
  for (const row of scratch.records(rejectList)) yield [Result.fail(JSON.parse(scratch.read(row).text)), row.size]
}

const toRecord = (
  scratch: Scratch.Scratch,
  fields: Fields,
  { head, origin, tag, text }: Scratch.Stored,
  locatedCompletions: ReadonlyArray<Scratch.Located>,
): SourceRecord => {
  const storedValue = JSON.parse(text)
  if (tag === tags.reject) return Result.fail(storedValue)
  const row: Row =
    tag === tags.textual
      ? { place: { ...origin, raw: storedValue[1] }, value: storedValue[0], isTextual: true }
      : { place: { ...origin, raw: text }, value: storedValue }
  return joinPrompt(
    fields,
    row,
    head,
    locatedCompletions.map((one) => toJoined(scratch.read(one))),
  )
}

const toJoined = ({ head, origin, tag, text }: Scratch.Stored): Joined => {
  const [isJson, model, metadata] = head === "" ? [false, null, null] : JSON.parse(head)
  return { file: tag, origin, completion: text, isJson, model, metadata }
}

const joinPrompt = (fields: Fields, originalRow: Row, key: string, joinedRows: ReadonlyArray<Joined>): SourceRecord => {
  const prompt = fields.withoutIgnored(originalRow)
  const { isTextual, place, value } = prompt
  if (joinedRows.length < fields.completions.length) {
    const absent = fields.completions.filter((_, file) => !joinedRows.some((row) => row.file === file))
    const problem = `expected a usable row for key ${describeValue(key)} in each completions file, found none in ${absent.map(PlaceName.describe).join(", ")}`
    if (!fields.keepIncomplete) return reject(place, "no_match", problem)
    if (joinedRows.length < 2) return reject(place, "no_match", `${problem}; at least two completions are needed`)
  }
  const promptModels = modelsOfPrompt(fields, value, isTextual)
  const modelOf = ({ file, model }: Joined) => model ?? fields.modelNames[file]!
  const completions = PromptModels.sort(promptModels, joinedRows, modelOf)
  const models = completions.map(modelOf)
  const gold = PromptModels.goldOf(promptModels, fields.gold.get(value, isTextual), models)
  if (Result.isFailure(gold)) return reject(place, "invalid_shape", `${fields.gold.name}: ${gold.failure}`)
  const combinedMetadata = Result.flatMap(fields.keptOfPrompts.of(prompt), (own) =>
    Metadata.withCompletions(
      own,
      completions.map(({ metadata }) => metadata ?? undefined),
    ),
  )
  if (Result.isFailure(combinedMetadata)) return reject(place, "invalid_shape", combinedMetadata.failure)
  const { lists, metadata } = combinedMetadata.success
  const record = ItemDecoder.decode(
    {
      id: Key.toId(key),
      prompt: fields.prompt.get(value, isTextual),
      completions: completions.map(({ completion, isJson }) => (isJson ? JSON.parse(completion) : completion)),
      models,
      ...(metadata === undefined ? undefined : { metadata }),
      ...(gold.success === undefined ? undefined : { gold: gold.success }),
    },
    place,
    {
      prompt: fields.prompt.name,
      completions: {
        name: "completions",
        nameAt: (index) => `${fields.completion.name} at ${describe(completions[index]!.origin)}`,
      },
      metadata: fields.metadata.name,
      gold: fields.gold.name,
    },
    isTextual,
  )
  return Result.flatMap(PromptContext.addTo(record, fields, prompt), (source) => {
    const problem = UnusedContext.problemOf(fields.unusedOfPrompt(prompt, source.item))
    return problem === undefined
      ? Result.succeed({
          ...source,
          completionOrigins: completions.map(({ origin }) => origin),
          completionLists: lists.map((name) => [name]),
        })
      : reject(place, "invalid_shape", JoinOptions.inJoin(problem))
  })
}

export const emptyItem: UnusedContext.Shown = { prompt: "", completions: [] }

export const unusedInPrompt = (fields: Fields, originalRow: Row): ReadonlyArray<UnusedContext.Unused> => {
  const row = fields.withoutIgnored(originalRow)
  const fullPrompt = ItemDecoder.decodePrompt(fields.prompt.get(row.value, row.isTextual), fields.prompt.name).pipe(
    Result.flatMap((prompt) => PromptContext.complete(fields, row, prompt)),
  )
  return Result.isSuccess(fullPrompt) ? fields.unusedOfPrompt(row, { prompt: fullPrompt.success, completions: [] }) : []
}

const modelsOfPrompt = ({ hasOwnModels, metadata, models }: Fields, value: unknown, isTextual: boolean | undefined) => {
  const modelList = fromText(models.get(value, isTextual))
  if (hasOwnModels || modelList !== undefined) return PromptModels.of(models.name, modelList)
  const object = fromText(metadata.get(value, isTextual))
  const metadataModels = isObject(object) && Object.hasOwn(object, "models") ? object["models"] : undefined
  return PromptModels.of(metadataModels === undefined ? models.name : `${metadata.name}.models`, metadataModels)
}
