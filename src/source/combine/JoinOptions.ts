/** The options of a join: its files, and the paths of the item's parts in their records. */
import { Effect, Path } from "effect"
import * as Format from "../format/Format.ts"
import * as Listing from "../place/Listing.ts"
import type { NamesOf } from "../record/KnownOptions.ts"
import { invalidOption, type SourceError } from "../record/SourceError.ts"
import * as PlaceName from "../place/PlaceName.ts"
import * as Field from "../record/Field.ts"
import * as FileModels from "./FileModels.ts"
import * as Metadata from "../item/Metadata.ts"
import * as ToolCalls from "../item/ToolCalls.ts"
import * as UnusedContext from "../item/UnusedContext.ts"
import { without } from "../record/Row.ts"
import * as UnknownFields from "../detect/UnknownFields.ts"
import * as KnownNames from "../record/KnownNames.ts"

/**
 * Where a value is in a record is a field path such as `choices[0].message.content`, or a template. Files are named as
 * `Listing.expand` reads names: also by folders and patterns.
 */
export interface JoinOptions extends Format.FormatOptions {
  /** A record is a prompt. Of several files, each key counts once in all of them. */
  readonly prompts: string | ReadonlyArray<string>
  /** A record is a completion; two files or more, one for each model. */
  readonly completions: string | ReadonlyArray<string>
  /** The key in all files, text or a safe integer. Default `id`. */
  readonly key?: string | undefined
  /** The key in the prompts file, where it is another. */
  readonly promptKey?: string | undefined
  /** The key in the completions files, where it is another. */
  readonly completionKey?: string | undefined
  /** In the prompts file. Default `prompt`, or else detected. */
  readonly promptPath?: string | undefined
  /** A system prompt in the prompts file, to go before the prompt. Default: one of `KnownNames.systemPrompts`. */
  readonly systemPath?: string | undefined
  /** Earlier turns in the prompts file, to go before the prompt: messages, or pairs of texts. Default: detected. */
  readonly historyPath?: string | undefined
  /** In the completions files. Default `completion`, or else detected. */
  readonly completionPath?: string | undefined
  /** An object in the prompts file. Default `metadata`. */
  readonly metadataPath?: string | undefined
  /**
   * Top-level members of both files that go along in the metadata, under their names, or `*` for all others; those of the
   * completions as `Metadata.withCompletions` says.
   */
  readonly keep?: ReadonlyArray<string> | undefined
  /** As in `LayoutOptions`, of both files. */
  readonly ignore?: ReadonlyArray<string> | undefined
  /**
   * In the prompts file: the name of the best completion's model; or an index, alone or as `best_completion_index`, which
   * counts in the record's own list of models. Default `gold`.
   */
  readonly goldPath?: string | undefined
  /**
   * The names of who wrote the completions, in the completions files. Default: the names of these files, without
   * folder and extensions.
   */
  readonly modelPath?: string | undefined
  /**
   * In the prompts file, a list of models, in whose order the completions then are. Default `models`, or the metadata's
   * member of this name.
   */
  readonly modelsPath?: string | undefined
  /**
   * What becomes of a prompt for which some file has no row: it is refused, or kept
   * with the completions there are, if they are two or more, of which the gold answer's is one. Default `reject`.
   */
  readonly missing?: "reject" | "keep" | undefined
  /** Where the scratch file is made. Default: the system's place for temporary files. */
  readonly scratchDirectory?: string | undefined
}

export const optionNames: NamesOf<JoinOptions> = {
  ...Format.optionNames,
  prompts: true,
  completions: true,
  key: true,
  promptKey: true,
  completionKey: true,
  promptPath: true,
  systemPath: true,
  historyPath: true,
  completionPath: true,
  metadataPath: true,
  keep: true,
  ignore: true,
  goldPath: true,
  modelPath: true,
  modelsPath: true,
  missing: true,
  scratchDirectory: true,
}

/** The files that names, folders and patterns mean: each name's in their order, those of a folder or pattern by name. */
export const files = Effect.fnUntraced(function* (options: JoinOptions) {
  const prompts = yield* Listing.expand(toList(options.prompts))
  const completions = yield* Listing.expand(toList(options.completions))
  const inEmpty = (empty: ReadonlyArray<string>) =>
    empty.length === 0 ? "" : `, and none in ${empty.map(PlaceName.describe).join(", ")}`
  if (prompts.files.length === 0) {
    return yield* invalidOption(
      "prompts",
      `expected a file, found none in ${prompts.empty.map(PlaceName.describe).join(", ")}`,
    )
  }
  if (completions.files.length < 2) {
    const found = `expected at least two files, found ${completions.files.length}`
    return yield* invalidOption("completions", `${found}${inEmpty(completions.empty)}`)
  }
  return {
    prompts: prompts.files,
    completions: completions.files,
    empty: [...prompts.empty, ...completions.empty].map(PlaceName.describe),
  }
})

