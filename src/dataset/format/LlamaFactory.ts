/**
 * LLaMA-Factory (data/README.md; src/llamafactory/data/converter.py): ranking as Alpaca and ShareGPT, and KTO as
 * ShareGPT, each file with an entry in `dataset_info.json`.
 *
 * Alpaca has a system prompt and one question; `history` is not written, since `load_dataset` would infer a column of
 * nulls. ShareGPT has alternating roles; LLaMA-Factory skips other rows. The KTO reader takes a non-empty completion as
 * the desirable one; no format accepts empty completions.
 */
import { Result, Schema } from "effect"
import type { Message, Prompt } from "../../domain/Message.ts"
import * as PairTexts from "./PairTexts.ts"
import { issueAt, requireDifferent, NonEmptyText, findRoleViolation, Text, textPair } from "./RowSchema.ts"
import { rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"
import * as Unpaired from "./Unpaired.ts"

export const llamaFactoryAlpaca: TrainerFormat = {
  name: "llamafactory-alpaca",
  description: "LLaMA-Factory, Alpaca ranking: instruction, system, chosen and rejected; one question each",
  container: "jsonl",
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

/** LLaMA-Factory's names of the roles that it has a place for. */
const names = new Map([
  ["system", "system"],
  ["user", "human"],
  ["assistant", "gpt"],
  ["tool", "observation"],
])

const roles = { asks: ["user", "tool"], answers: ["assistant"] }
const tags = { asks: ["human", "observation"], answers: ["gpt", "function_call"], before: ["system"] }

const toTurn = ({ content, role }: Message) => ({ from: names.get(role) ?? role, value: content })

const conversation = (prompt: Prompt) =>
  Result.map(PairTexts.toTurns(prompt, roles), () => PairTexts.toMessages(prompt).map(toTurn))

const gpt = (value: string) => ({ from: "gpt", value })

const turn = { struct: { from: "string", value: "string" } } as const

const Turn = Schema.Struct({ from: NonEmptyText, value: Text })
const GptTurn = Schema.Struct({ from: Schema.Literal("gpt"), value: NonEmptyText })

/** What keeps the turns from being a prompt of LLaMA-Factory's. */
const inLlamaFactoryTurn = (conversation: ReadonlyArray<typeof Turn.Type>) => {
  const problem = findRoleViolation(
    conversation.map(({ from }) => from),
    tags,
  )
  if (problem !== undefined)
    return conversation.length === 0 ? "at least one turn" : issueAt([problem.index, "from"], problem.expected)
  return conversation[0]?.from === "system" && conversation[0].value === "" ? issueAt([0, "value"], "text") : undefined
}

export const llamaFactoryShareGpt: TrainerFormat = {
  name: "llamafactory-sharegpt",
  description: "LLaMA-Factory, ShareGPT ranking: conversations, and chosen and rejected as gpt's next turn",
  container: "jsonl",
  features: () => ({ conversations: { list: turn }, chosen: turn, rejected: turn }),
  encoder: rowPerPair(({ chosen, prompt, rejected }) =>
    Result.map(conversation(prompt), (conversations) => ({
      conversations,
      chosen: gpt(chosen),
      rejected: gpt(rejected),
    })),
  ),
  row: Schema.Struct({
    conversations: Schema.Array(Turn).check(Schema.makeFilter(inLlamaFactoryTurn)),
    chosen: GptTurn,
    rejected: GptTurn,
  }).check(Schema.makeFilter(({ chosen, rejected }) => requireDifferent(chosen.value, rejected.value))),
  datasetInfo: (fileName) => ({
    file_name: fileName,
    formatting: "sharegpt",
    ranking: true,
    columns: { messages: "conversations", chosen: "chosen", rejected: "rejected" },
  }),
}

export const llamaFactoryKto: TrainerFormat = {
  name: "llamafactory-kto",
  description:
    "LLaMA-Factory, KTO in ShareGPT form: conversations that end with a completion, and kto_tag: true if preferred and not all are bad",
  reads: ["all_bad"],
  container: "jsonl",
  features: () => ({ conversations: { list: turn }, kto_tag: "bool" }),
  encoder: Unpaired.rowPerCompletion(({ prompt }) =>
    Result.map(conversation(prompt), (turns) => (completion, label) => ({
      conversations: [...turns, gpt(completion)],
      kto_tag: label,
    })),
  ),
  row: Schema.Struct({
    conversations: Schema.Array(Turn).check(
      Schema.makeFilter<ReadonlyArray<typeof Turn.Type>>((turns) => {
        const last = turns.at(-1)
        if (last === undefined) return "at least two turns"
        if (last.from !== "gpt") return issueAt([turns.length - 1, "from"], "gpt in the last turn")
        if (last.value === "") return issueAt([turns.length - 1, "value"], "text")
        return inLlamaFactoryTurn(turns.slice(0, -1))
      }),
    ),
    kto_tag: Schema.Boolean,
  }),
  acrossRows: () =>
    Unpaired.check(
      (row) => {
        const turns = Array.isArray(row["conversations"]) ? row["conversations"] : []
        return { prompt: turns.slice(0, -1), completion: turns.at(-1), label: row["kto_tag"] }
      },
      { completion: "conversations", label: "kto_tag" },
    ),
  datasetInfo: (fileName) => ({
    file_name: fileName,
    formatting: "sharegpt",
    columns: { messages: "conversations", kto_tag: "kto_tag" },
  }),
}
