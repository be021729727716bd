/**
 * Prompts in one file or several, completions in others (one for each model), joined by a key.
 *
 * Guarantees: memory stays bounded however large the files are, the completions
 * go through a scratch database on disk. An item's completions stand in the order
 * of the prompt's own list of models, where its record has one, or else of the completions
 * files: what counts in this list, as gold does, counts in the completions. Its id is the key as text,
 * and a number is the same key as its decimal digits. A key too long for an id (a prompt, say) has its SHA-256 for one.
 *
 * Records are the rows of the prompts files, in order, and then those rows of the
 * completions files that could not be used, in the order of files and lines:
 * bad ones, later ones with the same key, those that no prompt asks for. The rows
 * that belong to a refused prompt are mended with it: they are no rejects of their own.
 */
import { Array, Effect, Result, Stream } from "effect"
import { describe } from "../domain/Origin.ts"
import type { Metadata } from "../domain/PromptItem.ts"
import type { Reject } from "../domain/Reject.ts"
import type { RowFile } from "./format/Format.ts"
import * as Head from "./Head.ts"
import * as ItemDecoder from "./item/ItemDecoder.ts"
import { reject, type Row } from "./record/Row.ts"
import * as RowFiles from "./RowFiles.ts"
import { LayoutUnknown, SourceError } from "./record/SourceError.ts"
import type { Found, Source, SourceRecord } from "./record/SourceRecord.ts"
import { type Field, fromText } from "./record/Field.ts"
import { describeValue, isObject } from "../io/Values.ts"
import * as JoinOptions from "./JoinOptions.ts"
import type { Unused } from "./combine/JoinUnmatched.ts"
import type { KeyedRow } from "./combine/JoinPrompts.ts"
import type { Completion, JoinRow } from "./combine/JoinRow.ts"
import * as PlaceName from "./place/PlaceName.ts"
import * as JoinScratch from "./combine/JoinScratch.ts"
import * as Kept from "./item/Metadata.ts"
import * as Messages from "./item/Messages.ts"
import * as Misnamed from "./detect/UnknownFields.ts"
import * as Key from "./record/Key.ts"
import type { flags } from "./layout/LayoutFlags.ts"
import * as OwnModels from "./combine/PromptModels.ts"
import * as SystemPrompt from "./item/SystemPrompt.ts"

export type { JoinOptions } from "./JoinOptions.ts"

/** Fails before the first record if a file is missing or a field path is none. */
export const join = (options: JoinOptions.JoinOptions): Source => ({
  description: `${describeFiles(options.prompts, "prompts")} with ${describeFiles(options.completions, "completions")}, joined by ${options.key ?? options.promptKey ?? "id"}`,
  found: look(options),
  records: Effect.gen(function* () {
    const files = yield* JoinOptions.files(options)
    const fields = yield* JoinOptions.resolve(options, files, {
      prompts: Head.membersOf(yield* Head.first(files.prompts, options, looked)),
      completions: Head.membersOf(yield* headsOf(files.completions, options)),
    })
    const prompts = yield* Effect.forEach(fields.prompts, (file) => RowFiles.open(file, fields.format))
    const completions = yield* Effect.forEach(fields.completions, (file) => RowFiles.open(file, fields.format))
    const names = completions.map(({ name }) => name)
    const scratch = yield* JoinScratch.make(names, promptRecords(fields, prompts), fields.scratchDirectory)
    for (const [file, opened] of completions.entries()) {
      yield* scratch.insert(file, completionRecords(fields, opened))
    }
    return Stream.concat(
      Stream.mapArray(
        scratch.joined,
        Array.map((joined) => toRecord(fields, joined)),
      ),
      Stream.map(scratch.leftovers, (row) => leftoverRecord(fields, row)),
    )
  }).pipe(Stream.unwrap),
})
/** Records of each file that are looked at. */
const looked = 20

const headsOf = (files: ReadonlyArray<string>, options: JoinOptions.JoinOptions) =>
  Effect.forEach(files, (file) => Head.read(file, options, looked))

