/** Derives models from columns: `gpt-4` and `llama` from `answer_gpt-4` and `llama_response`; not from `response_a`. */
import * as KnownNames from "../record/KnownNames.ts"
import type { Field } from "../record/Field.ts"

export const ofColumns = (columns: ReadonlyArray<Field>): ReadonlyArray<string> | undefined => {
  const names = columns.map((column) => nameIn(column, columns))
  if (!names.every((name) => name !== undefined) || hasCount(names)) return undefined
  const models = names.map(withoutStems)
  const areModels = models.some(isKnown) && !models.some(isGeneric) && !hasCount(models)
  return areModels && new Set(models).size === models.length ? models : undefined
}

export const modelsFromNames = (columns: ReadonlyArray<Field>): ReadonlyArray<string> | undefined => {
  const names = columns.map((column) => nameIn(column, columns))
  if (!names.every((name) => name !== undefined)) return undefined
  const models = names.map(withoutStems)
  return models.some((model) => /^(?:\p{L}|\d+)$/u.test(model)) || new Set(models).size < models.length ? names : models
}

export const candidates = (columns: ReadonlyArray<Field>): ReadonlyArray<string> | undefined => {
  const names = ofColumns(columns) === undefined ? modelsFromNames(columns) : undefined
  return names?.every(isGeneric) === false ? names : undefined
}

const nameIn = ({ isTemplate, paths: [path = []] }: Field, columns: ReadonlyArray<Field>): string | undefined => {
  const name = path.find((step, i) => columns.some(({ paths: [other] }) => other?.[i] !== step))
  return isTemplate || typeof name !== "string" ? undefined : name
}

const stems = "responses?|outputs?|completions?|answers?|generations?|repl(?:y|ies)|summar(?:y|ies)|predictions?"
const gap = "[\\s_.:-]+"
const leadingWord = new RegExp(`^(?:${stems}|models?|candidates?|assistants?|generated|by|from|of)${gap}(?=.)`, "i")
const trailingWord = new RegExp(`(?<=.)${gap}(?:${stems}|texts?)$`, "i")

const withoutStems = (name: string): string => {
  const rest = name.trim().replace(leadingWord, "").replace(trailingWord, "")
  return rest === name ? name : withoutStems(rest)
}

const size = /(?<![\p{L}\p{N}])\d+(?:\.\d+)?b(?![\p{L}\p{N}])/iu

const isKnown = (name: string): boolean =>
  size.test(name) || (name.toLowerCase().match(/\p{L}+/gu) ?? []).some((word) => KnownNames.modelFamilies.has(word))

const isGeneric = (name: string): boolean =>
  name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .every((word) => /^(?:\p{L}|v?\d*)$/u.test(word) || KnownNames.genericWords.has(word.replace(/\d+$/, "")))

const numberedName = /^(.*?)[\s_.:-]*((?<!\d)(?:0|[1-9]\d*)|(?<=\p{Ll})\p{Lu}|(?<=^|[\s_.:-])\p{L})$/u

const hasCount = (names: ReadonlyArray<string>): boolean => {
  const ends = new Map<string, ReadonlyArray<string>>()
  for (const name of names) {
    const [, before, end] = numberedName.exec(name) ?? []
    if (before !== undefined && end !== undefined) ends.set(before, [...(ends.get(before) ?? []), end])
  }
  return [...ends.values()].some(isCount)
}

const isCount = (ends: ReadonlyArray<string>): boolean => {
  if (ends.length < 2) return false
  const numbers = ends.map(Number)
  if (numbers.every(Number.isNaN)) return true
  const smallest = Math.min(...numbers)
  return smallest <= 1 && numbers.every((number) => number < smallest + numbers.length)
}
