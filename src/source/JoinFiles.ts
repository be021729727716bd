/** Uses a key to join prompts with completions in other files. Wrong options fail before the first record. */
import { Array as Arr, Effect, Result, Stream } from "effect"
import { isObject } from "../io/Values.ts"
import * as OptionText from "../io/OptionText.ts"
import * as Join from "./combine/Join.ts"
import * as JoinOptions from "./combine/JoinOptions.ts"
import * as CompletionFinder from "./detect/CompletionFinder.ts"
import * as KeyFinder from "./detect/KeyFinder.ts"
import * as PromptFinder from "./detect/PromptFinder.ts"
import * as Sample from "./detect/Sample.ts"
import * as UnknownFields from "./detect/UnknownFields.ts"
import * as UnusedContext from "./item/UnusedContext.ts"
import type { LayoutOptions } from "./layout/Layout.ts"
import * as OpenFile from "./OpenFile.ts"
import * as PlaceName from "./place/PlaceName.ts"
import * as Field from "./record/Field.ts"
import * as KnownNames from "./record/KnownNames.ts"
import * as KnownOptions from "./record/KnownOptions.ts"
import type { Row } from "./record/Row.ts"
import { layoutUnknown } from "./record/SourceError.ts"
import type { InputSummary, Source } from "./record/SourceRecord.ts"

export type { JoinOptions } from "./combine/JoinOptions.ts"

const sampleSize = 20

/** A source of items whose prompts and completions are in separate files. Fails with `SourceError`. */
export const join = (options: JoinOptions.JoinOptions): Source => ({
  description: !isObject(options)
    ? "prompts with completions"
    : `${PlaceName.describeAll([options.prompts].flat(), "inputs of prompts")} with ${PlaceName.describeAll([options.completions].flat(), "inputs of completions")}, joined by ${String(options.key ?? options.promptKey ?? "id")}`,
  summary: Effect.map(Effect.scoped(open(options)), ({ summary }) => summary),
  records: Effect.map(open(options), ({ records }) => records).pipe(Stream.unwrap),
})

const open = Effect.fnUntraced(function* (options: JoinOptions.JoinOptions) {
  yield* KnownOptions.check(options, JoinOptions.optionKinds)
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
  const { ignore = [] } = options
  const promptPath =
    options.promptPath ??
    (members.prompts.has("prompt") ? "prompt" : yield* promptIn(prompts, [...ignore, ...keysOf(options)]))
  const usedColumns = [...ignore, ...Field.columnsOf(Field.ofMembers(promptPath, members.prompts))]
  const historyPath = options.historyPath ?? PromptFinder.contextOf(Sample.of(promptRows), usedColumns).history
  const fields = yield* JoinOptions.resolve(
    { ...options, promptPath, completionPath, historyPath },
    names,
    members,
    options.promptPath !== undefined,
  )
  const { completion, gold, history, metadata, model, prompt, promptColumns, promptKey } = fields
  const commonKey = commonKeyIn(promptRows, members.completions)
  for (const file of prompts) yield* requireFields(file, { key: promptKey, prompt }, options, commonKey)
  for (const file of completions)
    yield* requireFields(file, { key: fields.completionKey, completion }, options, commonKey)
  const unusedInPrompts = promptRows.map((row) => Join.unusedInPrompt(fields, row))
  const unusedInCompletions = completionRows.map((row) => fields.unusedOfCompletion(row, Join.emptyItem))
  for (const [[one], unused] of [
    [prompts, unusedInPrompts],
    [completions, unusedInCompletions],
  ] as const) {
    const problem = UnusedContext.question(unused)
    if (problem !== undefined) return yield* layoutUnknown(one!.file.name, JoinOptions.inJoin(problem))
  }
  const isAlsoCompletions = names.prompts.some((name) => names.completions.includes(name))
  const keptNames = options.keep?.filter((name) => name !== "*" && !members.completions.has(name))
  const summary: InputSummary = {
    files: [...prompts, ...completions].map(({ file: { description, name } }) => ({ name, description })),
    count: prompts.length + completions.length,
    joined: completions.length,
    empty: names.empty,
    layout: `joined by ${at(promptKey)}: prompt at ${at(prompt)}${history === undefined ? "" : `, earlier turns at ${at(history)}`}, completions at ${at(completion)}, ${model === undefined ? "models named after the files" : `models at ${at(model)}`}`,
    unknownFields: [
      ...unknownOf("gold", options.goldPath === undefined ? [] : gold.columns, members.prompts),
      ...unknownOf("metadata", options.metadataPath === undefined ? [] : metadata.columns, members.prompts),
      ...unknownOf("model", model?.columns ?? [], members.completions),
      ...unknownOf("keep", keptNames ?? [], members.prompts),
    ],
    hints: [
      ...UnusedContext.hints(unusedInPrompts),
      ...UnusedContext.hints(unusedInCompletions),
      ...modelHints(options, completionRows),
    ],
    unused: Arr.dedupeWith(
      [
        ...OpenFile.unusedIn(
          promptRows,
          promptColumns,
          isAlsoCompletions ? [...ignore, ...completion.columns] : ignore,
        ),
        ...OpenFile.unusedIn(completionRows, fields.completionColumns, [...ignore, ...(promptColumns ?? [])]),
      ],
      (a, b) => a.name === b.name,
    ),
  }
  const records = Join.join(
    fields,
    Stream.flatMap(Stream.fromArray(prompts), ({ file }) =>
      file.rows(OpenFile.withContext(promptColumns, members.prompts)),
    ),
    completions.map(({ file }) => file.rows(OpenFile.withContext(fields.completionColumns, members.completions))),
  )
  return { summary, records }
})

