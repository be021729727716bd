/**
 * Signs and verifies webhooks with HMAC. `SignatureSettings` describe the signatures of a service. A header can hold
 * several signatures, separated by commas, semicolons, spaces, or braces. A signature that does not have the expected
 * form is ignored. Times and ids are read only from headers. Before the first delivery, `validate` refuses settings
 * that contradict each other. It also refuses settings that leave the time unsigned.
 */
import { Array as Arr, Bytes, Clock, DateTime, Duration, Effect, Option, Predicate, RegExp as Regex } from "effect"
import { Mac } from "effect/crypto"
import { Base64, Base64Url, Hex } from "effect/encoding"
import { didYouMean } from "../io/NearestName.ts"
import { joinWords } from "../io/Values.ts"
import { read, type SecretForm, type SecretInput, type WebhookSecret } from "./WebhookSecret.ts"
import {
  type Attempt,
  defaultTolerance,
  InvalidWebhookSetting,
  matchAny,
  maxTolerance,
  refuse,
  requireHeaders,
  type SignatureScheme,
} from "./WebhookSignature.ts"

/** How a service signs its webhooks. */
export interface SignatureSettings {
  /** Header with one or more signatures. */
  readonly header: string
  /** Template of the signed text: `{body}` once, optionally `{id}`, `{timestamp}`, and `{url}`. Default `{body}`. */
  readonly signed?: string | undefined
  /** Hash of the HMAC; `sha1` logs a warning. With `none`, the header holds the secret. Default `sha256`. */
  readonly digest?: "sha256" | "sha512" | "sha1" | "none" | undefined
  /** How signatures are written. Default `hex`. */
  readonly encoding?: "hex" | "base64" | "base64url" | undefined
  /** The text before each signature in the header, such as `sha256=` or `v1,`. Default: no text. */
  readonly prefix?: string | undefined
  /** Name of the header with the time, such as `x-timestamp`; or the text before the time in `header`, such as `t=`. */
  readonly timestamp?: string | undefined
  /** Form of the time: seconds (`s`) or milliseconds (`ms`) since 1970, or RFC 3339 (`iso`). Default `s`. */
  readonly unit?: "s" | "ms" | "iso" | undefined
  /** Maximum difference between the signed time and this machine's clock: 1 second to 1 hour. Default 5 minutes. */
  readonly tolerance?: Duration.Input | undefined
  /** Name of the header with the message's id. The id need not be signed. */
  readonly id?: string | undefined
  /** The webhook address that is set at the service. It replaces `{url}` in `signed`. */
  readonly url?: string | undefined
  /** How secrets are written. Default `text`. */
  readonly key?: SecretForm | undefined
}

const encodings = {
  hex: { codec: Hex, pattern: (length: number) => `[0-9A-Fa-f]{${2 * length}}` },
  base64: { codec: Base64, pattern: (length: number) => `[A-Za-z0-9+/]{${Math.ceil((4 * length) / 3)}}={0,2}` },
  base64url: { codec: Base64Url, pattern: (length: number) => `[\\w-]{${Math.ceil((4 * length) / 3)}}={0,2}` },
}
const digests = {
  sha256: { algorithm: Mac.hmacSha256, length: 32 },
  sha512: { algorithm: Mac.hmacSha512, length: 64 },
  sha1: { algorithm: Mac.hmacSha1, length: 20 },
}
const units = {
  s: { read: (text: string) => integer(text, 12), write: String, form: "a number of seconds since 1970" },
  ms: {
    read: (text: string) => integer(text, 15) / 1000,
    write: (seconds: number) => String(seconds * 1000),
    form: "a number of milliseconds since 1970",
  },
  iso: {
    read: (text: string) =>
      /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text)
        ? (Option.getOrUndefined(DateTime.make(text))?.epochMilliseconds ?? Number.NaN) / 1000
        : Number.NaN,
    write: (seconds: number) => DateTime.formatIso(DateTime.makeUnsafe(seconds * 1000)),
    form: "a time such as 2026-11-26T06:30:00Z",
  },
}

const integer = (text: string, maxDigits: number): number =>
  /^\d+$/.test(text) && text.length <= maxDigits ? Number(text) : Number.NaN

type Check = readonly [expected: string, accepts: (value: unknown) => boolean]

const text = (expected: string, pattern: RegExp): Check => [
  `expected ${expected}`,
  (value) => Predicate.isString(value) && pattern.test(value),
]
const oneOf = (values: ReadonlyArray<string>): Check => [
  `expected ${joinWords(values, "or")}`,
  (value) => values.some((name) => name === value),
]

