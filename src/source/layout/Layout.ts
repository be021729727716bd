/**
 * How the records of a file make prompt items. A record is an item in `items` (a prompt and the list of its
 * completions), `wide` (a column for each completion: `response_a`, `response_b`) and `pairs` (`chosen` and `rejected`,
 * to be judged again). In `long` it is one completion: those with the same key make an item.
 * A new layout has its name here, a file that reads its records, a case in `MakeLayout`, and one in
 * `detect/Detect`. Whether its records are whole items or parts of them is its `reads`: a layout that needs another one
 * has a case in `combine/Group`, too.
 */
import type { Result } from "effect"
import type { Prompt } from "../../domain/Message.ts"
import type { Metadata } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import type { NamesOf } from "../record/KnownOptions.ts"
import type { Place, Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import type { Unused } from "../item/UnusedContext.ts"

/** The layouts of records, by name. */
export const layoutNames = ["items", "wide", "pairs", "long"] as const
/** The name of a layout, as `--layout` takes it. */
export type LayoutName = (typeof layoutNames)[number]

/**
 * Where the parts of an item are in a record, as field paths (`choices[0].turns[0].content`).
 * Options that are not set have the default of their layout, or are detected from the first records.
 */
export interface LayoutOptions {
  /** Default: detected. */
  readonly layout?: LayoutName | undefined
  /** The path to an item's id. Default: `id`, if present. Not for `long`, where `key` names the item. */
  readonly id?: string | undefined
  /**
   * A path to text or to a list of messages; or a template such as `{instruction}\n\n{input}`. `wide` and `pairs`
   * without it: what the completions, which are whole conversations, have in common.
   */
  readonly prompt?: string | undefined
  /** The path to a system prompt, to go before the prompt. Default: detected. */
  readonly system?: string | undefined
  /** The path to earlier turns, to go before the prompt: messages, or pairs of texts. Default: detected. */
  readonly history?: string | undefined
  /** `items`: a path to the list, with `[]` where its elements are objects (`answers[].text`). `wide`: a path for each completion. `pairs`: two paths, the preferred one's first. */
  readonly completions?: string | ReadonlyArray<string> | undefined
  /** `long`: the path to the record's completion. Without it, the last message of the prompt. */
  readonly completion?: string | undefined
  /** `long`: the path to what the records of an item have in common. Default: the prompt. */
  readonly key?: string | undefined
  /**
   * The name of who wrote a completion. `long`: its path. `items`: the path to the list of names. `wide` and `pairs`:
   * a path for each completion; without them, what `ColumnModels` makes of the columns' names.
   */
  readonly model?: string | ReadonlyArray<string> | undefined
  /** `wide`: models have the names of the completions' columns, whether or not they look like models'. */
  readonly modelsFromColumns?: boolean | undefined
  /**
   * The known right answer. `items`: an object with `best_completion_index`, or this index. `wide` and `pairs`: the name
   * of a completion's column or model, or what tells this name from the others; or the path of the completion
   * that always is the best. `long`: none.
   */
  readonly gold?: string | undefined
  /** The path to an object that is copied into the item's metadata. Default: `metadata`, if present. */
  readonly metadata?: string | undefined
  /** Top-level members that go along in the metadata, under their names. */
  readonly keep?: ReadonlyArray<string> | undefined
  /**
   * Top-level members to read as absent. A record is rejected if it has a member that may be part of what experts must
   * see (`UnusedContext`), unless it is among these or another option names it.
   */
  readonly ignore?: ReadonlyArray<string> | undefined
  /** `wide`: what becomes of a record that lacks a completion. Default `reject`; two are needed in any case. */
  readonly missing?: "reject" | "keep" | undefined
}

export const optionNames: NamesOf<LayoutOptions> = {
  layout: true,
  id: true,
  prompt: true,
  system: true,
  history: true,
  completions: true,
  completion: true,
  key: true,
  model: true,
  modelsFromColumns: true,
  gold: true,
  metadata: true,
  keep: true,
  ignore: true,
  missing: true,
}

/** What users call the options: messages name the flag that sets a part. */
export const flags = {
  layout: "--layout",
  id: "--id-path",
  prompt: "--prompt-path",
  system: "--system-path",
  history: "--history-path",
  completions: "--completions-path",
  completion: "--completion-path",
  key: "--key",
  model: "--model-path",
  modelsFromColumns: "--models-from-columns",
  gold: "--gold-path",
  metadata: "--metadata-path",
  keep: "--keep",
  ignore: "--ignore-field",
} as const satisfies { readonly [option in keyof LayoutOptions]?: string }

/** Options that are field paths. */
export const fieldOptions = [
  "prompt",
  "system",
  "history",
  "completions",
  "completion",
  "key",
  "id",
  "model",
  "gold",
  "metadata",
] as const

/** The options that are set. */
export const given = (options: LayoutOptions): LayoutOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** One completion of an item whose completions are in several records. */
export interface Part {
  readonly place: Place
  /** Parts with the same key make an item. */
  readonly key: string
  readonly prompt: Prompt
  readonly completion: string
  /** Set where the completion is messages, of which `completion` has the rendered text. */
  readonly isMessages?: boolean | undefined
  /** The definitions of the tools that the model had, as JSON text. */
  readonly tools?: string | undefined
  readonly model: string | undefined
  readonly metadata: Metadata | undefined
}

/** A layout whose fields are known. */
export type Layout = {
  readonly name: LayoutName
  /** For messages: `wide: prompt at "input", completions at "output_1" and "output_2", gold at "label"`. */
  readonly description: string
  /** Top-level members of a record that it reads; undefined where it reads all. */
  readonly columns: ReadonlyArray<string> | undefined
  /** What a record has that experts may have to see and that is not read; of a record that is no item, nothing. */
  readonly unusedIn: (row: Row) => ReadonlyArray<Unused>
} & (
  | {
      readonly reads: "items"
      /** Whether records have the parts of an item under their own names, and no other part. */
      readonly isOwn: boolean
      readonly toRecord: (row: Row) => SourceRecord
    }
  | { readonly reads: "parts"; readonly keyIsId: boolean; readonly toPart: (row: Row) => Result.Result<Part, Reject> }
)
