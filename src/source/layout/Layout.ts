/**
 * The layouts of records:
 * - `items`: a record is an item, with a prompt and a list of completions.
 * - `wide`: a record is an item, with a column for each completion (`response_a`, `response_b`).
 * - `pairs`: a record is an item with `chosen` and `rejected`, which experts judge again.
 * - `long`: a record is one completion. Records with the same key form an item.
 *
 * A new layout needs cases in `MakeLayout` and `Detect`.
 */
import { type Result, Struct } from "effect"
import type { Prompt } from "../../domain/Message.ts"
import type { Metadata } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import type { Place, Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import type { Unused } from "../item/UnusedContext.ts"

export const layoutNames = ["items", "wide", "pairs", "long"] as const
/** The values of `layout`. */
export type LayoutName = (typeof layoutNames)[number]

/**
 * The paths of an item's parts in a record, such as `choices[0].turns[0].content`. If a path is not set, it is detected
 * from the first records, or the layout's default is used.
 */
export interface LayoutOptions {
  /** Default: detected. */
  readonly layout?: LayoutName | undefined
  /** The path of an item's id. Default: `id`, if present. Layout `long` uses `key` instead. */
  readonly id?: string | undefined
  /**
   * The path of a text or a list of messages, or a template such as `{instruction}\n\n{input}`. If it is not set,
   * `wide` and `pairs` use the common beginning of completions that are whole conversations.
   */
  readonly prompt?: string | undefined
  /** The path of a system prompt to put before the prompt. Default: detected. */
  readonly system?: string | undefined
  /** The path of earlier turns to put before the prompt: messages, or pairs of texts. Default: detected. */
  readonly history?: string | undefined
  /**
   * In `items`, the path of the list, with `[]` if its elements are objects (`answers[].text`). In `wide`, a path
   * for each completion. In `pairs`, two paths, the preferred one first.
   */
  readonly completions?: string | ReadonlyArray<string> | undefined
  /** The path of a record's completion in `long`. Default: the last message in the prompt. */
  readonly completion?: string | undefined
  /** The path of the value that groups the records of `long`. Default: the prompt. */
  readonly key?: string | undefined
  /**
   * In `long`, the path of a completion's model. In `items`, the path of the list of models. In `wide` and `pairs`, a
   * path for each completion. Default in `wide`: models derived from the column names.
   */
  readonly model?: string | ReadonlyArray<string> | undefined
  /** Whether `wide` uses the column names as models, even if they do not look like names of models. */
  readonly modelsFromColumns?: boolean | undefined
  /**
   * The path of the known best answer. In `items`, the field contains an object with `best_completion_index`, or only
   * the index. In `wide` and `pairs`, the field contains the column or model of a completion, or a unique part of the
   * column's name. If the same completion is always the best, set `gold` to this completion's path. Not for `long`.
   */
  readonly gold?: string | undefined
  /** The path of an object to copy into the item's metadata. Default: `metadata`, if present. */
  readonly metadata?: string | undefined
  /** Top-level members to keep in the metadata under their own names. */
  readonly keep?: ReadonlyArray<string> | undefined
  /**
   * Top-level members to treat as absent. If a record has a member that experts may have to see, and neither this nor
   * another option names it, the record is rejected.
   */
  readonly ignore?: ReadonlyArray<string> | undefined
  /**
   * Whether to reject or keep records of `wide` that lack a completion. Records with fewer than two completions are
   * always rejected. Default: `reject`.
   */
  readonly missing?: "reject" | "keep" | undefined
}

export const fieldNames = {
  prompt: Kinds.anyText,
  system: Kinds.anyText,
  history: Kinds.anyText,
  completions: Kinds.textOrTexts,
  completion: Kinds.anyText,
  key: Kinds.anyText,
  id: Kinds.anyText,
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
  keep: Kinds.texts,
  ignore: Kinds.texts,
  missing: Kinds.anyText,
}

export interface Part {
  readonly place: Place
  readonly key: string
  readonly prompt: Prompt
  readonly completion: string
  /** Whether the completion is a list of messages. If so, `completion` is the rendered text of these messages. */
  readonly isMessages?: boolean | undefined
  readonly tools?: string | undefined
  readonly model: string | undefined
  readonly metadata: Metadata | undefined
}

export type Layout = {
  readonly name: LayoutName
  /**
   * For messages to the user, such as `wide: prompt at "input", completions at "output_1" and "output_2", gold at
   * "label"`.
   */
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
