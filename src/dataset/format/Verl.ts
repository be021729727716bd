/**
 * verl (verl/utils/dataset/rm_dataset.py): Parquet with three columns of text.
 *
 * verl tokenises prompt and completion apart and joins the tokens: what is to stand between them,
 * such as a chat template's headers, must be in the prompt. A separator, if set, ends the prompt.
 */
import { Result, Schema } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import { type Format, rowPerPair } from "./TrainerFormat.ts"
import * as PairTexts from "./PairTexts.ts"
import { differ, Filled } from "./RowSchema.ts"

export const verl: Format = {
  name: "verl",
  isText: true,
  description: "verl, reward models: prompt, chosen and rejected as text, in Parquet",
  container: "parquet",
  features: () => ({ prompt: "string", chosen: "string", rejected: "string" }),
  encoder: (options) =>
    rowPerPair("verl", (pair) =>
      Result.map(PairTexts.check(pair), ({ prompt, chosen, rejected }) => ({
        prompt: Conversation.toText(prompt) + (options?.separator ?? ""),
        chosen,
        rejected,
      })),
    ),
  row: Schema.Struct({ prompt: Filled, chosen: Filled, rejected: Filled }).check(
    Schema.makeFilter(({ chosen, rejected }) => differ(chosen, rejected)),
  ),
}
