/**
 * The built-in trainer formats by name, and the parts for custom ones. A custom `TrainerFormat` is passed in the
 * `formats` of `Dataset.write` as well as names. A new built-in format is a file of this folder, and a name here.
 */
import type { TrainerFormat } from "./TrainerFormat.ts"
import { axolotlBradleyTerry, axolotlChatTemplate } from "./Axolotl.ts"
import { hh } from "./Hh.ts"
import { llamaFactoryAlpaca, llamaFactoryKto, llamaFactoryShareGpt } from "./LlamaFactory.ts"
import { nemoRl } from "./NemoRl.ts"
import { openAiPreference } from "./OpenAiPreference.ts"
import { openRlhf, openRlhfConversational } from "./OpenRlhf.ts"
import {
  trl,
  trlConversational,
  trlImplicit,
  trlImplicitConversational,
  trlTpo,
  trlTpoConversational,
  trlUnpaired,
  trlUnpairedConversational,
} from "./Trl.ts"
import { verl } from "./Verl.ts"

/** In the order in which they are listed. */
export const formatNames = [
  "trl",
  "trl-conversational",
  "trl-implicit",
  "trl-implicit-conversational",
  "trl-unpaired",
  "trl-unpaired-conversational",
  "trl-tpo",
  "trl-tpo-conversational",
  "openrlhf",
  "openrlhf-conversational",
  "llamafactory-alpaca",
  "llamafactory-sharegpt",
  "llamafactory-kto",
  "axolotl-chat-template",
  "axolotl-bradley-terry",
  "nemo-rl",
  "verl",
  "openai-preference",
  "hh",
] as const

/** The name of a built-in format, as `--format` takes it. */
export type FormatName = (typeof formatNames)[number]

/** The built-in formats by their names. */
export const formats: { readonly [Name in FormatName]: TrainerFormat } = {
  trl,
  "trl-conversational": trlConversational,
  "trl-implicit": trlImplicit,
  "trl-implicit-conversational": trlImplicitConversational,
  "trl-unpaired": trlUnpaired,
  "trl-unpaired-conversational": trlUnpairedConversational,
  "trl-tpo": trlTpo,
  "trl-tpo-conversational": trlTpoConversational,
  openrlhf: openRlhf,
  "openrlhf-conversational": openRlhfConversational,
  "llamafactory-alpaca": llamaFactoryAlpaca,
  "llamafactory-sharegpt": llamaFactoryShareGpt,
  "llamafactory-kto": llamaFactoryKto,
  "axolotl-chat-template": axolotlChatTemplate,
  "axolotl-bradley-terry": axolotlBradleyTerry,
  "nemo-rl": nemoRl,
  verl,
  "openai-preference": openAiPreference,
  hh,
}

export {
  type Checked,
  type Encoder,
  type FormatOptions,
  type Problem,
  refuse,
  rowPerPair,
  type TrainerFormat,
} from "./TrainerFormat.ts"
export { rowPerCompletion } from "./Unpaired.ts"
export { validate } from "./Validate.ts"
