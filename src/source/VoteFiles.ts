/**
 * Votes that were given elsewhere, from files of any format: tables with a record per vote or per item, and exports of Argilla
 * and Label Studio.
 *
 * Guarantees: one `VoteRecord` per record; a record whose votes cannot be read is rejected with the field and its text. Items
 * are read in the layouts of `files`. An item's id is one that the first records have for one item each, or none.
 */
import { Array as Arr, Effect, Result, Stream } from "effect"
import type { SourceItem } from "../domain/PromptItem.ts"
import type { VotedItem, VoteRecord } from "../domain/VotedItem.ts"
import { voteColumns } from "../domain/VoteRow.ts"
import { depthProblem } from "../io/JsonProblem.ts"
import { isObject } from "../io/Values.ts"
import * as Sample from "./detect/Sample.ts"
import * as Files from "./Files.ts"
import * as MakeLayout from "./layout/MakeLayout.ts"
import type { LayoutOptions } from "./layout/Layout.ts"
import * as PlaceName from "./place/PlaceName.ts"
import * as Field from "./record/Field.ts"
import { reject, type Row } from "./record/Row.ts"
import { invalidOption, LayoutUnknown, SourceError } from "./record/SourceError.ts"
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
  /** Where a record's votes are. Default: detected. */
  readonly votes?: VoteFields.VoteOptions | undefined
}

interface Found {
  readonly tool: Shape | undefined
  readonly fields: VoteFields.VoteFields
  reading: Choice.Reading
  /** Whether the reading is that of the first records' numbers, from 1 on. */
  isFromNumbers: boolean
  labels: ReadonlyArray<string> | undefined
}

/** @param names as those of `files` */
export const votes = (names: string | ReadonlyArray<string>, { votes: given = {}, ...options }: VotesOptions = {}) => {
  const all = typeof names === "string" ? [names] : names
  const open = Effect.gen(function* () {
    let found: Found | undefined
    let problem: string | undefined
    let oneCompletion: string | undefined
    const set = yield* Effect.fromResult(readingSet(given))
    const { layout, rows, summary } = yield* Files.find(all, options, (rows) =>
      Result.gen(function* () {
        const tool = ToolExports.recognize(rows)
        const rewritten = tool === undefined ? rows : rows.map((row) => ({ ...row, value: rewriteBy(tool)(row.value) }))
        const sample = Sample.of(rewritten)
        // Labels beside a tool's list of votes are of its data.
        const isListed =
          tool?.isTextual !== true && rewritten.some(({ value }) => tool !== undefined && hasVotes(value))
        const fieldOptions =
          isListed && given.choice === undefined ? { ...given, votes: given.votes ?? "votes" } : given
        const fields = sample.members.length === 0 ? none : yield* VoteFields.detect(sample, fieldOptions)
        oneCompletion = VoteHint.ofLabels(rewritten)
        const one: Found = { tool, fields, reading: set ?? {}, isFromNumbers: false, labels: undefined }
        found = one
        return {
          rewrite: tool === undefined ? undefined : rewriteBy(tool),
          columns: columnsOf(fields),
          complete: (detected: LayoutOptions) => {
            const complete = VoteLayout.withoutVotes(sample, detected, options, fields)
            one.labels = labelsOf(complete)
            problem = decide(one, set, sample, complete)
            return complete
          },
        }
      }),
    )
    const [file = ""] = summary.files.map(({ name }) => name)
    if (problem !== undefined) return yield* new SourceError({ reason: new LayoutUnknown({ file, problem }) })
    if (layout.reads !== "items" && options.layout === undefined) {
      const problem = oneCompletion ?? `${layout.description}: ${expectedItems}`
      return yield* new SourceError({ reason: new LayoutUnknown({ file, problem }) })
    }
    if (layout.reads !== "items" || found === undefined) return yield* invalidOption("layout", expectedItems)
    const { fields, isFromNumbers, labels, reading, tool } = found
    const read = VoteFields.reader(fields, Choice.reader(reading, labels))
    const toVotes = (row: Row): VoteRecord => {
      const problem = depthProblem(row.value, "the record")
      if (problem !== undefined) return reject(row.place, "invalid_shape", problem)
      return Result.flatMap(layout.toRecord(row), (source) =>
        Result.match(Result.all([read(row, source), besides(row, source)]), {
          onFailure: (reason) => reject(row.place, "invalid_shape", reason),
          onSuccess: ([votes, more]): VoteRecord => Result.succeed({ ...source, ...more, votes, raw: row.place.raw }),
        }),
      )
    }
    const countsFromZero = (row: Row): boolean =>
      VoteFields.choicesIn(fields, row).some(({ choice }) => (ChoiceMap.numberOf(choice) ?? 1) < 1)
    const described = tool === undefined ? layout.description : `${tool.name}: ${layout.description}`
    return {
      summary: {
        ...summary,
        layout:
          summary.layout &&
          `${described.replace(`, id at ""`, "")}; ${VoteDescription.describe(fields, reading, isFromNumbers)}`,
      },
      records: Stream.mapArrayEffect(rows, (some) => {
        const other = isFromNumbers
          ? some.find((row) => Result.isSuccess(row) && countsFromZero(row.success))
          : undefined
        return other === undefined || Result.isFailure(other)
          ? Effect.succeed(Arr.map(some, (row): VoteRecord => Result.flatMap(row, toVotes)))
          : Effect.fail(new SourceError({ reason: new LayoutUnknown({ file, problem: otherCount(other.success) }) }))
      }),
    }
  })
  return {
    /** For messages. */
    description: all.length === 1 ? PlaceName.describe(all[0]!) : `${all.length} inputs`,
    summary: Effect.map(Effect.scoped(open), ({ summary }) => summary),
    records: Stream.unwrap(Effect.map(open, ({ records }) => records)),
  }
}

