/** Detects the layout from field names (`KnownNames`) and from values. Options that the user has set stay unchanged. */
import { Result } from "effect"
import type { Row } from "../record/Row.ts"
import * as BestCompletion from "../item/BestCompletion.ts"
import * as CompletionFinder from "./CompletionFinder.ts"
import * as Field from "../record/Field.ts"
import * as OptionText from "../../io/OptionText.ts"
import * as Json from "../../io/Json.ts"
import * as KnownNames from "../record/KnownNames.ts"
import { defined, isObject, joinWords, memberOf } from "../../io/Values.ts"
import * as KeyFinder from "./KeyFinder.ts"
import { fieldOptions, type LayoutName, type LayoutOptions } from "../layout/Layout.ts"
import * as UnknownFields from "./UnknownFields.ts"
import * as Sample from "./Sample.ts"
import * as PromptFinder from "./PromptFinder.ts"

export const detect = (rows: ReadonlyArray<Row>, options: LayoutOptions): Result.Result<LayoutOptions, string> => {
  const { ignore = [] } = options
  const fullSample = Sample.of(rows)
  const sample = { ...fullSample, members: fullSample.members.filter(({ name }) => !ignore.includes(name)) }
  const layout = options.layout ?? impliedLayout(options)
  const problem = textProblem(options, sample)
  if (problem !== undefined) return Result.fail(problem)
  if (sample.members.length === 0) return Result.succeed({ ...options, layout: layout ?? "items" })
  const isPlain = (option: "prompt" | "completions") =>
    options[option] === undefined && sample.members.some(({ name }) => name === option)
  if ((layout ?? "items") === "items" && isPlain("prompt") && isPlain("completions")) {
    const detected = {
      ...elementOptions(sample),
      ...PromptFinder.contextOf(sample, ["prompt"]),
      ...questionIdOf(sample),
    }
    return Result.succeed({ ...detected, ...defined(options), layout: "items" })
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

const textProblem = (options: LayoutOptions, { members }: Sample.Sample): string | undefined => {
  const names = members.map(({ name }) => name)
  for (const option of fieldOptions) {
    for (const text of [options[option] ?? []].flat()) {
      const field = Field.parse(text)
      if (Result.isFailure(field))
        return `${OptionText.ofPath(option, options[option])}: ${field.failure}${UnknownFields.noMember(names)}`
    }
  }
  return undefined
}

type Complete = LayoutOptions & { readonly layout: LayoutName }

const impliedLayout = ({ completion, completions, key }: LayoutOptions): LayoutName | undefined => {
  if (typeof completions === "string") return "items"
  if (completions !== undefined) return "wide"
  return completion !== undefined || key !== undefined ? "long" : undefined
}

const elementOptions = ({ members }: Sample.Sample): LayoutOptions => {
  const [elements] = members.filter(({ name }) => name === "completions").flatMap(CompletionFinder.elements)
  if (elements?.layout !== "items" || elements.completions === "completions") return {}
  return defined({ completions: elements.completions, model: elements.model })
}

const withCompletions = (
  sample: Sample.Sample,
  options: LayoutOptions,
  layout: LayoutName | undefined,
): Result.Result<Complete, string> => {
  if (layout !== undefined && (options.completion !== undefined || options.completions !== undefined)) {
    return Result.succeed({ ...options, layout })
  }
  return Result.flatMap(CompletionFinder.completions(sample, layout), (detected): Result.Result<Complete, string> => {
    if (detected === undefined) {
      return layout === "long" && options.prompt !== undefined
        ? Result.succeed({ ...options, layout })
        : noCompletions(sample, options, layout)
    }
    const { members: _, ...paths } = detected
    const conversation =
      detected.layout === "long" && detected.completion === undefined
        ? { prompt: detected.members[0]!.path, ...PromptFinder.contextOf(sample, [detected.members[0]!.name]) }
        : undefined
    const lists =
      paths.layout === "wide" || paths.layout === "pairs"
        ? { completions: paths.completions.map((path) => asList(sample, path)) }
        : undefined
    return Result.succeed({ ...conversation, ...paths, ...lists, ...defined(options), layout: detected.layout })
  })
}

const asList = ({ isTextual, members, rows }: Sample.Sample, path: string): string => {
  const column = members.find((member) => member.path === path)
  if (!isTextual || column?.kinds.size !== 1 || !column.kinds.has("texts")) return path
  const cells = rows.map(({ value }) => (isObject(value) ? value[column.name] : undefined))
  return cells.some((cell) => typeof cell === "string" && cell !== "" && Result.isFailure(Json.parse(cell)))
    ? `${path}[]`
    : path
}

const noCompletions = (
  sample: Sample.Sample,
  options: LayoutOptions,
  layout: LayoutName | undefined,
): Result.Result<never, string> => {
  const unequal = CompletionFinder.unequalSides(sample)
  if (unequal !== undefined) return Result.fail(unequal)
  const promptPath = options.prompt ?? Result.getOrUndefined(PromptFinder.prompt(sample, []))?.prompt
  const leftColumns =
    promptPath === undefined || (layout !== undefined && layout !== "wide") ? [] : otherTexts(sample, promptPath)
  if (leftColumns.length === 2) {
    const names = joinWords(leftColumns.map(({ name }) => JSON.stringify(name)))
    return Result.fail(
      `found a prompt at "${promptPath}", and texts at ${names}: if these texts are completions, set ${OptionText.set({ completions: leftColumns.map(({ name }) => name) })}`,
    )
  }
  const missing =
    promptPath === undefined ? "no prompt and no completions" : `a prompt at "${promptPath}", but no completions`
  const advice = {
    any: `${promptPath === undefined ? `${OptionText.of("prompt")} and ` : ""}${OptionText.of("completions")} (if the completions are in several columns, name the columns with ${CompletionFinder.eachCompletion}), ${orJoin}`,
    items: OptionText.of("completions"),
    wide: OptionText.set({ completions: ["FIRST", "SECOND"] }),
    pairs: OptionText.set({ completions: ["BETTER", "OTHER"] }),
    long: OptionText.of("completion"),
  }
  return Result.fail(`found ${missing} in ${shownMembers(sample)}: set ${advice[layout ?? "any"]}`)
}

const otherTexts = (sample: Sample.Sample, prompt: string): ReadonlyArray<Sample.Member> =>
  sample.members.filter(
    (member) =>
      Sample.has(member, ["text"]) &&
      member.values.some((value) => typeof value === "string" && /(?!^(?:true|false)$)\p{L}/iu.test(value)) &&
      !Field.columnsOf(prompt).includes(member.name) &&
      !KnownNames.partsOfPrompts.has(member.plainName) &&
      !KnownNames.isAboutItem(member.plainName),
  )

const orJoin = `or join prompt files and completion files with ${OptionText.of("Source.join")} and ${OptionText.of("key")}`

const shownMembers = (sample: Sample.Sample): string => {
  const names = sample.members.map(({ name }) => JSON.stringify(name))
  const listed = names.length > 12 ? [...names.slice(0, 12), `${names.length - 12} more`] : names
  const nested = Sample.nestedTexts(sample)
  const deeper = nested.length === 0 ? "" : ` (nested text: ${nested.join(" and ")})`
  return `${listed.join(", ")}${deeper}`
}

const withPrompt = (sample: Sample.Sample, options: LayoutOptions, prompt: string): PromptFinder.DetectedPrompt => {
  const usedColumns = fieldOptions.flatMap((option) => Field.columnsOf(options[option]))
  return { prompt, ...PromptFinder.contextOf(sample, usedColumns) }
}

const promptOf = (
  sample: Sample.Sample,
  options: LayoutOptions,
  completions: ReadonlyArray<string>,
): Result.Result<PromptFinder.DetectedPrompt, string> => {
  if (options.prompt !== undefined) return Result.succeed(withPrompt(sample, options, options.prompt))
  return Result.flatMap(PromptFinder.prompt(sample, Field.columnsOf(completions)), (prompt) =>
    prompt === undefined
      ? Result.fail(
          CompletionFinder.unequalSides(sample) ??
            `found completions at ${completions.map((path) => `"${path}"`).join(", ")}, but no prompt in ${shownMembers(sample)}: set ${OptionText.of("prompt")}${fixedWords(sample)}, ${orJoin}`,
        )
      : Result.succeed(prompt),
  )
}

/** Suggests a template for prompts. It contains the id and no other field, because a field might reveal the answer. */
const fixedWords = ({ members }: Sample.Sample): string => {
  const keys = [...KnownNames.ids, ...KnownNames.promptKeys, ...KnownNames.otherKeys]
  const id = members.find(
    ({ plainName, values }) => values.some(KeyFinder.isKey) && keys.includes(plainName.replace(/^\W+/, "")),
  )
  return ` (if the records contain no prompt, set fixed text with a field in braces, such as ${OptionText.set({ prompt: `Which is better? ({${id?.path ?? "FIELD"}})` })})`
}

const items = (sample: Sample.Sample, options: Complete): Result.Result<LayoutOptions, string> => {
  const { completions = "completions" } = options
  const paths = typeof completions === "string" ? [completions] : completions
  return Result.map(promptOf(sample, options, paths), (prompt) => {
    const modelsAt = Sample.find(sample, KnownNames.modelLists, ["texts"])
    const model = modelsAt === undefined ? options.model : (options.model ?? modelsAt.path)
    const detected = { ...questionIdOf(sample), ...prompt }
    return { ...detected, ...options, ...(model === undefined || model === "models" ? undefined : { model }) }
  })
}

const wide = (sample: Sample.Sample, options: Complete): Result.Result<LayoutOptions, string> => {
  const { completions = ["chosen", "rejected"] } = options
  if (typeof completions === "string") return Result.succeed(options)
  const model =
    options.modelsFromColumns === true ? undefined : CompletionFinder.modelColumns(sample, completions.map(columnOf))
  const detected = {
    ...(model === undefined ? questionIdOf(sample) : undefined),
    ...idOf(sample),
    ...defined({ model }),
    ...metadataOf(sample),
    ...defined(options),
  }
  const withGold = { ...(options.layout === "wide" ? goldOf(sample, completions, detected) : undefined), ...detected }
  if (options.prompt !== undefined) {
    return Result.succeed({ ...withPrompt(sample, { ...options, completions }, options.prompt), ...withGold })
  }
  if (PromptFinder.areConversations(sample, completions)) {
    const prompt = PromptFinder.promptOfConversations(sample, completions)
    const usedColumns = Field.columnsOf(prompt === undefined ? completions : [...completions, prompt])
    const detectedOptions = { ...PromptFinder.contextOf(sample, usedColumns), ...withGold }
    if (prompt === undefined) return Result.succeed(detectedOptions)
    const lists = sample.isTextual ? completions.map((path) => `${path}[]`) : completions
    return Result.succeed({ ...detectedOptions, completions: lists, prompt })
  }
  return Result.map(promptOf(sample, options, completions), ({ prompt, ...before }) => ({
    ...before,
    prompt: asList(sample, prompt),
    ...withGold,
  }))
}

/**
 * Chooses the id by its name, never by the sample. Otherwise, a larger sample could change the ids, and all items would
 * be sent and paid for again.
 */
const idOf = (sample: Sample.Sample): LayoutOptions => {
  if (isOfDataset(sample)) return {}
  return defined({ id: keyNamed(sample, KnownNames.ids)?.path })
}

const keyNamed = ({ members }: Sample.Sample, names: ReadonlyArray<string>) =>
  members.find(({ plainName, values }) => names.includes(plainName) && values.some(KeyFinder.isKey))

const questionIdOf = (sample: Sample.Sample): LayoutOptions => {
  const id = keyNamed(sample, KnownNames.questionIds)
  return id === undefined || sample.members.some(({ name }) => name === "id") ? {} : { id: id.path }
}

const columnOf = (path: string): string => Field.columnsOf(path)[0] ?? path

/** Whether prefstream wrote these pairs. If so, `item_id` is not used as the id: several pairs can share it. */
const isOfDataset = ({ members }: Sample.Sample): boolean =>
  KnownNames.datasetMembers.every((memberName) => members.some(({ name }) => name === memberName))

const metadataOf = (sample: Sample.Sample): LayoutOptions => {
  const isObjects = sample.members.some(
    ({ kinds, name }) => name === "metadata" && kinds.size === 1 && kinds.has("object"),
  )
  return isObjects || isOfDataset(sample) ? { metadata: "metadata" } : {}
}

const goldOf = (sample: Sample.Sample, completions: ReadonlyArray<string>, { model }: LayoutOptions): LayoutOptions => {
  const best = BestCompletion.among(completions.map(columnOf))
  const names = typeof model === "string" || model === undefined ? [] : model.map(columnOf)
  const gold = Sample.named(sample.members, KnownNames.golds).find(
    (member) =>
      member.values.some((value) => !BestCompletion.isNone(value)) &&
      (member.plainName.endsWith("_id") || [0, completions.length].includes(numbersIn(member.values))) &&
      sample.records.every((record) => {
        const value = memberOf(record, member.name)
        const models = names.map((name) => textOf(memberOf(record, name)))
        return BestCompletion.isNone(value) || isGold(value) || Result.isSuccess(best(value, models))
      }),
  )
  return defined({ gold: gold?.path })
}

const numbersIn = (values: ReadonlyArray<unknown>): number =>
  new Set(values.flatMap((value) => BestCompletion.indexOf(value) ?? [])).size

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined)
const isGold = (value: unknown) => isObject(value) && Object.hasOwn(value, "best_completion_index")

const long = (sample: Sample.Sample, options: Complete): Result.Result<LayoutOptions, string> => {
  const completion = options.completion === undefined ? [] : [options.completion]
  return Result.map(promptOf(sample, options, completion), (prompt) => {
    const isWithCompletion = completion.length === 0
    const field = Result.getOrUndefined(Field.parse(prompt.prompt))
    const prompts = sample.rows.map(({ isTextual, value }) => {
      const prompt = field?.get(value, isTextual)
      return KeyFinder.promptText(
        isTextual === true && isWithCompletion ? Field.fromText(prompt) : prompt,
        isWithCompletion,
      )
    })
    const key = options.key ?? KeyFinder.key(sample, prompts)
    const model = options.model ?? KeyFinder.model(sample, prompts)
    return { ...metadataOf(sample), ...prompt, ...defined({ ...options, key, model }) }
  })
}
