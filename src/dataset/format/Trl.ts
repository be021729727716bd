/**
 * TRL (huggingface/trl, docs/source/dataset_formats.md; reward, DPO and KTO trainers of 1.13): preference data as text
 * or messages, with the prompt in its own column or within both sides, and unpaired.
 *
 * TRL concatenates plain-text prompts and completions. For questions, use a conversational format, whose chat template
 * separates them. Of `trl-implicit`, the reward trainer reads each side completely; the DPO and KTO trainers take the
 * common prefix as the prompt, which leaves DPO's loss unchanged, but not KTO's.
 */
import { Result, Schema } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { Features, JsonRow } from "../file/Features.ts"
import { describeValue } from "../../io/Values.ts"
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
} from "./RowSchema.ts"
import { type Checked, type FormatOptions, marginOf, refuse, rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"
import * as Unpaired from "./Unpaired.ts"

/** Between prompt and completion where nothing else tells them apart. */
const separator = "\n\n"

const marginColumn = (pair: PreferencePair, options: FormatOptions): JsonRow =>
  options.margin === true ? { margin: marginOf(pair, options) } : {}

const withMargin =
  (features: Features) =>
  (options?: FormatOptions): Features =>
    options?.margin === true ? { ...features, margin: "float64" } : features

const margin = Schema.optionalKey(Schema.Finite)

export const trl: TrainerFormat = {
  name: "trl",
  isText: true,
  description: "TRL, plain text: prompt, chosen and rejected, which the trainer joins as they are",
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
  description: "TRL, conversational: prompt, chosen and rejected as messages, for a chat template",
  container: "jsonl",
  features: withMargin({ prompt: messages, chosen: messages, rejected: messages }),
  encoder: rowPerPair((pair, options) =>
    Result.map(PairTexts.toOpenMessages(pair.prompt), (prompt) => ({
      prompt,
      chosen: PairTexts.answer(pair.chosen),
      rejected: PairTexts.answer(pair.rejected),
      ...marginColumn(pair, options),
    })),
  ),
  row: messagePair({ prompt: OpenMessages, margin }),
}

export const trlImplicit: TrainerFormat = {
  name: "trl-implicit",
  isText: true,
  description:
    "TRL, plain text with the prompt within both sides: chosen and rejected hold it, an empty line, and the completion",
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
  warnings: ({ chosen, rejected }) => {
    if (typeof chosen !== "string" || typeof rejected !== "string") return []
    const start = sharedStart(chosen, rejected)
    return start.endsWith(separator)
      ? []
      : [
          {
            field: "chosen",
            expected:
              "completions that differ from their first character on, where the DPO and KTO trainers end the prompt",
            found: `both beginning alike, up to ${describeValue(start.slice(-20).toWellFormed())}`,
          },
        ]
  },
}

/** What `extract_prompt` of TRL takes for the prompt. */
const sharedStart = (chosen: string, rejected: string): string => {
  let end = 0
  while (end < chosen.length && chosen[end] === rejected[end]) end++
  return chosen.slice(0, end)
}

const implicitSide = Schema.Array(Message).check(
  Schema.makeFilter<ReadonlyArray<typeof Message.Type>>((side) => {
    const last = side.length - 1
    if (last < 1) return "a prompt and an answer"
    if (side[last]!.role !== "assistant") return issueAt([last, "role"], "assistant in the last message")
    if (side[last]!.content === "") return issueAt([last, "content"], "text")
    const before = side[last - 1]!.role
    return before === "user" || before === "tool"
      ? undefined
      : issueAt([last - 1, "role"], "user or tool before the answer")
  }),
)

export const trlImplicitConversational: TrainerFormat = {
  name: "trl-implicit-conversational",
  description: "TRL, conversational with the prompt within both sides: chosen and rejected hold all messages",
  container: "jsonl",
  features: withMargin({ chosen: messages, rejected: messages }),
  encoder: rowPerPair((pair, options) =>
    Result.map(PairTexts.toOpenMessages(pair.prompt), (prompt) => ({
      chosen: [...prompt, ...PairTexts.answer(pair.chosen)],
      rejected: [...prompt, ...PairTexts.answer(pair.rejected)],
      ...marginColumn(pair, options),
    })),
  ),
  row: Schema.Struct({ chosen: implicitSide, rejected: implicitSide, margin }).check(
    Schema.makeFilter(({ chosen, rejected }) => {
      const different = chosen.findIndex(
        ({ content, role }, i) => content !== rejected[i]?.content || role !== rejected[i]?.role,
      )
      if (chosen.length !== rejected.length)
        return issueAt(["rejected"], `the same prompt as chosen's, ${chosen.length - 1} messages`)
      if (different === -1) return issueAt(["rejected", rejected.length - 1, "content"], "another text than chosen's")
      return different === chosen.length - 1
        ? undefined
        : issueAt(["rejected", different], "the same message as in chosen's prompt")
    }),
  ),
}

/** What TPO reads as the reference: the edit. A pair without one has no row. */
const referenceOf = ({ edited }: PreferencePair): Checked<string> =>
  edited === null
    ? refuse("edited", "an edit of chosen, which TPO reads as the reference", "none")
    : edited.isWellFormed()
      ? Result.succeed(edited)
      : refuse("edited", "well-formed Unicode", "a lone surrogate")

export const trlTpo: TrainerFormat = {
  name: "trl-tpo",
  isText: true,
  reads: ["edited"],
  description: "TRL, TPO, plain text: prompt, chosen, rejected, and the edit of chosen as reference",
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
  reads: ["edited"],
  description: "TRL, TPO, conversational: prompt, chosen, rejected, and the edit of chosen as reference, as messages",
  container: "jsonl",
  features: () => ({ prompt: messages, chosen: messages, rejected: messages, reference: messages }),
  encoder: rowPerPair((pair) =>
    Result.gen(function* () {
      return {
        prompt: yield* PairTexts.toOpenMessages(pair.prompt),
        chosen: PairTexts.answer(pair.chosen),
        rejected: PairTexts.answer(pair.rejected),
        reference: PairTexts.answer(yield* referenceOf(pair)),
      }
    }),
  ),
  row: messagePair({ prompt: OpenMessages, reference: AssistantTurn }),
}

const acrossRows = () =>
  Unpaired.check(({ completion, label, prompt }) => ({ completion, label, prompt }), {
    completion: "completion",
    label: "label",
  })

export const trlUnpaired: TrainerFormat = {
  name: "trl-unpaired",
  isText: true,
  description: "TRL, unpaired plain text (KTO): prompt, completion, and label: true if preferred and not all are bad",
  reads: ["all_bad"],
  container: "jsonl",
  features: () => ({ prompt: "string", completion: "string", label: "bool" }),
  encoder: Unpaired.rowPerCompletion((pair) => {
    const prompt = Conversation.toText(pair.prompt)
    return Result.succeed((completion, label) => ({ prompt, completion, label }))
  }),
  row: Schema.Struct({ prompt: NonEmptyText, completion: NonEmptyText, label: Schema.Boolean }),
  acrossRows,
}

export const trlUnpairedConversational: TrainerFormat = {
  name: "trl-unpaired-conversational",
  description:
    "TRL, unpaired conversational (KTO): prompt and completion as messages, and label: true if preferred and not all are bad",
  reads: ["all_bad"],
  container: "jsonl",
  features: () => ({ prompt: messages, completion: messages, label: "bool" }),
  encoder: Unpaired.rowPerCompletion(({ prompt }) =>
    Result.map(PairTexts.toOpenMessages(prompt), (prompt) => (completion, label) => ({
      prompt,
      completion: PairTexts.answer(completion),
      label,
    })),
  ),
  row: Schema.Struct({ prompt: OpenMessages, completion: AssistantTurn, label: Schema.Boolean }),
  acrossRows,
}
