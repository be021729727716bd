/**
 * Detects the layout of a file from its first records: by the names of their members (`KnownNames`) and the shapes of
 * their values.
 *
 * Guarantees: options that are set are used, the others are detected. Several candidates, or none, are a failure of one
 * line that names what was found and the flags to set. Later records may differ.
 */
/* oxlint-disable max-lines -- the layouts are told apart by the same few members */
import { Result } from "effect"
import type { Row } from "../record/Row.ts"
import * as BestCompletion from "../item/BestCompletion.ts"
import * as CompletionFinder from "./CompletionFinder.ts"
import * as Field from "../record/Field.ts"
import * as UnusedContext from "../item/UnusedContext.ts"
import * as Json from "../../io/Json.ts"
import * as KnownNames from "../record/KnownNames.ts"
import { isObject, joinWords } from "../../io/Values.ts"
import * as KeyFinder from "./KeyFinder.ts"
import { fieldOptions, flags, given, type LayoutName, type LayoutOptions } from "../layout/Layout.ts"
import * as UnknownFields from "./UnknownFields.ts"
import * as Sample from "./Sample.ts"
import * as PromptFinder from "./PromptFinder.ts"

/**
 * All options of the layout.
 *
 * @param rows the first records, such as 100
 */
export const detect = (rows: ReadonlyArray<Row>, options: LayoutOptions): Result.Result<LayoutOptions, string> => {
  const sample = withoutIgnored(Sample.of(rows), options)
  const layout = options.layout ?? implied(options)
  const problem = textProblem(options, sample)
  if (problem !== undefined) return Result.fail(problem)
  if (sample.members.length === 0) return Result.succeed({ ...options, layout: layout ?? "items" })
  const isOwn = (option: "prompt" | "completions") =>
    options[option] === undefined && sample.members.some(({ name }) => name === option)
  if ((layout ?? "items") === "items" && isOwn("prompt") && isOwn("completions")) {
    const found = { ...ofElements(sample), ...PromptFinder.before(sample, ["prompt"]), ...questionIdOf(sample) }
    return Result.succeed({ ...found, ...given(options), layout: "items" })
  }
  return Result.gen(function* () {
    const complete = yield* withCompletions(sample, options, layout)
    switch (complete.layout) {
      case "items":
        return yield* items(sample, complete)
      case "wide":
      case "pairs":
        return yield* wide(sample, complete)
      case "long":
        return yield* long(sample, complete)
    }
  })
}

const withoutIgnored = (sample: Sample.Sample, { ignore = [] }: LayoutOptions): Sample.Sample => ({
  ...sample,
  members: sample.members.filter(({ name }) => !ignore.includes(name)),
})

/** Why one of the texts that are set is neither path nor template. */
const textProblem = (options: LayoutOptions, { members }: Sample.Sample): string | undefined => {
  const names = members.map(({ name }) => name)
  for (const option of fieldOptions) {
    for (const text of [options[option] ?? []].flat()) {
      const field = Field.parse(text)
      if (Result.isFailure(field)) return `${flags[option]}: ${field.failure}${UnknownFields.noMember(names)}`
    }
  }
  return undefined
}

type Complete = LayoutOptions & { readonly layout: LayoutName }

/** What the options say of the layout without naming it. */
const implied = ({ completion, completions, key }: LayoutOptions): LayoutName | undefined => {
  if (typeof completions === "string") return "items"
  if (completions !== undefined) return "wide"
  return completion !== undefined || key !== undefined ? "long" : undefined
}

/** Where the completions of items are objects with a text each. */
const ofElements = ({ members }: Sample.Sample): LayoutOptions => {
  const [found] = members.filter(({ name }) => name === "completions").flatMap(CompletionFinder.elements)
  if (found?.layout !== "items" || found.completions === "completions") return {}
  return given({ completions: found.completions, model: found.model })
}

