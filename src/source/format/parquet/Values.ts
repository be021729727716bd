/**
 * Converts the values of a Parquet column to JSON. Except for NaN, different values stay different.
 *
 * ```
 * text, enum         text; if it is not UTF-8, the row is rejected
 * JSON               the parsed value; if it is not JSON, the row is rejected
 * bytes              text if they are UTF-8, otherwise { "base64": "…" }
 * fixed-length bytes { "base64": "…" }
 * integers           a number; beyond ±(2^53 - 1), its digits as text
 * decimals           a number if the column's precision is at most 15 digits, otherwise its digits as text
 * floats             a number; NaN is null, infinities are the text "Infinity" and "-Infinity"
 * date               "2026-03-01"
 * time, timestamp    "13:00:00.000", "2026-03-01T13:00:00.000Z"; local times have no Z; the column's unit
 *                    sets the number of digits
 * interval, UUID     "P1M2DT0.500S", "123e4567-e89b-12d3-a456-426614174000"
 * ```
 * https://github.com/apache/parquet-format/blob/master/LogicalTypes.md
 */
import { DateTime, Option, Result } from "effect"
import type { SchemaElement, TimeUnit } from "hyparquet"
import type { RejectCode } from "../../../domain/Reject.ts"
import * as Utf8 from "../../../node/Utf8.ts"
import * as Json from "../../../io/Json.ts"

export class Unusable {
  readonly code: RejectCode
  readonly problem: string
  constructor(code: RejectCode, problem: string) {
    this.code = code
    this.problem = problem
  }
}

