/**
 * Prompts in one file or several and completions in others, joined by a key.
 *
 * Guarantees: memory grows by 40 bytes plus the key's length per key; otherwise it is bounded. All
 * rows go through a scratch file. Records are the rows of the prompts files, in order, and
 * then the rows of the completions files that could not be used, in the order of files and lines: bad ones, later ones
 * with the same key, those without a prompt. The rows of a refused prompt are no rejects of their own. An item's
 * completions follow the order of the prompt's list of models, if any, otherwise the order of the files.
 */
/* oxlint-disable max-lines -- one pass over the keys, whose steps share a scratch file */
import { Effect, Result, Stream } from "effect"
import { describe, type Origin } from "../../domain/Origin.ts"
import type { PromptItem } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import * as CellText from "../item/CellText.ts"
import * as ItemDecoder from "../item/ItemDecoder.ts"
import * as History from "../item/History.ts"
import * as Metadata from "../item/Metadata.ts"
import * as Messages from "../item/Messages.ts"
import * as ToolCalls from "../item/ToolCalls.ts"
import * as SystemPrompt from "../item/SystemPrompt.ts"
import * as UnusedContext from "../item/UnusedContext.ts"
import * as PlaceName from "../place/PlaceName.ts"
import { type Field, fromText } from "../record/Field.ts"
import * as Key from "../record/Key.ts"
import { reject, type Row, type RowResult } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import { describeValue, isObject } from "../../io/Values.ts"
import type * as JoinOptions from "./JoinOptions.ts"
import { FirstRows } from "./FirstRows.ts"
import * as KeyedRecords from "./KeyedRecords.ts"
import { KeyNumbers } from "./KeyNumbers.ts"
import * as PromptModels from "./PromptModels.ts"
import * as Scratch from "./Scratch.ts"

type Fields = JoinOptions.Resolved

/** A completion that was found for a prompt. */
interface Joined {
  /** Index of the completions file. */
  readonly file: number
  readonly origin: Origin
  readonly completion: string
  /** Whether the completion is a conversation, as JSON, to be read together with its prompt. */
  readonly isJson: boolean
  readonly model: string | null
  readonly kept: PromptItem["metadata"] | null
}

/** Lists in the scratch file. Those from `completionLists` on have the completions that have a prompt. */
const promptList = 0
const restList = 1
const completionLists = 2

/** What a record is in the first two lists; in the others the tag is the index of its file. */
const tags = { json: 0, textual: 1, reject: 2 } as const

/** @param completions the rows of each file */
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