const withCompletions = (
  sample: Sample.Sample,
  options: LayoutOptions,
  layout: LayoutName | undefined,
): Result.Result<Complete, string> => {
  if (layout !== undefined && (options.completion !== undefined || options.completions !== undefined)) {
    return Result.succeed({ ...options, layout })
  }
  return Result.flatMap(CompletionFinder.completions(sample, layout), (found): Result.Result<Complete, string> => {
    if (found === undefined) {
      return layout === "long" && options.prompt !== undefined
        ? Result.succeed({ ...options, layout })
        : nothingFound(sample, options, layout)
    }
    const { members: _, ...at } = found
    // A conversation's last message is the completion.
    const conversation =
      found.layout === "long" && found.completion === undefined
        ? { prompt: found.members[0]!.path, ...PromptFinder.before(sample, [found.members[0]!.name]) }
        : undefined
    const lists =
      at.layout === "wide" || at.layout === "pairs"
        ? { completions: at.completions.map((path) => asList(sample, path)) }
        : undefined
    return Result.succeed({ ...conversation, ...at, ...lists, ...given(options), layout: found.layout })
  })
}

/** A column of text whose cells are all lists of texts, not all of them as JSON, is read as lists. */
const asList = ({ isTextual, members, rows }: Sample.Sample, path: string): string => {
  const column = members.find((member) => member.path === path)
  if (!isTextual || column?.kinds.size !== 1 || !column.kinds.has("texts")) return path
  const cells = rows.map(({ value }) => (isObject(value) ? value[column.name] : undefined))
  return cells.some((cell) => typeof cell === "string" && cell !== "" && Result.isFailure(Json.parse(cell)))
    ? `${path}[]`
    : path
}

const nothingFound = (
  sample: Sample.Sample,
  options: LayoutOptions,
  layout: LayoutName | undefined,
): Result.Result<never, string> => {
  const unequal = CompletionFinder.unequalSides(sample)
  if (unequal !== undefined) return Result.fail(unequal)
  const prompt = options.prompt ?? Result.getOrUndefined(PromptFinder.prompt(sample, []))?.prompt
  const left = prompt === undefined || (layout !== undefined && layout !== "wide") ? [] : leftOver(sample, prompt)
  if (left.length === 2) {
    const [one, other] = left.map(({ name }) => `${flags.completion} ${UnusedContext.quoted(name)}`)
    const names = joinWords(left.map(({ name }) => JSON.stringify(name)))
    return Result.fail(
      `found a prompt at "${prompt}", and texts at ${names}: if these are completions, set ${one} ${other}`,
    )
  }
  const missing = prompt === undefined ? "no prompt and no completions" : `a prompt at "${prompt}" and no completions`
  const set = {
    any: `${prompt === undefined ? `${flags.prompt} and ` : ""}${flags.completions} (a list) or ${flags.completion} (a text; once for each column of completions), ${orJoin}`,
    items: flags.completions,
    wide: `${flags.completion}, once for each completion`,
    pairs: `${flags.completion}, for the better one and the other`,
    long: flags.completion,
  }
  return Result.fail(`found ${missing} in ${shownMembers(sample)}: set ${set[layout ?? "any"]}`)
}

/** The columns of texts that nothing is known of. */
const leftOver = (sample: Sample.Sample, prompt: string): ReadonlyArray<Sample.Member> =>
  sample.members.filter(
    (member) =>
      Sample.has(member, ["text"]) &&
      member.values.some((value) => typeof value === "string" && /(?!^(?:true|false)$)\p{L}/iu.test(value)) &&
      !columnsOf([prompt]).includes(member.name) &&
      !KnownNames.partsOfPrompts.has(member.plainName) &&
      !KnownNames.isAboutItem(member.plainName),
  )

const orJoin = `or join files of prompts and of completions with --completions FILE and ${flags.key}`

