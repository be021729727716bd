/**
 * LLaMA-Factory (data/README.md; src/llamafactory/data/converter.py). Alpaca has a system prompt and one question.
 * ShareGPT needs alternating roles. A pair is omitted if a message has both text and tool calls, if one tool result
 * follows another, or if a completion has several messages.
 */
import { Result, Schema } from "effect"
import type { Message, Prompt } from "../../domain/Message.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { JsonRow } from "../file/Features.ts"
import { describeValue } from "../../io/Values.ts"
import * as Cuts from "./Cuts.ts"
import * as PairTexts from "./PairTexts.ts"
import { issueAt, requireDifferent, NonEmptyText, findRoleViolation, Text, textPair } from "./RowSchema.ts"
import {
  type Checked,
  type FormatOptions,
  refuse,
  rowPerPair,
  toolFeatures,
  toolsColumn,
  type TrainerFormat,
} from "./TrainerFormat.ts"
import * as Unpaired from "./Unpaired.ts"

export const llamaFactoryAlpaca: TrainerFormat = {
  name: "llamafactory-alpaca",
  warnings: Cuts.thoughtsInSides,
  description: "LLaMA-Factory, Alpaca ranking: instruction, system, chosen, and rejected; single-turn prompts",
  container: "jsonl",
  // The column `history` is left out. All its lists would be empty, and `load_dataset` would infer the type null.
  features: () => ({ instruction: "string", input: "string", system: "string", chosen: "string", rejected: "string" }),
  encoder: rowPerPair(({ chosen, prompt, rejected }) =>
    Result.map(PairTexts.toQuestion(prompt), ({ question, system }) => ({
      instruction: question,
      input: "",
      system,
      chosen,
      rejected,
    })),
  ),
  row: textPair({ instruction: NonEmptyText, input: Text, system: Text }),
  datasetInfo: (fileName) => ({
    file_name: fileName,
    ranking: true,
    columns: { prompt: "instruction", query: "input", system: "system", chosen: "chosen", rejected: "rejected" },
  }),
}

const names = new Map([
  ["system", "system"],
  ["user", "human"],
  ["assistant", "gpt"],
  ["tool", "observation"],
])

const roles = { asks: ["user", "tool"], answers: ["assistant"] }
const tags = { asks: ["human", "observation"], answers: ["gpt", "function_call"], before: ["system"] }

const toTurn = ({ content, role, tool_calls }: Message, field: string): Checked<Turn> => {
  if (tool_calls === undefined) return Result.succeed({ from: names.get(role) ?? role, value: content })
  if (content.trim() !== "")
    return refuse(`${field}.content`, "an empty text, because the message calls tools", describeValue(content))
  const calls = tool_calls.map(
    ({ function: { arguments: text, name } }) => `{"name":${JSON.stringify(name)},"arguments":${text}}`,
  )
  return Result.succeed({ from: "function_call", value: calls.length === 1 ? calls[0]! : `[${calls.join(",")}]` })
}

const conversation = (prompt: Prompt): Checked<ReadonlyArray<Turn>> =>
  Result.flatMap(PairTexts.toTurns(prompt, roles), () =>
    Result.all(PairTexts.toMessages(prompt).map((message, i) => toTurn(message, `prompt[${i}]`))),
  )

const turnOf = (pair: PreferencePair, side: "chosen" | "rejected"): Checked<Turn> => {
  const [message, ...others] = PairTexts.sideOf(pair, side)
  return message === undefined || others.length > 0
    ? refuse(side, "one turn", `${others.length + 1} messages`)
    : toTurn(message, side)
}

const toolsOf = (pair: PreferencePair, options: FormatOptions): JsonRow => toolsColumn(pair, options, "")

const turn = { struct: { from: "string", value: "string" } } as const

const Turn = Schema.Struct({ from: NonEmptyText, value: Text })
type Turn = typeof Turn.Type
const answers = ["gpt", "function_call"]
const isAnswer = (from: string): boolean => answers.includes(from)
const AnswerTurn = Schema.Struct({
  from: NonEmptyText.check(Schema.makeFilter((from) => (isAnswer(from) ? undefined : answers.join(" or ")))),
  value: NonEmptyText,
})
const tools = Schema.optionalKey(Text)

