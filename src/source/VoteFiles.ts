/**
 * Votes that were given elsewhere, from files of any format: tables with a record per vote or per item, and exports of Argilla
 * and Label Studio.
 *
 * Guarantees: one `VoteRecord` per record; a record whose votes cannot be read is rejected with the field and its text. Items
 * are read in the layouts of `files`. An item's id is one that the first records have for one item each, or none.
 */
import { Array as Arr, Effect, Record, Result, Stream } from "effect"
import { content, type SourceItem } from "../domain/PromptItem.ts"
import type { VotedItem, VoteRecord } from "../domain/VotedItem.ts"
import * as VoteRow from "../domain/VoteRow.ts"
import { depthProblem } from "../io/JsonProblem.ts"
import * as SpreadsheetCell from "../io/SpreadsheetCell.ts"
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
import * as DecisionField from "./vote/DecisionField.ts"
import * as ToolExports from "./vote/ToolExports.ts"
import * as VoteFields from "./vote/VoteFields.ts"

/** Options of `votes`. */
export interface VotesOptions extends Files.FilesOptions {
  /** Where a record's votes are. Default: detected. */
  readonly votes?: VoteFields.VoteOptions | undefined
}

interface Found {
  readonly tool: ToolExports.Shape | undefined
  readonly fields: VoteFields.VoteFields
  kind: Choice.ChoiceKind | undefined
  labels: ReadonlyArray<string> | undefined
}

const valuesOf = (rows: ReadonlyArray<Row>): ReadonlyArray<unknown> => rows.map(({ value }) => value)

/** @param names as those of `files` */
export const votes = (names: string | ReadonlyArray<string>, { votes: given = {}, ...options }: VotesOptions = {}) => {
  const all = typeof names === "string" ? [names] : names
  const open = Effect.gen(function* () {
    let found: Found | undefined
    let problem: string | undefined
    const { layout, rows, summary } = yield* Files.find(all, options, (rows) =>
      Result.gen(function* () {
        const tool = ToolExports.recognize(valuesOf(rows))
        const rewrite =
          tool !== undefined ? rewriteBy(tool) : valuesOf(rows).some(isNeutralized) ? restoreTexts : undefined
        const rewritten = rewrite === undefined ? rows : rows.map(rewrite)
        const sample = Sample.of(rewritten)
        const fields = sample.members.length === 0 ? none : yield* VoteFields.detect(sample, given)
        const one: Found = { tool, fields, kind: given.choiceAs, labels: undefined }
        found = one
        return {
          rewrite,
          columns: columnsOf(fields),
          complete: (detected: LayoutOptions) => {
            const complete = withoutVotes(sample, detected, options, fields)
            one.labels = labelsOf(complete)
            problem = decide(one, sample, complete)
            return complete
          },
        }
      }),
    )
    const [file = ""] = summary.files.map(({ name }) => name)
    if (problem !== undefined) return yield* new SourceError({ reason: new LayoutUnknown({ file, problem }) })
    if (layout.reads !== "items" || found === undefined) {
      return yield* invalidOption(
        "layout",
        "expected a layout with the whole item in each record: items, wide or pairs",
      )
    }
    const { fields, kind, labels, tool } = found
    const read = VoteFields.reader(fields, Choice.reader(kind, labels))
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
    const described = tool === undefined ? layout.description : `${tool.name}: ${layout.description}`
    return {
      summary: {
        ...summary,
        layout: summary.layout && `${described.replace(`, id at ""`, "")}; ${describe(fields, kind)}`,
      },
      records: Stream.mapArray(
        rows,
        Arr.map((row): VoteRecord => Result.flatMap(row, toVotes)),
      ),
    }
  })
  return {
    /** For messages. */
    description: all.length === 1 ? PlaceName.describe(all[0]!) : `${all.length} inputs`,
    summary: Effect.map(Effect.scoped(open), ({ summary }) => summary),
    records: Stream.unwrap(Effect.map(open, ({ records }) => records)),
  }
}

const none: VoteFields.VoteFields = {
  choices: [],
  list: undefined,
  expert: undefined,
  rationale: undefined,
  strength: undefined,
  judgedAt: undefined,
}

/** Records of a tool are not textual, whatever they were read from. */
const rewriteBy =
  ({ toRecord }: ToolExports.Shape) =>
  ({ place, value }: Row): Row => ({ place, value: isObject(value) ? toRecord(value) : value })

/** Whether a record is of CSV that prefstream wrote for spreadsheets: it has all its columns, and lists as text. */
const isNeutralized = (value: unknown): value is { readonly [column: string]: unknown } =>
  isObject(value) &&
  typeof value["completions"] === "string" &&
  !Object.hasOwn(value, VoteRow.rawColumn) &&
  VoteRow.columns.every((name) => Object.hasOwn(value, name))

/** The texts of such a record as they were. Those of a foreign table, with apostrophes of its own, stay as they are. */
const restoreTexts = (row: Row): Row =>
  isNeutralized(row.value)
    ? {
        ...row,
        value: Record.map(row.value, (cell) => (typeof cell === "string" ? SpreadsheetCell.restore(cell) : cell)),
      }
    : row

const fieldsOf = ({ choices, expert, judgedAt, list, rationale, strength }: VoteFields.VoteFields) =>
  [...choices, list, expert, rationale, strength, judgedAt].flatMap((field) => field ?? [])