/** What the files are; fails where the first records of one have nothing where key, prompt or completion is to be. */
const look = Effect.fnUntraced(function* (options: JoinOptions.JoinOptions) {
  const files = yield* JoinOptions.files(options)
  const prompts = yield* headsOf(files.prompts, options)
  const completions = yield* headsOf(files.completions, options)
  const members = {
    prompts: Head.membersOf(prompts.filter(Head.hasRecords).slice(0, 1)),
    completions: Head.membersOf(completions),
  }
  const fields = yield* JoinOptions.resolve(options, files, members)
  const inPrompts = [
    ["key", fields.promptKey],
    ["prompt", fields.prompt],
  ] as const
  const inCompletions = [
    ["key", fields.completionKey],
    ["completion", fields.completion],
  ] as const
  const wanted = [
    ...prompts.map((head) => [head, inPrompts] as const),
    ...completions.map((head) => [head, inCompletions] as const),
  ]
  for (const [head, needed] of wanted) {
    const names = [...Head.membersOf([head])]
    for (const [option, { columns }] of needed) {
      if (names.length === 0 || columns.some((column) => names.includes(column))) continue
      const problem = Misnamed.nothingAt(option, columns, names)
      return yield* new SourceError({ reason: new LayoutUnknown({ file: head.name, problem }) })
    }
  }
  const all = [...prompts, ...completions]
  const at = ({ label }: Field) => JSON.stringify(label)
  const found: Found = {
    files: all.map(({ description, name }) => ({ name, description })),
    count: all.length,
    empty: files.empty,
    layout: `join by ${at(fields.promptKey)}: prompt at ${at(fields.prompt)}, completions at ${at(fields.completion)}, ${fields.model === undefined ? "models named after the files" : `models at ${at(fields.model)}`}`,
    absent: [
      ...absentOf("gold", options.goldPath === undefined ? [] : fields.gold.columns, members.prompts),
      ...absentOf("metadata", options.metadataPath === undefined ? [] : fields.metadata.columns, members.prompts),
      ...absentOf("model", fields.model?.columns ?? [], members.completions),
      ...absentOf(
        "keep",
        options.keep?.filter((name) => name !== "*" && !members.completions.has(name)) ?? [],
        members.prompts,
      ),
    ],
    hints: [],
    ignored: [],
  }
  return found
})

const absentOf = (
  option: keyof typeof flags,
  columns: ReadonlyArray<string>,
  members: ReadonlySet<string>,
): ReadonlyArray<string> =>
  members.size === 0 ? [] : columns.flatMap((name) => (members.has(name) ? [] : [Misnamed.named(name, option)]))

/** A folder or pattern may be several files. */
const describeFiles = (names: string | ReadonlyArray<string>, what: string): string => {
  const all = JoinOptions.toList(names)
  return all.length === 1 ? PlaceName.shown(all[0]!) : `${all.length} inputs of ${what}`
}

type Fields = JoinOptions.Resolved

const promptColumns = ({ gold, keptOfPrompts, metadata, models, prompt, promptKey, systems }: Fields) =>
  withKept([promptKey, prompt, ...systems, gold, metadata, models], keptOfPrompts)

const completionColumns = ({ completion, completionKey, keptOfCompletions, model }: Fields) =>
  withKept([completionKey, completion, model], keptOfCompletions)

/** Undefined where all are read. */
const withKept = (fields: ReadonlyArray<Field | undefined>, kept: Kept.Kept): ReadonlyArray<string> | undefined =>
  kept.columns === undefined
    ? undefined
    : Array.dedupe([...fields.flatMap((field) => field?.columns ?? []), ...kept.columns])

const promptRecords = (fields: Fields, files: ReadonlyArray<RowFile>) =>
  Stream.fromArray(files).pipe(
    Stream.flatMap((file) => file.rows(promptColumns(fields))),
    Stream.mapArray(Array.map((row) => Result.merge(Result.flatMap(row, (it) => toKeyedRow(fields, it))))),
  )

const toKeyedRow = ({ promptKey }: Fields, row: Row): Result.Result<KeyedRow, Reject> => {
  const key = ItemDecoder.decodeKey(promptKey.get(row.value, row.isTextual), promptKey.name)
  return Result.isSuccess(key)
    ? Result.succeed({ ...row, key: key.success })
    : reject(row.place, "invalid_shape", key.failure)
}

const completionRecords = (fields: Fields, file: RowFile) =>
  Stream.mapArray(
    file.rows(completionColumns(fields)),
    Array.map((row) => Result.merge(Result.flatMap(row, (it) => toCompletionRow(fields, it)))),
  )

