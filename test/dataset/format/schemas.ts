/** JSON Schemas of the rows, written from what each trainer's documentation or code says. */
import type { FormatName } from "../../../src/dataset/format/TrainerFormats.ts"

type Members = Readonly<Record<string, object>>

/** An object with all of the required members and no unknown ones. */
const object = (required: Members, optional: Members = {}) => ({
  type: "object",
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
})
const list = (items: object, minItems = 1) => ({ type: "array", minItems, items })
const one = (items: object) => ({ ...list(items), maxItems: 1 })
const oneOf = (...values: ReadonlyArray<string>) => ({ enum: values })

const anyText = { type: "string" }
const text = { type: "string", minLength: 1 }
const boolean = { type: "boolean" }
const margin = { type: "number" }

const message = object({ role: text, content: anyText })
const messages = list(message)
const assistant = object({ role: { const: "assistant" }, content: text })
const answer = one(assistant)

const texts = { prompt: text, chosen: text, rejected: text }
const conversation = { prompt: messages, chosen: answer, rejected: answer }

const sharegpt = object({ from: oneOf("human", "gpt", "observation", "function_call", "system"), value: anyText })
const gpt = object({ from: { const: "gpt" }, value: text })

const ranked = (rank: number) => object({ rank: { const: rank }, completion: answer })

const transcript = {
  type: "string",
  allOf: [{ pattern: "^\n\nHuman: " }, { pattern: "\n\nAssistant: " }],
  not: { pattern: "\n\nAssistant: ?$" },
}

export const schemas: Readonly<Record<FormatName, object>> = {
  // huggingface/trl, docs/source/dataset_formats.md; docs/source/reward_trainer.md: margin, optional; trl/experimental/tpo.
  trl: object(texts, { margin }),
  "trl-conversational": object(conversation, { margin }),
  "trl-implicit": object({ chosen: text, rejected: text }, { margin }),
  "trl-implicit-conversational": object({ chosen: list(message, 2), rejected: list(message, 2) }, { margin }),
  "trl-unpaired": object({ prompt: text, completion: text, label: boolean }),
  "trl-unpaired-conversational": object({ prompt: messages, completion: answer, label: boolean }),
  "trl-tpo": object({ ...texts, reference: text }),
  "trl-tpo-conversational": object({ ...conversation, reference: answer }),
  // OpenRLHF/OpenRLHF, openrlhf/datasets/reward_dataset.py, preprocess_data: prompt and sides are texts, or with
  // apply_chat_template lists of messages that are added up.
  openrlhf: object({ ...texts, margin }),
  "openrlhf-conversational": object({ ...conversation, margin }),
  // hiyouga/LLaMA-Factory, data/README.md: Alpaca Format, Preference Dataset; src/llamafactory/data/converter.py reads
  // the optional column system of the supervised form for both.
  "llamafactory-alpaca": object({
    instruction: text,
    input: anyText,
    system: anyText,
    chosen: text,
    rejected: text,
  }),
  // Sharegpt Format, Preference Dataset: human and observation at odd places, gpt and function at even ones.
  "llamafactory-sharegpt": object({ conversations: list(sharegpt), chosen: gpt, rejected: gpt }),
  // KTO Dataset: conversations that end with the response, and kto_tag.
  "llamafactory-kto": object({ conversations: list(sharegpt, 2), kto_tag: boolean }),
  // axolotl-ai-cloud/axolotl, docs/rlhf.qmd: DPO, chat_template.default; the roles of the default role map in
  // src/axolotl/prompt_strategies/dpo/chat_template.py.
  "axolotl-chat-template": object({
    messages: list(object({ role: oneOf("user", "assistant", "system", "tool"), content: anyText })),
    chosen: assistant,
    rejected: assistant,
  }),
  // docs/reward_modelling.qmd and src/axolotl/prompt_strategies/bradley_terry/chat_template.py, which indexes system.
  "axolotl-bradley-terry": object({ system: anyText, input: text, chosen: text, rejected: text }),
  // NVIDIA-NeMo/RL, docs/guides/rm.md and dpo.md; nemo_rl/data/processors.py, preference_preprocessor: exactly two
  // completions, lower rank preferred, no ties.
  "nemo-rl": object({
    context: messages,
    completions: { type: "array", prefixItems: [ranked(0), ranked(1)], minItems: 2, maxItems: 2 },
  }),
  // volcengine/verl, verl/utils/dataset/rm_dataset.py: columns prompt, chosen and rejected, tokenized as text.
  verl: object(texts),
  // developers.openai.com, guide "Direct preference optimization"; docs.together.ai, "Preference fine-tuning": exactly
  // one assistant message per side; docs.fireworks.ai, "Direct Preference Optimization": roles system, user, assistant.
  "openai-preference": object({
    input: object({
      messages: list(object({ role: oneOf("system", "user", "assistant"), content: anyText })),
      tools: { type: "array", maxItems: 0 },
      parallel_tool_calls: boolean,
    }),
    preferred_output: answer,
    non_preferred_output: answer,
  }),
  // Anthropic/hh-rlhf, dataset card and data: chosen and rejected as transcripts of Human and Assistant.
  hh: object({ chosen: transcript, rejected: transcript }),
}
