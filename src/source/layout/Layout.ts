/** Defines the layouts of records and their options. A new layout also needs cases in `MakeLayout` and `Detect`. */
import { type Result, Struct } from "effect"
import type { Prompt } from "../../domain/Message.ts"
import type { Metadata } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import type { Place, Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import type { Unused } from "../item/UnusedContext.ts"

export const layoutNames = ["items", "wide", "pairs", "long"] as const
/**
 * The layouts of records. `items`: a record has a prompt and a list of completions. `wide`: a column for each
 * completion (`response_a`, `response_b`). `pairs`: `chosen` and `rejected`, which experts judge again. `long`: a
 * record is one completion, and records with the same key form an item.
 */
export type LayoutName = (typeof layoutNames)[number]

/** The paths of an item's parts in a record (`choices[0].turns[0].content`). They are detected by default. */
export interface LayoutOptions {
  /** Default: detected. */
  readonly layout?: LayoutName | undefined
  /** The path of an item's id. Default: `id`, if present. Layout `long` uses `key` instead. */
  readonly id?: string | undefined
  /**
   * The path of a text or a list of messages, or a template such as `{instruction}\n\n{input}`. If completions of
   * `wide` or `pairs` are whole conversations, the default is their common beginning.
   */
  readonly prompt?: string | undefined
  /** The path of a system prompt to put before the prompt. Default: detected. */
  readonly system?: string | undefined
  /** The path of earlier turns to put before the prompt: messages, or pairs of texts. Default: detected. */
  readonly history?: string | undefined
  /**
   * In layout `items`, the path of the list, with `[]` if its elements are objects (`answers[].text`). In layout
   * `wide`, a path for each completion. In layout `pairs`, two paths: the path of the preferred completion first.
   */
  readonly completions?: string | ReadonlyArray<string> | undefined
  /** In layout `long`, the path of a record's completion. Default: the last message in the prompt. */
  readonly completion?: string | undefined
  /** In layout `long`, the path of the value that groups records. Default: the prompt. */
  readonly key?: string | undefined
  /**
   * In layout `long`, the path of a model. In layout `items`, the path of a list of models. In layouts `wide` and
   * `pairs`, one path for each completion. Default in `wide`: derived from the column names.
   */
  readonly model?: string | ReadonlyArray<string> | undefined
  /** Whether layout `wide` uses all column names as models, even if they do not look like models. Default: false. */
  readonly modelsFromColumns?: boolean | undefined
  /**
   * The path of the known best answer.
   * - In layout `items`, the value at the path is an index from 0, a model's name, or an object with
   *   `best_completion_index`.
   * - In layouts `wide` and `pairs`, the value is the column or the model of the best completion, or a unique part of
   *   the column's name. If the best completion is always in one column, `gold` can be the path of this column.
   * - Layout `long` refuses `gold`.
   */
  readonly gold?: string | undefined
  /** The path of an object to copy into the item's metadata. Default: `metadata`, if present. */
  readonly metadata?: string | undefined
  /** Top-level members to keep in the metadata under their own names. */
  readonly keep?: ReadonlyArray<string> | undefined
  /** Top-level members to ignore. If an image or a context is neither used nor ignored, the record is rejected. */
  readonly ignore?: ReadonlyArray<string> | undefined
  /** `reject` (default): a record of layout `wide` needs all of its completions. `keep`: two completions are enough. */
  readonly missing?: "reject" | "keep" | undefined
}

export const fieldNames = {
  ...Kinds.all(Kinds.anyText, "prompt system history"),
  completions: Kinds.textOrTexts,
  ...Kinds.all(Kinds.anyText, "completion key id"),
  model: Kinds.textOrTexts,
  gold: Kinds.anyText,
  metadata: Kinds.anyText,
} satisfies Partial<Kinds.KindsOf<LayoutOptions>>

export const fieldOptions = Struct.keys(fieldNames)

const isLayoutName = (value: unknown) => layoutNames.some((name) => name === value)

export const optionKinds: Kinds.KindsOf<LayoutOptions> = {
  ...fieldNames,
  layout: [`one of ${layoutNames.join(", ")}`, isLayoutName],
  modelsFromColumns: Kinds.flag,
  ...Kinds.all(Kinds.texts, "keep ignore"),
  missing: Kinds.anyText,
}

export interface Part {
  readonly place: Place
  readonly key: string
  readonly prompt: Prompt
  readonly completion: string
  readonly isMessages?: boolean | undefined
  readonly tools?: string | undefined
  readonly model: string | undefined
  readonly metadata: Metadata | undefined
}

export type Layout = {
  readonly name: LayoutName
  readonly description: string
  readonly columns: ReadonlyArray<string> | undefined
  /** Members that experts may need, but that no option uses. Empty if the record is not an item. */
  readonly unusedIn: (row: Row) => ReadonlyArray<Unused>
} & (
  | {
      readonly reads: "items"
      readonly hasDefaultPaths: boolean
      readonly toRecord: (row: Row) => SourceRecord
    }
  | { readonly reads: "parts"; readonly keyIsId: boolean; readonly toPart: (row: Row) => Result.Result<Part, Reject> }
)
