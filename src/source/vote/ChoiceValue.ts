/** Helpers that read the raw value of a choice, such as `["model_a"]` or `1`, before it is matched to a completion. */
import { isObject } from "../../io/Values.ts"
import { fromText } from "../record/Field.ts"
import { numberOf, truthOf } from "./ChoiceMap.ts"

export const unwrap = (rawValue: unknown, completions: ReadonlyArray<string>): unknown => {
  let value = rawValue
  for (let depth = 0; depth < 4; depth++) {
    const parsed = typeof value === "string" && completions.includes(value) ? value : fromText(value)
    const inner = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : parsed
    const content = isObject(inner) ? (inner["selected"] ?? inner["choices"] ?? inner) : inner
    if (content === value) break
    value = content
  }
  return value
}

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
