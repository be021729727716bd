/** The built-in trainer formats, and functions for custom formats. `Dataset.write` accepts both kinds of formats. */
import type { TrainerFormat } from "./TrainerFormat.ts"
import { Struct } from "effect"
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

/** The built-in formats by name, in the order of help and documentation. */
export const formats = {
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
} satisfies { readonly [name: string]: TrainerFormat }

/** The name of a built-in format. */
export type FormatName = keyof typeof formats

/** The names of the built-in formats. */
export const formatNames = Struct.keys(formats)

export {
  type Checked,
  type Encoded,
  type Encoder,
  type FormatOptions,
  type Problem,
  refuse,
  rowPerPair,
  type TrainerFormat,
} from "./TrainerFormat.ts"
export type { Feature, Features, JsonRow } from "../file/Features.ts"
export type { PreferencePair } from "../../domain/PreferencePair.ts"
export type { Finding } from "../file/Finding.ts"
export type { Omission } from "../file/OmittedPairs.ts"
export { rowPerCompletion } from "./Unpaired.ts"
export { validate } from "./Validate.ts"
