/**
 * OpenRLHF (openrlhf/datasets/reward_dataset.py): text, or messages for its option
 * `--apply_chat_template`, both with `--prompt_key prompt`.
 *
 * `margin` is always there: the pair's margin with the option `margin`, else 0. OpenRLHF strips line feeds
 * from the end of both sides, so sides that differ in nothing else are omitted.
 */
import { Result, Schema } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import { describeValue } from "../../io/Values.ts"
import * as PairTexts from "./PairTexts.ts"
import { requireDifferent, NonEmptyText, messagePair, messages, OpenMessages } from "./RowSchema.ts"
import { marginOf, refuse, rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"

const withoutLineEnds = (text: string): string => text.replace(/\n+$/, "")

export const openRlhf: TrainerFormat = {
  name: "openrlhf",
  isText: true,
  description: "OpenRLHF, plain text: prompt, chosen, rejected and margin",
  container: "jsonl",
  features: () => ({ prompt: "string", chosen: "string", rejected: "string", margin: "float64" }),
  encoder: rowPerPair((pair, options) => {
    const { chosen, prompt, rejected } = pair
    return withoutLineEnds(chosen) === withoutLineEnds(rejected)
      ? refuse("rejected", "more than line feeds to differ from chosen", describeValue(rejected))
      : Result.succeed({ prompt: Conversation.toText(prompt), chosen, rejected, margin: marginOf(pair, options) })
  }),
  row: Schema.Struct({
    prompt: NonEmptyText,
    chosen: NonEmptyText,
    rejected: NonEmptyText,
    margin: Schema.Finite,
  }).check(
    Schema.makeFilter(({ chosen, rejected }) => requireDifferent(withoutLineEnds(chosen), withoutLineEnds(rejected))),
  ),
}

export const openRlhfConversational: TrainerFormat = {
  name: "openrlhf-conversational",
  reads: ["tool_calls"],
  description: "OpenRLHF with --apply_chat_template: prompt, chosen and rejected as messages, and margin",
  container: "jsonl",
  features: () => ({ prompt: messages, chosen: messages, rejected: messages, margin: "float64" }),
  encoder: rowPerPair((pair, options) =>
    Result.map(PairTexts.toConversation(pair), (messages) => ({
      ...messages,
      margin: marginOf(pair, options),
    })),
  ),
  row: messagePair({ prompt: OpenMessages, margin: Schema.Finite }),
}
