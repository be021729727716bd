/** Writes rows in the order of the pairs, except for rows that `PromptSpacing` or `Jsonl.leadingLines` moves. */
import { Effect, Option, Record, Result, Schema, Struct } from "effect"
import * as Assessment from "../domain/Assessment.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import type { Split } from "../domain/Split.ts"
import { needsTools } from "./Columns.ts"
import { type DatasetThread, sizeOf } from "./DatasetThread.ts"
import { DatasetError, FormatFailed, OptionInvalid } from "./file/DatasetError.ts"
import type { Feature, Features, JsonRow } from "./file/Features.ts"
import * as OmittedPairs from "./file/OmittedPairs.ts"
import * as PairTexts from "./format/PairTexts.ts"
import { didYouMean } from "../io/NearestName.ts"
import type * as Kinds from "../io/SettingKinds.ts"
import { describeValue, isObject } from "../io/Values.ts"
import type { Encoded, FormatOptions, TrainerFormat } from "./format/TrainerFormat.ts"
import { type FormatName, formatNames, formats } from "./format/TrainerFormats.ts"
import type { DatasetFile } from "./Manifest.ts"
import * as PromptSpacing from "./PromptSpacing.ts"
import type { OutputFiles } from "./Shards.ts"

export interface TrainerFile {
  readonly format: TrainerFormat
  readonly options: FormatOptions
  readonly split: Split
  readonly file: DatasetFile
  readonly rows: number
  readonly omitted: OmittedPairs.OmittedPairs
  readonly unwritten: Unwritten
}

export type Unwritten = { readonly [column: string]: number }

export const combineUnwritten = (parts: ReadonlyArray<Unwritten>): Unwritten =>
  parts.reduce((sum, part) => Record.union(sum, part, (a, b) => a + b), {})

export interface Options extends FormatOptions {
  readonly edited?: "chosen" | "none" | undefined
}

type UnreadColumn = keyof typeof Assessment.columns | "tool_calls" | "tools"

const hasValue = (pair: PreferencePair, column: UnreadColumn): boolean =>
  column === "tool_calls" ? needsTools(pair) : (pair[column] ?? false) !== false

const unreadColumns = (
  { reads = [] }: TrainerFormat,
  features: Features,
  { marginFrom }: FormatOptions,
  edited: Options["edited"],
) => {
  const read = new Set<UnreadColumn>(reads)
  if (marginFrom === "strength" && Object.hasOwn(features, "margin")) read.add("strength")
  if (edited === "chosen") read.add("edited")
  return ([...Struct.keys(Assessment.columns), "tool_calls", "tools"] as const).filter((column) => !read.has(column))
}

const withEdit = (pair: PreferencePair): PreferencePair => {
  const { edited } = pair
  if (edited === null) return pair
  const rest = Struct.omit(pair, ["chosen_messages"])
  const messages = PairTexts.editedMessages(pair)
  return {
    ...rest,
    chosen: edited,
    all_bad: false,
    ...(Option.isSome(messages) && { chosen_messages: messages.value }),
  }
}

export const folder = "formats"

export const pathOf = (format: TrainerFormat, split: Split) => `${folder}/${nameOf(format, split)}`

const nameOf = ({ container, name }: TrainerFormat, split: Split) => `${name}/${split}.${container}`

const isFormat = (value: unknown): value is TrainerFormat =>
  isObject(value) &&
  [typeof value["name"], typeof value["features"], typeof value["encoder"]].join() === "string,function,function" &&
  (value["container"] === "jsonl" || value["container"] === "parquet") &&
  Schema.isSchema(value["row"])

const isBuiltInName = (name: unknown): name is FormatName => typeof name === "string" && Object.hasOwn(formats, name)

const isNamed = (value: unknown) => typeof value === "string" || isFormat(value)
export const formatsKind: Kinds.SettingKind = [
  "a list of formats",
  (value) => Array.isArray(value) && value.every(isNamed),
]

export const problemOf = (requested: ReadonlyArray<unknown>) => {
  const names = new Set<string>()
  for (const each of requested) {
    const format = isBuiltInName(each) ? formats[each] : each
    if (!isFormat(format)) {
      const advice = typeof each === "string" ? didYouMean(each, formatNames) : ""
      return {
        expected: `one of ${formatNames.join(", ")}, or a custom format`,
        found: describeValue(each) + advice,
      }
    }
    const name = describeValue(format.name)
    if (!/^[\w-][\w.-]*$/.test(format.name))
      return {
        expected:
          "a name that has only ASCII letters, digits, hyphens, underscores, and dots, and does not begin with a dot",
        found: name,
      }
    if (names.has(format.name)) return { expected: "different names", found: `${name} twice` }
    names.add(format.name)
  }
  return undefined
}

export const resolve = Effect.fnUntraced(function* (requested: ReadonlyArray<FormatName | TrainerFormat>) {
  const problem = problemOf(requested)
  if (problem !== undefined)
    return yield* new DatasetError({ reason: new OptionInvalid({ option: "formats", ...problem }) })
  return requested.map((each): TrainerFormat => (typeof each === "string" ? formats[each] : each))
})

