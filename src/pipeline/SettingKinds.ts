/**
 * The kinds of setting values. They are checked at run time, because programs may be written without a type check.
 *
 * Ranges are not checked here: the steps that use a setting check its range.
 */
import { Duration, Layer, Option, Predicate } from "effect"

export type Kind = readonly [expected: string, isRight: (value: unknown) => boolean]

export const text: Kind = ["a non-empty text", (value) => typeof value === "string" && value !== ""]
export const flag: Kind = ["true or false", Predicate.isBoolean]
export const number: Kind = ["a number", Predicate.isNumber]
export const list: Kind = ["a list", Array.isArray]
export const object: Kind = ["an object", (value) => Predicate.isObject(value) && !Array.isArray(value)]
export const layer: Kind = ["a layer", Layer.isLayer]
export const fn: Kind = ["a function", Predicate.isFunction]
const isTime = (value: unknown, isRight: (millis: number) => boolean): boolean =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it answers none for anything else
  Option.exists(Duration.fromInput(value as Duration.Input), (time) => isRight(Duration.toMillis(time)))
export const time: Kind = ['a time, such as "12 hours"', (value) => isTime(value, (millis) => millis >= 0)]
export const timeAbove0: Kind = ['a time above 0, such as "12 hours"', (value) => isTime(value, (millis) => millis > 0)]
/** Accepts any value. The step that uses the setting checks it. */
export const any: Kind = ["any value", () => true]