/** Moves all rows to the scratch file. Gives the number of keys that have a prompt. */
const load = Effect.fnUntraced(function* <R>(
  scratch: Scratch.Scratch,
  fields: Fields,
  promptRows: Stream.Stream<RowResult, SourceError, R>,
  completions: ReadonlyArray<Stream.Stream<RowResult, SourceError, R>>,
) {
  const keys = new KeyNumbers()
  const firsts = new FirstRows()
  const files = fields.prompts.map(PlaceName.describe).join(", ")
  /** @param prompts number of keys that have a prompt, once it is known */
  const add = (decode: (row: Row) => Result.Result<Decoded, string>, prompts?: number) => (row: Row) => {
    const { place } = row
    const decoded = decode(row)
    if (Result.isFailure(decoded)) return reject(place, "invalid_shape", decoded.failure)
    const { head, key, tag, text } = decoded.success
    const rank = keys.of(Key.short(key))
    const first = firsts.add(rank, place)
    if (first !== undefined) {
      const reason = `expected each key once, found ${describeValue(key)} at ${describe(first)} already`
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
    firsts.nextFile()
    return Stream.runForEachArray(rows, (some) =>
      Scratch.attempt(() => {
        for (const row of some) {
          const added = Result.flatMap(row, add)
          if (Result.isSuccess(added)) continue
          const { failure } = added
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
      restList,
      rows,
      add((row) => decodeCompletion(fields, file, fields.withoutIgnored(row)), prompts),
    )
  }
  return prompts
})

/** What is stored of a row, and its key. */
interface Decoded extends Pick<Scratch.Stored, "tag" | "head" | "text"> {
  readonly key: string
}

const decodePrompt = ({ promptKey }: Fields, { isTextual, json, place, value }: Row): Result.Result<Decoded, string> =>
  Result.map(ItemDecoder.decodeKey(promptKey.get(value, isTextual), promptKey.name), (key) =>
    // The own text of a record that is not textual is JSON, also where the engine could not write its value.
    isTextual
      ? { key, tag: tags.textual, head: key, text: JSON.stringify([value, place.raw]) }
      : { key, tag: tags.json, head: key, text: json ?? place.raw ?? "null" },
  )

const decodeCompletion = (fields: Fields, file: number, row: Row): Result.Result<Decoded, string> => {
  const { completionKey, model: modelField } = fields
  const problem = UnusedContext.problemOf(fields.unusedOfCompletion(row, nothingShown))
  if (problem !== undefined) return Result.fail(problem)
  const valueAt = (field: Field) => field.get(row.value, row.isTextual)
  const key = ItemDecoder.decodeKey(valueAt(completionKey), completionKey.name)
  if (Result.isFailure(key)) return Result.fail(key.failure)
  const { name } = fields.completion
  const completion = Result.flatMap(CellText.read(valueAt(fields.completion), name, row.isTextual), (said) =>
    toCompletion(said, name),
  )
  if (Result.isFailure(completion)) return Result.fail(completion.failure)
  const model = modelField && ItemDecoder.decodeText(valueAt(modelField), modelField.name)
  if (model !== undefined && Result.isFailure(model)) return Result.fail(model.failure)
  return Result.map(fields.keptOfCompletions.of(row), (kept) => {
    const { isJson, text } = completion.success
    const isPlain = !isJson && model === undefined && kept === undefined
    return { key: key.success, tag: file, text, head: isPlain ? "" : JSON.stringify([isJson, model?.success, kept]) }
  })
}

/** A list of one text is that text. A whole conversation is read when its prompt is there. */
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

/** All records with their sizes. @param prompts number of keys that have a prompt */
const records = function* (
  scratch: Scratch.Scratch,
  fields: Fields,
  prompts: number,
): Generator<readonly [SourceRecord, number]> {
  scratch.finish()
  const rows = scratch.records(promptList)
  let next = rows.next()
  /** Those before the rank, and rejects before the next one. */
  const joined = function* (to: number, found: ReadonlyMap<number, ReadonlyArray<Scratch.Located>>) {
    for (; next.done !== true && next.value.rank < to; next = rows.next()) {
      const completions = found.get(next.value.rank) ?? []
      const size = completions.reduce((sum, { size }) => sum + size, next.value.size)
      yield [toRecord(scratch, fields, scratch.read(next.value), completions), size] as const
    }
  }
  for (const batch of KeyedRecords.batches(scratch, completionLists, prompts)) {
    yield* joined(batch.to, KeyedRecords.byRank(batch.records()))
  }
  yield* joined(Infinity, new Map())
  for (const row of scratch.records(restList)) yield [Result.fail(JSON.parse(scratch.read(row).text)), row.size]
}

const toRecord = (
  scratch: Scratch.Scratch,
  fields: Fields,
  { head, origin, tag, text }: Scratch.Stored,
  found: ReadonlyArray<Scratch.Located>,
): SourceRecord => {
  const written = JSON.parse(text)
  if (tag === tags.reject) return Result.fail(written)
  const row: Row =
    tag === tags.textual
      ? { place: { ...origin, raw: written[1] }, value: written[0], isTextual: true }
      : { place: { ...origin, raw: text }, value: written }
  return joinPrompt(
    fields,
    row,
    head,
    found.map((one) => toJoined(scratch.read(one))),
  )
}

const toJoined = ({ head, origin, tag, text }: Scratch.Stored): Joined => {
  const [isJson, model, kept] = head === "" ? [false, null, null] : JSON.parse(head)
  return { file: tag, origin, completion: text, isJson, model, kept }
}

const joinPrompt = (fields: Fields, read: Row, key: string, rows: ReadonlyArray<Joined>): SourceRecord => {
  const prompt = fields.withoutIgnored(read)
  const { isTextual, place, value } = prompt
  if (rows.length < fields.completions.length) {
    const absent = fields.completions.filter((_, file) => !rows.some((row) => row.file === file))
    const problem = `expected a usable row for key ${describeValue(key)} in each completions file, found none in ${absent.map(PlaceName.describe).join(", ")}`
    if (!fields.keepIncomplete) return reject(place, "no_match", problem)
    if (rows.length < 2) return reject(place, "no_match", `${problem}; at least two completions are needed`)
  }
  const own = ownModels(fields, value, isTextual)
  const modelOf = ({ file, model }: Joined) => model ?? fields.modelNames[file]!
  const found = PromptModels.sort(own, rows, modelOf)
  const models = found.map(modelOf)
  const gold = PromptModels.goldOf(own, fields.gold.get(value, isTextual), models)
  if (Result.isFailure(gold)) return reject(place, "invalid_shape", `${fields.gold.name}: ${gold.failure}`)
  const along = Result.flatMap(fields.keptOfPrompts.of(prompt), (own) =>
    Metadata.withCompletions(
      own,
      found.map(({ kept }) => kept ?? undefined),
    ),
  )
  if (Result.isFailure(along)) return reject(place, "invalid_shape", along.failure)
  const { lists, metadata } = along.success
  const record = ItemDecoder.decode(
    {
      id: Key.toId(key),
      prompt: fields.prompt.get(value, isTextual),
      completions: found.map(({ completion, isJson }) => (isJson ? JSON.parse(completion) : completion)),
      models,
      ...(metadata === undefined ? undefined : { metadata }),
      ...(gold.success === undefined ? undefined : { gold: gold.success }),
    },
    place,
    {
      prompt: fields.prompt.name,
      completions: {
        name: "completions",
        nameAt: (index) => `${fields.completion.name} at ${describe(found[index]!.origin)}`,
      },
      metadata: fields.metadata.name,
      gold: fields.gold.name,
    },
    isTextual,
  )
  const asked = SystemPrompt.addTo(History.addTo(record, fields.history, prompt), fields.systems, prompt)
  return Result.flatMap(ToolCalls.addTo(asked, prompt), (source) => {
    const problem = UnusedContext.problemOf(fields.unusedOfPrompt(prompt, source.item))
    return problem === undefined
      ? Result.succeed({
          ...source,
          completionOrigins: found.map(({ origin }) => origin),
          completionLists: lists.map((name) => [name]),
        })
      : reject(place, "invalid_shape", problem)
  })
}

/** Of a completion's record: whether its texts are in the prompt is not known before the join. */
export const nothingShown: UnusedContext.Shown = { prompt: "", completions: [] }

/** What experts may have to see of the prompts' records that is not read. */
export const unusedInPrompt = (fields: Fields, read: Row): ReadonlyArray<UnusedContext.Unused> => {
  const row = fields.withoutIgnored(read)
  const asked = ItemDecoder.decodePrompt(fields.prompt.get(row.value, row.isTextual), fields.prompt.name).pipe(
    Result.flatMap((prompt) => History.add(fields.history, row, prompt)),
    Result.flatMap((prompt) => SystemPrompt.add(fields.systems, row, prompt)),
  )
  return Result.isSuccess(asked) ? fields.unusedOfPrompt(row, { prompt: asked.success, completions: [] }) : []
}

const ownModels = ({ hasOwnModels, metadata, models }: Fields, value: unknown, isTextual: boolean | undefined) => {
  const own = fromText(models.get(value, isTextual))
  if (hasOwnModels || own !== undefined) return PromptModels.of(models.name, own)
  const object = fromText(metadata.get(value, isTextual))
  const named = isObject(object) && Object.hasOwn(object, "models") ? object["models"] : undefined
  return PromptModels.of(named === undefined ? models.name : `${metadata.name}.models`, named)
}
