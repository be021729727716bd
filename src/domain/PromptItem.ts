/**
 * A prompt and its candidate completions: the unit of work of the whole flow.
 *
 * Guarantees: a decoded `PromptItem` has a non-blank prompt, at least two
 * distinct completions, none of them blank, and no text with a lone surrogate
 * (which no file format can carry unchanged). Member names are those of the
 * files, so nothing is renamed on the way.
 *
 * Not checked here: that a user's `id` is unique; the ledger does that.
 */
import { Schema } from "effect"

/** Text that survives UTF-8 unchanged: a string without lone surrogates. */
export const WellFormedText = Schema.String.check(
  Schema.makeFilter((text) =>
    text.isWellFormed() ? undefined : "expected well-formed Unicode, found a lone surrogate",
  ),
)

const NotBlank = Schema.makeFilter<string>((text) =>
  text.trim() === "" ? "expected text, found a blank string" : undefined,
)

const Completions = Schema.Array(WellFormedText.check(NotBlank)).check(
  // Comparing is several times faster than a Set, which hashes every text to its end.
  Schema.makeFilter((completions) =>
    completions.every((completion) => completion === completions[0])
      ? `expected at least two distinct completions, found ${Math.min(completions.length, 1)}`
      : undefined,
  ),
)

/**
 * A JSON object that goes along with an item untouched and comes out in the
 * dataset as a JSON string.
 */
export const Metadata = Schema.Record(Schema.String, Schema.Unknown)
export type Metadata = typeof Metadata.Type

/** The known right answer of an item, and why it is right. */
export const Gold = Schema.Struct({
  /** Zero-based index into `completions`. */
  best_completion_index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  rationale: Schema.optionalKey(WellFormedText),
})
export type Gold = typeof Gold.Type

/** One record of the `{prompt, completions}` layout, as it stands in a file. */
export const PromptItem = Schema.Struct({
  /** The user's own identity for the item; without it the content is the identity. */
  id: Schema.optionalKey(WellFormedText.check(NotBlank)),
  prompt: WellFormedText.check(NotBlank),
  completions: Completions,
  gold: Schema.optionalKey(Gold),
  metadata: Schema.optionalKey(Metadata),
}).check(
  Schema.makeFilter((item) =>
    item.gold !== undefined && item.gold.best_completion_index >= item.completions.length
      ? {
          path: ["gold", "best_completion_index"],
          issue: `expected an index below ${item.completions.length}, found ${item.gold.best_completion_index}`,
        }
      : undefined,
  ),
)
export type PromptItem = typeof PromptItem.Type

/** Where a record came from. `line` is one-based. */
export const Origin = Schema.Struct({ file: Schema.String, line: Schema.Int })
export type Origin = typeof Origin.Type

/** A prompt item as a source gives it: with the place where it was read. */
export interface SourceItem {
  readonly item: PromptItem
  readonly origin: Origin
}

/**
 * What an expert sees of an item, as one element of a task's `prompts`: the JSON
 * text that is sent, and whose hash is the identity of the item's content. `id`,
 * `gold` and `metadata` are not content.
 */
export const content = (item: Pick<PromptItem, "prompt" | "completions">): string =>
  JSON.stringify({ prompt: item.prompt, completions: item.completions })
