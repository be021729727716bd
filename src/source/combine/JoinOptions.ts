/** Defines the options of a join, and parses the paths in these options. */
import { Effect, Path } from "effect"
import * as Format from "../format/Format.ts"
import * as Listing from "../place/Listing.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import { invalidOption, type SourceError } from "../record/SourceError.ts"
import * as PlaceName from "../place/PlaceName.ts"
import * as Field from "../record/Field.ts"
import * as FileModels from "./FileModels.ts"
import * as Metadata from "../item/Metadata.ts"
import * as ToolCalls from "../item/ToolCalls.ts"
import * as UnusedContext from "../item/UnusedContext.ts"
import { withoutMembers } from "../record/Row.ts"
import * as UnknownFields from "../detect/UnknownFields.ts"
import * as KnownNames from "../record/KnownNames.ts"

/** Paths are field paths (`choices[0].message.content`) or templates. Files can be folders, patterns, or URLs. */
export interface JoinOptions extends Format.FormatOptions {
  /** Files with one prompt per record. A key must not occur twice, even in different files. */
  readonly prompts: string | ReadonlyArray<string>
  /** At least two files with one completion per record, one file for each model. */
  readonly completions: string | ReadonlyArray<string>
  /** The path of the key in all files. Keys are strings or safe integers. Default: `id`. */
  readonly key?: string | undefined
  /** The path of the key in the prompts files. Default: the value of `key`. */
  readonly promptKey?: string | undefined
  /** The path of the key in the completions files. Default: the value of `key`. */
  readonly completionKey?: string | undefined
  /** The path of the prompt in the prompts files. Default: `prompt`, or else detected. */
  readonly promptPath?: string | undefined
  /** The path of a system prompt to put before the prompt. Default: `system`, `system_prompt`, or `system_message`. */
  readonly systemPath?: string | undefined
  /** The path of earlier turns to put before the prompt: messages, or pairs of texts. Default: detected. */
  readonly historyPath?: string | undefined
  /** The path of the completion in the completions files. Default: `completion`, or else detected. */
  readonly completionPath?: string | undefined
  /** The path of an object with metadata in the prompts files. Default: `metadata`. */
  readonly metadataPath?: string | undefined
  /** Members to keep as metadata (`*`: all unused members). Values that differ among completions become a list. */
  readonly keep?: ReadonlyArray<string> | undefined
  /** Top-level members to treat as absent in prompts files and completions files. See `LayoutOptions.ignore`. */
  readonly ignore?: ReadonlyArray<string> | undefined
  /**
   * The path of the best answer in the prompts files: a model's name, an index from 0 into the prompt's list of models,
   * or an object with this index in `best_completion_index`. Default: `gold`.
   */
  readonly goldPath?: string | undefined
  /** The path of the model's name in the completions files. Default: the file's name without folder and extensions. */
  readonly modelPath?: string | undefined
  /** The path of a prompt's list of models, which sorts the completions. Default: `models`, or `metadata.models`. */
  readonly modelsPath?: string | undefined
  /** `reject` (default): a prompt needs one completion per file. `keep`: two are enough, unless the best is missing. */
  readonly missing?: "reject" | "keep" | undefined
  /** The directory for temporary files. Default: the system's. */
  readonly scratchDirectory?: string | undefined
}

export const optionKinds: Kinds.KindsOf<JoinOptions> = {
  ...Format.optionKinds,
  ...Kinds.all(Kinds.any, "prompts completions"),
  ...Kinds.all(Kinds.anyText, "key promptKey completionKey promptPath systemPath historyPath completionPath"),
  metadataPath: Kinds.anyText,
  ...Kinds.all(Kinds.texts, "keep ignore"),
  ...Kinds.all(Kinds.anyText, "goldPath modelPath modelsPath missing scratchDirectory"),
}

export const inJoin = (message: string): string =>
  message.replace(
    /"(?:[^"\\\n]|\\.)*"|`(prompt|system|history|completion|metadata|gold|model)(?=[`:])/g,
    (text, name: string | undefined) => (name === undefined ? text : `${text}Path`),
  )

