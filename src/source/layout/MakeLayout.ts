/** Makes a layout from options alone, without records. `toRecord` and `toPart` never throw. */
import { Record, Result } from "effect"
import * as OptionText from "../../io/OptionText.ts"
import { defined, joinWords } from "../../io/Values.ts"
import type { Reject } from "../../domain/Reject.ts"
import * as Metadata from "../item/Metadata.ts"
import * as ToolCalls from "../item/ToolCalls.ts"
import * as PromptContext from "../item/PromptContext.ts"
import * as UnusedContext from "../item/UnusedContext.ts"
import * as Field from "../record/Field.ts"
import { reject, type Row, withoutMembers } from "../record/Row.ts"
import * as ColumnModels from "./ColumnModels.ts"
import * as ItemsLayout from "./ItemsLayout.ts"
import { fieldNames, fieldOptions, type Layout, type LayoutName, type LayoutOptions } from "./Layout.ts"
import * as LongLayout from "./LongLayout.ts"
import * as WideLayout from "./WideLayout.ts"

const itemOptions = {
  id: "id",
  prompt: "prompt",
  completions: "completions",
  model: "models",
  gold: "gold",
  metadata: "metadata",
} satisfies LayoutOptions

const defaults: { readonly [name in LayoutName]: LayoutOptions } = {
  items: itemOptions,
  wide: {},
  pairs: { completions: ["chosen", "rejected"] },
  long: { prompt: "prompt" },
}

type FieldOption = (typeof fieldOptions)[number]

type Fields = { readonly [option in FieldOption]: ReadonlyArray<Field.Field> }

export const make = (
  options: LayoutOptions,
  isPromptChosen = options.prompt !== undefined,
): Result.Result<Layout, string> =>
  Result.gen(function* () {
    const name = options.layout ?? "items"
    const isWide = name === "wide" || name === "pairs"
    const { completion, ...others } = defined(options)
    const oneColumn = isWide && completion !== undefined ? { completions: [completion] } : { completion }
    const allOptions: LayoutOptions = { ...defaults[name], ...oneColumn, ...others }
    const problem = problemOf(name, allOptions)
    if (problem !== undefined) return yield* Result.fail(`layout ${name}: ${problem}`)
    const fields = yield* parseAll(allOptions)
    const { completions, model: models } = fields
    const { gold, history, id, key, metadata, model, prompt, system, ...otherFields } = Record.map(
      fields,
      ([field]) => field,
    )
    const { ignore = [], keep = [], modelsFromColumns } = options
    const readFields = fieldOptions.flatMap((option) =>
      option === "gold" || option === "metadata" ? [] : fields[option],
    )
    const metadataReader = Metadata.make(metadata, keep, readFields, gold)
    const knownColumns = Metadata.columnsWith([...readFields, gold], metadataReader)
    const columns = knownColumns && [...knownColumns, ToolCalls.column]
    const ofColumns = modelsFromColumns === true ? ColumnModels.modelsFromNames : ColumnModels.ofColumns
    const columnModels = name === "wide" && model === undefined ? ofColumns(completions) : undefined
    if (modelsFromColumns === true && columnModels === undefined) {
      return yield* Result.fail(
        `layout wide: ${OptionText.of("modelsFromColumns")} requires completions in columns, not in templates or lists`,
      )
    }
    const setFields = fieldOptions.flatMap((option) => (options[option] === undefined ? [] : fields[option]))
    const namedColumns = [...setFields.flatMap(({ columns }) => columns), ...keep]
    const withoutIgnored = withoutMembers(ignore.filter((name) => !namedColumns.includes(name)))
    const used = [...readFields, gold, metadata].flatMap((field) => field?.columns ?? [])
    const unused = UnusedContext.finder({
      used: [...used, ...keep],
      ignored: ignore,
      prompt,
      beside: isPromptChosen ? "chosen prompt" : "prompt",
    })
    const context = { history, systems: system === undefined ? [] : [system] }
    const description = `${name}: ${describe(name, fields, options, columnModels).join(", ")}`
    if (name === "long") {
      const { completion } = otherFields
      const toPart = LongLayout.toPart({ prompt: prompt!, context, completion, key, model, kept: metadataReader })
      const { read, unusedIn } = withCheck(toPart, withoutIgnored, (row, { completion, prompt }) =>
        unused(row, { prompt, completions: [completion] }),
      )
      return { name, description, columns, unusedIn, reads: "parts", keyIsId: key !== undefined, toPart: read }
    }
    const areDefault =
      name === "items" && keep.length === 0 && Record.isSubrecord<string, unknown>(itemOptions, { ...allOptions })
    const toRecord = isWide
      ? WideLayout.toRecord({
          id,
          prompt,
          completions,
          models: model === undefined ? undefined : models,
          columnModels,
          gold,
          kept: metadataReader,
          keepIncomplete: options.missing === "keep",
        })
      : ItemsLayout.toRecord({
          id: id!,
          prompt: prompt!,
          completions: otherFields.completions!,
          models: model!,
          gold: gold!,
          kept: metadataReader,
          areDefault,
        })
    const { read: checkedToRecord, unusedIn } = withCheck(
      (row: Row) => PromptContext.addTo(toRecord(row), context, row),
      withoutIgnored,
      (row, { item }) => unused(row, item),
    )
    const hasDefaultPaths = areDefault && system === undefined && history === undefined
    return { name, description, columns, unusedIn, reads: "items", hasDefaultPaths, toRecord: checkedToRecord }
  })

