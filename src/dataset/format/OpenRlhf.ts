/**
 * OpenRLHF 0.10.2 and later (openrlhf/datasets/reward_dataset.py of 0.11.0). Without `--data.prompt_key prompt`,
 * OpenRLHF trains only on completions. OpenRLHF removes line feeds from the end of `chosen` and `rejected`. Therefore,
 * pairs are omitted if only these line feeds differ. Some chat templates (DeepSeek) end the prompt with `<think>`. In
 * this case, OpenRLHF cuts off the first characters of a completion that does not begin with `<think>`.
 */
import { Result, Schema } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import { describeValue } from "../../io/Values.ts"
import * as Cuts from "./Cuts.ts"
import * as PairTexts from "./PairTexts.ts"
import { requireDifferent, NonEmptyText, messagePair, messages, OpenMessages } from "./RowSchema.ts"
import { marginOf, refuse, rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"

const withoutLineEnds = (text: string): string => text.replace(/\n+$/, "")

export const openRlhf: TrainerFormat = {
  name: "openrlhf",
  isText: true,
  description: "OpenRLHF, plain text: prompt, chosen, rejected, and margin; train with --data.prompt_key prompt",
  container: "jsonl",
  features: () => ({ prompt: "string", chosen: "string", rejected: "string", margin: "float64" }),
  encoder: rowPerPair((pair, options) => {
    const { chosen, prompt, rejected } = pair
    return withoutLineEnds(chosen) === withoutLineEnds(rejected)
      ? refuse(
          "rejected",
          "a text that differs from `chosen` even without the line feeds at the end",
          describeValue(rejected),
        )
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
  warnings: Cuts.thoughts,
  reads: ["tool_calls"],
  description:
    "OpenRLHF, conversational: prompt, chosen, and rejected (messages), and margin; train with --data.apply_chat_template and --data.prompt_key prompt",
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
