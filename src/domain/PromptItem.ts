/**
 * A prompt and its candidate completions: the unit of work of the whole flow.
 *
 * Guarantees: a decoded `PromptItem` has a non-blank prompt, at least two distinct completions, none of them blank, and no
 * text with a lone surrogate, which no file format can carry. That ids are unique is checked by the ledger.
 */
import { Schema } from "effect"
import * as Conversation from "./Conversation.ts"
import { Message } from "./Message.ts"
import type { Origin } from "./Origin.ts"
import { notBlank, WellFormedText } from "./Text.ts"

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

const itemOf = (text: typeof WellFormedText) => {
  const filled = text.check(notBlank)
  /** Text, or a conversation that a completion goes on with: not all of its messages are blank. */
  const prompt = Schema.Union([
    filled,
    Schema.NonEmptyArray(Message).check(
      Schema.makeFilter((messages) =>
        messages.every(({ content }) => content.trim() === "")
          ? "expected a message with text, found blank ones only"
          : undefined,
      ),
    ),
  ])
  const completions = Schema.Array(filled).check(
    // Comparing is several times faster than a Set, which hashes every text to its end.
    Schema.makeFilter((completions) =>
      completions.every((completion) => completion === completions[0])
        ? `expected at least two distinct completions, found ${Math.min(completions.length, 1)}`
        : undefined,
    ),
  )
  return Schema.Struct({
    /** The user's own identity for the item; without it the content is the identity. */
    id: Schema.optionalKey(filled),
    prompt,
    completions,
    /** Who wrote each of the completions, in their order. */
    models: Schema.optionalKey(Schema.Array(filled)),
    gold: Schema.optionalKey(Gold),
    metadata: Schema.optionalKey(Metadata),
  }).check(
    Schema.makeFilter((item) =>
      item.models !== undefined && item.models.length !== item.completions.length
        ? {
            path: ["models"],
            issue: `expected ${item.completions.length} names, one for each completion, found ${item.models.length}`,
          }
        : undefined,
    ),
    Schema.makeFilter((item) =>
      item.gold !== undefined && item.gold.best_completion_index >= item.completions.length
        ? {
            path: ["gold", "best_completion_index"],
            issue: `expected an index below ${item.completions.length}, found ${item.gold.best_completion_index}`,
          }
        : undefined,
    ),
  )
}

/** One record of the `{prompt, completions}` layout, as it stands in a file. */
export const PromptItem = itemOf(WellFormedText)

/**
 * The same of texts that are known to be well-formed, as those that were decoded from UTF-8 are: looking
 * for lone surrogates is a tenth of the time that reading an item takes.
 */
export const WellFormedPromptItem = itemOf(Schema.String)
export type PromptItem = typeof PromptItem.Type

/** A prompt item as a source gives it: with the place where it was read. */
export interface SourceItem {
  readonly item: PromptItem
  readonly origin: Origin
  /** Where each completion was read, in their order, where that is not the origin. */
  readonly completionOrigins?: ReadonlyArray<Origin> | undefined
  /** Where in the metadata lists stand that have an element for each completion, in their order. */
  readonly completionLists?: ReadonlyArray<ReadonlyArray<string | number>> | undefined
}

/**
 * What an expert sees of an item, as one element of a task's `prompts`: the JSON
 * text that is sent, and whose hash is the identity of the item's content. A conversation
 * is sent as the text that `Conversation.render` makes of it. `id`, `models`, `gold` and
 * `metadata` are not content.
 */
export const content = (item: Pick<PromptItem, "prompt" | "completions">): string => JSON.stringify(asText(item))

/** The prompt as the text that experts see, and the completions. */
export const asText = ({ completions, prompt }: Pick<PromptItem, "prompt" | "completions">) => ({
  prompt: Conversation.render(prompt),
  completions,
})
