/**
 * Formats of TRL 1.13 (huggingface/trl, docs/source/dataset_formats.md). TRL joins plain texts without a separator.
 * Therefore, questions and answers need a conversational format. In `trl-implicit`, the DPO and KTO trainers move a
 * shared beginning of both completions to the prompt. This changes the loss of KTO. A pair is omitted if an argument
 * of a tool call contains an integer beyond 2^53.
 */
import { Option, Result, Schema } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import { describeValue, plural } from "../../io/Values.ts"
import type { Features, JsonRow } from "../file/Features.ts"
import * as Cuts from "./Cuts.ts"
import * as PairTexts from "./PairTexts.ts"
import {
  AssistantTurn,
  issueAt,
  NonEmptyText,
  Message,
  messagePair,
  messages,
  OpenMessages,
  textPair,
  toolsText,
} from "./RowSchema.ts"
import {
  type Checked,
  type FormatOptions,
  marginOf,
  refuse,
  rowPerPair,
  toolFeatures,
  toolsColumn,
  type TrainerFormat,
} from "./TrainerFormat.ts"
import * as Unpaired from "./Unpaired.ts"

const separator = "\n\n"

const marginColumn = (pair: PreferencePair, options: FormatOptions): JsonRow =>
  options.margin === true ? { margin: marginOf(pair, options) } : {}

/** Tools are JSON text, because `load_dataset` adds nulls for missing members in a column of objects. */
const toolsOf = (pair: PreferencePair, options: FormatOptions): JsonRow => toolsColumn(pair, options, null)

const withMargin =
  (features: Features) =>
  (options?: FormatOptions): Features =>
    options?.margin === true ? { ...features, margin: "float64" } : features

const withTools =
  (features: Features) =>
  (options?: FormatOptions): Features => ({
    ...features,
    ...toolFeatures(options),
    ...(options?.margin === true && { margin: "float64" }),
  })

const margin = Schema.optionalKey(Schema.Finite)

export const trl: TrainerFormat = {
  name: "trl",
  isText: true,
  description:
    "TRL, plain text: prompt, chosen, and rejected; the trainer joins prompt and completion without a separator",
  container: "jsonl",
  features: withMargin({ prompt: "string", chosen: "string", rejected: "string" }),
  encoder: rowPerPair((pair, options) =>
    Result.succeed({
      prompt: Conversation.toText(pair.prompt),
      chosen: pair.chosen,
      rejected: pair.rejected,
      ...marginColumn(pair, options),
    }),
  ),
  row: textPair({ prompt: NonEmptyText, margin }),
}

export const trlConversational: TrainerFormat = {
  name: "trl-conversational",
  warnings: Cuts.thoughts,
  reads: ["tool_calls", "tools"],
  description: "TRL, conversational: messages in prompt, chosen, and rejected, for a chat template",
  container: "jsonl",
  features: withTools({ prompt: messages, chosen: messages, rejected: messages }),
  encoder: rowPerPair((pair, options) =>
    Result.map(PairTexts.toConversation(pair), (messages) => ({
      ...messages,
      ...toolsOf(pair, options),
      ...marginColumn(pair, options),
    })),
  ),
  row: messagePair({ prompt: OpenMessages, tools: toolsText, margin }),
}

export const trlImplicit: TrainerFormat = {
  name: "trl-implicit",
  isText: true,
  description:
    "TRL, plain text with an implicit prompt: chosen and rejected contain the prompt, an empty line, and the completion",
  container: "jsonl",
  features: withMargin({ chosen: "string", rejected: "string" }),
  encoder: rowPerPair((pair, options) => {
    const start = Conversation.toText(pair.prompt) + separator
    return Result.succeed({
      chosen: start + pair.chosen,
      rejected: start + pair.rejected,
      ...marginColumn(pair, options),
    })
  }),
  row: textPair({ margin }),
  warnings: Cuts.commonBeginnings((shared) => shared.lastIndexOf(separator) + separator.length),
}

const implicitSide = Schema.Array(Message).check(
  Schema.makeFilter<ReadonlyArray<typeof Message.Type>>((side) => {
    const last = side.length - 1
    if (last < 1) return "a prompt and an answer"
    if (side[last]!.role !== "assistant") return issueAt([last, "role"], "assistant as the role of the last message")
    if (side[last]!.content === "" && side[last]!.tool_calls === undefined) return issueAt([last, "content"], "text")
    const previousRole = side[last - 1]!.role
    return previousRole === "user" || previousRole === "tool"
      ? undefined
      : issueAt([last - 1, "role"], "user or tool as the role of the message before the answer")
  }),
)

