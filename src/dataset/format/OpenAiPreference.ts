/**
 * Preference JSONL of OpenAI (guide "Direct preference optimization"), which Together and Fireworks read, too: the
 * conversation, and one assistant message per side.
 *
 * The roles are those that all three accept: system, user, assistant. Tool messages are refused: OpenAI's need the id
 * of a call, which prompts do not have.
 */
import { Result, Schema } from "effect"
import * as PairTexts from "./PairTexts.ts"
import { AssistantTurn, issueAt, messages, openMessagesOf } from "./RowSchema.ts"
import { rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"

const roles = ["system", "user", "assistant"]

export const openAiPreference: TrainerFormat = {
  name: "openai-preference",
  description: "OpenAI, Together, Fireworks: input.messages, and preferred_output and non_preferred_output",
  container: "jsonl",
  features: () => ({
    input: { struct: { messages, tools: { list: "null" }, parallel_tool_calls: "bool" } },
    preferred_output: messages,
    non_preferred_output: messages,
  }),
  encoder: rowPerPair(({ chosen, prompt, rejected }) =>
    PairTexts.toOpenMessages(prompt).pipe(
      Result.flatMap((prompt) => PairTexts.withRoles(prompt, roles)),
      Result.map((prompt) => ({
        input: { messages: prompt, tools: [], parallel_tool_calls: true },
        preferred_output: PairTexts.answer(chosen),
        non_preferred_output: PairTexts.answer(rejected),
      })),
    ),
  ),
  row: Schema.Struct({
    input: Schema.Struct({
      messages: openMessagesOf(roles),
      tools: Schema.Array(Schema.Unknown),
      parallel_tool_calls: Schema.Boolean,
    }),
    preferred_output: AssistantTurn,
    non_preferred_output: AssistantTurn,
  }).check(
    Schema.makeFilter(({ preferred_output: [preferred], non_preferred_output: [other] }) =>
      preferred.content === other.content
        ? issueAt(["non_preferred_output", 0, "content"], "another text than preferred_output's")
        : undefined,
    ),
  ),
}
