/**
 * What a column's values are in JSON.
 *
 * ```
 * text, enum         text; not UTF-8: the row is refused
 * JSON               the value that the text is; no JSON: the row is refused
 * bytes              text where they are UTF-8, else { "base64": "…" }; of fixed length, always the latter
 * integers           a number, beyond ±(2^53 - 1) its digits as text
 * decimals           a number where the column's precision is at most 15 digits, else their digits as text
 * floats             a number; NaN is null, infinities are the text "Infinity" and "-Infinity"
 * date               "2026-03-01"
 * time, timestamp    "13:00:00.000", "2026-03-01T13:00:00.000Z"; without Z where it is a local time; with
 *                    as many digits as the column's unit has
 * interval, UUID     "P1M2DT0.500S", "123e4567-e89b-12d3-a456-426614174000"
 * ```
 *
 * Guarantees: but for NaN, no two values of a column become one.
 *
 * https://github.com/apache/parquet-format/blob/master/LogicalTypes.md
 */
import { DateTime, Option, Result } from "effect"
import type { SchemaElement, TimeUnit } from "hyparquet"
import type { RejectCode } from "../../../domain/Reject.ts"
import * as Utf8 from "../../../node/Utf8.ts"
import * as Json from "../../../io/Json.ts"

/** A value for which its row is refused. */
export class Unusable {
  readonly code: RejectCode
  readonly problem: string
  constructor(code: RejectCode, problem: string) {
    this.code = code
    this.problem = problem
  }
}

/** By the physical type; where an annotation does not fit it, the type's own default. */
export interface Conversion {
  /** INT32, FLOAT and DOUBLE. */
  readonly number: (value: number) => unknown
  /** INT64. */
  readonly bigint: (value: bigint) => unknown
  /** The rest, from `start` up to `end`. */
  readonly bytes: (bytes: Buffer, start: number, end: number) => unknown
  /** Set where there is none. */
  readonly unsupported?: string
}

const replacement = "\uFFFD"

/** Most text has no replacement character: only where there is one, it may have come from decoding. */
const utf8 = (bytes: Buffer, start: number, end: number): string | undefined => {
  const text = bytes.toString("utf8", start, end)
  return text.includes(replacement) && !Utf8.isValid(bytes.subarray(start, end)) ? undefined : text
}

const notUtf8 = new Unusable("invalid_utf8", "expected UTF-8, found bytes that are not")

const text: Conversion["bytes"] = (bytes, start, end) => utf8(bytes, start, end) ?? notUtf8

const json: Conversion["bytes"] = (bytes, start, end) => {
  const found = utf8(bytes, start, end)
  if (found === undefined) return notUtf8
  return Result.getOrElse(Json.parse(found), (problem) => new Unusable("invalid_json", problem))
}

const base64: Conversion["bytes"] = (bytes, start, end) => ({ base64: bytes.toString("base64", start, end) })

const binary: Conversion["bytes"] = (bytes, start, end) => utf8(bytes, start, end) ?? base64(bytes, start, end)

const ofFloat = (value: number): number | string | null => {
  if (Number.isFinite(value)) return value
  return Number.isNaN(value) ? null : String(value)
}

const ofInteger = (value: bigint): number | string => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

/** Two's complement, most significant byte first. */
const bigEndian = (bytes: Buffer, start: number, end: number): bigint =>
  start === end ? 0n : BigInt.asIntN((end - start) * 8, BigInt(`0x${bytes.toString("hex", start, end)}`))

/** Spark and DuckDB have 38, Arrow has 76. */
const precisionMax = 200

/** Decimals of up to this many digits survive a double and back. */
const digitsOfDouble = 15

const decimal =
  (scale: number, precision: number) =>
  (value: bigint): number | string => {
    const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0")
    const whole = digits.length - scale
    const shown = `${value < 0n ? "-" : ""}${digits.slice(0, whole)}${scale === 0 ? "" : `.${digits.slice(whole)}`}`
    return precision <= digitsOfDouble ? Number(shown) : shown
  }

const digitsOf = { MILLIS: 3, MICROS: 6, NANOS: 9 } satisfies Record<TimeUnit, number>

/** Whole seconds, and the fraction as it is written. */
const inSeconds = (value: bigint, unit: TimeUnit): readonly [bigint, string] => {
  const perSecond = 10n ** BigInt(digitsOf[unit])
  const fraction = ((value % perSecond) + perSecond) % perSecond
  return [(value - fraction) / perSecond, `.${String(fraction).padStart(digitsOf[unit], "0")}`]
}

/** `2026-03-01T13:00:00`; undefined beyond the years that a date can have (±271,821). */
const isoSeconds = (seconds: number): string | undefined => {
  const date = Option.getOrUndefined(DateTime.make(seconds * 1000))
  return date && DateTime.formatIso(date).slice(0, -".000Z".length)
}

