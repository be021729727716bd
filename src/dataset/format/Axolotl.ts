/** Formats for axolotl (docs/rlhf.qmd, docs/reward_modelling.qmd; src/axolotl/prompt_strategies). */
import { Result, Schema } from "effect"
import type { JsonRow } from "../file/Features.ts"
import { describeValue, isObject } from "../../io/Values.ts"
import * as Cuts from "./Cuts.ts"
import * as PairTexts from "./PairTexts.ts"
import {
  Assistant,
  issueAt,
  requireDifferent,
  NonEmptyText,
  messages,
  openMessagesOf,
  Text,
  textPair,
} from "./RowSchema.ts"
import { type Problem, refuse, rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"

const dummy = "[[dummy_message]]"

const endsInWhiteSpace =
  /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]|[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/

const cutProblem = (answer: string): string | undefined => {
  if (endsInWhiteSpace.test(answer))
    return "text without white space at its start or end (many chat templates remove this white space, and axolotl would not find the text)"
  return dummy.includes(answer)
    ? `text that does not occur in ${dummy} (axolotl writes this placeholder before the completion, searches for the completion's text, and would find the placeholder)`
    : undefined
}

const templateTexts = [
  "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n<|im_start|>user\n",
  "<|im_end|>\n<|im_start|>assistant\n",
  "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n<|eot_id|>",
  "<|start_header_id|>user<|end_header_id|>\n\n",
  "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
  "<bos><start_of_turn>user\n",
  "<end_of_turn>\n<start_of_turn>model\n",
  "<s>[INST] ",
  " [/INST]",
  "<|user|>\n",
  "<|end|>\n<|assistant|>\n",
  "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
  "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
]

const inTemplates = (row: JsonRow): ReadonlyArray<Problem> =>
  ["chosen", "rejected"].flatMap((side) => {
    const message = row[side]
    const content = isObject(message) ? message["content"] : undefined
    return typeof content === "string" && templateTexts.some((text) => text.includes(content))
      ? [
          {
            field: `${side}.content`,
            expected:
              "text that does not occur in common chat templates (axolotl looks for the completion in the formatted conversation, and would find the template's text first)",
            found: describeValue(content),
          },
        ]
      : []
  })

const roles = ["system", "user", "assistant", "tool"]

export const axolotlChatTemplate: TrainerFormat = {
  name: "axolotl-chat-template",
  warnings: (row) => [...inTemplates(row), ...Cuts.thoughts(row)],
  description: "axolotl, DPO of type chat_template.default: prompt in messages; one message in chosen and in rejected",
  container: "jsonl",
  features: () => ({ messages, chosen: messages.list, rejected: messages.list }),
  encoder: rowPerPair((pair) =>
    PairTexts.toOpenMessages(pair.prompt).pipe(
      Result.flatMap((prompt) => PairTexts.withRoles(prompt, roles)),
      Result.flatMap((prompt) => {
        for (const side of ["chosen", "rejected"] as const) {
          const problem = cutProblem(pair[side])
          if (problem !== undefined) return refuse(side, problem, describeValue(pair[side]))
        }
        return Result.succeed({
          messages: prompt,
          chosen: { role: "assistant", content: pair.chosen },
          rejected: { role: "assistant", content: pair.rejected },
        })
      }),
    ),
  ),
  row: Schema.Struct({ messages: openMessagesOf(roles), chosen: Assistant, rejected: Assistant }).check(
    Schema.makeFilter(({ chosen, rejected }) => requireDifferent(chosen.content, rejected.content)),
    Schema.makeFilter((row) => {
      for (const side of ["chosen", "rejected"] as const) {
        const problem = cutProblem(row[side].content)
        if (problem !== undefined) return issueAt([side, "content"], problem)
      }
      return undefined
    }),
  ),
}

export const axolotlBradleyTerry: TrainerFormat = {
  name: "axolotl-bradley-terry",
  warnings: Cuts.thoughtsInSides,
  description:
    "axolotl, reward models of type bradley_terry.chat_template: system, input, chosen, and rejected; single-turn prompts",
  container: "jsonl",
  features: () => ({ system: "string", input: "string", chosen: "string", rejected: "string" }),
  encoder: rowPerPair(({ chosen, prompt, rejected }) =>
    Result.map(PairTexts.toQuestion(prompt), ({ question, system }) => ({ system, input: question, chosen, rejected })),
  ),
  row: textPair({ system: Text, input: NonEmptyText }),
}
