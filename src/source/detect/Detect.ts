/**
 * The layout of a file's records, found by looking at the first ones: by the names of their members and the
 * shapes of their values.
 *
 * Guarantees: what the user has set is taken, the rest is found. Records of which some has `prompt` and some `completions` are items,
 * however many of them are broken; so are those of which none is an object. Where
 * several members would do, or none does, that is a failure of one line that names what was found and the
 * flags to set: nothing is guessed.
 *
 * Not guaranteed: that later records have what the first have.
 */
import { Result } from "effect"
import type { Row } from "../record/Row.ts"
import * as BestCompletion from "../item/BestCompletion.ts"
import * as CompletionFinder from "./CompletionFinder.ts"
import * as ConversationFinder from "./ConversationFinder.ts"
import * as Field from "../record/Field.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { isObject } from "../../io/Values.ts"
import * as KeyFinder from "./KeyFinder.ts"
import { fieldOptions, type LayoutName, type LayoutOptions } from "../layout/Layout.ts"
import { flags } from "../layout/Layout.ts"
import * as Misnamed from "./UnknownFields.ts"
import * as Profile from "./Sample.ts"
import * as PromptFinder from "./PromptFinder.ts"
import * as WideColumns from "./WideColumns.ts"

/**
 * All options of the layout.
 *
 * @param rows the first records, such as 100
 */
export const detect = (rows: ReadonlyArray<Row>, options: LayoutOptions): Result.Result<LayoutOptions, string> => {
  const profile = Profile.of(rows)
  const layout = options.layout ?? implied(options)
  const problem = textProblem(options, profile)
  if (problem !== undefined) return Result.fail(problem)
  if (profile.members.length === 0)
    return Result.succeed(layout === undefined ? { ...options, layout: "items" } : { ...options, layout })
  if (layout === undefined || layout === "items") {
    const names = new Set(profile.members.map(({ name }) => name))
    if (
      names.has("prompt") &&
      names.has("completions") &&
      options.prompt === undefined &&
      options.completions === undefined
    ) {
      return Result.succeed({
        ...ofElements(profile),
        ...PromptFinder.system(profile),
        ...given(options),
        layout: "items",
      })
    }
  }
  return Result.gen(function* () {
    const complete = yield* withCompletions(profile, options, layout)
    switch (complete.layout) {
      case "items":
        return yield* items(profile, complete)
      case "wide":
      case "pairs":
        return yield* wide(profile, complete)
      case "long":
        return yield* long(profile, complete)
    }
  })
}

