/**
 * The contract of a trainer format: how preference pairs become the rows that a trainer reads,
 * and what such a row looks like.
 *
 * Guarantees, of every format: texts come out as they went in, to the code unit. What the format
 * can't hold, or what its trainer is known to read as something else, is refused with a reason
 * that names the item and the field; nothing is altered or left out in silence. The same pairs in
 * the same order give the same rows. Rows hold what the trainer reads, and no other column: some
 * trainers break on those.
 */
import { Result, Schema } from "effect"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { Features, JsonRow } from "../file/Features.ts"

export interface FormatOptions {
  /**
   * Writes the pair's `vote_margin`, and 0 where there is none, as `margin`: for the formats whose
   * trainers read it (`trl*` but the unpaired ones, `openrlhf*`). Default false.
   */
  readonly margin?: boolean | undefined
  /**
   * What stands between prompt and completion in formats of plain text. Default: nothing where the
   * prompt has its own column, since trainers put their templates there; an empty line in
   * `trl-implicit`.
   */
  readonly separator?: string | undefined
}

/** A pair, or a completion of it, that has no place in a format. */
export class FormatReject extends Schema.TaggedClass<FormatReject>()("FormatReject", {
  format: Schema.String,
  item_id: Schema.String,
  /** Of the pair that was refused, or in which what was refused came first. */
  chosen_index: Schema.Int,
  rejected_index: Schema.Int,
  /** The member of the pair: `prompt[0].role`, `chosen`. */
  field: Schema.String,
  /** One line: what was expected, what was found. */
  reason: Schema.String,
}) {
  get message() {
    return `${this.format} can't hold item ${JSON.stringify(this.item_id)}: ${this.field}: ${this.reason}`
  }
}

/** A row, or why there is none. */
export type Encoded = Result.Result<JsonRow, FormatReject>

/** Encodes the pairs of one file, in order; pairs of an item must stand one after another. */
export interface Encoder {
  /** What is known after this pair. */
  readonly encode: (pair: PreferencePair) => ReadonlyArray<Encoded>
  /** What was held back until the last item's end. Call it once, after the last pair. */
  readonly end: () => ReadonlyArray<Encoded>
}

export interface Format {
  /** As the command line names it. */
  readonly name: string
  /** One line: who reads it, and what a row holds. */
  readonly description: string
  readonly container: "jsonl" | "parquet"
  /** Set where prompts are text: a conversation is one as `Conversation.toText` has it. */
  readonly isText?: true
  readonly features: (options?: FormatOptions) => Features
  /** A new encoder, for one file or one series of shards. */
  readonly encoder: (options?: FormatOptions) => Encoder
  /** What the trainer needs a row to be; decode with `onExcessProperty: "error"`. */
  readonly row: Schema.Codec<unknown, unknown>
  /** What the trainer reads otherwise than it is meant, though it does not fail: one line each. */
  readonly warnings?: (row: JsonRow, options?: FormatOptions) => ReadonlyArray<Problem>
  /** The same for what only shows over the rows of a file, which are given in order. */
  readonly acrossRows?: () => (row: JsonRow) => ReadonlyArray<Problem>
  /** The file's entry in LLaMA-Factory's `dataset_info.json`; `fileName` is relative to its folder. */
  readonly datasetInfo?: (fileName: string) => JsonRow
}

/** A place in a row and what is wrong there. */
export interface Problem {
  readonly field: string
  readonly expected: string
  readonly found: string
}

/** Why a pair is refused: a member of the pair, and what was expected and found there. */
export interface Refusal {
  readonly field: string
  readonly reason: string
}

export const refuse = (field: string, reason: string): Result.Result<never, Refusal> => Result.fail({ field, reason })

export const toReject =
  (format: string, pair: PreferencePair) =>
  ({ field, reason }: Refusal): FormatReject =>
    new FormatReject({
      format,
      item_id: pair.item_id,
      chosen_index: pair.chosen_index,
      rejected_index: pair.rejected_index,
      field,
      reason,
    })

/** An encoder of formats that have one row for each pair. */
export const rowPerPair = (
  format: string,
  toRow: (pair: PreferencePair) => Result.Result<JsonRow, Refusal>,
): Encoder => ({
  encode: (pair) => [Result.mapError(toRow(pair), toReject(format, pair))],
  end: () => [],
})
