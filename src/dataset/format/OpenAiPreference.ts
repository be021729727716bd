/**
 * Preference JSONL of OpenAI (guide "Direct preference optimization"). Fireworks and Together (docs.together.ai,
 * "Preference fine-tuning") also read this format. A completion is one assistant message. If both completions begin
 * with the same tool calls and results, these become the end of the conversation. A tool result has no name, because
 * OpenAI takes the name from the tool call.
 */
import { Result, Schema } from "effect"
import type { Message } from "../../domain/Message.ts"
import type { Feature, Json, JsonRow } from "../file/Features.ts"
import { describeValue, isObject } from "../../io/Values.ts"
import * as Cuts from "./Cuts.ts"
import * as PairTexts from "./PairTexts.ts"
import { isSameTurn, issueAt, messages, NonEmptyText, OpenAiToolCall, openOf, Text } from "./RowSchema.ts"
import { type Checked, refuse, rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"

const roles = ["system", "user", "assistant"]

const toMessages = (all: ReadonlyArray<Message>, field: string): Checked<ReadonlyArray<JsonRow>> => {
  for (const [i, { role, tool_call_id, tool_calls = [] }] of all.entries()) {
    if (!roles.includes(role) && (role !== "tool" || tool_call_id === undefined)) {
      const actual = role === "tool" ? "a tool result without the tool call's id" : describeValue(role)
      return refuse(`${field}[${i}].role`, roles.join(" or "), actual)
    }
    const unnamed = tool_calls.findIndex(({ id }) => id === undefined)
    if (unnamed !== -1) return refuse(`${field}[${i}].tool_calls[${unnamed}].id`, "the tool call's id", "no id")
  }
  return Result.succeed(
    all.map(({ content, role, tool_call_id, tool_calls }) => ({
      role,
      ...((content !== "" || tool_calls === undefined) && { content }),
      ...(tool_calls !== undefined && { tool_calls }),
      ...(tool_call_id !== undefined && { tool_call_id }),
    })),
  )
}

const toDefinitions = (tools: string | undefined): ReadonlyArray<Json> => {
  const list = tools === undefined ? [] : PairTexts.parseJson(tools)
  return Array.isArray(list)
    ? list.map((tool: Json) =>
        isObject(tool) && !Object.hasOwn(tool, "function") ? { type: "function", function: tool } : tool,
      )
    : []
}

const definition: Feature = { struct: { type: "string", function: { struct: { name: "string" } } } }

const RowMessage = Schema.Struct({
  role: NonEmptyText,
  content: Schema.optionalKey(Text),
  tool_calls: Schema.optionalKey(Schema.NonEmptyArray(OpenAiToolCall)),
  tool_call_id: Schema.optionalKey(NonEmptyText),
}).check(
  Schema.makeFilter(({ content, role, tool_call_id, tool_calls }) => {
    if (![...roles, "tool"].includes(role)) return issueAt(["role"], "system, user, assistant, or tool")
    if (content === undefined && tool_calls === undefined) return issueAt(["content"], "text")
    return role === "tool" && tool_call_id === undefined ? issueAt(["tool_call_id"], "the tool call's id") : undefined
  }),
)

const OneAnswer = Schema.Array(RowMessage).check(
  Schema.makeFilter<ReadonlyArray<typeof RowMessage.Type>>((side) => {
    const [message] = side
    if (message === undefined || side.length > 1) return "one message"
    if (message.role !== "assistant") return issueAt([0, "role"], "assistant")
    return message.tool_calls === undefined && message.content === "" ? issueAt([0, "content"], "text") : undefined
  }),
)

const sharedResults = (chosen: ReadonlyArray<Message>, rejected: ReadonlyArray<Message>): number => {
  let end = 0
  for (const [i, message] of chosen.slice(0, -1).entries()) {
    if (JSON.stringify(message) !== JSON.stringify(rejected[i])) break
    if (message.role === "tool") end = i + 1
  }
  return Math.min(end, rejected.length - 1)
}

const oneAnswer = (messages: ReadonlyArray<Message>, field: string): Checked<ReadonlyArray<JsonRow>> =>
  messages.length === 1
    ? toMessages(messages, field)
    : refuse(
        field,
        "one message, not counting tool calls and results at the start that are equal in `chosen` and `rejected`",
        `${messages.length} messages`,
      )

export const openAiPreference: TrainerFormat = {
  name: "openai-preference",
  warnings: Cuts.thoughts,
  reads: ["tool_calls", "tools"],
  description: "OpenAI, Together, Fireworks: input.messages, preferred_output, and non_preferred_output",
  container: "jsonl",
  features: (options) => ({
    input: {
      struct: {
        messages,
        tools: { list: options?.tools === true ? definition : "null" },
        parallel_tool_calls: "bool",
      },
    },
    preferred_output: messages,
    non_preferred_output: messages,
  }),
  encoder: rowPerPair((pair) =>
    Result.gen(function* () {
      const prompt = yield* PairTexts.toOpenMessages(pair.prompt)
      const [chosen, rejected] = [PairTexts.sideOf(pair, "chosen"), PairTexts.sideOf(pair, "rejected")]
      const shared = sharedResults(chosen, rejected)
      return {
        input: {
          messages: [
            ...(yield* toMessages(prompt, "prompt")),
            ...(yield* toMessages(chosen.slice(0, shared), "chosen")),
          ],
          tools: toDefinitions(pair.tools),
          parallel_tool_calls: true,
        },
        preferred_output: yield* oneAnswer(chosen.slice(shared), "chosen"),
        non_preferred_output: yield* oneAnswer(rejected.slice(shared), "rejected"),
      }
    }),
  ),
  row: Schema.Struct({
    input: Schema.Struct({
      messages: openOf(RowMessage),
      tools: Schema.Array(Schema.Unknown),
      parallel_tool_calls: Schema.Boolean,
    }),
    preferred_output: OneAnswer,
    non_preferred_output: OneAnswer,
  }).check(
    Schema.makeFilter(({ preferred_output, non_preferred_output }) =>
      isSameTurn(preferred_output, non_preferred_output)
        ? issueAt(["non_preferred_output"], "a text that differs from `preferred_output`")
        : undefined,
    ),
  ),
}
