/**
 * One vote as a record of a vote table. In CSV, lists and objects are JSON, and null is an empty cell. Formulas are
 * neutralized (`io/SpreadsheetCell`) unless the file has the column `raw`.
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
  /** The item's id; null in a table of the service, which does not know item ids. */
  item_id: Schema.NullOr(Schema.String),
  prompt: Prompt,
  /** Texts, or messages if they call tools. */
  completions: Schema.Array(Prompt),
  /** The model that wrote each completion; null if unknown. */
  models: list(Schema.String),
  /** JSON array of the model's tools; null if there are none, or if the annotation service wrote the table. */
  tools: Schema.NullOr(Schema.String),
  /** The expert's name; null if there is none. */
  expert: Schema.NullOr(Schema.String),
  /** The kind of expert; null if unknown. */
  kind: Schema.NullOr(Schema.String),
  /** One-based number of the vote among the votes on the item. */
  vote: Schema.Int,
  /** Zero-based index of the preferred completion. */
  chosen_index: Schema.Int,
  ...Struct.map(ofVote, Schema.NullOr),
  /** The strength; null if the expert gave none. */
  strength: Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])),
  /** When the vote was given, or, if unknown, when its result came. Null for an imported vote without a time. */
  judged_at: Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])),
  task_id: Schema.String,
  /** Whether the item is a gold item that was mixed in. The dataset leaves out such items. */
  is_gold: Schema.Boolean,
  /** The known right answer; null if there is none. */
  gold: Schema.NullOr(Schema.Unknown),
  /** The item's flags in this task, and problems marked in votes. Later rows of the same task may have no flags. */
  flags: list(Schema.Unknown),
  /** A lead's decision in this task. If the task has several rows, the decision may be in the first row only. */
  decision: Schema.NullOr(Decision),
  /** The item's metadata; null if it has none. */
  metadata: Schema.NullOr(Schema.Unknown),
})
/** One vote. Indices refer to `completions`, not to the order shown. */
export interface VoteRow extends Schema.Schema.Type<typeof VoteRowSchema> {}

export const voteColumns = Struct.keys(ofVote)

type OfItem = Omit<VoteRow, "chosen_index" | "expert" | "judged_at" | "kind" | "vote" | (typeof voteColumns)[number]>

/** @param n one-based number of the vote among the votes on the item */
export const of = (item: OfItem, vote: ImportedVote, n: number): VoteRow => {
  const { choice, expert, judged_at = null, kind, strength } = vote
  const voteMembers: { readonly [name: string]: unknown } = { ...vote }
  const assessment: { readonly [name: string]: unknown } = {
    ...Assessment.read(voteMembers, choice, item.completions.length),
    strength,
  }
  const members: { [name: string]: unknown } = {}
  for (const name of voteColumns) members[name] = (name in Assessment.fields ? assessment : voteMembers)[name] ?? null
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names of all other members
  return { ...item, ...members, expert, kind: ExpertKind.of(kind), vote: n, chosen_index: choice, judged_at } as VoteRow
}

export const columns = Struct.keys(VoteRowSchema.fields)

export const formats = ["jsonl", "csv"] as const
export type Format = (typeof formats)[number]

const ordered = (row: VoteRow): object => Object.fromEntries(columns.map((name) => [name, row[name]]))

export const rawColumn = "raw"

const lineOf: { readonly [format in Format]: (row: VoteRow) => string } = {
  jsonl: (row) => JSON.stringify(ordered(row)),
  csv: (row) => columns.map((name) => CsvField.encode(row[name])).join(","),
}

export const headOf = (format: Format, isRaw = false): string =>
  format === "csv" ? `${[...columns, ...(isRaw ? [rawColumn] : [])].join(",")}\n` : ""

export const encode = (format: Format, rows: ReadonlyArray<VoteRow>, isRaw = false): string => {
  const end = format === "csv" && isRaw ? ",true\n" : "\n"
  return rows.map((row) => `${lineOf[format](row)}${end}`).join("")
}