const isTolerance = Duration.between({ minimum: Duration.seconds(1), maximum: Duration.fromInputUnsafe(maxTolerance) })

const header = String.raw`[\w!#$%&'*+.^\`|~-]+`

const headerName = new RegExp(`^${header}$`)

export const isHeaderName = (text: string): boolean => headerName.test(text)

const checks: { readonly [Name in keyof Required<SignatureSettings>]: Check } = {
  header: text("a header name, such as x-signature", headerName),
  signed: text(
    "a text that contains {body} exactly once, such as {timestamp}.{body}; other placeholders are {id}, {timestamp} and {url}",
    /^(?!.*\{body\}.*\{body\})(?=.*\{body\})(?:[^{}]|\{(?:id|timestamp|url|body)\})*$/s,
  ),
  digest: oneOf([...Object.keys(digests), "none"]),
  encoding: oneOf(Object.keys(encodings)),
  prefix: text("the text before each signature, such as sha256=", /^[\x21-\x7e]*$/),
  timestamp: text(
    "a header name, such as x-timestamp, if the time has its own header; or a text that ends in =, such as t=, if the time follows this text in the signature header",
    new RegExp(`^${header}=?$`),
  ),
  unit: oneOf(Object.keys(units)),
  tolerance: [
    "expected 1 second to 1 hour",
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `fromInput` returns none for any other value
    (value) => Option.exists(Duration.fromInput(value as Duration.Input), isTolerance),
  ],
  id: text("a header name, such as x-delivery-id", headerName),
  url: text("an http or https URL", /^https?:\/\/\S+$/),
  key: oneOf(["text", "hex", "base64", "whsec"]),
}

const settingNames = Object.keys(checks)

/** Returns the settings, or fails for the first invalid one. Checks types, because JavaScript can pass any value. */
export const validate = Effect.fnUntraced(function* (
  settings: SignatureSettings,
): Effect.fn.Return<SignatureSettings, InvalidWebhookSetting> {
  const wrong = (setting: string, problem: string) => new InvalidWebhookSetting({ setting, problem })
  if (!Predicate.isObject(settings)) return yield* wrong("scheme", "expected a name or settings")
  const values: { readonly [name: string]: unknown } = { ...settings }
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(checks, name))
  if (unknown !== undefined) {
    const names = joinWords(settingNames, "or")
    return yield* wrong(unknown, `unknown setting${didYouMean(unknown, settingNames)}: expected ${names}`)
  }
  for (const [name, [expected, accepts]] of Object.entries(checks)) {
    if ((values[name] !== undefined || name === "header") && !accepts(values[name])) return yield* wrong(name, expected)
  }
  const { digest, signed = "{body}", timestamp } = settings
  const extra = Object.entries(values).find(([name, value]) => value !== undefined && !/digest|header/.test(name))
  if (digest === "none" && extra !== undefined)
    return yield* wrong(extra[0], 'not allowed with `digest: "none"`, which signs nothing: remove this setting')
  for (const name of ["id", "timestamp", "url"] as const) {
    const isSigned = signed.includes(`{${name}}`)
    if (isSigned && settings[name] === undefined) return yield* wrong(name, `required, because {${name}} is signed`)
    // An id may be unsigned: it still identifies repeated deliveries. A time must be signed to prevent replays.
    if (!isSigned && settings[name] !== undefined && name !== "id") {
      return yield* wrong(
        name,
        `allowed only if the signature covers this value: add {${name}} to the setting \`signed\``,
      )
    }
  }
  for (const name of ["unit", "tolerance"] as const) {
    if (timestamp === undefined && settings[name] !== undefined)
      return yield* wrong(name, "allowed only together with the setting `timestamp`")
  }
  return settings
})

const separators = String.raw`\s,;{}`

const compile = (settings: SignatureSettings) => {
  const { digest = "sha256", encoding = "hex", prefix = "", signed = "{body}", unit = "s", url } = settings
  const [before = "", after = ""] = signed.split("{body}")
  const fill = (template: string, values: { readonly [name: string]: string | undefined }) =>
    new TextEncoder().encode(template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name]!))
  const { algorithm, length } = digests[digest === "none" ? "sha256" : digest]
  const member = settings.timestamp?.endsWith("=") === true ? settings.timestamp : undefined
  const expression = (name: string, value: string) =>
    new RegExp(`(?<=^|[${separators}])${Regex.escape(name)}(${value})(?=$|[${separators}])`, "g")
  return {
    header: settings.header.toLowerCase(),
    id: settings.id?.toLowerCase(),
    isIdSigned: signed.includes("{id}"),
    timestamp: member === undefined ? settings.timestamp?.toLowerCase() : undefined,
    member,
    memberPattern: expression(member ?? "", `[^${separators}]*`),
    prefix,
    algorithm,
    codec: encodings[encoding].codec,
    signature: expression(prefix, encodings[encoding].pattern(length)),
    form: `${prefix === "" ? "" : `${prefix} and `}${encoding === "hex" ? `${2 * length} hex digits` : `${encoding} of ${length} bytes`}`,
    unit: units[unit],
    contentOf: (body: Uint8Array, id: string | undefined, timestamp: string | undefined) =>
      Bytes.concat([fill(before, { id, timestamp, url }), body, fill(after, { id, timestamp, url })]),
  }
}

