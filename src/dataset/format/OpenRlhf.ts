/**
 * OpenRLHF (openrlhf/datasets/reward_dataset.py): text, or messages for its option
 * `--apply_chat_template`, both with `--prompt_key prompt`.
 *
 * `margin` is always there: the pair's `vote_margin` with the option `margin`, else 0. Text is
 * joined by nothing: OpenRLHF puts its `--input_template` around the prompt. It strips line feeds
 * from the end of both sides, so sides that differ in nothing else are refused.
 */
import { Result, Schema } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import { type Format, type FormatOptions, refuse, rowPerPair } from "./TrainerFormat.ts"
import { describeValue } from "../../io/Values.ts"
import * as PairTexts from "./PairTexts.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import { Answer, differ, Filled, messages, OpenMessages } from "./RowSchema.ts"

const marginOf = (pair: PreferencePair, options: FormatOptions | undefined): number =>
  options?.margin === true ? (pair.vote_margin ?? 0) : 0

const withoutLineEnds = (text: string): string => text.replace(/\n+$/, "")

const differStripped = (chosen: string, rejected: string) => differ(withoutLineEnds(chosen), withoutLineEnds(rejected))

export const openRlhf: Format = {
  name: "openrlhf",
  isText: true,
  description: "OpenRLHF, plain text: prompt, chosen, rejected and margin",
  container: "jsonl",
  features: () => ({ prompt: "string", chosen: "string", rejected: "string", margin: "float64" }),
  encoder: (options) =>
    rowPerPair("openrlhf", (pair) =>
      Result.flatMap(PairTexts.check(pair), ({ prompt, chosen, rejected }) =>
        withoutLineEnds(chosen) === withoutLineEnds(rejected)
          ? refuse("rejected", `expected more than line feeds to differ from chosen, found ${describeValue(rejected)}`)
          : Result.succeed({
              prompt: Conversation.toText(prompt) + (options?.separator ?? ""),
              chosen,
              rejected,
              margin: marginOf(pair, options),
            }),
      ),
    ),
  row: Schema.Struct({ prompt: Filled, chosen: Filled, rejected: Filled, margin: Schema.Finite }).check(
    Schema.makeFilter(({ chosen, rejected }) => differStripped(chosen, rejected)),
  ),
}

export const openRlhfConversational: Format = {
  name: "openrlhf-conversational",
  description: "OpenRLHF with --apply_chat_template: prompt, chosen and rejected as messages, and margin",
  container: "jsonl",
  features: () => ({ prompt: messages, chosen: messages, rejected: messages, margin: "float64" }),
  encoder: (options) =>
    rowPerPair("openrlhf-conversational", (pair) =>
      PairTexts.check(pair).pipe(
        Result.flatMap(({ prompt }) => PairTexts.toOpenMessages(prompt)),
        Result.map((prompt) => ({
          prompt,
          chosen: PairTexts.answer(pair.chosen),
          rejected: PairTexts.answer(pair.rejected),
          margin: marginOf(pair, options),
        })),
      ),
    ),
  row: Schema.Struct({ prompt: OpenMessages, chosen: Answer, rejected: Answer, margin: Schema.Finite }).check(
    Schema.makeFilter(({ chosen: [chosen], rejected: [rejected] }) => differ(chosen.content, rejected.content)),
  ),
}
