/**
 * One row of the dataset. `chosen` and `rejected` differ, indices refer to the input, and the weights of an item's rows
 * add up to 1. Each member is a column. A new column must be nullable: in datasets without it, it is read as null.
 * `fromInput` marks columns that depend only on the input, for `diff`.
 */
import { Record, Schema } from "effect"
import * as Assessment from "./Assessment.ts"
import { described } from "./Described.ts"
import { Message, Prompt } from "./Message.ts"

const text = Schema.NullOr(Schema.String)
const number = Schema.NullOr(Schema.Finite)

const fromInput = <S extends Schema.Top>(description: string, schema: S): S["Rebuild"] =>
  described(description, schema.annotate({ isFromInput: true }))

const struct = Schema.Struct({
  prompt: fromInput("The prompt that the completions answer: text, or a conversation's messages.", Prompt),
  chosen: described("The preferred completion.", Schema.String),
  rejected: described("The other completion.", Schema.String),
  rationale: described("The expert's justification; null if none was given.", text),
  item_id: described(
    "The item's id; if the input has no id, a hash of the item's content with sorted completions.",
    Schema.String,
  ),
  task_id: described(
    "The id of the task in which the item was judged. If the item was judged in several tasks, the id of the first of these tasks.",
    Schema.String,
  ),
  chosen_index: fromInput("Index of `chosen` among the item's completions, from 0.", Schema.Int),
  rejected_index: fromInput("Index of `rejected` among the item's completions, from 0.", Schema.Int),
  chosen_model: fromInput("The model that wrote `chosen`; null if the input does not name it.", text),
  rejected_model: fromInput("The model that wrote `rejected`; null if the input does not name it.", text),
  weight: described("The weight of the pair in training: 1 divided by the number of pairs of its item.", Schema.Finite),
  votes: described("Number of votes on the item.", Schema.Int),
  agreement: described("Share of the votes for the best completion, 0 to 1; null if there is one vote.", number),
  vote_margin: described(
    "Share of votes that prefer `chosen` minus the share that prefer `rejected`, −1 to 1; null if there is one vote.",
    number,
  ),
  decided_votes: described(
    "Number of votes that decide between `chosen` and `rejected`, in favor of either one. A vote with a ranking counts unless it ranks both equally. A vote without a ranking counts if it is for one of the two. Null if the item has one vote.",
    Schema.NullOr(Schema.Int),
  ),
  ...Assessment.columns,
  flags: described(
    'Problems that experts reported, as JSON text: `[{"expert":…,"kind":…,"comment":…}]`; null if there are none.',
    text,
  ),
  metadata: fromInput("The item's metadata, as JSON text; null if the item has none.", text),
  tools: Schema.optionalKey(
    fromInput(
      "Definitions of the tools that the model had, as JSON text; null if the item has none. The column exists only if an item has tools or tool calls.",
      Schema.String,
    ),
  ),
  /** The messages of a chosen completion that calls tools. `chosen` contains their text. Not a column. */
  chosen_messages: Schema.optionalKey(Schema.NonEmptyArray(Message)),
  /** The messages of a rejected completion that calls tools. `rejected` contains their text. Not a column. */
  rejected_messages: Schema.optionalKey(Schema.NonEmptyArray(Message)),
})
type Struct = typeof struct

const isFromInput = (schema: Schema.Top) => Schema.resolveAnnotations(schema)?.["isFromInput"] === true
export const inputColumns: ReadonlyArray<string> = Record.keys(Record.filter(struct.fields, isFromInput))

/** The schema of `PreferencePair`. Its `fields` are the columns. */
export interface PreferencePairSchema extends Struct {}
export const PreferencePairSchema: PreferencePairSchema = struct

/** A row of a dataset: a prompt, a completion that was preferred, and one that was not. data/README.md describes it. */
export interface PreferencePair extends Schema.Schema.Type<Struct> {}