export interface Conversion {
  readonly annotation: Pick<SchemaElement, "converted_type" | "logical_type">
  readonly convert: (value: unknown) => unknown
  readonly unsupported?: string
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Invalid bytes become U+FFFD, which valid text can also contain. */
const utf8 = (bytes: Uint8Array): string | undefined => {
  const text = decoder.decode(bytes)
  return text.includes("\uFFFD") && !Utf8.isValid(bytes) ? undefined : text
}

const notUtf8 = new Unusable("invalid_utf8", "expected UTF-8, found invalid bytes")

const base64 = (bytes: Uint8Array) => ({ base64: bufferOf(bytes).toString("base64") })

export const parsers = {
  stringFromBytes: (bytes: Uint8Array) => utf8(bytes) ?? notUtf8,
  jsonFromBytes: (bytes: Uint8Array) => {
    const text = utf8(bytes)
    if (text === undefined) return notUtf8
    return Result.getOrElse(Json.parse(text), (problem) => new Unusable("invalid_json", problem))
  },
  geometryFromBytes: (bytes: Uint8Array) => utf8(bytes) ?? base64(bytes),
  timestampFromNanoseconds: (value: bigint) => timestamp("NANOS", "")(value),
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

const ofFloat = (value: number): number | string | null => {
  if (Number.isFinite(value)) return value
  return Number.isNaN(value) ? null : String(value)
}

const ofInteger = (value: bigint): number | string => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

const bigEndian = (bytes: Uint8Array): bigint =>
  bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${bufferOf(bytes).toString("hex")}`))

/** Maximum number of digits of a decimal. Arrow's maximum is 76. */
const maxPrecision = 200

/** A double is exact for decimals of up to this many digits. */
const maxDoubleDigits = 15

const decimal =
  (scale: number, precision: number) =>
  (value: bigint): number | string => {
    const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0")
    const whole = digits.length - scale
    const text = `${value < 0n ? "-" : ""}${digits.slice(0, whole)}${scale === 0 ? "" : `.${digits.slice(whole)}`}`
    return precision <= maxDoubleDigits ? Number(text) : text
  }

const digitsOf = { MILLIS: 3, MICROS: 6, NANOS: 9 } satisfies Record<TimeUnit, number>

const inSeconds = (value: bigint, unit: TimeUnit): readonly [bigint, string] => {
  const perSecond = 10n ** BigInt(digitsOf[unit])
  const fraction = ((value % perSecond) + perSecond) % perSecond
  return [(value - fraction) / perSecond, `.${String(fraction).padStart(digitsOf[unit], "0")}`]
}

const isoSeconds = (seconds: number): string | undefined => {
  const date = Option.getOrUndefined(DateTime.make(seconds * 1000))
  return date && DateTime.formatIso(date).slice(0, -".000Z".length)
}

const timestamp =
  (unit: TimeUnit, zone: "Z" | "") =>
  (value: bigint): unknown => {
    const [seconds, fraction] = inSeconds(value, unit)
    const text = isoSeconds(Number(seconds))
    return text === undefined ? ofInteger(value) : `${text}${fraction}${zone}`
  }

const time =
  (unit: TimeUnit) =>
  (value: bigint): unknown => {
    const [seconds, fraction] = inSeconds(value, unit)
    if (seconds < 0n || seconds >= 86_400n) return ofInteger(value)
    return `${isoSeconds(Number(seconds))!.slice(-"00:00:00".length)}${fraction}`
  }

const date = (days: number): unknown => isoSeconds(days * 86_400)?.slice(0, -"T00:00:00".length) ?? days

const float16 = (bytes: Uint8Array): number | string | null => {
  const bits = bufferOf(bytes).readUInt16LE()
  const sign = bits >> 15 === 1 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = (bits & 0x3ff) / 1024
  if (exponent === 0x1f) return ofFloat(fraction === 0 ? sign * Infinity : NaN)
  return sign * (exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15))
}

const uuid = (bytes: Uint8Array): string =>
  [4, 6, 8, 10, 16].map((end, i, ends) => bufferOf(bytes).toString("hex", ends[i - 1] ?? 0, end)).join("-")

const interval = (bytes: Uint8Array): string => {
  const buffer = bufferOf(bytes)
  const [seconds, fraction] = inSeconds(BigInt(buffer.readUInt32LE(8)), "MILLIS")
  return `P${buffer.readUInt32LE(0)}M${buffer.readUInt32LE(4)}DT${seconds}${fraction}S`
}

const units: Readonly<Record<string, TimeUnit>> = { MILLIS: "MILLIS", MICROS: "MICROS" }

interface Converters {
  readonly number?: (value: number) => unknown
  readonly bigint?: (value: bigint) => unknown
  readonly bytes?: (bytes: Uint8Array) => unknown
}

const ofInteger64 = (bigint: (value: bigint) => unknown): Converters => ({
  bigint,
  number: (value) => bigint(BigInt(value)),
})

const convertersOf = (element: SchemaElement): Converters => {
  const { converted_type: converted = "", logical_type: logical, type, type_length: width } = element
  const name = logical?.type ?? converted
  const hasWidth = (bytes: number) => type === "FIXED_LEN_BYTE_ARRAY" && width === bytes
  if (name === "DATE") return type === "INT32" ? { number: date } : {}
  if (name === "UUID") return hasWidth(16) ? { bytes: uuid } : {}
  if (name === "FLOAT16") return hasWidth(2) ? { bytes: float16 } : {}
  if (name === "INTERVAL") return hasWidth(12) ? { bytes: interval } : {}
  if (name === "DECIMAL") {
    const { scale = 0, precision = 0 } = logical?.type === "DECIMAL" ? logical : element
    if (scale < 0 || scale > precision || precision > maxPrecision) return {}
    const convert = decimal(scale, precision)
    const bytes = (value: Uint8Array) => (value.length > maxPrecision ? base64(value) : convert(bigEndian(value)))
    return { ...ofInteger64(convert), bytes }
  }
  if (logical?.type === "TIMESTAMP") return ofInteger64(timestamp(logical.unit, logical.isAdjustedToUTC ? "Z" : ""))
  if (logical?.type === "TIME") return ofInteger64(time(logical.unit))
  const [kind, unitName = ""] = converted.split("_")
  const unit = units[unitName]
  if (kind === "TIMESTAMP" && unit !== undefined) return ofInteger64(timestamp(unit, "Z"))
  if (kind === "TIME" && unit !== undefined) return ofInteger64(time(unit))
  const isUnsigned = logical?.type === "INTEGER" ? !logical.isSigned : kind === "UINT"
  if (!isUnsigned) return {}
  return { number: (value) => value >>> 0, bigint: (value) => ofInteger(BigInt.asUintN(64, value)) }
}

const texts = new Set<string | undefined>(["STRING", "UTF8", "ENUM"])

export const conversionOf = (element: SchemaElement): Conversion => {
  const { converted_type: converted, logical_type: logical, type } = element
  const name = logical?.type ?? converted
  const parsed = { convert: (value: unknown) => value }
  if (type === "INT96") return { ...parsed, annotation: {} }
  const isBytes = type === "BYTE_ARRAY" || type === "FIXED_LEN_BYTE_ARRAY"
  if (isBytes && texts.has(name)) return { ...parsed, annotation: { converted_type: "UTF8" } }
  if (isBytes && name === "JSON") return { ...parsed, annotation: { converted_type: "JSON" } }
  if (isBytes && name === "BSON") return { ...parsed, annotation: {}, unsupported: "BSON" }
  const converters = convertersOf(element)
  if (type === "BYTE_ARRAY" && converters.bytes === undefined) {
    return { ...parsed, annotation: { logical_type: { type: "GEOMETRY" } } }
  }
  const {
    number = type === "INT32" ? (value: number) => value : ofFloat,
    bigint = ofInteger,
    bytes = base64,
  } = converters
  const convert = (value: unknown) => {
    if (typeof value === "number") return number(value)
    if (typeof value === "bigint") return bigint(value)
    return value instanceof Uint8Array ? bytes(value) : value
  }
  return { annotation: {}, convert }
}
