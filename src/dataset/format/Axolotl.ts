/**
 * axolotl (docs/rlhf.qmd, docs/reward_modelling.qmd; src/axolotl/prompt_strategies): DPO with `type:
 * chat_template.default`, and reward models with `type: bradley_terry.chat_template`.
 *
 * The DPO strategy renders a dummy question with the answer and cuts at the first occurrence of the answer. Completions
 * that it would cut elsewhere are omitted: those with leading or trailing white space, and those contained in the dummy
 * question. One that occurs in the chat template, such as `user`, is not detected.
 */
import { Result, Schema } from "effect"
import { describeValue } from "../../io/Values.ts"
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
import { refuse, rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"

const dummy = "[[dummy_message]]"

/** White space as Python's `str.strip` knows it, at either end. */
const endsInWhiteSpace =
  /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]|[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/

/** Why axolotl would not find an answer at its place, as the expected text. */
const cutProblem = (answer: string): string | undefined => {
  if (endsInWhiteSpace.test(answer))
    return "a text without white space at its ends, which axolotl finds again after a template"
  return dummy.includes(answer) ? `a text that is not contained in ${dummy}, where axolotl would find it` : undefined
}

const roles = ["system", "user", "assistant", "tool"]

export const axolotlChatTemplate: TrainerFormat = {
  name: "axolotl-chat-template",
  description: "axolotl, DPO of type chat_template.default: messages, and chosen and rejected as a message each",
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
  description:
    "axolotl, reward models of type bradley_terry.chat_template: system, input, chosen and rejected; one question each",
  container: "jsonl",
  features: () => ({ system: "string", input: "string", chosen: "string", rejected: "string" }),
  encoder: rowPerPair(({ chosen, prompt, rejected }) =>
    Result.map(PairTexts.toQuestion(prompt), ({ question, system }) => ({ system, input: question, chosen, rejected })),
  ),
  row: textPair({ system: Text, input: NonEmptyText }),
}
