/**
 * The layouts. A record is a whole item in `items` (a prompt and a list of completions), `wide` (a column for each
 * completion: `response_a`, `response_b`), and `pairs` (`chosen` and `rejected`, to be judged again). In `long`, a
 * record is one completion, and records with the same key make an item. A new layout needs cases in `MakeLayout` and
 * `Detect`.
 */
import { type Result, Struct } from "effect"
import type { Prompt } from "../../domain/Message.ts"
import type { Metadata } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import type { NamesOf } from "../record/KnownOptions.ts"
import type { Place, Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import type { Unused } from "../item/UnusedContext.ts"

export const layoutNames = ["items", "wide", "pairs", "long"] as const
/** The values of `layout`. */
export type LayoutName = (typeof layoutNames)[number]

/**
 * The field paths of an item's parts in a record (`choices[0].turns[0].content`). Options that are not set have the
 * default of their layout, or are detected from the first records.
 */
export interface LayoutOptions {
  /** Default: detected. */
  readonly layout?: LayoutName | undefined
  /** The path of an item's id. Default: `id`, if present. Layout `long` uses `key` instead. */
  readonly id?: string | undefined
  /**
   * The path of a text or a list of messages, or a template such as `{instruction}\n\n{input}`. Without it, `wide`
   * and `pairs` take the common beginning of completions that are whole conversations.
   */
  readonly prompt?: string | undefined
  /** The path of a system prompt, put before the prompt. Default: detected. */
  readonly system?: string | undefined
  /** The path of earlier turns, put before the prompt: messages, or pairs of texts. Default: detected. */
  readonly history?: string | undefined
  /**
   * In `items`, the path of the list, with `[]` if its elements are objects (`answers[].text`). In `wide`, a path
   * for each completion. In `pairs`, two paths, the preferred one first.
   */
  readonly completions?: string | ReadonlyArray<string> | undefined
  /** The path of a record's completion in `long`. Default: the last message of the prompt. */
  readonly completion?: string | undefined
  /** The path of the value that groups records of `long`. Default: the prompt. */
  readonly key?: string | undefined
  /**
   * The path of a completion's model in `long`, of the list of models in `items`, or a path for each completion in
   * `wide` and `pairs`. Default in `wide`: models derived by `ColumnModels`.
   */
  readonly model?: string | ReadonlyArray<string> | undefined
  /** Whether to name models after the columns in `wide`, even if the names do not look like models'. */
  readonly modelsFromColumns?: boolean | undefined
  /**
   * The path of the known best answer. In `items`, it is an object with `best_completion_index`, or this index. In
   * `wide` and `pairs`, it is the name of a completion's column or model, or the distinguishing part of the name; or
   * the path of the completion that is always the best. Not for `long`.
   */
  readonly gold?: string | undefined
  /** The path of an object that is copied into the item's metadata. Default: `metadata`, if present. */
  readonly metadata?: string | undefined
  /** Top-level members to keep in the metadata, under their names. */
  readonly keep?: ReadonlyArray<string> | undefined
  /**
   * Top-level members to read as absent. A record is rejected if it has a member that experts may have to see
   * (`UnusedContext`), unless this or another option names it.
   */
  readonly ignore?: ReadonlyArray<string> | undefined
  /** How to treat a record of `wide` that lacks a completion. At least two are always needed. Default: `reject`. */
  readonly missing?: "reject" | "keep" | undefined
}

export const fieldNames = {
  prompt: true,
  system: true,
  history: true,
  completions: true,
  completion: true,
  key: true,
  id: true,
  model: true,
  gold: true,
  metadata: true,
} as const satisfies Partial<NamesOf<LayoutOptions>>

export const fieldOptions = Struct.keys(fieldNames)

export const optionNames: NamesOf<LayoutOptions> = {
  ...fieldNames,
  layout: true,
  modelsFromColumns: true,
  keep: true,
  ignore: true,
  missing: true,
}

export interface Part {
  readonly place: Place
  readonly key: string
  readonly prompt: Prompt
  readonly completion: string
  /** Whether the completion is a list of messages. `completion` then has their rendered text. */
  readonly isMessages?: boolean | undefined
  readonly tools?: string | undefined
  readonly model: string | undefined
  readonly metadata: Metadata | undefined
}

export type Layout = {
  readonly name: LayoutName
  /** Used in messages: `wide: prompt at "input", completions at "output_1" and "output_2", gold at "label"`. */
  readonly description: string
  readonly columns: ReadonlyArray<string> | undefined
  /** The unread members of a record that experts may have to see. Empty for a record that is not an item. */
  readonly unusedIn: (row: Row) => ReadonlyArray<Unused>
} & (
  | {
      readonly reads: "items"
      readonly hasDefaultPaths: boolean
      readonly toRecord: (row: Row) => SourceRecord
    }
  | { readonly reads: "parts"; readonly keyIsId: boolean; readonly toPart: (row: Row) => Result.Result<Part, Reject> }
)