const sampleOf = (files: ReadonlyArray<OpenFile.SampledFile>) => Sample.of(files.flatMap(({ sample }) => sample))

const promptIn = Effect.fnUntraced(function* (
  files: ReadonlyArray<OpenFile.SampledFile>,
  usedColumns: ReadonlyArray<string>,
) {
  const detected = PromptFinder.prompt(sampleOf(files), usedColumns)
  if (Result.isFailure(detected)) return yield* layoutUnknown(files[0]!.file.name, JoinOptions.inJoin(detected.failure))
  return detected.success?.prompt ?? "prompt"
})

const completionIn = Effect.fnUntraced(function* (files: ReadonlyArray<OpenFile.SampledFile>) {
  const sample = sampleOf(files)
  const detected = CompletionFinder.completions(sample, "long")
  if (Result.isFailure(detected)) return yield* layoutUnknown(files[0]!.file.name, JoinOptions.inJoin(detected.failure))
  if (detected.success?.layout === "long") return detected.success.completion
  return Sample.find(sample, [...KnownNames.completionTexts, ...KnownNames.otherCompletionTexts], ["text", "texts"])
    ?.path
})

const keysOf = ({ completionKey, key = "id", promptKey }: JoinOptions.JoinOptions): ReadonlyArray<string> =>
  [key, promptKey, completionKey].filter((name) => name !== undefined)

const commonKeyIn = (rows: ReadonlyArray<Row>, members: ReadonlySet<string>): string | undefined => {
  const sample = Sample.of(rows)
  const isUnique = ({ values }: Sample.Member) =>
    values.length === rows.length && values.every(KeyFinder.isKey) && new Set(values).size === rows.length
  return Sample.named(sample.members, [...KnownNames.promptKeys, ...KnownNames.otherKeys]).find(
    (member) => members.has(member.name) && isUnique(member),
  )?.path
}

/** Suggests a column of model names, but does not use it: gold answers may use the default, which is the file name. */
const modelHints = ({ modelPath }: JoinOptions.JoinOptions, rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const member = modelPath === undefined ? Sample.find(Sample.of(rows), KnownNames.models, ["text"]) : undefined
  return member === undefined
    ? []
    : [
        `models are named after the files; to name them by "${member.name}", set ${OptionText.set({ modelPath: member.path })}`,
      ]
}

const at = ({ label }: Field.Field): string => JSON.stringify(label)

const requireFields = Effect.fnUntraced(function* (
  file: OpenFile.SampledFile,
  fields: { readonly [option in "key" | "prompt" | "completion"]?: Field.Field },
  options: JoinOptions.JoinOptions,
  commonKey: string | undefined,
) {
  const names = [...OpenFile.membersOf([file])]
  const setPaths = {
    key: options.key ?? options.promptKey ?? options.completionKey,
    prompt: options.promptPath,
    completion: options.completionPath,
  }
  for (const option of ["key", "prompt", "completion"] as const) {
    const columns = fields[option]?.columns ?? []
    if (names.length === 0 || columns.length === 0 || columns.some((column) => names.includes(column))) continue
    const example = option === "key" ? commonKey : textIn(file, option === "completion")
    const problem =
      setPaths[option] === undefined
        ? UnknownFields.undetectedMessage(option, names, example)
        : UnknownFields.missingMessage(OptionText.of(option), columns, names)
    return yield* layoutUnknown(file.file.name, JoinOptions.inJoin(problem))
  }
})

const textIn = (file: OpenFile.SampledFile, isCompletion: boolean): string | undefined => {
  const sample = sampleOf([file])
  const isText = (member: Sample.Member) =>
    Sample.has(member, ["text"]) &&
    member.values.length > 0 &&
    !KnownNames.isAboutItem(member.plainName) &&
    !(isCompletion && KnownNames.partsOfPrompts.has(member.plainName))
  return sample.members.find(isText)?.path ?? Sample.nestedTexts(sample)[0]
}

const unknownOf = (
  option: keyof LayoutOptions,
  columns: ReadonlyArray<string>,
  members: ReadonlySet<string>,
): ReadonlyArray<string> =>
  members.size === 0
    ? []
    : columns.flatMap((name) =>
        members.has(name) ? [] : [JoinOptions.inJoin(UnknownFields.describeField(name, option))],
      )