/** `"a", "b"`, with what is deeper in them. */
const shownMembers = (sample: Sample.Sample): string => {
  const names = sample.members.map(({ name }) => JSON.stringify(name))
  const shown = names.length > 12 ? [...names.slice(0, 12), `${names.length - 12} more`] : names
  const nested = Sample.nestedTexts(sample)
  const deeper = nested.length === 0 ? "" : ` (there is text at ${nested.join(" and ")})`
  return `${shown.join(", ")}${deeper}`
}

const columnsOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.flatMap((text) => Result.getOrUndefined(Field.parse(text))?.columns ?? [])

/** The prompt that is set, with what is before it. */
const withPrompt = (sample: Sample.Sample, options: LayoutOptions, prompt: string): PromptFinder.PromptFound => {
  const taken = fieldOptions.flatMap((option) => columnsOf([options[option] ?? []].flat()))
  return { prompt, ...PromptFinder.before(sample, taken) }
}

const promptOf = (
  sample: Sample.Sample,
  options: LayoutOptions,
  completions: ReadonlyArray<string>,
): Result.Result<PromptFinder.PromptFound, string> => {
  if (options.prompt !== undefined) return Result.succeed(withPrompt(sample, options, options.prompt))
  return Result.flatMap(PromptFinder.prompt(sample, columnsOf(completions)), (prompt) =>
    prompt === undefined
      ? Result.fail(
          CompletionFinder.unequalSides(sample) ??
            `found completions at ${completions.map((path) => `"${path}"`).join(", ")} and no prompt in ${shownMembers(sample)}: set ${flags.prompt}${fixedWords(sample)}, ${orJoin}`,
        )
      : Result.succeed(prompt),
  )
}

/** A prompt of fixed words, which has to have some field: an id, since others may show the answer. */
const fixedWords = ({ members }: Sample.Sample): string => {
  const keys = [...KnownNames.ids, ...KnownNames.promptKeys, ...KnownNames.otherKeys]
  const id = members.find(
    ({ plainName, values }) => values.some(KeyFinder.isKey) && keys.includes(plainName.replace(/^\W+/, "")),
  )
  return ` (without a prompt, to a template of fixed words and a field: ${flags.prompt} 'Which is better? ({${id?.path ?? "FIELD"}})')`
}

const items = (sample: Sample.Sample, options: Complete): Result.Result<LayoutOptions, string> => {
  const { completions = "completions" } = options
  const paths = typeof completions === "string" ? [completions] : completions
  return Result.map(promptOf(sample, options, paths), (prompt) => {
    const modelsAt = Sample.find(sample, KnownNames.modelLists, ["texts"])
    const model = modelsAt === undefined ? options.model : (options.model ?? modelsAt.path)
    const found = { ...questionIdOf(sample), ...prompt }
    return { ...found, ...options, ...(model === undefined || model === "models" ? undefined : { model }) }
  })
}

const wide = (sample: Sample.Sample, options: Complete): Result.Result<LayoutOptions, string> => {
  const { completions = ["chosen", "rejected"] } = options
  if (typeof completions === "string") return Result.succeed(options)
  const model =
    options.modelsFromColumns === true ? undefined : CompletionFinder.modelColumns(sample, completions.map(columnOf))
  const found = {
    // A question with several pairs of models is several items.
    ...(model === undefined ? questionIdOf(sample) : undefined),
    ...idOf(sample),
    ...given({ model }),
    ...metadataOf(sample),
    ...given(options),
  }
  const withGold = { ...(options.layout === "wide" ? goldOf(sample, completions, found) : undefined), ...found }
  if (options.prompt !== undefined) {
    return Result.succeed({ ...withPrompt(sample, { ...options, completions }, options.prompt), ...withGold })
  }
  if (PromptFinder.areConversations(sample, completions)) {
    const prompt = PromptFinder.promptOfConversations(sample, completions)
    const taken = columnsOf(prompt === undefined ? completions : [...completions, prompt])
    const whole = { ...PromptFinder.before(sample, taken), ...withGold }
    if (prompt === undefined) return Result.succeed(whole)
    const lists = sample.isTextual ? completions.map((path) => `${path}[]`) : completions
    return Result.succeed({ ...whole, completions: lists, prompt })
  }
  return Result.map(promptOf(sample, options, completions), ({ prompt, ...before }) => ({
    ...before,
    prompt: asList(sample, prompt),
    ...withGold,
  }))
}

