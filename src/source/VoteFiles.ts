/** Reads votes from tables, and from exports of Argilla and Label Studio. Unreadable votes become rejects. */
import { Array as Arr, Effect, type FileSystem, type Path, Result, Stream } from "effect"
import type { SourceItem } from "../domain/PromptItem.ts"
import type { VotedItem, VoteRecord } from "../domain/VotedItem.ts"
import { voteColumns } from "../domain/VoteRow.ts"
import { depthProblem } from "../io/JsonProblem.ts"
import * as OptionText from "../io/OptionText.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { isObject } from "../io/Values.ts"
import * as Sample from "./detect/Sample.ts"
import * as Files from "./Files.ts"
import * as MakeLayout from "./layout/MakeLayout.ts"
import type { LayoutOptions } from "./layout/Layout.ts"
import * as PlaceName from "./place/PlaceName.ts"
import * as Field from "./record/Field.ts"
import * as KnownOptions from "./record/KnownOptions.ts"
import { reject, type Row } from "./record/Row.ts"
import { invalidOption, layoutUnknown, type SourceError } from "./record/SourceError.ts"
import type { Source } from "./record/SourceRecord.ts"
import * as Choice from "./vote/Choice.ts"
import * as ChoiceMap from "./vote/ChoiceMap.ts"
import * as ChoiceReadings from "./vote/ChoiceReadings.ts"
import * as DecisionField from "./vote/DecisionField.ts"
import * as ToolExports from "./vote/ToolExports.ts"
import type { Shape } from "./vote/ToolShape.ts"
import * as VoteDescription from "./vote/VoteDescription.ts"
import * as VoteFields from "./vote/VoteFields.ts"
import * as VoteHint from "./vote/VoteHint.ts"
import * as VoteLayout from "./vote/VoteLayout.ts"
import { voteNames } from "./vote/VoteNames.ts"

/** Options of `votes`. */
export interface VotesOptions extends Files.FilesOptions {
  /** The fields that contain a record's votes. Default: detected. */
  readonly votes?: VoteFields.VoteOptions | undefined
}

interface Detection {
  readonly tool: Shape | undefined
  readonly fields: VoteFields.VoteFields
  reading: Choice.Reading
  /** Whether the first choices are numbers from 1. If true, a later choice below 1 is an error: 0 may mean a tie. */
  isFromNumbers: boolean
  labels: ReadonlyArray<string> | undefined
}

/** A source of votes in files. */
export interface VoteSource extends Pick<Source, "description"> {
  /** Describes the layout of the first records and how their votes are read. */
  readonly summary: NonNullable<Source["summary"]>
  /** An item with its votes, or a reject, for each record of the files. Fails only with errors that end the import. */
  readonly records: Stream.Stream<VoteRecord, SourceError, FileSystem.FileSystem | Path.Path>
}