/** Why one of the texts that are set is neither path nor template. */
const textProblem = (options: LayoutOptions, { members }: Profile.Profile): string | undefined => {
  const names = members.map(({ name }) => name)
  for (const option of fieldOptions) {
    for (const text of [options[option] ?? []].flat()) {
      const field = Field.parse(text)
      if (Result.isFailure(field)) return `${flags[option]}: ${field.failure}${Misnamed.noMember(names)}`
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

/** Options without those that are not set. */
const given = (options: LayoutOptions): Omit<LayoutOptions, "layout"> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** Where the completions of items are objects with a text each. */
const ofElements = ({ members }: Profile.Profile): LayoutOptions => {
  const [found] = members.filter(({ name }) => name === "completions").flatMap(CompletionFinder.elements)
  if (found?.layout !== "items" || found.completions === "completions") return {}
  const { completions, model } = found
  return { completions, ...(model === undefined ? undefined : { model }) }
}

const withCompletions = (
  profile: Profile.Profile,
  options: LayoutOptions,
  layout: LayoutName | undefined,
): Result.Result<Complete, string> => {
  if (layout !== undefined && (options.completion !== undefined || options.completions !== undefined)) {
    return Result.succeed({ ...options, layout })
  }
  return Result.flatMap(CompletionFinder.completions(profile, layout), (found): Result.Result<Complete, string> => {
    if (found === undefined) {
      return layout === "long" && options.prompt !== undefined
        ? Result.succeed({ ...options, layout })
        : nothingFound(profile, options, layout)
    }
    const { members: _, ...at } = found
    // A conversation's last message is the completion.
    const conversation =
      found.layout === "long" && found.completion === undefined
        ? { prompt: FieldPath.format(found.members), ...PromptFinder.system(profile) }
        : undefined
    return Result.succeed({
      ...conversation,
      ...at,
      ...given({ ...options, layout: undefined }),
    })
  })
}

const nothingFound = (
  profile: Profile.Profile,
  options: LayoutOptions,
  layout: LayoutName | undefined,
): Result.Result<never, string> => {
  const prompt = options.prompt ?? Result.getOrUndefined(PromptFinder.prompt(profile, []))?.prompt
  const missing = prompt === undefined ? "no prompt and no completions" : `a prompt at "${prompt}" and no completions`
  const flagsToSet = {
    items: flags.completions,
    wide: `${flags.completion}, once for each completion`,
    pairs: `${flags.completion}, for the better one and the other`,
    long: flags.completion,
  }
  const set =
    layout === undefined
      ? `set ${prompt === undefined ? `${flags.prompt} and ` : ""}${flags.completions} (a list) or ${flags.completion} (a text), or join files of prompts and of completions with --completions FILE and ${flags.key}`
      : `set ${flagsToSet[layout]}`
  return Result.fail(`found ${missing} in ${seen(profile)}: ${set}`)
}

/** `the members "a" and "b"`, with what stands deeper in them. */
const seen = (profile: Profile.Profile): string => {
  const names = profile.members.map(({ name }) => JSON.stringify(name))
  const shown = names.length > 12 ? [...names.slice(0, 12), `${names.length - 12} more`] : names
  const nested = Profile.nestedTexts(profile)
  const deeper = nested.length === 0 ? "" : ` (there is text at ${nested.join(" and ")})`
  return `${shown.join(", ")}${deeper}`
}

const noPrompt = (profile: Profile.Profile, what: string): string =>
  `found ${what} and no prompt in ${seen(profile)}: set ${flags.prompt}, or join files of prompts and of completions with --completions FILE and ${flags.key}`

const columnsOf = (texts: ReadonlyArray<string | undefined>): ReadonlyArray<string> =>
  texts.flatMap((text) => {
    const field = text === undefined ? undefined : Result.getOrUndefined(Field.parse(text))
    return field?.columns ?? []
  })

const promptOf = (
  profile: Profile.Profile,
  options: LayoutOptions,
  completions: ReadonlyArray<string>,
): Result.Result<PromptFinder.PromptFound, string> => {
  if (options.prompt !== undefined) return Result.succeed({ prompt: options.prompt })
  return Result.flatMap(PromptFinder.prompt(profile, columnsOf(completions)), (prompt) =>
    prompt === undefined
      ? Result.fail(noPrompt(profile, `completions at ${completions.map((path) => `"${path}"`).join(", ")}`))
      : Result.succeed(prompt),
  )
}

const items = (profile: Profile.Profile, options: Complete): Result.Result<LayoutOptions, string> => {
  const { completions = "completions" } = options
  const paths = typeof completions === "string" ? [completions] : completions
  return Result.map(promptOf(profile, options, paths), (prompt) => {
    const modelsAt = Profile.find(
      profile,
      ["models", "model_names", "generators", "generation_models", "generation_model"],
      ["texts"],
    )
    const model = modelsAt === undefined ? options.model : (options.model ?? FieldPath.format([modelsAt.name]))
    return { ...prompt, ...options, ...(model === undefined || model === "models" ? undefined : { model }) }
  })
}

const wide = (profile: Profile.Profile, options: Complete): Result.Result<LayoutOptions, string> => {
  const { completions = ["chosen", "rejected"] } = options
  if (typeof completions === "string") return Result.succeed(options)
  const found = {
    ...idOf(profile),
    ...modelsOf(profile, completions),
    ...metadataOf(profile),
    ...given(options),
  }
  const withGold = { ...(options.layout === "wide" ? goldOf(profile, completions, found) : undefined), ...found }
  if (options.prompt !== undefined) return Result.succeed(withGold)
  if (ConversationFinder.areConversations(profile, completions)) {
    const prompt = ConversationFinder.textPrompt(profile, completions)
    const withSystem = { ...PromptFinder.system(profile), ...withGold }
    if (prompt === undefined) return Result.succeed(withSystem)
    const lists = profile.isTextual ? completions.map((path) => `${path}[]`) : completions
    return Result.succeed({ ...withSystem, completions: lists, prompt })
  }
  return Result.map(promptOf(profile, options, completions), (prompt) => ({ ...prompt, ...withGold }))
}

/**
 * The first member named like an id, wherever some record has it: what the other records have, or whether ids repeat,
 * must not change an item's identity, or a file that grew would be paid for again.
 */
const idOf = (profile: Profile.Profile): LayoutOptions => {
  if (isOfDataset(profile)) return {}
  const { members } = profile
  const id = members.find(
    ({ plainName, values }) => ["id", "item_id", "uid", "uuid"].includes(plainName) && values.some(KeyFinder.isKey),
  )
  return id === undefined ? {} : { id: FieldPath.format([id.name]) }
}

const modelsOf = (profile: Profile.Profile, completions: ReadonlyArray<string>): LayoutOptions => {
  const found = WideColumns.modelColumns(profile, completions.map(columnOf))
  return found === undefined ? {} : { model: found.map((name) => FieldPath.format([name])) }
}

const columnOf = (path: string): string => columnsOf([path])[0] ?? path

/** Whether the records are pairs of a dataset that prefstream wrote: several of them have the id of the item that they are of. */
const isOfDataset = ({ members }: Profile.Profile): boolean =>
  ["item_id", "task_id", "chosen_index", "rejected_index"].every((own) => members.some(({ name }) => name === own))

const metadataOf = (profile: Profile.Profile): LayoutOptions => {
  if (isOfDataset(profile)) return { metadata: "metadata" }
  const metadata = profile.members.find(
    ({ kinds, name }) => name === "metadata" && kinds.size === 1 && kinds.has("object"),
  )
  return metadata === undefined ? {} : { metadata: "metadata" }
}

const goldNames =
  "label,winner,preference,preferred,best,best_response,best_completion,better_response_id,gold,choice".split(",")

/** A member whose values all name a completion, or say that none is better. */
const goldOf = (
  profile: Profile.Profile,
  completions: ReadonlyArray<string>,
  { model }: LayoutOptions,
): LayoutOptions => {
  const best = BestCompletion.among(completions.map(columnOf))
  const names = typeof model === "string" || model === undefined ? [] : model.map(columnOf)
  const gold = goldNames
    .flatMap((name) => profile.members.filter(({ plainName }) => plainName === name))
    .find(
      (member) =>
        member.values.some((value) => !BestCompletion.isNone(value)) &&
        profile.records.every((record) => {
          const value = Profile.valueAt(record, member.name)
          const models = names.map((name) => textOf(Profile.valueAt(record, name)))
          return BestCompletion.isNone(value) || isGold(value) || Result.isSuccess(best(value, models))
        }),
    )
  return gold === undefined ? {} : { gold: FieldPath.format([gold.name]) }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const isGold = (value: unknown): boolean => isObject(value) && Object.hasOwn(value, "best_completion_index")

const long = (profile: Profile.Profile, options: Complete): Result.Result<LayoutOptions, string> => {
  const completion = options.completion === undefined ? [] : [options.completion]
  return Result.map(promptOf(profile, options, completion), (found) => {
    const isWithCompletion = completion.length === 0
    const field = Result.getOrUndefined(Field.parse(found.prompt))
    const prompts = profile.rows.map(({ isTextual, value }) => {
      const prompt = field?.get(value, isTextual)
      return KeyFinder.promptText(
        isTextual === true && isWithCompletion ? Field.fromText(prompt) : prompt,
        isWithCompletion,
      )
    })
    const key = options.key ?? KeyFinder.key(profile, prompts)
    const model = options.model ?? KeyFinder.model(profile, prompts)
    return {
      ...metadataOf(profile),
      ...found,
      ...given(options),
      ...(key === undefined ? undefined : { key }),
      ...(model === undefined ? undefined : { model }),
    }
  })
}
