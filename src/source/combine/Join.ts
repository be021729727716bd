/**
 * Prompts in one file or several and completions in others, joined by a key.
 *
 * Guarantees: memory stays bounded however large the files are. Records are the rows of the prompts files, in order, and
 * then the rows of the completions files that could not be used, in the order of files and lines: bad ones, later ones
 * with the same key, those without a prompt. The rows of a refused prompt are no rejects of their own. An item's
 * completions stand in the order of the prompt's own list of models, where it has one, or else of the files.
 */
import { Array, Effect, Result, Stream } from "effect"
import { describe } from "../../domain/Origin.ts"
import type { PromptItem } from "../../domain/PromptItem.ts"
import * as ItemDecoder from "../item/ItemDecoder.ts"
import * as Metadata from "../item/Metadata.ts"
import * as Messages from "../item/Messages.ts"
import * as SystemPrompt from "../item/SystemPrompt.ts"
import * as PlaceName from "../place/PlaceName.ts"
import { type Field, fromText } from "../record/Field.ts"
import * as Key from "../record/Key.ts"
import { originOf, type Place, reject, type Row, type RowResult } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import { describeValue, isObject } from "../../io/Values.ts"
import type * as JoinOptions from "./JoinOptions.ts"
import * as KeyedRecords from "./KeyedRecords.ts"
import * as PromptModels from "./PromptModels.ts"

type Fields = JoinOptions.Resolved

interface PromptRow {
  readonly key: string
  /** Absent where it is nested too deep to be written again: the record's own text is read. */
  readonly value?: unknown
  readonly isTextual: boolean
}

interface CompletionRow {
  readonly key: string
  readonly completion: string
  /** Whether the completion is a conversation, as JSON, to be read together with its prompt. */
  readonly isJson: boolean
  readonly model: string | null
  readonly kept: PromptItem["metadata"] | null
}

type Stored = PromptRow | CompletionRow

const textsOf = (value: Stored): ReadonlyArray<string> => [
  "completion" in value ? value.completion : (JSON.stringify(value.value) ?? ""),
]

/** The first row with the key of a row before it in its file, if there is one; all prompts files count as one. */
const earlier = `(SELECT min(id) FROM record AS same
    WHERE same.key = record.key AND same.source = record.source AND same.id < record.id)`

const prompts = `SELECT id, iif(first IS NULL, key, NULL),
    (SELECT count(*) FROM record AS every WHERE every.key = found.key),
    (SELECT sum(size) FROM record AS every WHERE every.key = found.key),
    first
  FROM (SELECT id, key, ${earlier} AS first FROM record INDEXED BY record_key WHERE source = 0) AS found ORDER BY id`

const unmatched = `SELECT id, NULL, 1, size, ${earlier} AS first
  FROM record INDEXED BY record_key
  WHERE source > 0 AND (key IS NULL OR first IS NOT NULL
    OR NOT EXISTS (SELECT 1 FROM record AS prompt WHERE prompt.key = record.key AND prompt.source = 0))
  ORDER BY id`

/** @param completions the rows of each file */
export const join = <R>(
  fields: Fields,
  promptRows: Stream.Stream<RowResult, SourceError, R>,
  completions: ReadonlyArray<Stream.Stream<RowResult, SourceError, R>>,
) =>
  Effect.gen(function* () {
    const store = yield* KeyedRecords.make(fields.scratchDirectory, textsOf)
    const insert = <A extends Stored>(
      source: number,
      rows: Stream.Stream<RowResult, SourceError, R>,
      toStored: (row: Row) => Result.Result<A, string>,
    ) =>
      Stream.runForEachArray(rows, (some) =>
        store.insert(
          some.map(
            Result.flatMap((row) =>
              Result.match(toStored(row), {
                onFailure: (reason) => reject(row.place, "invalid_shape", reason),
                onSuccess: (value) => Result.succeed({ place: row.place, value }),
              }),
            ),
          ),
          ({ value }) => value.key,
          () => source,
        ),
      )
    yield* insert(0, promptRows, (row) => toPrompt(fields, row))
    for (const [file, rows] of completions.entries()) {
      yield* insert(file + 1, rows, (row) => toCompletionRow(fields, row))
    }
    yield* store.index
    yield* store.list("prompt", prompts)
    const joined = Stream.mapEffect(
      store.batches("prompt"),
      Effect.fnUntraced(function* (batch) {
        const found = yield* store.records("prompt", batch)
        const rows = yield* store.members("prompt", batch, `source > 0 AND ${earlier} IS NULL`)
        return found.map((prompt) => toRecord(fields, prompt, rows.get(prompt.rank) ?? []))
      }),
    )
    const rest = store
      .list("unmatched", unmatched)
      .pipe(
        Effect.as(Stream.mapEffect(store.batches("unmatched"), (batch) => store.records("unmatched", batch))),
        Stream.unwrap,
        Stream.map(Array.map((found) => unmatchedRecord(fields, found))),
      )
    return Stream.flattenIterable(Stream.concat(joined, rest))
  }).pipe(Stream.unwrap)