const withCheck = <A>(
  read: (row: Row) => Result.Result<A, Reject>,
  prepare: (row: Row) => Row,
  unused: (row: Row, record: A) => ReadonlyArray<UnusedContext.Unused>,
) => ({
  unusedIn: (originalRow: Row): ReadonlyArray<UnusedContext.Unused> => {
    const row = prepare(originalRow)
    return Result.match(read(row), { onFailure: () => [], onSuccess: (record) => unused(row, record) })
  },
  read: (originalRow: Row): Result.Result<A, Reject> => {
    const row = prepare(originalRow)
    const record = read(row)
    const problem = Result.isSuccess(record) ? UnusedContext.problemOf(unused(row, record.success)) : undefined
    return problem === undefined ? record : reject(row.place, "invalid_shape", problem)
  },
})

export const ofMembers = (options: LayoutOptions, members: ReadonlySet<string>): LayoutOptions => ({
  ...options,
  ...Object.fromEntries(
    fieldOptions.flatMap((option) => {
      const text = options[option]
      if (text === undefined) return []
      const toPath = (name: string) => Field.ofMembers(name, members)
      return [[option, typeof text === "string" ? toPath(text) : text.map(toPath)] as const]
    }),
  ),
})

const problemOf = (
  name: LayoutName,
  { completion, completions, gold, id, model, modelsFromColumns }: LayoutOptions,
): string | undefined => {
  if (modelsFromColumns === true && (name !== "wide" || model !== undefined)) {
    return `${OptionText.of("modelsFromColumns")} requires the wide layout, and cannot be combined with ${OptionText.of("model")}`
  }
  if (name === "items") {
    if (completion !== undefined) {
      return `expected ${OptionText.of("completions")} (the path to the list), found ${OptionText.of("completion")}`
    }
    if (typeof completions !== "string") {
      return `${OptionText.of("completions")} must be a single path, which leads to the list of completions; for one path per completion, set the layout to wide`
    }
    return typeof model === "string"
      ? undefined
      : `${OptionText.of("model")} must be a single path, which leads to the list of model names`
  }
  if (name === "long") {
    if (completions !== undefined) {
      return `set ${OptionText.of("completion")} once, and omit ${OptionText.of("completions")}, because each record has one completion`
    }
    if (gold !== undefined) return `${OptionText.of("gold")} is for layouts items, wide, and pairs`
    if (id !== undefined) {
      return `expected ${OptionText.of("key")}, found ${OptionText.of("id")}: records with the same key form an item, and the key is the id of this item`
    }
    return model === undefined || typeof model === "string" ? undefined : `expected ${OptionText.of("model")} once`
  }
  const columns = typeof completions === "string" ? [completions] : (completions ?? [])
  const models = typeof model === "string" ? [model] : model
  if (columns.length < 2 || typeof completions === "string" || (name === "pairs" && columns.length > 2)) {
    const expected = name === "pairs" ? "two" : "two or more"
    return `expected ${expected} ${OptionText.of("completions")} paths, one for each completion, found ${columns.length}`
  }
  if (new Set(columns).size < columns.length) return `expected each ${OptionText.of("completions")} path only once`
  return models === undefined || models.length === columns.length
    ? undefined
    : `expected a ${OptionText.of("model")} for each of the ${columns.length} completions, found ${models.length}`
}

const parseAll = (options: LayoutOptions): Result.Result<Fields, string> => {
  const fieldsOf = (option: FieldOption) => {
    const text = options[option] ?? []
    const name = OptionText.ofPath(option, text)
    return Result.all(
      [text].flat().map((path) => Result.mapError(Field.parse(path), (problem) => `${name}: ${problem}`)),
    )
  }
  return Result.all(Record.map(fieldNames, (_, option) => fieldsOf(option)))
}

const describe = (
  name: LayoutName,
  fields: Fields,
  options: LayoutOptions,
  columnModels: ReadonlyArray<string> | undefined,
): ReadonlyArray<string> => {
  const { completion, ignore = [], keep = [] } = options
  const isDefault = (option: FieldOption) => name === "items" && options[option] === undefined
  const place = (what: string, option: FieldOption) => {
    const [first] = fields[option]
    return first === undefined ? [] : [`${what} ${first.isTemplate ? "from" : "at"} ${quoteAll(fields[option])}`]
  }
  return [
    ...place(name === "long" && completion === undefined ? "prompt and completion" : "prompt", "prompt"),
    ...place("system prompt", "system"),
    ...place("earlier turns", "history"),
    ...place("completion", "completion"),
    ...place("completions", "completions"),
    ...(fields.prompt.length === 0 ? ["prompt from the common beginning of the completions"] : []),
    ...(isDefault("model") ? [] : place(name === "long" ? "model" : "models", "model")),
    ...(columnModels === undefined ? [] : [`models ${joinWords(columnModels.map((name) => `"${name}"`))}`]),
    ...(isDefault("gold") ? [] : place("gold", "gold")),
    ...(isDefault("id") ? [] : place("id", "id")),
    ...(name === "long" ? [`grouped by ${fields.key.length === 0 ? "the prompt" : quoteAll(fields.key)}`] : []),
    ...(isDefault("metadata") ? [] : place("metadata", "metadata")),
    ...(keep.length === 0
      ? []
      : [keep.includes("*") ? "all else kept" : `${joinWords(keep.map((name) => `"${name}"`))} kept`]),
    ...(ignore.length === 0 ? [] : [`${joinWords(ignore.map((name) => `"${name}"`))} ignored`]),
  ]
}

const quoteAll = (fields: ReadonlyArray<Field.Field>): string => joinWords(fields.map(({ label }) => `"${label}"`))
