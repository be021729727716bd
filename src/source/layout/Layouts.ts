/**
 * A layout, from the paths of its fields.
 *
 * Guarantees: a layout's `toRecord` or `toPart` never throws, whatever a record holds.
 *
 * Not done here: to look at records (`Detect`). What is not given has these defaults: `prompt`, `completions`, `id`,
 * `models`, `gold` and `metadata` for items; `chosen` and `rejected` for pairs; for long records the prompt
 * is `prompt`. Elsewhere a field that is not given is not read.
 */
import { Result } from "effect"
import type { Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import * as ColumnModels from "./ColumnModels.ts"
import * as Field from "../record/Field.ts"
import { joinWords } from "../../io/Values.ts"
import { flags } from "./LayoutFlags.ts"
import * as ItemsLayout from "./ItemsLayout.ts"
import * as Kept from "../item/Metadata.ts"
import { fieldOptions, type Layout, type LayoutOptions } from "./Layout.ts"
import * as LongLayout from "./LongLayout.ts"
import * as SystemPrompt from "../item/SystemPrompt.ts"
import * as WideLayout from "./WideLayout.ts"

/** The failure is one line, for the user. Without `layout`, it is `items`. */
export const make = (options: LayoutOptions): Result.Result<Layout, string> => {
  switch (options.layout ?? "items") {
    case "items":
      return items(options)
    case "wide":
      return wide(options, "wide")
    case "pairs":
      return wide(options, "pairs")
    case "long":
      return long(options)
  }
}

/** The options, in which names of members stand as `Field.parse` reads them. */
export const ofMembers = (options: LayoutOptions, members: ReadonlySet<string>): LayoutOptions => ({
  ...options,
  ...Object.fromEntries(
    fieldOptions.flatMap((option) => {
      const text = options[option]
      if (text === undefined) return []
      const named = (one: string) => Field.ofMembers(one, members)
      return [[option, typeof text === "string" ? named(text) : text.map(named)] as const]
    }),
  ),
})

const parse = (flag: string, text: string): Result.Result<Field.Field, string> =>
  Result.mapError(Field.parse(text), (problem) => `${flag}: ${problem}`)

const parseGiven = (flag: string, text: string | undefined): Result.Result<Field.Field | undefined, string> =>
  text === undefined ? Result.succeed(undefined) : parse(flag, text)

const refuse = (problem: string): Result.Result<never, string> => Result.fail(problem)

const own = {
  id: "id",
  prompt: "prompt",
  completions: "completions",
  models: "models",
  gold: "gold",
  metadata: "metadata",
}

const items = (options: LayoutOptions): Result.Result<Layout, string> =>
  Result.gen(function* () {
    const { completions = own.completions, keep = [], model = own.models } = options
    if (options.completion !== undefined) {
      return yield* refuse(
        `layout items: expected ${flags.completions}, the path to the list, found ${flags.completion}`,
      )
    }
    if (typeof completions !== "string") {
      return yield* refuse(
        `layout items: ${flags.completions} is the path to the list of completions; a path for each is layout wide`,
      )
    }
    if (typeof model !== "string") return yield* refuse(`layout items: ${flags.model} is the path to the list of names`)
    const texts = [
      options.id ?? own.id,
      options.prompt ?? own.prompt,
      completions,
      model,
      options.gold ?? own.gold,
      options.metadata ?? own.metadata,
    ]
    const fields = {
      id: yield* parse(flags.id, options.id ?? own.id),
      prompt: yield* parse(flags.prompt, options.prompt ?? own.prompt),
      system: yield* parseGiven(flags.system, options.system),
      completions: yield* parse(flags.completions, completions),
      models: yield* parse(flags.model, model),
      gold: yield* parse(flags.gold, options.gold ?? own.gold),
    }
    const metadata = yield* parse(flags.metadata, options.metadata ?? own.metadata)
    const { gold, ...others } = fields
    const kept = Kept.make(metadata, keep, Object.values(others), gold)
    const areOwn = keep.length === 0 && texts.join() === Object.values(own).join()
    return {
      name: "items",
      description: sentence("items", [
        placeOf("prompt", fields.prompt),
        ...systemPart(fields),
        `completions at ${quote(fields.completions)}`,
        ...(options.model === undefined ? [] : [`models at ${quote(fields.models)}`]),
        ...(options.gold === undefined ? [] : [`gold at ${quote(fields.gold)}`]),
        ...(options.id === undefined ? [] : [`id at ${quote(fields.id)}`]),
        ...keptPart(options),
      ]),
      columns: Kept.columnsWith(Object.values(fields), kept),
      reads: "items",
      toRecord: withSystem(fields, ItemsLayout.toRecord({ ...fields, kept, areOwn })),
    }
  })

const wide = (options: LayoutOptions, name: "wide" | "pairs"): Result.Result<Layout, string> =>
  Result.gen(function* () {
    const one = options.completion === undefined ? undefined : [options.completion]
    const texts = options.completions ?? one ?? (name === "pairs" ? ["chosen", "rejected"] : [])
    if (typeof texts === "string" || texts.length < 2 || (name === "pairs" && texts.length > 2)) {
      const [expected, found] = [name === "pairs" ? "two" : "two or more", typeof texts === "string" ? 1 : texts.length]
      return yield* refuse(
        `layout ${name}: expected ${expected} of ${flags.completion}, one for each completion, found ${found}`,
      )
    }
    if (new Set(texts).size < texts.length)
      return yield* refuse(`layout ${name}: expected each ${flags.completion} once`)
    const modelTexts = typeof options.model === "string" ? [options.model] : options.model
    if (modelTexts !== undefined && modelTexts.length !== texts.length) {
      return yield* refuse(
        `layout ${name}: expected a ${flags.model} for each of ${texts.length} completions, found ${modelTexts.length}`,
      )
    }
    const completions = yield* Result.all(texts.map((text) => parse(flags.completion, text)))
    const models = modelTexts && (yield* Result.all(modelTexts.map((text) => parse(flags.model, text))))
    const id = yield* parseGiven(flags.id, options.id)
    const prompt = yield* parseGiven(flags.prompt, options.prompt)
    const system = yield* parseGiven(flags.system, options.system)
    const gold = yield* parseGiven(flags.gold, options.gold)
    const metadata = yield* parseGiven(flags.metadata, options.metadata)
    const read = [id, prompt, system, ...completions, ...(models ?? [])]
    const kept = Kept.make(metadata, options.keep ?? [], read, gold)
    const columnModels = models === undefined && name === "wide" ? ColumnModels.ofColumns(completions) : undefined
    const keepIncomplete = options.missing === "keep"
    const fields = { id, prompt, completions, models, columnModels, gold, kept, keepIncomplete }
    return {
      name,
      description: sentence(name, [
        ...(prompt === undefined ? [] : [placeOf("prompt", prompt)]),
        ...systemPart({ system }),
        `completions at ${joinWords(completions.map(quote))}`,
        ...(prompt === undefined ? ["the prompt is what they have in common"] : []),
        ...(models === undefined ? [] : [`models at ${joinWords(models.map(quote))}`]),
        ...(columnModels === undefined ? [] : [`models ${joinWords(columnModels.map((name) => `"${name}"`))}`]),
        ...(gold === undefined ? [] : [`gold at ${quote(gold)}`]),
        ...(id === undefined ? [] : [`id at ${quote(id)}`]),
        ...keptPart(options),
      ]),
      columns: Kept.columnsWith([...read, gold], kept),
      reads: "items",
      toRecord: withSystem({ system }, WideLayout.toRecord(fields)),
    }
  })

const long = (options: LayoutOptions): Result.Result<Layout, string> =>
  Result.gen(function* () {
    if (options.completions !== undefined) {
      return yield* refuse(
        `layout long: a record has one completion: expected ${flags.completion} once, and no ${flags.completions}`,
      )
    }
    if (options.gold !== undefined)
      return yield* refuse(`layout long: ${flags.gold} is for layouts items, wide and pairs`)
    if (options.id !== undefined) {
      return yield* refuse(
        `layout long: ${flags.id} is for layouts items, wide and pairs; ${flags.key} says what makes an item, and names it`,
      )
    }
    const model = options.model ?? undefined
    if (model !== undefined && typeof model !== "string")
      return yield* refuse(`layout long: expected ${flags.model} once`)
    const fields = {
      prompt: yield* parse(flags.prompt, options.prompt ?? own.prompt),
      system: yield* parseGiven(flags.system, options.system),
      completion: yield* parseGiven(flags.completion, options.completion),
      key: yield* parseGiven(flags.key, options.key),
      model: yield* parseGiven(flags.model, model),
    }
    const metadata = yield* parseGiven(flags.metadata, options.metadata)
    const kept = Kept.make(metadata, options.keep ?? [], Object.values(fields))
    return {
      name: "long",
      description: sentence("long", [
        ...(fields.completion === undefined
          ? [`prompt and completion at ${quote(fields.prompt)}`]
          : [placeOf("prompt", fields.prompt), `completion at ${quote(fields.completion)}`]),
        ...systemPart(fields),
        ...(fields.model === undefined ? [] : [`model at ${quote(fields.model)}`]),
        `grouped by ${fields.key === undefined ? "the prompt" : quote(fields.key)}`,
        ...keptPart(options),
      ]),
      columns: Kept.columnsWith(Object.values(fields), kept),
      reads: "parts",
      keyIsId: fields.key !== undefined,
      toPart: LongLayout.toPart({ ...fields, kept }),
    }
  })

const quote = ({ label }: Field.Field): string => `"${label}"`

const placeOf = (part: string, field: Field.Field): string =>
  `${part} ${field.isTemplate ? "from" : "at"} ${quote(field)}`

interface SystemField {
  readonly system: Field.Field | undefined
}

const systemPart = ({ system }: SystemField): ReadonlyArray<string> =>
  system === undefined ? [] : [placeOf("system prompt", system)]

const withSystem = ({ system }: SystemField, toRecord: (row: Row) => SourceRecord): ((row: Row) => SourceRecord) =>
  system === undefined ? toRecord : (row) => SystemPrompt.addTo(toRecord(row), [system], row)

const keptPart = ({ keep = [], metadata }: LayoutOptions): ReadonlyArray<string> => [
  ...(metadata === undefined ? [] : [`metadata at "${metadata}"`]),
  ...(keep.length === 0
    ? []
    : [keep.includes("*") ? "all else kept" : `${joinWords(keep.map((name) => `"${name}"`))} kept`]),
]

const sentence = (name: string, parts: ReadonlyArray<string>): string => `${name}: ${parts.join(", ")}`
