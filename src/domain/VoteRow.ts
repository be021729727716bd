/**
 * One vote as a record of a vote table, in JSON Lines or CSV: what `prefstream export-votes` and the built-in service write, and
 * `prefstream import` reads.
 *
 * Guarantees: a table has all columns in each record, in the same order. In CSV, lists and objects are JSON, and null is an
 * empty cell. CSV whose texts are as they are, also those that a spreadsheet takes for formulas, has the column `raw`, too; in
 * other CSV of these columns, `io/SpreadsheetCell` has neutralized them.
 */
import { Schema, Struct } from "effect"
import * as CsvField from "./CsvField.ts"
import { Decision } from "./Decision.ts"
import { Prompt } from "./Message.ts"

const list = <S extends Schema.Top>(of: S) => Schema.NullOr(Schema.Array(of))

/** One vote. Indices refer to `completions`, whatever order was shown. */
export const VoteRow = Schema.Struct({
  /** Null in a table of the service, which knows no ids. */
  item_id: Schema.NullOr(Schema.String),
  prompt: Prompt,
  /** Text, or the messages of one that calls tools. */
  completions: Schema.Array(Prompt),
  models: list(Schema.String),
  /** The definitions of the tools that the model had, as the text of a JSON array. Null in a table of the service, which gets none. */
  tools: Schema.NullOr(Schema.String),
  /** Null if unnamed. */
  expert: Schema.NullOr(Schema.String),
  /** The kind of the expert: `person` or `automatic` of the built-in service; null if unknown. */
  kind: Schema.NullOr(Schema.String),
  /** One-based number of the vote among those of its item. */
  vote: Schema.Int,
  chosen_index: Schema.Int,
  /** Groups of indices, best first; null if the vote has none. */
  ranking: list(Schema.Array(Schema.Int)),
  /** The order in which completions were shown; null if unknown. */
  order: list(Schema.Int),
  seconds: Schema.NullOr(Schema.Finite),
  strength: Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])),
  all_bad: Schema.NullOr(Schema.Boolean),
  edited: Schema.NullOr(Schema.String),
  /** By name, a rating per completion. */
  aspects: Schema.NullOr(Schema.Record(Schema.String, Schema.Array(Schema.NullOr(Schema.Finite)))),
  rationale: Schema.NullOr(Schema.String),
  /** When the vote was given or, if the service does not say, when its result was recorded. */
  judged_at: Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])),
  task_id: Schema.String,
  /** Whether it is on a gold item that was mixed in, and is no part of the dataset. */
  is_gold: Schema.Boolean,
  /** The known answer of the item. */
  gold: Schema.NullOr(Schema.Unknown),
  /** Of the item in this task, and so in each of its votes, with what experts marked. */
  flags: list(Schema.Unknown),
  /** What a lead, or the service, decided against the votes on the item in this task, and so in each of its votes. */
  decision: Schema.NullOr(Decision),
  metadata: Schema.NullOr(Schema.Unknown),
})
export type VoteRow = typeof VoteRow.Type

/** The columns of the table, in their order. */
export const columns = Struct.keys(VoteRow.fields)

export const formats = ["jsonl", "csv"] as const
export type Format = (typeof formats)[number]

const ordered = (row: VoteRow): object => Object.fromEntries(columns.map((name) => [name, row[name]]))

/** The column, always `true`, of CSV whose texts are not neutralized. */
export const rawColumn = "raw"

const lineOf: { readonly [format in Format]: (row: VoteRow) => string } = {
  jsonl: (row) => JSON.stringify(ordered(row)),
  csv: (row) => columns.map((name) => CsvField.encode(row[name])).join(","),
}

/** What precedes the records. @param isRaw whether texts are not neutralized in CSV */
export const headOf = (format: Format, isRaw = false): string =>
  format === "csv" ? `${[...columns, ...(isRaw ? [rawColumn] : [])].join(",")}\n` : ""

/** @param isRaw as of the head */
export const encode = (format: Format, rows: ReadonlyArray<VoteRow>, isRaw = false): string => {
  const end = format === "csv" && isRaw ? ",true\n" : "\n"
  return rows.map((row) => `${lineOf[format](row)}${end}`).join("")
}