const toCompletionRow = (fields: Fields, row: Row): Result.Result<JoinScratch.CompletionRow, Reject> => {
  const { isTextual, place, value } = row
  const fail = (reason: string) => reject(place, "invalid_shape", reason)
  const key = ItemDecoder.decodeKey(fields.completionKey.get(value, isTextual), fields.completionKey.name)
  if (Result.isFailure(key)) return fail(key.failure)
  const completion = toCompletion(fields.completion.get(value, isTextual), fields.completion.name)
  if (Result.isFailure(completion)) return fail(completion.failure)
  const model =
    fields.model === undefined
      ? Result.succeed(null)
      : ItemDecoder.decodeText(fields.model.get(value, isTextual), fields.model.name)
  if (Result.isFailure(model)) return fail(model.failure)
  const kept = fields.keptOfCompletions.of(row)
  if (Result.isFailure(kept)) return fail(kept.failure)
  return Result.succeed({
    place,
    key: key.success,
    completion: completion.success,
    model: model.success,
    kept: kept.success === undefined ? null : JSON.stringify(kept.success),
  })
}

/** A whole conversation is read when its prompt is there. */
const toCompletion = (value: unknown, name: string): Result.Result<Completion, string> =>
  Messages.isList(value) && value.length > 1
    ? Result.map(Messages.decode(value, name), (decoded) => ({ text: JSON.stringify(decoded), isJson: true }))
    : Result.map(ItemDecoder.decodeCompletion(value, undefined, name), (text) => ({ text, isJson: false }))

const toRecord = (fields: Fields, { first, found, record }: JoinScratch.Joined): SourceRecord => {
  if ("code" in record) return Result.fail(record)
  return first === undefined
    ? joinPrompt(fields, record, found)
    : reject(record.place, "duplicate_key", duplicate(describeValue(record.key), first))
}

const duplicate = (key: string, first: Parameters<typeof describe>[0]): string =>
  `expected each key once, found ${key} at ${describe(first)} already`

const joinPrompt = (fields: Fields, prompt: KeyedRow, rows: ReadonlyArray<JoinRow>): SourceRecord => {
  const { isTextual, key, place, value } = prompt
  if (rows.length < fields.completions.length) {
    const absent = fields.completions.filter((_, file) => !rows.some((row) => row.file === file))
    const problem = `expected a usable row for key ${describeValue(key)} in each completions file, found none in ${absent.map(PlaceName.shown).join(", ")}`
    if (!fields.keepIncomplete) return reject(place, "no_match", problem)
    if (rows.length < 2) return reject(place, "no_match", `${problem}; two completions are the least`)
  }
  const own = ownModels(fields, value, isTextual)
  const modelOf = ({ file, model }: JoinRow) => model ?? fields.modelNames[file]!
  const found = OwnModels.sort(own, rows, modelOf)
  const models = found.map(modelOf)
  const gold = OwnModels.goldOf(own, fields.gold.get(value, isTextual), models)
  if (Result.isFailure(gold)) return reject(place, "invalid_shape", `${fields.gold.name}: ${gold.failure}`)
  const along = Result.flatMap(fields.keptOfPrompts.of(prompt), (own) => Kept.withCompletions(own, found.map(keptOf)))
  if (Result.isFailure(along)) return reject(place, "invalid_shape", along.failure)
  const { lists, metadata } = along.success
  const record = ItemDecoder.decode(
    {
      id: Key.toId(key),
      prompt: fields.prompt.get(value, isTextual),
      completions: found.map(({ completion: { isJson, text } }) => (isJson ? JSON.parse(text) : text)),
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
  const whole = SystemPrompt.addTo(record, fields.systems, { isTextual, place, value })
  return Result.map(whole, (item) => ({
    ...item,
    completionOrigins: found.map(({ origin }) => origin),
    completionLists: lists.map((name) => [name]),
  }))
}

const keptOf = ({ kept }: JoinRow): Metadata | undefined => (kept === null ? undefined : JSON.parse(kept))

const ownModels = ({ hasOwnModels, metadata, models }: Fields, value: unknown, isTextual: boolean | undefined) => {
  const own = fromText(models.get(value, isTextual))
  if (hasOwnModels || own !== undefined) return OwnModels.of(models.name, own)
  const object = fromText(metadata.get(value, isTextual))
  const named = isObject(object) && Object.hasOwn(object, "models") ? object["models"] : undefined
  return OwnModels.of(named === undefined ? models.name : `${metadata.name}.models`, named)
}

const leftoverRecord = (fields: Fields, row: Reject | Unused): SourceRecord => {
  if ("code" in row) return Result.fail(row)
  const { first, place, shown } = row
  return first === undefined
    ? reject(
        place,
        "no_match",
        `expected a prompt with key ${shown} in ${fields.prompts.map(PlaceName.shown).join(", ")}, found none`,
      )
    : reject(place, "duplicate_key", duplicate(shown, first))
}