/**
 * The first member named like an id, wherever some record has it: what the other records have, or whether ids repeat,
 * must not change an item's identity, or a file that grew would be paid for again.
 */
const idOf = (sample: Sample.Sample): LayoutOptions => {
  if (isOfDataset(sample)) return {}
  const { members } = sample
  const id = members.find(({ plainName, values }) => KnownNames.ids.includes(plainName) && values.some(KeyFinder.isKey))
  return given({ id: id?.path })
}

/** If there is no other id. */
const questionIdOf = (sample: Sample.Sample): LayoutOptions => {
  const id = sample.members.find(
    ({ plainName, values }) => KnownNames.questionIds.includes(plainName) && values.some(KeyFinder.isKey),
  )
  return id === undefined || sample.members.some(({ name }) => name === "id") ? {} : { id: id.path }
}

const columnOf = (path: string): string => columnsOf([path])[0] ?? path

/** Whether the records are pairs of a dataset that prefstream wrote: several of them have the id of the item that they are of. */
const isOfDataset = ({ members }: Sample.Sample): boolean =>
  KnownNames.datasetMembers.every((own) => members.some(({ name }) => name === own))

const metadataOf = (sample: Sample.Sample): LayoutOptions => {
  const isObjects = sample.members.some(
    ({ kinds, name }) => name === "metadata" && kinds.size === 1 && kinds.has("object"),
  )
  return isObjects || isOfDataset(sample) ? { metadata: "metadata" } : {}
}

/**
 * A member whose values all name a completion, or say that none is better. Numbers, unless of a name that ends in `_id`,
 * count otherwise where none is one of the columns.
 */
const goldOf = (sample: Sample.Sample, completions: ReadonlyArray<string>, { model }: LayoutOptions): LayoutOptions => {
  const best = BestCompletion.among(completions.map(columnOf))
  const names = typeof model === "string" || model === undefined ? [] : model.map(columnOf)
  const gold = KnownNames.golds
    .flatMap((name) => sample.members.filter(({ plainName }) => plainName === name))
    .find(
      (member) =>
        member.values.some((value) => !BestCompletion.isNone(value)) &&
        (member.plainName.endsWith("_id") || [0, completions.length].includes(numbersIn(member.values))) &&
        sample.records.every((record) => {
          const value = Sample.valueAt(record, member.name)
          const models = names.map((name) => textOf(Sample.valueAt(record, name)))
          return BestCompletion.isNone(value) || isGold(value) || Result.isSuccess(best(value, models))
        }),
    )
  return given({ gold: gold?.path })
}

/** How many different numbers there are, also as text. */
const numbersIn = (values: ReadonlyArray<unknown>): number =>
  new Set(values.flatMap((value) => BestCompletion.indexOf(value) ?? [])).size

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const isGold = (value: unknown): boolean => isObject(value) && Object.hasOwn(value, "best_completion_index")

const long = (sample: Sample.Sample, options: Complete): Result.Result<LayoutOptions, string> => {
  const completion = options.completion === undefined ? [] : [options.completion]
  return Result.map(promptOf(sample, options, completion), (found) => {
    const isWithCompletion = completion.length === 0
    const field = Result.getOrUndefined(Field.parse(found.prompt))
    const prompts = sample.rows.map(({ isTextual, value }) => {
      const prompt = field?.get(value, isTextual)
      return KeyFinder.promptText(
        isTextual === true && isWithCompletion ? Field.fromText(prompt) : prompt,
        isWithCompletion,
      )
    })
    const key = options.key ?? KeyFinder.key(sample, prompts)
    const model = options.model ?? KeyFinder.model(sample, prompts)
    return { ...metadataOf(sample), ...found, ...given({ ...options, key, model }) }
  })
}
