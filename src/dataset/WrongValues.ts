/** Checks options and pairs, because programs in JavaScript can pass values of any type. */
import { Effect } from "effect"
import * as PairBytes from "../domain/PairBytes.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { describeValue } from "../io/Values.ts"
import { factsKind } from "./DatasetFacts.ts"
import { DatasetError, OptionInvalid } from "./file/DatasetError.ts"

// prettier-ignore
const kinds: Kinds.Kinds = {
  directory: ["the path of a folder", Kinds.text[1]], splitOf: Kinds.fn, conversational: Kinds.flag, tools: Kinds.flag,
  formats: Kinds.list, margin: Kinds.flag, marginFrom: Kinds.text, edited: Kinds.text, shardBytes: Kinds.number,
  facts: factsKind, allowEmpty: Kinds.flag, finalize: Kinds.fn,
}

export const checkOptions = (options: object): Effect.Effect<void, DatasetError> => {
  const wrong = Kinds.wrongIn(options, kinds, ["directory"])
  if (wrong === undefined) return Effect.void
  return new DatasetError({ reason: new OptionInvalid({ ...wrong, option: wrong.setting }) })
}

export const wrongText = (pair: PreferencePair, at: number): OptionInvalid | undefined => {
  if (PairBytes.of(pair) !== undefined) return undefined
  const isRight = (name: "prompt" | "chosen" | "rejected") =>
    typeof pair[name] === "string" || (name === "prompt" && Array.isArray(pair[name]))
  const name = (["prompt", "chosen", "rejected"] as const).find((name) => !isRight(name))
  if (name === undefined) return undefined
  return new OptionInvalid({ option: `pairs[${at}].${name}`, expected: "a text", found: describeValue(pair[name]) })
}
