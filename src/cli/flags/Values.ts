/**
 * Makes flags of each kind, and parses the values that several flags accept.
 *
 * Guarantees: a flag has one line of help, which names its value, and a definition for help, settings files, and their
 * schema. Commands must store a flag under its name in camel case, from which `Rules` derives its spelling.
 */
import { Duration, Effect, Option, Schema } from "effect"
import { CliError, Flag } from "effect/cli"
import { define, type Definition, nameOf, orSetting } from "./Definition.ts"

/** Makes the line of help from the description, the default, and the environment variable. */
const lineOf = (description: string, definition: Definition): string =>
  description +
  (definition.default === undefined ? "" : ` (default: ${definition.default})`) +
  (definition.environment === undefined ? "" : ` [${definition.environment}${definition.note ?? ""}]`)

/** A flag that may occur once. Its value is undefined if it is not set. */
export const option = <A>(flag: Flag.Flag<A>, metavar: string, description: string, definition: Definition = {}) =>
  flag.pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(lineOf(description, definition)),
    Flag.optional,
    Flag.map(Option.getOrUndefined),
    orSetting,
    define(definition),
  )

/** A flag that must be typed, or set by the environment or a settings file. */
export const required = <A>(flag: Flag.Flag<A>, metavar: string, description: string, definition?: Definition) =>
  option(flag, metavar, description, definition).pipe(
    Flag.mapEffect((value) =>
      value === undefined ? Effect.fail(new CliError.MissingOption({ option: nameOf(flag) })) : Effect.succeed(value),
    ),
  )

/** A flag that may occur any number of times. */
export const repeated = <A>(flag: Flag.Flag<A>, metavar: string, description: string, definition: Definition = {}) =>
  flag.pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(lineOf(description, definition)),
    Flag.atLeast(0),
    orSetting,
    define({ ...definition, isRepeatable: true }),
  )

/** A flag without a value: true if set, else undefined. */
export const toggle = (name: string, description: string, definition: Definition = {}) =>
  Flag.Boolean(name).pipe(
    Flag.withDescription(lineOf(description, definition)),
    Flag.withDefault(false),
    Flag.map((isOn): true | undefined => isOn || undefined),
    orSetting,
    define({ ...definition, isSwitch: true }),
  )

/** A flag without a value: true for `--NAME`, false for `--no-NAME`, and undefined if neither is set. */
export const choice = (name: string, description: string, definition: Definition = {}) =>
  Flag.Boolean(name).pipe(
    Flag.withDescription(lineOf(description, definition)),
    Flag.optional,
    Flag.map(Option.getOrUndefined),
    orSetting,
    define({ ...definition, isSwitch: true }),
  )

export const text = (name: string, metavar: string, description: string, definition?: Definition) =>
  option(Flag.String(name), metavar, description, definition)

/** A flag for the path of a file that must exist. */
export const file = (name: string, description: string, definition?: Definition) =>
  option(Flag.File(name, { mustExist: true }), "FILE", description, { ...definition, path: "whole" })

/** A flag for a whole number within the given bounds, which are inclusive. */
export const integer = (name: string, { min, max }: { readonly min?: number; readonly max?: number } = {}) =>
  Flag.Int(name).pipe(Flag.withSchema(min === undefined ? Schema.Int : integerFrom(min, max)))

const integerFrom = (min: number, max?: number) =>
  Schema.Int.check(
    max === undefined ? Schema.isGreaterThanOrEqualTo(min) : Schema.isBetween({ minimum: min, maximum: max }),
  )

const units: { readonly [unit: string]: (amount: number) => Duration.Duration } = {
  ms: Duration.millis,
  s: Duration.seconds,
  m: Duration.minutes,
  h: Duration.hours,
  d: Duration.days,
}

/** Parses a duration such as `500ms`, `30s`, `15m`, `12h` or `2d`. */
export const parseDuration = (text: string): Option.Option<Duration.Duration> => {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? []
  return Option.map(Option.fromNullishOr(units[unit]), (of) => of(Number(amount)))
}

export const raw = toggle("raw", "CSV: leave texts that begin like a formula (= + - @) without an apostrophe", {
  isTypedOnly: true,
})

export const durationForm = "a duration such as 500ms, 30s, 15m, 12h or 2d"

export const duration = (name: string, description: string, definition?: Definition) =>
  option(Flag.String(name).pipe(Flag.filterMap(parseDuration, () => durationForm)), "DURATION", description, definition)

/** Parses a whole number of bytes above zero, such as `512MiB`, `2GiB` or `1000000`. */
export const parseSize = (text: string): Option.Option<number> => {
  const [, amount, unit = ""] = /^([1-9]\d*)(KiB|MiB|GiB)?$/.exec(text) ?? []
  const bytes = Number(amount) * 1024 ** ["", "KiB", "MiB", "GiB"].indexOf(unit)
  return Number.isSafeInteger(bytes) ? Option.some(bytes) : Option.none()
}

export const size = (name: string, description: string, definition?: Definition) =>
  option(
    Flag.String(name).pipe(Flag.filterMap(parseSize, () => "a number of bytes, such as 512MiB or 2GiB")),
    "SIZE",
    description,
    definition,
  )

/** Parses an address such as `8485`, `0.0.0.0:8485` or `[::1]:8485`. */
const parseAddress = (text: string) => {
  const [, address, name, port = ""] = /^(?:\[([0-9a-fA-F:.]+)\]:|([^\s:/@[\]]+):)?(\d{1,5})$/.exec(text) ?? []
  return port !== "" && Number(port) <= 65_535
    ? Option.some({ host: address ?? name, port: Number(port) })
    : Option.none()
}

export const address = (name: string, form: string, description: string, definition?: Definition) =>
  option(
    Flag.String(name).pipe(
      Flag.filterMap(parseAddress, () => "a port, or an address and a port, such as 8485, 0.0.0.0:8485 or [::1]:8485"),
    ),
    form,
    description,
    definition,
  )

export const formatDuration = (duration: Duration.Input): string => Duration.format(Duration.fromInputUnsafe(duration))

export const numberIn = (text: string, min: number, max: number): Option.Option<number> => {
  const number = Number(text)
  return /^-?\d/.test(text) && number >= min && number <= max ? Option.some(number) : Option.none()
}

/** Splits `NAME=VALUE` at the first `=`. Without one, the value is empty. */
export const assignment = (text: string): readonly [name: string, value: string] => {
  const at = text.indexOf("=")
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}