const timestamp =
  (unit: TimeUnit, zone: "Z" | "") =>
  (value: bigint): unknown => {
    const [seconds, fraction] = inSeconds(value, unit)
    const shown = isoSeconds(Number(seconds))
    return shown === undefined ? ofInteger(value) : `${shown}${fraction}${zone}`
  }

const time =
  (unit: TimeUnit) =>
  (value: bigint): unknown => {
    const [seconds, fraction] = inSeconds(value, unit)
    if (seconds < 0n || seconds >= 86_400n) return ofInteger(value)
    return `${isoSeconds(Number(seconds))!.slice(-"00:00:00".length)}${fraction}`
  }

const date = (days: number): unknown => isoSeconds(days * 86_400)?.slice(0, -"T00:00:00".length) ?? days

/** Nanoseconds of the day, and the Julian day. */
const int96: Conversion["bytes"] = (bytes, start) => {
  const days = BigInt(bytes.readUInt32LE(start + 8)) - 2_440_588n
  return timestamp("NANOS", "")(days * 86_400_000_000_000n + bytes.readBigInt64LE(start))
}

const float16: Conversion["bytes"] = (bytes, start) => {
  const bits = bytes.readUInt16LE(start)
  const sign = bits >> 15 === 1 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = (bits & 0x3ff) / 1024
  if (exponent === 0x1f) return ofFloat(fraction === 0 ? sign * Infinity : NaN)
  return sign * (exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15))
}

const uuid: Conversion["bytes"] = (bytes, start) =>
  [4, 6, 8, 10, 16].map((end, i, ends) => bytes.toString("hex", start + (ends[i - 1] ?? 0), start + end)).join("-")

const interval: Conversion["bytes"] = (bytes, start) => {
  const [seconds, fraction] = inSeconds(BigInt(bytes.readUInt32LE(start + 8)), "MILLIS")
  return `P${bytes.readUInt32LE(start)}M${bytes.readUInt32LE(start + 4)}DT${seconds}${fraction}S`
}

const plain = (type: SchemaElement["type"]): Conversion => ({
  number: type === "INT32" ? (value) => value : ofFloat,
  bigint: ofInteger,
  bytes: type === "INT96" ? int96 : type === "BYTE_ARRAY" ? binary : base64,
})

const ofBigint = (convert: (value: bigint) => unknown): Pick<Conversion, "bigint" | "number"> => ({
  bigint: convert,
  number: (value) => convert(BigInt(value)),
})

const units: Readonly<Record<string, TimeUnit>> = { MILLIS: "MILLIS", MICROS: "MICROS" }

/** What the annotations, the present ones and those of older writers, change of the default. */
const annotated = (element: SchemaElement): Partial<Conversion> => {
  const { converted_type: converted = "", logical_type: logical, type, type_length: width } = element
  const name = logical?.type ?? converted
  const isOf = (bytes: number) => type === "FIXED_LEN_BYTE_ARRAY" && width === bytes
  if (name === "STRING" || name === "UTF8" || name === "ENUM") return { bytes: text }
  if (name === "JSON") return { bytes: json }
  if (name === "BSON") return { unsupported: "BSON" }
  if (name === "DATE") return type === "INT32" ? { number: date } : {}
  if (name === "UUID") return isOf(16) ? { bytes: uuid } : {}
  if (name === "FLOAT16") return isOf(2) ? { bytes: float16 } : {}
  if (name === "INTERVAL") return isOf(12) ? { bytes: interval } : {}
  if (name === "DECIMAL") {
    const { scale = 0, precision = 0 } = logical?.type === "DECIMAL" ? logical : element
    if (scale < 0 || scale > precision || precision > precisionMax) return {}
    const convert = decimal(scale, precision)
    return {
      ...ofBigint(convert),
      bytes: (bytes, start, end) =>
        end - start > precisionMax ? base64(bytes, start, end) : convert(bigEndian(bytes, start, end)),
    }
  }
  if (logical?.type === "TIMESTAMP") return ofBigint(timestamp(logical.unit, logical.isAdjustedToUTC ? "Z" : ""))
  if (logical?.type === "TIME") return ofBigint(time(logical.unit))
  const [kind, unitName = ""] = converted.split("_")
  const unit = units[unitName]
  if (kind === "TIMESTAMP" && unit !== undefined) return ofBigint(timestamp(unit, "Z"))
  if (kind === "TIME" && unit !== undefined) return ofBigint(time(unit))
  const isUnsigned = logical?.type === "INTEGER" ? !logical.isSigned : kind === "UINT"
  if (!isUnsigned) return {}
  return { number: (value) => value >>> 0, bigint: (value) => ofInteger(BigInt.asUintN(64, value)) }
}

export const conversionOf = (element: SchemaElement): Conversion => ({ ...plain(element.type), ...annotated(element) })
