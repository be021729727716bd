/**
 * One vote as a record of a vote table, in JSON Lines or CSV. `prefstream export-votes` and the built-in service write
 * vote tables; `prefstream import` reads them.
 *
 * Guarantees: each record has all columns, in the same order. In CSV, lists and objects are JSON, and null is an empty
 * cell. `io/SpreadsheetCell` neutralizes texts in CSV that a spreadsheet takes for formulas. CSV with the extra column
 * `raw` has these texts unchanged.
 */
import { Schema, Struct } from "effect"
import * as Assessment from "./Assessment.ts"
import * as CsvField from "./CsvField.ts"
import { Decision } from "./Decision.ts"
import * as ExpertKind from "./ExpertKind.ts"
import { Prompt } from "./Message.ts"
import { fields as voteFields, type ImportedVote } from "./Vote.ts"

const list = <S extends Schema.Top>(of: S) => Schema.NullOr(Schema.Array(of))

const ofVote = Struct.omit(voteFields, ["expert", "kind", "choice", "flags", "guidelines_version", "repeated"])

export const VoteRowSchema = Schema.Struct({
  /** Null in a table that the service wrote, because the service does not know item ids. */
  item_id: Schema.NullOr(Schema.String),
  /** The prompt, as text or as messages. */
  prompt: Prompt,
  /** Completions as text, or as messages if they call tools. */
  completions: Schema.Array(Prompt),
  /** The model that wrote each completion; null if unknown. */
  models: list(Schema.String),
  /** The definitions of the tools that the model had, as a JSON array; null in a table that the service wrote. */
  tools: Schema.NullOr(Schema.String),
  /** The expert; null if the expert has no name. */
  expert: Schema.NullOr(Schema.String),
  /** The kind of expert; null if unknown. */
  kind: Schema.NullOr(Schema.String),
  /** One-based number of the vote among the votes on its item. */
  vote: Schema.Int,
  /** Index of the preferred completion, from 0. */
  chosen_index: Schema.Int,
  ...Struct.map(ofVote, Schema.NullOr),
  /** The strength of the preference; null if the expert gave none. */
  strength: Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])),
  /** The time of the vote. If the service does not report it, the time at which the result was recorded. */
  judged_at: Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])),
  /** The id of the task in which the vote was given. */
  task_id: Schema.String,
  /** Whether the vote is on a gold item that was mixed in. Such items are not part of the dataset. */
  is_gold: Schema.Boolean,
  /** The known right answer; null if there is none. */
  gold: Schema.NullOr(Schema.Unknown),
  /** The flags on the item in this task, including problems marked in votes. Each of the item's votes repeats them. */
  flags: list(Schema.Unknown),
  /** A lead's decision on the item in this task, which replaces the votes. All votes on the item have the decision. */
  decision: Schema.NullOr(Decision),
  /** The item's metadata; null if the item has none. */
  metadata: Schema.NullOr(Schema.Unknown),
})
/** One vote. Indices refer to `completions`, not to the order shown. */
export interface VoteRow extends Schema.Schema.Type<typeof VoteRowSchema> {}

export const voteColumns = Struct.keys(ofVote)

type OfItem = Omit<VoteRow, "chosen_index" | "expert" | "judged_at" | "kind" | "vote" | (typeof voteColumns)[number]>

/** @param n the number of the vote among the votes on its item, from 1 */
export const of = (item: OfItem, vote: ImportedVote, n: number): VoteRow => {
  const { choice, expert, judged_at = null, kind, strength } = vote
  const given: { readonly [name: string]: unknown } = { ...vote }
  const assessment: { readonly [name: string]: unknown } = {
    ...Assessment.read(given, choice, item.completions.length),
    strength,
  }
  const members: { [name: string]: unknown } = {}
  for (const name of voteColumns) members[name] = (name in Assessment.fields ? assessment : given)[name] ?? null
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names of all other members
  return { ...item, ...members, expert, kind: ExpertKind.of(kind), vote: n, chosen_index: choice, judged_at } as VoteRow
}

export const columns = Struct.keys(VoteRowSchema.fields)

export const formats = ["jsonl", "csv"] as const
export type Format = (typeof formats)[number]

const ordered = (row: VoteRow): object => Object.fromEntries(columns.map((name) => [name, row[name]]))

/** The name of a column that marks CSV whose texts stay unchanged, even formulas. Its value is always `true`. */
export const rawColumn = "raw"

const lineOf: { readonly [format in Format]: (row: VoteRow) => string } = {
  jsonl: (row) => JSON.stringify(ordered(row)),
  csv: (row) => columns.map((name) => CsvField.encode(row[name])).join(","),
}

/** Returns the header line of CSV; empty for JSON Lines. If `isRaw` is true, the header includes the column `raw`. */
export const headOf = (format: Format, isRaw = false): string =>
  format === "csv" ? `${[...columns, ...(isRaw ? [rawColumn] : [])].join(",")}\n` : ""

/** @param isRaw the same value as for `headOf` */
export const encode = (format: Format, rows: ReadonlyArray<VoteRow>, isRaw = false): string => {
  const end = format === "csv" && isRaw ? ",true\n" : "\n"
  return rows.map((row) => `${lineOf[format](row)}${end}`).join("")
}
