/**
 * A source that joins prompts in some files with completions in others (one file per model) by a key.
 *
 * Guarantees: a missing file, an invalid path, and a file whose first records lack key, prompt or completion are
 * failures before the first record. For the rest see `combine/Join`.
 */
import { Array as Arr, Effect, Result, Stream } from "effect"
import * as Join from "./combine/Join.ts"
import * as JoinOptions from "./combine/JoinOptions.ts"
import * as CompletionFinder from "./detect/CompletionFinder.ts"
import * as PromptFinder from "./detect/PromptFinder.ts"
import * as Sample from "./detect/Sample.ts"
import * as UnknownFields from "./detect/UnknownFields.ts"
import * as UnusedContext from "./item/UnusedContext.ts"
import type { flags } from "./layout/Layout.ts"
import * as OpenFile from "./OpenFile.ts"
import * as PlaceName from "./place/PlaceName.ts"
import * as Field from "./record/Field.ts"
import * as KnownOptions from "./record/KnownOptions.ts"
import { LayoutUnknown, SourceError } from "./record/SourceError.ts"
import type { InputSummary, Source } from "./record/SourceRecord.ts"

export type { JoinOptions } from "./combine/JoinOptions.ts"

/** Records of each file in which fields are checked. */
const sampleSize = 20

/** A source of items whose prompts and completions are in separate files. Fails with `SourceError`. */
export const join = (options: JoinOptions.JoinOptions): Source => ({
  description: `${describeFiles(options.prompts, "prompts")} with ${describeFiles(options.completions, "completions")}, joined by ${options.key ?? options.promptKey ?? "id"}`,
  summary: Effect.map(Effect.scoped(open(options)), ({ summary }) => summary),
  records: Effect.map(open(options), ({ records }) => records).pipe(Stream.unwrap),
})

const open = Effect.fnUntraced(function* (options: JoinOptions.JoinOptions) {
  yield* KnownOptions.check(options, JoinOptions.optionNames)
  const names = yield* JoinOptions.files(options)
  const sample = (name: string) => OpenFile.sampled(name, options, sampleSize)
  const prompts = yield* Effect.forEach(names.prompts, sample)
  const completions = yield* Effect.forEach(names.completions, sample)
  const members = {
    prompts: OpenFile.membersOf(prompts.filter(({ sample }) => sample.length > 0).slice(0, 1)),
    completions: OpenFile.membersOf(completions),
  }
  const completionPath =
    options.completionPath ?? (members.completions.has("completion") ? undefined : yield* completionIn(completions))
  const promptRows = prompts.flatMap(({ sample }) => sample)
  const completionRows = completions.flatMap(({ sample }) => sample)
  const { ignore = [], promptPath = "prompt" } = options
  const taken = [...ignore, ...PromptFinder.columnsOf(Field.ofMembers(promptPath, members.prompts))]
  const historyPath = options.historyPath ?? PromptFinder.before(Sample.of(promptRows), taken).history
  const fields = yield* JoinOptions.resolve({ ...options, completionPath, historyPath }, names, members)
  const {
    completion,
    completionColumns,
    completionKey,
    gold,
    history,
    metadata,
    model,
    prompt,
    promptColumns,
    promptKey,
  } = fields
  for (const one of prompts) yield* requireFields(one, { key: promptKey, prompt })
  for (const one of completions) yield* requireFields(one, { key: completionKey, completion })
  const all = [...prompts, ...completions].map(({ file: { description, name } }) => ({ name, description }))
  const unusedInPrompts = promptRows.map((row) => Join.unusedInPrompt(fields, row))
  const unusedInCompletions = completionRows.map((row) => fields.unusedOfCompletion(row, Join.nothingShown))
  for (const [[one], unused] of [
    [prompts, unusedInPrompts],
    [completions, unusedInCompletions],
  ] as const) {
    const problem = UnusedContext.question(unused)
    if (problem !== undefined) {
      return yield* new SourceError({ reason: new LayoutUnknown({ file: one!.file.name, problem }) })
    }
  }
  const kept = options.keep?.filter((name) => name !== "*" && !members.completions.has(name))
  const summary: InputSummary = {
    files: all,
    count: all.length,
    empty: names.empty,
    layout: `join by ${at(promptKey)}: prompt at ${at(prompt)}${history === undefined ? "" : `, earlier turns at ${at(history)}`}, completions at ${at(completion)}, ${model === undefined ? "models named after the files" : `models at ${at(model)}`}`,
    unknownFields: [
      ...unknownOf("gold", options.goldPath === undefined ? [] : gold.columns, members.prompts),
      ...unknownOf("metadata", options.metadataPath === undefined ? [] : metadata.columns, members.prompts),
      ...unknownOf("model", model?.columns ?? [], members.completions),
      ...unknownOf("keep", kept ?? [], members.prompts),
    ],
    hints: [...UnusedContext.hints(unusedInPrompts), ...UnusedContext.hints(unusedInCompletions)],
    // A name that both have is listed once.
    unused: Arr.dedupeWith(
      [
        ...OpenFile.unusedIn(promptRows, promptColumns, ignore),
        ...OpenFile.unusedIn(completionRows, completionColumns, ignore),
      ],
      (one, other) => one.name === other.name,
    ),
  }
  const records = Join.join(
    fields,
    Stream.flatMap(Stream.fromArray(prompts), ({ file }) =>
      file.rows(OpenFile.withContext(promptColumns, members.prompts)),
    ),
    completions.map(({ file }) => file.rows(OpenFile.withContext(completionColumns, members.completions))),
  )
  return { summary, records }
})

/** The member that completions have in other layouts, too. */
const completionIn = Effect.fnUntraced(function* (files: ReadonlyArray<OpenFile.SampledFile>) {
  const found = CompletionFinder.completions(Sample.of(files.flatMap(({ sample }) => sample)), "long")
  if (Result.isFailure(found)) {
    return yield* new SourceError({ reason: new LayoutUnknown({ file: files[0]!.file.name, problem: found.failure }) })
  }
  return found.success?.layout === "long" ? found.success.completion : undefined
})

const at = ({ label }: Field.Field): string => JSON.stringify(label)

const requireFields = Effect.fnUntraced(function* (
  one: OpenFile.SampledFile,
  fields: { readonly [option in keyof typeof flags]?: Field.Field },
) {
  const names = [...OpenFile.membersOf([one])]
  for (const option of ["key", "prompt", "completion"] as const) {
    const columns = fields[option]?.columns ?? []
    if (names.length === 0 || columns.length === 0 || columns.some((column) => names.includes(column))) continue
    const problem = UnknownFields.nothingAt(option, columns, names)
    return yield* new SourceError({ reason: new LayoutUnknown({ file: one.file.name, problem }) })
  }
})

const unknownOf = (
  option: keyof typeof flags,
  columns: ReadonlyArray<string>,
  members: ReadonlySet<string>,
): ReadonlyArray<string> =>
  members.size === 0 ? [] : columns.flatMap((name) => (members.has(name) ? [] : [UnknownFields.named(name, option)]))

/** A folder or pattern may be several files. */
const describeFiles = (names: string | ReadonlyArray<string>, what: string): string => {
  const all = JoinOptions.toList(names)
  return all.length === 1 ? PlaceName.describe(all[0]!) : `${all.length} inputs of ${what}`
}