export type Files = Effect.Success<ReturnType<typeof files>>

export const toList = (names: string | ReadonlyArray<string>): ReadonlyArray<string> =>
  typeof names === "string" ? [names] : names

/** The names that records have at their top: of the prompts files, and of the completions files. */
export interface Members {
  readonly prompts: ReadonlySet<string>
  readonly completions: ReadonlySet<string>
}

/**
 * The options with their defaults, paths parsed.
 *
 * @param isPromptChosen whether the prompt was set, rather than detected
 */
export const resolve = Effect.fnUntraced(function* (
  options: JoinOptions,
  files: Files,
  members: Members,
  isPromptChosen: boolean,
) {
  const fieldOf =
    (members: ReadonlySet<string>) =>
    (option: keyof JoinOptions, text: string): Effect.Effect<Field.Field, SourceError> =>
      Effect.mapError(Effect.fromResult(Field.parse(Field.ofMembers(text, members))), (problem) =>
        invalidOption(option, `${problem}${UnknownFields.noMember([...members])}`),
      )
  const ofPrompts = fieldOf(members.prompts)
  const ofCompletions = fieldOf(members.completions)
  const { completionKey: ownKey, key = "id", promptKey: promptsKey } = options
  const promptKey = yield* ofPrompts(promptsKey === undefined ? "key" : "promptKey", promptsKey ?? key)
  const completionKey = yield* ofCompletions(ownKey === undefined ? "key" : "completionKey", ownKey ?? key)
  const prompt = yield* ofPrompts("promptPath", options.promptPath ?? "prompt")
  const systemPaths = options.systemPath === undefined ? KnownNames.systemPrompts : [options.systemPath]
  const allSystems = yield* Effect.forEach(systemPaths, (text) => ofPrompts("systemPath", text))
  const systems = allSystems.filter(({ columns }) => !columns.some((name) => prompt.columns.includes(name)))
  const history = options.historyPath === undefined ? undefined : yield* ofPrompts("historyPath", options.historyPath)
  const completion = yield* ofCompletions("completionPath", options.completionPath ?? "completion")
  const metadata = yield* ofPrompts("metadataPath", options.metadataPath ?? "metadata")
  const gold = yield* ofPrompts("goldPath", options.goldPath ?? "gold")
  const models = yield* ofPrompts("modelsPath", options.modelsPath ?? "models")
  const model = options.modelPath === undefined ? undefined : yield* ofCompletions("modelPath", options.modelPath)
  const { ignore = [], keep = [] } = options
  /** The list of models is kept, too: other lists of the prompt may count in it. */
  const keptOfPrompts = Metadata.make(metadata, keep, [promptKey, prompt, ...systems, history], gold)
  const keptOfCompletions = Metadata.make(undefined, keep, [completionKey, completion, model])
  const ofPrompt = [promptKey, prompt, ...systems, history, gold, metadata, models]
  const ofCompletion = [completionKey, completion, model]
  const promptColumns = Metadata.columnsWith(ofPrompt, keptOfPrompts)
  const columnsOf = (fields: ReadonlyArray<Field.Field | undefined>) => fields.flatMap((field) => field?.columns ?? [])
  const used = [...columnsOf(ofPrompt), ...keep]
  return {
    ...files,
    promptKey,
    completionKey,
    prompt,
    systems,
    history,
    completion,
    metadata,
    gold,
    models,
    model,
    keptOfPrompts,
    keptOfCompletions,
    promptColumns: promptColumns && [...promptColumns, ToolCalls.column],
    completionColumns: Metadata.columnsWith(ofCompletion, keptOfCompletions),
    withoutIgnored: without(ignore.filter((name) => !keep.includes(name))),
    unusedOfPrompt: UnusedContext.finder({
      used,
      ignored: ignore,
      prompt,
      beside: isPromptChosen ? "chosen prompt" : "prompt",
    }),
    /** What is used of the prompt's record may be there again. */
    unusedOfCompletion: UnusedContext.finder({
      used: [...used, ...columnsOf(ofCompletion)],
      ignored: ignore,
      beside: "completion",
    }),
    modelNames: FileModels.of(yield* Path.Path, files.completions),
    hasOwnModels: options.modelsPath !== undefined,
    keepIncomplete: options.missing === "keep",
    format: options,
    scratchDirectory: options.scratchDirectory,
  }
})

export type Resolved = Effect.Success<ReturnType<typeof resolve>>