const expectedItems =
  "expected all completions of an item in each record: set --completion-path for each of them, or --completions-path for a list (layouts items, wide and pairs)"

/** Why a later record puts the reading of the first ones in doubt. */
const otherCount = ({ place: { line, row } }: Row): string =>
  `${line === undefined ? `record ${row}` : `line ${line}`} has a number below 1 as choice, where those of the first records are 1, 2, …: a tie, or numbers from 0 on. Import into another job folder with ${VoteFields.flags.choiceAs} number (0 is a tie), or ${VoteFields.flags.choiceMap} with what each number means`

/** The reading that the options set. */
const readingSet = ({ choiceAs, choiceMap }: VoteFields.VoteOptions) => {
  const { flags } = VoteFields
  if (choiceMap === undefined) return Result.succeed(choiceAs === undefined ? undefined : { kind: choiceAs })
  return choiceAs === undefined || choiceAs === "one-hot"
    ? Result.mapBoth(ChoiceMap.make(choiceMap), {
        onFailure: (problem) => invalidOption(flags.choiceMap, problem),
        onSuccess: (map): Choice.Reading => ({ kind: choiceAs, map }),
      })
    : Result.fail(invalidOption(flags.choiceMap, `it says what values mean: ${flags.choiceAs} ${choiceAs} cannot, too`))
}

const none: VoteFields.VoteFields = {
  choices: [],
  isPerCompletion: false,
  list: undefined,
  expert: undefined,
  rationale: undefined,
  strength: undefined,
  judgedAt: undefined,
}

const hasVotes = (value: unknown): boolean => isObject(value) && Array.isArray(value["votes"])
const rewriteBy =
  ({ toRecord }: Shape) =>
  (value: unknown): unknown =>
    isObject(value) ? toRecord(value) : value

/** Read of each record, if it has them. Other parts of a vote are found by their names. */
const alwaysRead = [
  ...voteColumns.filter((name) => !Object.hasOwn(voteNames, name)),
  "kind",
  "flags",
  "is_gold",
  "task_id",
  "decision",
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

/** How choices are meant; the reason where that is not certain. */
const decide = (
  found: Found,
  set: Choice.Reading | undefined,
  sample: Sample.Sample,
  options: LayoutOptions,
): string | undefined => {
  const { fields, labels } = found
  const layout = Result.getOrUndefined(MakeLayout.make(options))
  if (layout?.reads !== "items") return undefined
  const sampled = sample.rows.flatMap((row) =>
    Result.match(layout.toRecord(row), {
      onFailure: () => [],
      onSuccess: (source) =>
        VoteFields.choicesIn(fields, row).map(({ choice, name }) => ({ ...source, value: choice, name })),
    }),
  )
  const [choice] = fields.choices.length === 1 && fields.list === undefined ? fields.choices : []
  const own = choice === undefined ? -1 : (labels?.indexOf(choice.label) ?? -1)
  if (own >= 0 && (set === undefined || set.kind === "text")) {
    found.reading = { own }
    return undefined
  }
  if (set !== undefined) return set.map === undefined ? undefined : unknownName(set.map, sampled, labels)
  if (fields.isPerCompletion) {
    found.reading = { kind: "one-hot" }
    const read = Choice.reader(found.reading, labels)
    const results = sampled.map(({ item, value }) => read(value, item))
    const [first] = results.filter(Result.isFailure)
    return first === undefined || results.some(Result.isSuccess) ? undefined : `${sampled[0]!.name}: ${first.failure}`
  }
  return Result.match(ChoiceReadings.decide(sampled, { ...ChoiceReadings.namingOf(fields.choices), labels }), {
    onFailure: (problem) => problem,
    onSuccess: (reading) => {
      found.reading = reading
      found.isFromNumbers = reading.kind === "number"
      return undefined
    },
  })
}

/** That a map has a meaning that is no name in the first records. */
const unknownName = (
  { names }: ChoiceMap.ChoiceMap,
  sampled: ReadonlyArray<ChoiceReadings.SampledChoice>,
  labels: ReadonlyArray<string> | undefined,
): string | undefined => {
  const read = Choice.reader({ kind: "name" }, labels)
  const unknown = names.find((name) => !sampled.some(({ item }) => Result.isSuccess(read(name, item))))
  return unknown === undefined || sampled.length === 0
    ? undefined
    : `${VoteFields.flags.choiceMap}: expected ${ChoiceMap.expected}, found ${JSON.stringify(unknown)}`
}

/** What an export of prefstream says of the item besides. */
const besides = (
  { isTextual, value }: Row,
  { item: { completions } }: SourceItem,
): Result.Result<Pick<VotedItem, "isCheck" | "flags" | "flaggedIn" | "decision">, string> => {
  if (!isObject(value)) return Result.succeed({})
  const read = (name: string) => (isTextual === true ? Field.fromText(value[name]) : value[name])
  const task = value["task_id"]
  const isCheck = [true, "true"].some((yes) => yes === value["is_gold"])
  const flags = read("flags")
  return Result.map(DecisionField.decode(read("decision"), completions.length, "decision"), (decision) => ({
    ...(isCheck && { isCheck }),
    ...(Array.isArray(flags) && { flags, ...(typeof task === "string" && { flaggedIn: task }) }),
    ...(decision !== undefined && { decision }),
  }))
}