/** Read of each record, if it has them. */
const alwaysRead = [
  "ranking",
  "order",
  "seconds",
  "kind",
  "all_bad",
  "edited",
  "aspects",
  "flags",
  "is_gold",
  "task_id",
  "decision",
]

const columnsOf = (fields: VoteFields.VoteFields) => [
  ...(fields.list === undefined ? fieldsOf(fields).flatMap(({ columns }) => columns) : fields.list.columns),
  ...alwaysRead,
]

/** The choice is no gold answer, and an id is the item's only if the first records say so. */
const withoutVotes = (
  sample: Sample.Sample,
  detected: LayoutOptions,
  given: LayoutOptions,
  fields: VoteFields.VoteFields,
): LayoutOptions => {
  const isOfVotes = (path: unknown) => fieldsOf(fields).some(({ text }) => text === path)
  const { gold, id: found, ...rest } = detected
  const complete = given.gold === undefined && isOfVotes(gold) ? rest : { ...rest, gold }
  if (given.id !== undefined) return { ...complete, id: given.id }
  const candidates = [
    ...VoteFields.voteNames.item
      .flatMap((name) => sample.members.filter(({ plainName }) => plainName === name))
      .map(({ path }) => path),
    ...(found === undefined ? [] : [found]),
  ]
  const id = candidates.find((path) => namesItems(sample, complete, path))
  // A path that no record has: `items` has a default, by which ids would be those of votes.
  return { ...complete, ...(id === undefined ? (complete.layout === "items" ? { id: '[""]' } : {}) : { id }) }
}

/** Whether records have the same id exactly if they have the same item. */
const namesItems = (sample: Sample.Sample, options: LayoutOptions, path: string): boolean => {
  const layout = Result.getOrUndefined(
    MakeLayout.make(
      Object.fromEntries(
        Object.entries({ ...options, id: path, keep: undefined, metadata: undefined }).filter(
          ([, value]) => value !== undefined,
        ),
      ),
    ),
  )
  if (layout?.reads !== "items") return false
  const contents = new Map<string, string>()
  const ids = new Map<string, string>()
  return sample.rows.every((row) => {
    const record = layout.toRecord(row)
    if (Result.isFailure(record)) return true
    const { item } = record.success
    if (item.id === undefined) return false
    const text = content({ prompt: item.prompt, completions: item.completions.toSorted() })
    const isSame = (ids.get(text) ?? item.id) === item.id && (contents.get(item.id) ?? text) === text
    ids.set(text, item.id)
    contents.set(item.id, text)
    return isSame
  })
}

const labelsOf = ({ completions, layout }: LayoutOptions): ReadonlyArray<string> | undefined =>
  layout === "items" || typeof completions === "string" || completions === undefined
    ? undefined
    : completions.map((path) =>
        Result.match(Field.parse(path), { onFailure: () => path, onSuccess: ({ label }) => label }),
      )

/** How choices are meant; the reason where that is not certain. */
const decide = (found: Found, sample: Sample.Sample, options: LayoutOptions): string | undefined => {
  if (found.kind !== undefined) return undefined
  if (VoteFields.isIndexByName(found.fields)) {
    found.kind = "index"
    return undefined
  }
  const layout = Result.getOrUndefined(MakeLayout.make(options))
  if (layout?.reads !== "items") return undefined
  const items = sample.rows.flatMap((row) => Result.getOrUndefined(layout.toRecord(row)) ?? [])
  const most = Math.max(2, ...items.map(({ item }) => item.completions.length))
  const values = VoteFields.choicesIn(found.fields, sample.rows)
  const isText = items.some(({ item }) =>
    values.some((value) => typeof value !== "object" && item.completions.includes(String(value))),
  )
  const how = isText ? undefined : Choice.detect(values, most)
  if (how === undefined) return undefined
  if ("kind" in how) {
    found.kind = how.kind
    return undefined
  }
  return how.fits.length === 0
    ? `the choices are numbers that do not name one of ${most} completions: set ${VoteFields.flags.choice}, or ${VoteFields.flags.choiceAs}`
    : `the choices are numbers, and may count from 0 or from 1: set ${VoteFields.flags.choiceAs} to ${how.fits.join(" or ")}`
}

const described: { readonly [kind in Choice.ChoiceKind]: string } = {
  index: "from 0 on",
  number: "from 1 on, 0 a tie",
  scale: "a scale, 0 a tie",
  text: "the completion's text",
  name: "by name",
}

const describe = (
  { choices, expert, list, rationale, strength }: VoteFields.VoteFields,
  kind: Choice.ChoiceKind | undefined,
) => {
  const at = (what: string, field: Field.Field | undefined) =>
    field === undefined ? [] : [`${what} at "${field.label}"`]
  return [
    ...at("votes", list),
    choices.length > 1
      ? `choices of ${choices.length} experts at ${choices.map(({ label }) => `"${label}"`).join(", ")}`
      : at("choice", choices[0]).join(""),
    ...(kind === undefined ? [] : [`(${described[kind]})`]),
    ...at("expert", expert),
    ...at("rationale", rationale),
    ...at("strength", strength),
  ]
    .filter((part) => part !== "")
    .join(", ")
    .replaceAll(", (", " (")
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