export const sign = Effect.fn("HmacSignature.sign")(function* (
  settings: SignatureSettings,
  attempt: Attempt,
  secrets: ReadonlyArray<WebhookSecret>,
) {
  const mac = yield* Mac.Mac
  const { codec, contentOf, header, id, member, prefix, timestamp, unit } = compile(settings)
  const time = unit.write(attempt.timestamp)
  const content = contentOf(attempt.body, attempt.id, time)
  const tags = yield* Effect.forEach(secrets, (secret) => Effect.orDie(mac.sign(secret, content)))
  const signatures = tags.map((tag) => prefix + codec.encode(tag))
  const headers: { readonly [header: string]: string } = {
    ...(id !== undefined && { [id]: attempt.id }),
    ...(timestamp !== undefined && { [timestamp]: time }),
    [header]: member === undefined ? signatures.join(" ") : [`${member}${time}`, ...signatures].join(","),
  }
  return headers
})

export const make = Effect.fnUntraced(function* (
  settings: SignatureSettings,
  inputs: Arr.NonEmptyReadonlyArray<SecretInput>,
  name: string,
) {
  const mac = yield* Mac.Mac
  const { contentOf, header, id, isIdSigned, member, timestamp, unit, ...compiled } = compile(settings)
  const secrets = yield* Effect.forEach(inputs, (input) => read(input, settings.key, compiled.algorithm))
  if (settings.digest === "sha1") {
    yield* Effect.logWarning("webhooks are verified by SHA-1, which is outdated: use sha256 if the service offers it")
  }
  const tolerance = Duration.fromInputUnsafe(settings.tolerance ?? defaultTolerance)
  const needed = [isIdSigned ? id : undefined, timestamp, header].filter(Predicate.isNotUndefined)

  const checkTime = Effect.fnUntraced(function* (written: string) {
    const sent = unit.read(written)
    if (Number.isNaN(sent)) return yield* refuse("timestamp_malformed", `its timestamp is not ${unit.form}`)
    const age = Math.floor((yield* Clock.currentTimeMillis) / 1000) - sent
    const allowed = Duration.format(tolerance)
    if (Math.abs(age) <= Duration.toSeconds(tolerance)) return sent
    return yield* age > 0
      ? refuse("too_old", `it is older than ${allowed} by this machine's clock`)
      : refuse("too_new", `its timestamp is more than ${allowed} in the future by this machine's clock`)
  })

  return {
    unsignedId: isIdSigned ? undefined : id,
    open: Effect.fn("HmacSignature.open")(function* ({ headers }) {
      yield* requireHeaders(headers, needed, name)
      const value = headers[header]!
      const tags = Array.from(value.matchAll(compiled.signature), ([, text = ""]) => compiled.codec.decode(text))
      if (tags.length === 0) {
        return yield* refuse("header_malformed", `its ${header} has no signature: expected ${compiled.form}`)
      }
      const members = member === undefined ? [] : value.matchAll(compiled.memberPattern)
      const [inHeader, ...others] = new Set(Array.from(members, ([, text]) => text))
      if ((member !== undefined && inHeader === undefined) || others.length > 0) {
        return yield* refuse(
          "header_malformed",
          `its ${header} has no timestamp, or several: expected exactly one ${member}`,
        )
      }
      const written = inHeader ?? headers[timestamp ?? ""]
      const sent = written === undefined ? undefined : yield* checkTime(written)
      const messageId = isIdSigned ? headers[id!] : undefined
      return (body) =>
        matchAny(mac, secrets, contentOf(body, messageId, written), Arr.getSuccesses(tags)).pipe(
          Effect.as({
            ...(messageId !== undefined && { id: messageId }),
            ...(sent !== undefined && { timestamp: sent }),
          }),
        )
    }),
    sign: (attempt) => Effect.provideService(sign(settings, attempt, secrets), Mac.Mac, mac),
  } satisfies SignatureScheme
})