export const files = Effect.fnUntraced(function* (options: JoinOptions) {
  const prompts = yield* Listing.expand([options.prompts].flat())
  const completions = yield* Listing.expand([options.completions].flat())
  const inEmpty = (empty: ReadonlyArray<string>) =>
    empty.length === 0 ? "" : `, and none in ${empty.map(PlaceName.describe).join(", ")}`
  if (prompts.files.length === 0) {
    return yield* invalidOption(
      "prompts",
      `expected a file, found none in ${prompts.empty.map(PlaceName.describe).join(", ")}`,
    )
  }
  if (completions.files.length < 2) {
    const expectation = `expected at least two files, found ${completions.files.length}`
    return yield* invalidOption("completions", `${expectation}${inEmpty(completions.empty)}`)
  }
  return {
    prompts: prompts.files,
    completions: completions.files,
    empty: [...prompts.empty, ...completions.empty].map(PlaceName.describe),
  }
})

export type Files = Effect.Success<ReturnType<typeof files>>

export interface Members {
  readonly prompts: ReadonlySet<string>
  readonly completions: ReadonlySet<string>
}

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
  const parsePromptField = fieldOf(members.prompts)
  const parseCompletionField = fieldOf(members.completions)
  const { completionKey: completionKeyPath, key = "id", promptKey: promptKeyPath } = options
  const promptKey = yield* parsePromptField(promptKeyPath === undefined ? "key" : "promptKey", promptKeyPath ?? key)
  const completionKey = yield* parseCompletionField(
    completionKeyPath === undefined ? "key" : "completionKey",
    completionKeyPath ?? key,
  )
  const prompt = yield* parsePromptField("promptPath", options.promptPath ?? "prompt")
  const systemPaths = options.systemPath === undefined ? KnownNames.systemPrompts : [options.systemPath]
  const allSystems = yield* Effect.forEach(systemPaths, (text) => parsePromptField("systemPath", text))
  const systems = allSystems.filter(({ columns }) => !columns.some((name) => prompt.columns.includes(name)))
  const history =
    options.historyPath === undefined ? undefined : yield* parsePromptField("historyPath", options.historyPath)
  const completion = yield* parseCompletionField("completionPath", options.completionPath ?? "completion")
  const metadata = yield* parsePromptField("metadataPath", options.metadataPath ?? "metadata")
  const gold = yield* parsePromptField("goldPath", options.goldPath ?? "gold")
  const models = yield* parsePromptField("modelsPath", options.modelsPath ?? "models")
  const model =
    options.modelPath === undefined ? undefined : yield* parseCompletionField("modelPath", options.modelPath)
  const { ignore = [], keep = [] } = options
  // With `keep: *`, the metadata contains all fields except the ones that are listed here. `models` is not listed: the
  // models' names explain other lists in the metadata that have one value per model.
  const keptOfPrompts = Metadata.make(metadata, keep, [promptKey, prompt, ...systems, history], gold)
  const keptOfCompletions = Metadata.make(undefined, keep, [completionKey, completion, model])
  const promptFields = [promptKey, prompt, ...systems, history, gold, metadata, models]
  const completionFields = [completionKey, completion, model]
  const promptColumns = Metadata.columnsWith(promptFields, keptOfPrompts)
  const columnsOf = (fields: ReadonlyArray<Field.Field | undefined>) => fields.flatMap((field) => field?.columns ?? [])
  const used = [...columnsOf(promptFields), ...keep]
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
    completionColumns: Metadata.columnsWith(completionFields, keptOfCompletions),
    withoutIgnored: withoutMembers(ignore.filter((name) => !keep.includes(name))),
    unusedOfPrompt: UnusedContext.finder({
      used,
      ignored: ignore,
      prompt,
      beside: isPromptChosen ? "chosen prompt" : "prompt",
    }),
    unusedOfCompletion: UnusedContext.finder({
      used: [...used, ...columnsOf(completionFields)],
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
