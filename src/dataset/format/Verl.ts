/**
 * verl (verl/utils/dataset/rm_dataset.py): Parquet with three columns of text.
 *
 * verl tokenizes prompt and completion apart and joins the tokens: what is to stand between them, such as a chat
 * template's headers, must be in the prompt.
 */
import { Result } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import { Filled, textPair } from "./RowSchema.ts"
import { rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"

export const verl: TrainerFormat = {
  name: "verl",
  isText: true,
  description: "verl, reward models: prompt, chosen and rejected as text, in Parquet",
  container: "parquet",
  features: () => ({ prompt: "string", chosen: "string", rejected: "string" }),
  encoder: rowPerPair(({ chosen, prompt, rejected }) =>
    Result.succeed({ prompt: Conversation.toText(prompt), chosen, rejected }),
  ),
  row: textPair({ prompt: Filled }),
}