export const make = (thread: DatasetThread, format: TrainerFormat, split: Split, { edited, ...options }: Options) => {
  const path = pathOf(format, split)
  const encoder = format.encoder(options)
  const features = format.features(options)
  const output = thread.open({ path, features, container: format.container })
  const counter = OmittedPairs.counter()
  let rows = 0
  const unwrittenColumns = unreadColumns(format, features, options, edited)
  const counts = new Map(unwrittenColumns.map((column) => [column, 0]))
  const count = (pair: PreferencePair) => {
    for (const column of unwrittenColumns) {
      if (hasValue(pair, column)) counts.set(column, counts.get(column)! + 1)
    }
    return edited === "chosen" ? withEdit(pair) : pair
  }

  const { promptOf } = format
  const spacing = PromptSpacing.make<JsonRow>()

  /** JSON Lines need no check, because they can hold any value. Rows of built-in formats always match their types. */
  const isChecked = format.container === "parquet" && !(isBuiltInName(format.name) && formats[format.name] === format)

  const type = { struct: features }

  const append = (rowsOf: ReadonlyArray<JsonRow>): Result.Result<boolean, OptionInvalid> => {
    let isSent = false
    for (const row of rowsOf) {
      const problem = isChecked ? misfit(row, type, `formats.${format.name}.rows[${rows}]`) : undefined
      if (problem !== undefined) return Result.fail(new OptionInvalid(problem))
      rows++
      isSent = thread.add(output, row) || isSent
    }
    return Result.succeed(isSent)
  }

  const write = (itemId: string | null, encode: () => ReadonlyArray<Encoded>) =>
    Result.try({
      try: () => {
        const encoded: Array<JsonRow> = []
        for (const result of encode()) {
          if (Result.isFailure(result)) counter.add(result.failure)
          else if (promptOf === undefined) encoded.push(result.success)
          else encoded.push(...spacing.add(promptOf(result.success), result.success, sizeOf(result.success)))
        }
        return encoded
      },
      catch: (cause) => new FormatFailed({ format: format.name, itemId, cause }),
    }).pipe(Result.flatMap(append))

  const hasCalls = format.reads?.includes("tool_calls") === true
  const encodePair = (pair: PreferencePair): ReadonlyArray<Encoded> => {
    if (hasCalls || format.isText === true || !needsTools(pair)) return encoder.encode(count(pair))
    const reason = "expected messages without tool calls, found a tool call or its result"
    return [Result.fail({ item_id: pair.item_id, field: "tool_calls", reason })]
  }

  return {
    output,
    write: (pair: PreferencePair) => write(pair.item_id, () => encodePair(pair)),
    end: () => Result.flatMap(write(null, encoder.end), () => append(spacing.end())),
    summary: ({ files: [file] }: OutputFiles): TrainerFile => ({
      format,
      options,
      split,
      file: file!,
      rows,
      omitted: counter.omitted(),
      unwritten: Object.fromEntries([...counts].filter(([, pairs]) => pairs > 0)),
    }),
  }
}

export type TrainerWriter = ReturnType<typeof make>

export const datasetInfo = (files: ReadonlyArray<TrainerFile>): string | undefined => {
  const entries = files.flatMap(({ format, options, rows, split }) => {
    const entry = rows === 0 ? undefined : format.datasetInfo?.(nameOf(format, split), options)
    return entry === undefined ? [] : [[`${format.name}-${split}`, entry] as const]
  })
  return entries.length === 0 ? undefined : `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`
}

const isOfType: { readonly [Type in Feature & string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === "string",
  bool: (value) => typeof value === "boolean",
  int32: (value) => typeof value === "number" && (value | 0) === value,
  float64: (value) => typeof value === "number",
  null: () => false,
}

const misfit = (
  value: unknown,
  feature: Feature | undefined,
  option: string,
): { readonly option: string; readonly expected: string; readonly found: string } | undefined => {
  if (value === undefined || value === null) return undefined
  const mismatch = (expected: string) => ({ option, expected, found: describeValue(value) })
  if (feature === undefined) return mismatch("no value, because the format's `features` do not declare this name")
  if (typeof feature === "string")
    return isOfType[feature](value) ? undefined : mismatch(`${feature} (as declared in \`features\`)`)
  const isList = "list" in feature
  if (isList ? !Array.isArray(value) : !isObject(value))
    return mismatch(`${isList ? "a list" : "an object"} (as declared in \`features\`)`)
  for (const [name, member] of Object.entries(value)) {
    const type = isList ? feature.list : Object.hasOwn(feature.struct, name) ? feature.struct[name] : undefined
    const problem = misfit(member, type, isList ? `${option}[${name}]` : `${option}.${name}`)
    if (problem !== undefined) return problem
  }
  return undefined
}
