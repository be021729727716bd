/** verl (verl/utils/dataset/rm_dataset.py) appends the completion to the prompt without a separator. */
import { Result } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import { NonEmptyText, textPair } from "./RowSchema.ts"
import { rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"

export const verl: TrainerFormat = {
  name: "verl",
  isText: true,
  description: "verl, reward models: prompt, chosen, and rejected as text, in Parquet",
  container: "parquet",
  features: () => ({ prompt: "string", chosen: "string", rejected: "string" }),
  encoder: rowPerPair(({ chosen, prompt, rejected }) =>
    Result.succeed({ prompt: Conversation.toText(prompt), chosen, rejected }),
  ),
  row: textPair({ prompt: NonEmptyText }),
}
