/**
 * What a join is told: its files, and where in their records the parts of an item stand.
 */
import { Effect, Path } from "effect"
import * as Endings from "../Endings.ts"
import type { FormatOptions } from "../format/Format.ts"
import * as Listing from "../place/Listing.ts"
import { invalidOption, type SourceError } from "../SourceError.ts"
import * as PlaceName from "../place/PlaceName.ts"
import * as Field from "./Field.ts"
import * as Kept from "./Kept.ts"
import * as SystemPrompt from "./SystemPrompt.ts"

/** Where a value stands in a record is a field path such as `choices[0].message.content`, or a template. */
export interface JoinOptions extends FormatOptions {
  /** A record is a prompt. Of several files, each key counts once in all of them. */
  readonly prompts: string | ReadonlyArray<string>
  /** A record is a completion; two files or more, one for each model. */
  readonly completions: ReadonlyArray<string>
  /** The key in all files, text or a safe integer. Default `id`. */
  readonly key?: string | undefined
  /** The key in the prompts file, where it is another. */
  readonly promptKey?: string | undefined
  /** The key in the completions files, where it is another. */
  readonly completionKey?: string | undefined
  /** In the prompts file. Default `prompt`. */
  readonly promptPath?: string | undefined
  /** A system prompt in the prompts file, to stand before the prompt. Without `promptPath`, one of `SystemPrompt.names`. */
  readonly systemPath?: string | undefined
  /** In the completions files. Default `completion`. */
  readonly completionPath?: string | undefined
  /** An object in the prompts file. Default `metadata`. */
  readonly metadataPath?: string | undefined
  /**
   * Top-level members of both files that go along in the metadata, under their names, or `*` for all others; those of the
   * completions as `Kept.withCompletions` says.
   */
  readonly keep?: ReadonlyArray<string> | undefined
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
   * In the prompts file, a list of models, in whose order the completions then stand. Default `models`, or the metadata's
   * member of this name.
   */
  readonly modelsPath?: string | undefined
  /**
   * What becomes of a prompt for which some file has no row: it is refused, or kept
   * with the completions there are, if they are two or more, of which the gold answer's is one. Default `reject`.
   */
  readonly missing?: "reject" | "keep" | undefined
  /** Where the scratch database is made. Default: the system's place for temporary files. */
  readonly scratchDirectory?: string | undefined
}

/** The options with their defaults, paths parsed. */
export const resolve = Effect.fnUntraced(function* (options: JoinOptions) {
  if (options.completions.length < 2) {
    return yield* invalidOption("completions", `expected at least two files, found ${options.completions.length}`)
  }
  const field = (option: keyof JoinOptions, text: string): Effect.Effect<Field.Field, SourceError> =>
    Effect.mapError(Effect.fromResult(Field.parse(text)), (problem) => invalidOption(option, problem))
  const key = options.key ?? "id"
  const fields = {
    promptKey: yield* field(options.promptKey === undefined ? "key" : "promptKey", options.promptKey ?? key),
    completionKey: yield* field(
      options.completionKey === undefined ? "key" : "completionKey",
      options.completionKey ?? key,
    ),
    prompt: yield* field("promptPath", options.promptPath ?? "prompt"),
    systems: yield* Effect.forEach(systemPaths(options), (text) => field("systemPath", text)),
    completion: yield* field("completionPath", options.completionPath ?? "completion"),
    metadata: yield* field("metadataPath", options.metadataPath ?? "metadata"),
    gold: yield* field("goldPath", options.goldPath ?? "gold"),
    models: yield* field("modelsPath", options.modelsPath ?? "models"),
    model: options.modelPath === undefined ? undefined : yield* field("modelPath", options.modelPath),
  }
  const prompts = typeof options.prompts === "string" ? [options.prompts] : options.prompts
  const { empty, files } = yield* Listing.expand(prompts)
  if (files.length === 0)
    return yield* invalidOption("prompts", `expected a file, found none in ${empty.map(PlaceName.shown).join(", ")}`)
  const { completion, completionKey, gold, metadata, model, prompt, promptKey } = fields
  const keep = options.keep ?? []
  const path = yield* Path.Path
  const names = options.completions.map((file) => modelOf(path, file))
  return {
    ...fields,
    /** The list of models is kept, too: other lists of the prompt may count in it. */
    keptOfPrompts: Kept.make(metadata, keep, [promptKey, prompt, ...fields.systems], gold),
    keptOfCompletions: Kept.make(undefined, keep, [completionKey, completion, model]),
    prompts: files,
    completions: options.completions,
    /** Files of the same name in different folders are told apart by their whole paths. */
    modelNames: new Set(names).size === names.length ? names : options.completions.map(PlaceName.shown),
    hasOwnModels: options.modelsPath !== undefined,
    keepIncomplete: options.missing === "keep",
    format: options,
    scratchDirectory: options.scratchDirectory,
  }
})

const systemPaths = ({ promptPath, systemPath }: JoinOptions): ReadonlyArray<string> => {
  if (systemPath !== undefined) return [systemPath]
  return promptPath === undefined ? SystemPrompt.names : []
}

export type Resolved = Effect.Success<ReturnType<typeof resolve>>

/** An extension begins with a letter: `gpt-3.5` has none. */
const extension = /\.[a-z][a-z0-9]*$/i

/** A file's name without folder, extensions, and a URL's query. */
const modelOf = (path: Path.Path, file: string): string => {
  const name = path.basename(PlaceName.shown(file))
  return Endings.withoutCompression(name).replace(extension, "") || name
}
