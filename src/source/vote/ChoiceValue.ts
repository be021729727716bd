/** Values of choices, before it is known what they mean. */
import { isObject } from "../../io/Values.ts"
import { fromText } from "../record/Field.ts"
import { numberOf, truthOf } from "./ChoiceMap.ts"

/** Of Label Studio's flat exports and of lists with one element, what is in them. A completion's text stays as it is. */
export const unwrap = (given: unknown, completions: ReadonlyArray<string>): unknown => {
  let value = given
  for (let depth = 0; depth < 4; depth++) {
    const parsed = typeof value === "string" && completions.includes(value) ? value : fromText(value)
    const inner = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : parsed
    const said = isObject(inner) ? (inner["selected"] ?? inner["choices"] ?? inner) : inner
    if (said === value) break
    value = said
  }
  return value
}

/** A name, its ends after each word, and its beginnings: `winner_model_a`, `model_a`, `a`, `winner_model`, `winner`. */
export const partsOf = (name: string): ReadonlyArray<string> => {
  const gaps = [...name.matchAll(/[_\s.:-]+/g)]
  return [
    name,
    ...gaps.map(({ 0: gap, index }) => name.slice(index + gap.length)),
    ...gaps.toReversed().map(({ index }) => name.slice(0, index)),
  ]
}

export const isOne = (value: unknown): boolean => numberOf(value) === 1 || truthOf(value) === true
export const isZero = (value: unknown): boolean => numberOf(value) === 0 || truthOf(value) === false