const toPrompt = ({ promptKey }: Fields, { isTextual, place, value }: Row): Result.Result<PromptRow, string> =>
  Result.map(ItemDecoder.decodeKey(promptKey.get(value, isTextual), promptKey.name), (key) => ({
    key,
    isTextual: isTextual === true,
    ...(place.raw === undefined || Result.isSuccess(Result.try(() => JSON.stringify(value))) ? { value } : undefined),
  }))

const toRecord = (
  fields: Fields,
  { first, record }: KeyedRecords.FoundRecord<Stored>,
  found: ReadonlyArray<KeyedRecords.FoundRecord<Stored>>,
): SourceRecord => {
  if ("code" in record) return Result.fail(record)
  const { place, value } = record
  if (first !== undefined) return reject(place, "duplicate_key", duplicate(value.key, first))
  const prompt = "completion" in value ? undefined : "value" in value ? value.value : JSON.parse(place.raw ?? "null")
  const isTextual = "isTextual" in value && value.isTextual
  return joinPrompt(
    fields,
    { place, value: prompt, ...(isTextual ? { isTextual } : undefined) },
    value.key,
    found.flatMap(toJoined),
  )
}

/** A completion that was found for a prompt. */
interface Joined extends CompletionRow {
  /** Index of the completions file. */
  readonly file: number
  readonly place: Place
}

const toJoined = ({ record, source }: KeyedRecords.FoundRecord<Stored>): ReadonlyArray<Joined> =>
  "value" in record && "completion" in record.value ? [{ ...record.value, file: source - 1, place: record.place }] : []

const unmatchedRecord = (fields: Fields, { first, record }: KeyedRecords.FoundRecord<Stored>): SourceRecord => {
  if ("code" in record) return Result.fail(record)
  const { place, value } = record
  if (first !== undefined) return reject(place, "duplicate_key", duplicate(value.key, first))
  const files = fields.prompts.map(PlaceName.describe).join(", ")
  return reject(place, "no_match", `expected a prompt with key ${describeValue(value.key)} in ${files}, found none`)
}

const duplicate = (key: string, first: Parameters<typeof describe>[0]): string =>
  `expected each key once, found ${describeValue(key)} at ${describe(first)} already`

const toCompletionRow = (fields: Fields, row: Row): Result.Result<CompletionRow, string> =>
  Result.gen(function* () {
    const { completionKey, completion, keptOfCompletions, model } = fields
    const valueAt = (field: Field) => field.get(row.value, row.isTextual)
    return {
      key: yield* ItemDecoder.decodeKey(valueAt(completionKey), completionKey.name),
      ...(yield* toCompletion(valueAt(completion), completion.name)),
      model: model === undefined ? null : yield* ItemDecoder.decodeText(valueAt(model), model.name),
      kept: (yield* keptOfCompletions.of(row)) ?? null,
    }
  })

/** A whole conversation is read when its prompt is there. */
const toCompletion = (
  value: unknown,
  name: string,
): Result.Result<Pick<CompletionRow, "completion" | "isJson">, string> =>
  Messages.isList(value) && value.length > 1
    ? Result.map(Messages.decode(value, name), (decoded) => ({ completion: JSON.stringify(decoded), isJson: true }))
    : Result.map(ItemDecoder.decodeCompletion(value, undefined, name), (completion) => ({ completion, isJson: false }))

const joinPrompt = (fields: Fields, prompt: Row, key: string, rows: ReadonlyArray<Joined>): SourceRecord => {
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
        nameAt: (index) => `${fields.completion.name} at ${describe(found[index]!.place)}`,
      },
      metadata: fields.metadata.name,
      gold: fields.gold.name,
    },
    isTextual,
  )
  const whole = SystemPrompt.addTo(record, fields.systems, { isTextual, place, value })
  return Result.map(whole, (item) => ({
    ...item,
    completionOrigins: found.map(({ place }) => originOf(place)),
    completionLists: lists.map((name) => [name]),
  }))
}

const ownModels = ({ hasOwnModels, metadata, models }: Fields, value: unknown, isTextual: boolean | undefined) => {
  const own = fromText(models.get(value, isTextual))
  if (hasOwnModels || own !== undefined) return PromptModels.of(models.name, own)
  const object = fromText(metadata.get(value, isTextual))
  const named = isObject(object) && Object.hasOwn(object, "models") ? object["models"] : undefined
  return PromptModels.of(named === undefined ? models.name : `${metadata.name}.models`, named)
}
