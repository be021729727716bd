/**
 * A prompt and its candidate completions: the unit of work. A decoded item has a prompt and at least two different
 * completions that are not blank. Its texts have no lone surrogates, which no file format can represent.
 */
import { Option, Schema, Struct } from "effect"
import * as Conversation from "./Conversation.ts"
import type { ItemBytes } from "./ItemBytes.ts"
import { Message, type Prompt } from "./Message.ts"
import type { Origin } from "./Origin.ts"
import { isBlank, notBlank, WellFormedText } from "./Text.ts"

/** A JSON object that belongs to an item and is passed through unchanged; in the dataset it is a JSON string. */
export const Metadata = Schema.Record(Schema.String, Schema.Unknown)
export type Metadata = typeof Metadata.Type

/** The known answer of an item, optionally with its rationale. */
export const Gold = Schema.Struct({
  /** Zero-based index into `completions`. */
  best_completion_index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  /** The reason why the completion is the best. */
  rationale: Schema.optionalKey(WellFormedText),
})
export type Gold = typeof Gold.Type

const itemOf = (text: typeof WellFormedText) => {
  const filled = text.check(notBlank)
  const prompt = Schema.Union([
    filled,
    Schema.NonEmptyArray(Message).check(
      Schema.makeFilter((messages) =>
        messages.every(({ content, tool_calls }) => content.trim() === "" && tool_calls === undefined)
          ? "expected a message with text, found only blank messages"
          : undefined,
      ),
    ),
  ])
  const completions = Schema.Array(text).check(
    // Comparing texts is several times faster than building a `Set`, which hashes each text completely.
    Schema.makeFilter((completions) => {
      const first = completions.find((completion) => !isBlank(completion))
      if (!completions.every((completion) => completion === first || isBlank(completion))) return undefined
      const expected = completions.some(isBlank)
        ? "at least two distinct completions that are not blank"
        : "at least two distinct completions"
      return `expected ${expected}, found ${first === undefined ? 0 : 1}`
    }),
  )
  return Schema.Struct({
    /** The id from the user's input. Without an id, the content identifies the item. */
    id: Schema.optionalKey(filled),
    prompt,
    completions,
    /** For each completion, true if the input gives it as messages with tool calls. Absent if all would be false. */
    as_messages: Schema.optionalKey(Schema.Array(Schema.Boolean)),
    /** The model's tools, as the text of a JSON array. Not shown to experts. */
    tools: Schema.optionalKey(text),
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

/** A record of the `items` layout. Completions that are messages are rendered as text. */
export const PromptItem = itemOf(WellFormedText)

/** Does not check texts for lone surrogates, because a text decoded from UTF-8 has none. */
export const WellFormedPromptItem = itemOf(Schema.String)
export type PromptItem = typeof PromptItem.Type

/** A prompt item from a source, with the place where it was read. */
export interface SourceItem {
  /** The item after validation: it has a prompt and at least two distinct completions that are not blank. */
  readonly item: PromptItem
  /** The place where the item was read; in a join, the place of the prompt's record. */
  readonly origin: Origin
  /** The place of each completion that has a record of its own. */
  readonly completionOrigins?: ReadonlyArray<Origin> | undefined
  /** Paths of the lists in the metadata that have one element per completion. */
  readonly completionLists?: ReadonlyArray<ReadonlyArray<string | number>> | undefined
  /** The item's texts as JSON, copied from the input. Absent if `JSON.stringify` might write other JSON. @internal */
  readonly texts?: ItemTexts | undefined
  /** The item's identity; absent if the source does not know it. @internal */
  readonly identity?: ItemIdentity | undefined
}

/** The JSON texts of an item's prompt and completions. A modified copy of the item must not use these texts. */
export interface ItemTexts {
  readonly of: PromptItem
  readonly json: ReadonlyArray<string>
}

export interface ItemIdentity {
  readonly of: PromptItem
  readonly bytes: ItemBytes
  /** SHA-256 of `bytes`, in hexadecimal. */
  readonly contentHash: string
  readonly itemId: string
}

export const content = (item: Pick<PromptItem, "prompt" | "completions">): string => JSON.stringify(toTaskPrompt(item))

/** The completions of an item: messages if they call tools, otherwise text. */
export const completionsOf = ({
  as_messages,
  completions,
}: {
  readonly as_messages?: ReadonlyArray<boolean> | undefined
  readonly completions: ReadonlyArray<string>
}): ReadonlyArray<Prompt> =>
  completions.map((text, i) =>
    as_messages?.[i] === true ? Option.getOrElse(Conversation.parse(text), () => text) : text,
  )

export const toJson = (
  item: { readonly [Member in keyof PromptItem]: PromptItem[Member] | undefined } & Pick<
    PromptItem,
    "prompt" | "completions"
  >,
): string =>
  JSON.stringify({
    ...Struct.omit(item, ["as_messages", "tools"]),
    completions: completionsOf(item),
    ...(item.tools !== undefined && { tools: item.tools }),
  })

export const toTaskPrompt = ({ completions, prompt }: Pick<PromptItem, "prompt" | "completions">) => ({
  prompt: Conversation.render(prompt),
  completions,
})