export const trlImplicitConversational: TrainerFormat = {
  name: "trl-implicit-conversational",
  warnings: Cuts.thoughts,
  reads: ["tool_calls", "tools"],
  description: "TRL, conversational with an implicit prompt: chosen and rejected contain all messages",
  container: "jsonl",
  features: withTools({ chosen: messages, rejected: messages }),
  encoder: rowPerPair((pair, options) =>
    Result.map(PairTexts.toConversation(pair), ({ chosen, prompt, rejected }) => ({
      chosen: [...prompt, ...chosen],
      rejected: [...prompt, ...rejected],
      ...toolsOf(pair, options),
      ...marginColumn(pair, options),
    })),
  ),
  row: Schema.Struct({ chosen: implicitSide, rejected: implicitSide, tools: toolsText, margin }).check(
    Schema.makeFilter(({ chosen, rejected }) => {
      const different = chosen.findIndex((message, i) => JSON.stringify(message) !== JSON.stringify(rejected[i]))
      const shared = different === -1 ? chosen.length : different
      const hasCalls = [...chosen, ...rejected].some(({ tool_calls }) => tool_calls !== undefined)
      if (!hasCalls && chosen.length !== rejected.length)
        return issueAt(
          ["rejected"],
          `the same prompt as in \`chosen\` (${chosen.length - 1} ${plural(chosen.length - 1, "message")})`,
        )
      if (shared === Math.max(chosen.length, rejected.length))
        return issueAt(["rejected", rejected.length - 1, "content"], "a text that differs from `chosen`")
      if (!hasCalls && shared < chosen.length - 1)
        return issueAt(["rejected", shared], "the same message as in `chosen`'s prompt")
      return [chosen, rejected].some(
        (side) => side[shared] !== undefined && side[shared].role !== "assistant" && side[shared].role !== "tool",
      )
        ? issueAt(["rejected", shared], "the same message as in `chosen`'s prompt")
        : undefined
    }),
  ),
}

const referenceOf = ({ edited }: PreferencePair): Checked<string> =>
  edited === null
    ? refuse("edited", "an edited version of `chosen` (TPO reads it as the reference)", "none")
    : edited.isWellFormed()
      ? Result.succeed(edited)
      : refuse("edited", "well-formed Unicode", "a lone surrogate")

const referenceMessages = (pair: PreferencePair): Checked<ReadonlyArray<JsonRow>> =>
  Result.flatMap(referenceOf(pair), (edited) =>
    Option.match(PairTexts.editedMessages(pair), {
      onNone: () => Result.succeed(PairTexts.answer(edited)),
      onSome: (messages) => {
        const other = messages.find(({ role }) => role !== "assistant" && role !== "tool")
        return other === undefined
          ? PairTexts.withObjects(messages, "edited")
          : refuse("edited", "tool calls with arguments as JSON, and tool results", describeValue(other.role))
      },
    }),
  )

export const trlTpo: TrainerFormat = {
  name: "trl-tpo",
  isText: true,
  reads: ["edited"],
  description: "TRL, TPO, plain text: prompt, chosen, rejected, and reference (the edited version of chosen)",
  container: "jsonl",
  features: () => ({ prompt: "string", chosen: "string", rejected: "string", reference: "string" }),
  encoder: rowPerPair((pair) =>
    Result.map(referenceOf(pair), (reference) => ({
      prompt: Conversation.toText(pair.prompt),
      chosen: pair.chosen,
      rejected: pair.rejected,
      reference,
    })),
  ),
  row: textPair({ prompt: NonEmptyText, reference: NonEmptyText }),
}

export const trlTpoConversational: TrainerFormat = {
  name: "trl-tpo-conversational",
  warnings: Cuts.thoughts,
  reads: ["edited", "tool_calls", "tools"],
  description:
    "TRL, TPO, conversational: messages in prompt, chosen, and rejected, and in reference (the edited version of chosen)",
  container: "jsonl",
  features: (options) => ({
    prompt: messages,
    chosen: messages,
    rejected: messages,
    reference: messages,
    ...toolFeatures(options),
  }),
  encoder: rowPerPair((pair, options) =>
    Result.gen(function* () {
      return {
        ...(yield* PairTexts.toConversation(pair)),
        reference: yield* referenceMessages(pair),
        ...toolsOf(pair, options),
      }
    }),
  ),
  row: messagePair({ prompt: OpenMessages, reference: AssistantTurn, tools: toolsText }),
}

const partsOf = ({ completion, label, prompt }: JsonRow) => ({ completion, label, prompt })

const unpaired = {
  promptOf: Unpaired.promptOf(partsOf),
  acrossRows: () => Unpaired.check(partsOf, { prompt: "prompt", completion: "completion", label: "label" }),
}

export const trlUnpaired: TrainerFormat = {
  name: "trl-unpaired",
  isText: true,
  description:
    "TRL, unpaired plain text (KTO): prompt, completion, and label; label is true for chosen completions, unless experts marked all completions of the item as bad",
  reads: ["all_bad"],
  container: "jsonl",
  features: () => ({ prompt: "string", completion: "string", label: "bool" }),
  encoder: Unpaired.rowPerCompletion((pair) => {
    const prompt = Conversation.toText(pair.prompt)
    return Result.succeed((completion, label) => ({ prompt, completion, label }))
  }),
  row: Schema.Struct({ prompt: NonEmptyText, completion: NonEmptyText, label: Schema.Boolean }),
  ...unpaired,
}

export const trlUnpairedConversational: TrainerFormat = {
  name: "trl-unpaired-conversational",
  warnings: Cuts.thoughts,
  description:
    "TRL, unpaired conversational (KTO): messages in prompt and completion, and label; label is true for chosen completions, unless experts marked all completions of the item as bad",
  reads: ["all_bad", "tool_calls", "tools"],
  container: "jsonl",
  features: (options) => ({ prompt: messages, completion: messages, ...toolFeatures(options), label: "bool" }),
  encoder: Unpaired.rowPerCompletion((pair, options) =>
    Result.map(PairTexts.toConversation(pair), ({ prompt, ...sides }) => (_, label, side) => ({
      prompt,
      completion: sides[side],
      ...toolsOf(pair, options),
      label,
    })),
  ),
  row: Schema.Struct({ prompt: OpenMessages, completion: AssistantTurn, tools: toolsText, label: Schema.Boolean }),
  ...unpaired,
}
