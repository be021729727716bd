/** Checks the types of settings, because programs may run without a type check. */
import { Duration, Effect, Layer, Option, Predicate, Redacted, Stream } from "effect"
import { SettingInvalid } from "./SettingInvalid.ts"
import * as OptionText from "./OptionText.ts"
import { describeValue, isObject, joinWords } from "./Values.ts"

export type SettingKind = readonly [expected: string, isRight: (value: unknown) => boolean]

export type Kinds = { readonly [setting: string]: SettingKind }

export type KindsOf<Options> = { readonly [Name in keyof Required<Options>]: SettingKind }

export const text: SettingKind = ["a non-empty text", (value) => typeof value === "string" && value !== ""]
export const anyText: SettingKind = ["a text", Predicate.isString]
export const flag: SettingKind = ["true or false", Predicate.isBoolean]
export const number: SettingKind = ["a number", Predicate.isNumber]
export const list: SettingKind = ["a list", Array.isArray]
export const texts: SettingKind = [
  "a list of texts",
  (value) => Array.isArray(value) && value.every(Predicate.isString),
]
export const textOrTexts: SettingKind = [
  "a text, or a list of texts",
  (value) => Predicate.isString(value) || texts[1](value),
]
export const object: SettingKind = ["an object", isObject]
export const recordOf = (expected: string, [, isRight]: SettingKind): SettingKind => [
  expected,
  (value) => isObject(value) && Object.values(value).every((member) => member === undefined || isRight(member)),
]
export const shares = recordOf("an object with the shares of splits, such as { test: 0.1 }", number)
export const objectOf = (expected: string, kinds: Kinds): SettingKind => [
  expected,
  (value) => wrongIn(value, kinds) === undefined,
]
export const redacted: SettingKind = [
  "a redacted text",
  (value) => Redacted.isRedacted(value) && Predicate.isString(Redacted.value(value)),
]
export const layer: SettingKind = ["a layer", Layer.isLayer]
export const stream: SettingKind = ["a stream", Stream.isStream]
export const source: SettingKind = [
  "a source, such as Source.files(…)",
  (value) => Predicate.hasProperty(value, "records") && Stream.isStream(value.records),
]
export const fn: SettingKind = ["a function", Predicate.isFunction]
const isTime = (value: unknown, isRight: (millis: number) => boolean): boolean =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it answers none for anything else
  Option.exists(Duration.fromInput(value as Duration.Input), (time) => isRight(Duration.toMillis(time)))
export const time: SettingKind = ['a time, such as "12 hours"', (value) => isTime(value, (millis) => millis >= 0)]
export const timeAbove0: SettingKind = [
  'a time above 0, such as "12 hours"',
  (value) => isTime(value, (millis) => millis > 0),
]
export const any: SettingKind = ["any value", () => true]

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text

export const all = <const Names extends string>(kind: SettingKind, names: Names) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type splits the names in the same way
  Object.fromEntries(names.split(" ").map((name) => [name, kind])) as { readonly [Name in Words<Names>]: SettingKind }

export const wrongIn = (
  settings: unknown,
  kinds: Kinds,
  required: ReadonlyArray<string> = [],
  name = "options",
): { readonly setting: string; readonly expected: string; readonly found: string } | undefined => {
  if (!isObject(settings)) {
    const expected = required.length === 0 ? "an object" : `an object with ${joinWords(required.map(OptionText.of))}`
    return { setting: name, expected, found: describeValue(settings) }
  }
  for (const [setting, [expected, isRight]] of Object.entries(kinds)) {
    const value = settings[setting]
    if (value === undefined ? required.includes(setting) : !isRight(value))
      return { setting, expected, found: describeValue(value) }
  }
  return undefined
}

export const describe = (wrong: NonNullable<ReturnType<typeof wrongIn>>): string =>
  `${wrong.setting}: expected ${wrong.expected}, found ${wrong.found}`

export const check = (...args: Parameters<typeof wrongIn>): Effect.Effect<void, SettingInvalid> => {
  const wrong = wrongIn(...args)
  return wrong === undefined ? Effect.void : Effect.fail(new SettingInvalid(wrong))
}

export const checkStream = (items: unknown, options: unknown, kinds: Kinds): Effect.Effect<void, SettingInvalid> =>
  Effect.andThen(check({ items }, { items: stream }, ["items"]), () => check(options, kinds))