/** @param names files, folders, patterns, or URLs (see `files`) */
export const votes = (names: string | ReadonlyArray<string>, allOptions: VotesOptions = {}): VoteSource => {
  const { votes: voteOptions = {}, ...options } = { ...allOptions }
  const list = [names].flat()
  const open = Effect.gen(function* () {
    let detection: Detection | undefined
    let problem: string | undefined
    let labelHint: string | undefined
    yield* KnownOptions.check(allOptions, { ...Files.optionKinds, votes: Kinds.object })
    yield* KnownOptions.check(voteOptions, VoteFields.optionKinds)
    const readingOption = yield* Effect.fromResult(readingOf(voteOptions))
    const { layout, rows, summary } = yield* Files.openInput(list, options, (rows) =>
      Result.gen(function* () {
        const tool = ToolExports.recognize(rows)
        const rewritten = tool === undefined ? rows : rows.map((row) => ({ ...row, value: rewriteBy(tool)(row.value) }))
        const sample = Sample.of(rewritten)
        // In an export of Argilla or Label Studio, only the list `votes` has votes. Labels in other fields are content.
        const isListed =
          tool?.isTextual !== true && rewritten.some(({ value }) => tool !== undefined && hasVotes(value))
        const fieldOptions =
          isListed && voteOptions.choice === undefined
            ? { ...voteOptions, votes: voteOptions.votes ?? "votes" }
            : voteOptions
        const fields: VoteFields.VoteFields =
          sample.members.length === 0
            ? { choices: [], isPerCompletion: false }
            : yield* VoteFields.detect(sample, fieldOptions)
        labelHint = VoteHint.ofLabels(rewritten)
        const current: Detection = {
          tool,
          fields,
          reading: readingOption ?? {},
          isFromNumbers: false,
          labels: undefined,
        }
        detection = current
        return {
          rewrite: tool === undefined ? undefined : rewriteBy(tool),
          columns: columnsOf(fields),
          complete: (detected: LayoutOptions) => {
            const layoutOptions = VoteLayout.withoutVotes(sample, detected, options, fields)
            current.labels = labelsOf(layoutOptions)
            problem = decide(current, readingOption, sample, layoutOptions)
            return layoutOptions
          },
        }
      }),
    )
    const [file = ""] = summary.files.map(({ name }) => name)
    if (problem !== undefined) return yield* layoutUnknown(file, problem)
    if (layout.reads !== "items" && options.layout === undefined) {
      return yield* layoutUnknown(file, labelHint ?? `${layout.description}: ${expectedItems}`)
    }
    if (layout.reads !== "items" || detection === undefined) return yield* invalidOption("layout", expectedItems)
    const { fields, isFromNumbers, labels, reading, tool } = detection
    const read = VoteFields.reader(fields, Choice.reader(reading, labels))
    const toVotes = (row: Row): VoteRecord => {
      const problem = depthProblem(row.value, "the record")
      if (problem !== undefined) return reject(row.place, "invalid_shape", problem)
      return Result.flatMap(layout.toRecord(row), (source) =>
        Result.match(Result.all([read(row, source), itemFields(row, source)]), {
          onFailure: (reason) => reject(row.place, "invalid_shape", reason),
          onSuccess: ([votes, fields]): VoteRecord =>
            Result.succeed({ ...source, ...fields, votes, raw: row.place.raw }),
        }),
      )
    }
    const countsFromZero = (row: Row): boolean =>
      VoteFields.choicesIn(fields, row).some(({ choice }) => (ChoiceMap.numberOf(choice) ?? 1) < 1)
    const description = tool === undefined ? layout.description : `${tool.name}: ${layout.description}`
    return {
      summary: {
        ...summary,
        layout:
          summary.layout &&
          `${description.replace(`, id at ""`, "")}; ${VoteDescription.describe(fields, reading, isFromNumbers)}`,
      },
      records: Stream.mapArrayEffect(rows, (chunk) => {
        const rowFromZero = isFromNumbers
          ? chunk.find((row) => Result.isSuccess(row) && countsFromZero(row.success))
          : undefined
        return rowFromZero === undefined || Result.isFailure(rowFromZero)
          ? Effect.succeed(Arr.map(chunk, (row): VoteRecord => Result.flatMap(row, toVotes)))
          : Effect.fail(layoutUnknown(file, zeroProblem(rowFromZero.success)))
      }),
    }
  })
  return {
    description: PlaceName.describeAll(list),
    summary: Effect.map(Effect.scoped(open), ({ summary }) => summary),
    records: Stream.unwrap(Effect.map(open, ({ records }) => records)),
  }
}

const expectedItems =
  "expected all completions of an item in one record, as in layouts items, wide, and pairs: set `completions` to a path per completion, or to the path of a list"

const zeroProblem = ({ place: { line, row } }: Row): string =>
  `${line === undefined ? `record ${row}` : `line ${line}`} has a choice below 1, but the choices of the first records start at 1. Earlier votes are already in the job folder, and may be wrong. Import all votes again, into a new job folder. If 0 means a tie, set ${OptionText.set({ choiceAs: "number" })}. If 0 means the first completion, set ${OptionText.set({ choiceAs: "index" })}. Otherwise, set the meaning of each number with ${OptionText.of("choiceMap")}`

const readingOf = ({ choiceAs, choiceMap }: VoteFields.VoteOptions) => {
  if (choiceMap === undefined) return Result.succeed(choiceAs === undefined ? undefined : { kind: choiceAs })
  return choiceAs === undefined || choiceAs === "one-hot"
    ? Result.mapBoth(ChoiceMap.make(choiceMap), {
        onFailure: (problem) => invalidOption("choiceMap", problem),
        onSuccess: (map): Choice.Reading => ({ kind: choiceAs, map }),
      })
    : Result.fail(invalidOption("choiceMap", `cannot be used with ${OptionText.set({ choiceAs })}; remove one of them`))
}

