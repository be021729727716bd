/** Makes flags. A command must store `--rate-limit` as `rateLimit`, because `FlagCombinations` converts names back. */
import { Duration, Effect, Option, Schema } from "effect"
import { CliError, Flag } from "effect/cli"
import { define, type Definition, nameOf, orSetting } from "./Definition.ts"

const lineOf = (description: string, definition: Definition): string =>
  description +
  (definition.default === undefined ? "" : ` (default: ${definition.default})`) +
  (definition.environment === undefined ? "" : ` [${definition.environment}${definition.note ?? ""}]`)

type Options = Definition & { readonly metavar?: string }

export const option = <A>(flag: Flag.Flag<A>, metavar: string, description: string, definition: Definition = {}) =>
  flag.pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(lineOf(description, definition)),
    Flag.optional,
    Flag.map(Option.getOrUndefined),
    orSetting,
    define(definition),
  )

export const required = <A>(flag: Flag.Flag<A>, metavar: string, description: string, definition?: Definition) =>
  option(flag, metavar, description, definition).pipe(
    Flag.mapEffect((value) =>
      value === undefined ? Effect.fail(new CliError.MissingOption({ option: nameOf(flag) })) : Effect.succeed(value),
    ),
  )

export const repeated = <A>(flag: Flag.Flag<A>, metavar: string, description: string, definition: Definition = {}) =>
  flag.pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(lineOf(description, definition)),
    Flag.atLeast(0),
    orSetting,
    define({ ...definition, isRepeatable: true }),
  )

export const toggle = (name: string, description: string, definition: Definition = {}) =>
  Flag.Boolean(name).pipe(
    Flag.withDescription(lineOf(description, definition)),
    Flag.withDefault(false),
    Flag.map((isOn): true | undefined => isOn || undefined),
    orSetting,
    define({ ...definition, isSwitch: true }),
  )

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

export const file = (name: string, description: string, definition?: Definition) =>
  option(Flag.File(name, { mustExist: true }), "FILE", description, { ...definition, path: "whole" })

export const integer = (
  name: string,
  description: string,
  { max, metavar = "N", min, ...definition }: Options & { readonly min?: number; readonly max?: number } = {},
) => {
  const atLeast = min === undefined ? Schema.Int : Schema.Int.check(Schema.isGreaterThanOrEqualTo(min))
  const bounded =
    min === undefined || max === undefined
      ? atLeast
      : Schema.Int.check(Schema.isBetween({ minimum: min, maximum: max }))
  return option(Flag.Int(name).pipe(Flag.withSchema(bounded)), metavar, description, definition)
}

export const literals = <const Values extends ReadonlyArray<string>>(
  name: string,
  values: Values,
  description: string,
  { metavar = values.join("|"), ...definition }: Options = {},
) => option(Flag.Literals(name, values), metavar, description, definition)

export const parsed = <A>(
  name: string,
  parse: (text: string) => Option.Option<A>,
  form: string | ((text: string) => string),
) => Flag.filterMap(Flag.String(name), parse, typeof form === "string" ? () => form : form)

const units: { readonly [unit: string]: (amount: number) => Duration.Duration } = {
  ms: Duration.millis,
  s: Duration.seconds,
  m: Duration.minutes,
  h: Duration.hours,
  d: Duration.days,
}

export const parseDuration = (text: string): Option.Option<Duration.Duration> => {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? []
  return Option.map(Option.fromNullishOr(units[unit]), (of) => of(Number(amount)))
}

export const raw = toggle("raw", "CSV: add no apostrophe to texts that begin like a formula (= + - @)", {
  isTypedOnly: true,
})

export const durationForm = "a duration such as 500ms, 30s, 15m, 12h, or 2d"

export const duration = (name: string, description: string, definition?: Definition) =>
  option(parsed(name, parseDuration, durationForm), "DURATION", description, definition)

export const parseSize = (text: string): Option.Option<number> => {
  const [, amount, unit = ""] = /^([1-9]\d*)(KiB|MiB|GiB)?$/.exec(text) ?? []
  const bytes = Number(amount) * 1024 ** ["", "KiB", "MiB", "GiB"].indexOf(unit)
  return Number.isSafeInteger(bytes) ? Option.some(bytes) : Option.none()
}

export const size = (name: string, description: string, definition?: Definition) =>
  option(parsed(name, parseSize, "a number of bytes, such as 512MiB or 2GiB"), "SIZE", description, definition)

const parseAddress = (text: string) => {
  const [, address, name, port = ""] = /^(?:\[([0-9a-fA-F:.]+)\]:|([^\s:/@[\]]+):)?(\d{1,5})$/.exec(text) ?? []
  return port !== "" && Number(port) <= 65_535
    ? Option.some({ host: address ?? name, port: Number(port) })
    : Option.none()
}

export const address = (name: string, form: string, description: string, definition?: Definition) =>
  option(
    parsed(name, parseAddress, "a port, or an address and a port, such as 8485, 0.0.0.0:8485 or [::1]:8485"),
    form,
    description,
    definition,
  )

export const formatDuration = (duration: Duration.Input): string => Duration.format(Duration.fromInputUnsafe(duration))

export const numberIn = (text: string, min: number, max: number): Option.Option<number> => {
  const number = Number(text)
  return /^-?\d/.test(text) && number >= min && number <= max ? Option.some(number) : Option.none()
}

export const assignment = (text: string): readonly [name: string, value: string] => {
  const at = text.indexOf("=")
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}