const promptProblem = (conversation: ReadonlyArray<typeof Turn.Type>) => {
  const problem = findRoleViolation(
    conversation.map(({ from }) => from),
    tags,
  )
  if (problem !== undefined)
    return conversation.length === 0 ? "at least one turn" : issueAt([problem.index, "from"], problem.expected)
  return conversation[0]?.from === "system" && conversation[0].value === "" ? issueAt([0, "value"], "text") : undefined
}

const toolsName = (options: FormatOptions | undefined) => (options?.tools === true ? { tools: "tools" } : {})

export const llamaFactoryShareGpt: TrainerFormat = {
  name: "llamafactory-sharegpt",
  warnings: Cuts.thoughts,
  description:
    "LLaMA-Factory, ShareGPT ranking: conversations, with chosen and rejected as the next turn (gpt or function_call)",
  container: "jsonl",
  reads: ["tool_calls", "tools"],
  features: (options) => ({ conversations: { list: turn }, chosen: turn, rejected: turn, ...toolFeatures(options) }),
  encoder: rowPerPair((pair, options) =>
    Result.gen(function* () {
      const [chosen, rejected] = [yield* turnOf(pair, "chosen"), yield* turnOf(pair, "rejected")]
      if (chosen.value === rejected.value) {
        return yield* refuse(
          "rejected",
          "a turn that differs from `chosen` (tool call ids are not compared)",
          "the same turn",
        )
      }
      return { conversations: yield* conversation(pair.prompt), chosen, rejected, ...toolsOf(pair, options) }
    }),
  ),
  row: Schema.Struct({
    conversations: Schema.Array(Turn).check(Schema.makeFilter(promptProblem)),
    chosen: AnswerTurn,
    rejected: AnswerTurn,
    tools,
  }).check(Schema.makeFilter(({ chosen, rejected }) => requireDifferent(chosen.value, rejected.value))),
  datasetInfo: (fileName, options) => ({
    file_name: fileName,
    formatting: "sharegpt",
    ranking: true,
    columns: { messages: "conversations", chosen: "chosen", rejected: "rejected", ...toolsName(options) },
  }),
}

const ktoParts = (row: JsonRow) => {
  const turns = Array.isArray(row["conversations"]) ? row["conversations"] : []
  return { prompt: turns.slice(0, -1), completion: turns.at(-1), label: row["kto_tag"] }
}

export const llamaFactoryKto: TrainerFormat = {
  name: "llamafactory-kto",
  warnings: Cuts.thoughts,
  description:
    "LLaMA-Factory, KTO in ShareGPT form: conversations that end with a completion; kto_tag is true for chosen completions, unless experts marked all completions of the item as bad",
  reads: ["all_bad", "tool_calls", "tools"],
  container: "jsonl",
  features: (options) => ({ conversations: { list: turn }, ...toolFeatures(options), kto_tag: "bool" }),
  encoder: Unpaired.rowPerCompletion((pair, options) =>
    Result.gen(function* () {
      const turns = yield* conversation(pair.prompt)
      const sides = { chosen: yield* turnOf(pair, "chosen"), rejected: yield* turnOf(pair, "rejected") }
      return (_: string, label: boolean, side: "chosen" | "rejected") => ({
        conversations: [...turns, sides[side]],
        ...toolsOf(pair, options),
        kto_tag: label,
      })
    }),
  ),
  row: Schema.Struct({
    conversations: Schema.Array(Turn).check(
      Schema.makeFilter<ReadonlyArray<typeof Turn.Type>>((turns) => {
        const last = turns.at(-1)
        if (last === undefined) return "at least two turns"
        if (!isAnswer(last.from)) return issueAt([turns.length - 1, "from"], "gpt or function_call in the last turn")
        if (last.value === "") return issueAt([turns.length - 1, "value"], "text")
        return promptProblem(turns.slice(0, -1))
      }),
    ),
    tools,
    kto_tag: Schema.Boolean,
  }),
  promptOf: Unpaired.promptOf(ktoParts),
  acrossRows: () =>
    Unpaired.check(ktoParts, { prompt: "conversations", completion: "conversations", label: "kto_tag" }),
  datasetInfo: (fileName, options) => ({
    file_name: fileName,
    formatting: "sharegpt",
    columns: { messages: "conversations", kto_tag: "kto_tag", ...toolsName(options) },
  }),
}