const hasVotes = (value: unknown): boolean => isObject(value) && Array.isArray(value["votes"])
const rewriteBy =
  ({ toRecord }: Shape) =>
  (value: unknown): unknown =>
    isObject(value) ? toRecord(value) : value

const alwaysRead = [
  ...voteColumns.filter((name) => !Object.hasOwn(voteNames, name)),
  ..."kind flags is_gold task_id decision".split(" "),
]

const columnsOf = (fields: VoteFields.VoteFields) => [
  ...(fields.list === undefined ? VoteLayout.fieldsOf(fields).flatMap(({ columns }) => columns) : fields.list.columns),
  ...alwaysRead,
]

const labelsOf = ({ completions, layout }: LayoutOptions): ReadonlyArray<string> | undefined =>
  layout === "items" || typeof completions === "string" || completions === undefined
    ? undefined
    : completions.map((path) =>
        Result.match(Field.parse(path), { onFailure: () => path, onSuccess: ({ label }) => label }),
      )

const decide = (
  detection: Detection,
  readingOption: Choice.Reading | undefined,
  sample: Sample.Sample,
  options: LayoutOptions,
): string | undefined => {
  const { fields, labels } = detection
  const layout = Result.getOrUndefined(MakeLayout.make(options))
  if (layout?.reads !== "items") return undefined
  const sampledChoices = sample.rows.flatMap((row) =>
    Result.match(layout.toRecord(row), {
      onFailure: () => [],
      onSuccess: (source) =>
        VoteFields.choicesIn(fields, row).map(({ choice, name }) => ({ ...source, value: choice, name })),
    }),
  )
  const [choice] = fields.choices.length === 1 && fields.list === undefined ? fields.choices : []
  const completionIndex = choice === undefined ? -1 : (labels?.indexOf(choice.label) ?? -1)
  if (completionIndex >= 0 && (readingOption === undefined || readingOption.kind === "text")) {
    detection.reading = { constantChoice: completionIndex }
    return undefined
  }
  if (readingOption !== undefined)
    return readingOption.map === undefined ? undefined : unknownName(readingOption.map, sampledChoices, labels)
  if (fields.isPerCompletion) {
    detection.reading = { kind: "one-hot" }
    const read = Choice.reader(detection.reading, labels)
    const results = sampledChoices.map(({ item, value }) => read(value, item))
    const [first] = results.filter(Result.isFailure)
    return first === undefined || results.some(Result.isSuccess)
      ? undefined
      : `${sampledChoices[0]!.name}: ${first.failure}`
  }
  return Result.match(ChoiceReadings.decide(sampledChoices, { ...ChoiceReadings.namingOf(fields.choices), labels }), {
    onFailure: (problem) => problem,
    onSuccess: (reading) => {
      detection.reading = reading
      detection.isFromNumbers = reading.kind === "number"
      return undefined
    },
  })
}

const unknownName = (
  { names }: ChoiceMap.ChoiceMap,
  sampledChoices: ReadonlyArray<ChoiceReadings.SampledChoice>,
  labels: ReadonlyArray<string> | undefined,
): string | undefined => {
  const read = Choice.reader({ kind: "name" }, labels)
  const unknown = names.find((name) => !sampledChoices.some(({ item }) => Result.isSuccess(read(name, item))))
  return unknown === undefined || sampledChoices.length === 0
    ? undefined
    : `${OptionText.of("choiceMap")}: expected ${ChoiceMap.expectedMeanings}, found ${JSON.stringify(unknown)}`
}

const itemFields = (
  { isTextual, value }: Row,
  { item: { completions } }: SourceItem,
): Result.Result<Pick<VotedItem, "isCheck" | "flags" | "taskId" | "decision">, string> => {
  if (!isObject(value)) return Result.succeed({})
  const read = (name: string) => (isTextual === true ? Field.fromText(value[name]) : value[name])
  const task = value["task_id"]
  const isCheck = [true, "true"].some((yes) => yes === value["is_gold"])
  const flags = read("flags")
  return Result.map(DecisionField.decode(read("decision"), completions.length, "decision"), (decision) => ({
    ...(isCheck && { isCheck }),
    ...(typeof task === "string" && { taskId: task }),
    ...(Array.isArray(flags) && { flags }),
    ...(decision !== undefined && { decision }),
  }))
}
