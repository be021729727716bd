/**
 * The values of a page, one by one, in each of the format's encodings.
 *
 * Guarantees: what a page does not hold throws `Damage`. Texts are made when they are asked for, so that a
 * page of 100 MB is no more than that in memory.
 *
 * https://github.com/apache/parquet-format/blob/master/Encodings.md
 */
import { damaged } from "./ParquetDamage.ts"
import * as Runs from "./ParquetRuns.ts"
import type { Leaf } from "./ParquetSchema.ts"

/** The next value, in JSON's terms. */
export type Next = () => unknown

const encodings = [
  "PLAIN",
  "GROUP_VAR_INT",
  "PLAIN_DICTIONARY",
  "RLE",
  "BIT_PACKED",
  "DELTA_BINARY_PACKED",
  "DELTA_LENGTH_BYTE_ARRAY",
  "DELTA_BYTE_ARRAY",
  "RLE_DICTIONARY",
  "BYTE_STREAM_SPLIT",
] as const

/**
 * @param bytes of the page, of which values begin at `start`
 * @param count of values, without nulls
 * @throws Damage; so does `Next`
 */
export const values = (
  leaf: Leaf,
  encoding: number,
  bytes: Buffer,
  start: number,
  count: number,
  dictionary: ReadonlyArray<unknown> | undefined,
): Next => {
  const name = encodings[encoding]
  if (count === 0) return none
  if (name === "PLAIN") return plain(leaf, bytes, start, count)
  if (name === "PLAIN_DICTIONARY" || name === "RLE_DICTIONARY") return indexed(bytes, start, count, dictionary)
  if (name === "RLE" && leaf.type === "BOOLEAN") return booleans(bytes, start, count)
  if (name === "BYTE_STREAM_SPLIT") return plain(leaf, together(leaf, bytes, start, count), 0, count)
  if (name === "DELTA_BINARY_PACKED" && leaf.type === "INT32") {
    return each(Runs.deltas(new Int32Array(count), bytes, { at: start }, bytes.length), leaf.conversion.number)
  }
  if (name === "DELTA_BINARY_PACKED" && leaf.type === "INT64") {
    return each(Runs.deltas(new BigInt64Array(count), bytes, { at: start }, bytes.length), leaf.conversion.bigint)
  }
  const isBytes = leaf.type === "BYTE_ARRAY" || leaf.type === "FIXED_LEN_BYTE_ARRAY"
  if (name === "DELTA_LENGTH_BYTE_ARRAY" && leaf.type === "BYTE_ARRAY") return lengthsFirst(leaf, bytes, start, count)
  if (name === "DELTA_BYTE_ARRAY" && isBytes) return prefixed(leaf, bytes, start, count)
  return damaged(`a page of ${leaf.type} has the encoding ${name ?? encoding}, which is not supported`)
}

const cutOff = (): never => damaged("a page ends before its values do")
const none: Next = cutOff

/** How many bytes a value has; undefined where each says its own length. */
const widthOf = (leaf: Leaf): number | undefined => {
  if (leaf.type === "INT32" || leaf.type === "FLOAT") return 4
  if (leaf.type === "INT64" || leaf.type === "DOUBLE") return 8
  return leaf.type === "BYTE_ARRAY" ? undefined : leaf.width
}

const plain = (leaf: Leaf, bytes: Buffer, start: number, count: number): Next => {
  const { type, conversion } = leaf
  let at = start
  if (type === "BOOLEAN") {
    if (start + Math.ceil(count / 8) > bytes.length) cutOff()
    let bit = 0
    return () => ((bytes[start + (bit >> 3)]! >> (bit++ & 7)) & 1) === 1
  }
  const width = widthOf(leaf)
  if (width === undefined) {
    return () => {
      if (at + 4 > bytes.length) cutOff()
      const begin = at + 4
      at = begin + bytes.readUInt32LE(at)
      if (at > bytes.length) cutOff()
      return conversion.bytes(bytes, begin, at)
    }
  }
  if (start + width * count > bytes.length) cutOff()
  at -= width
  if (type === "INT32") return () => conversion.number(bytes.readInt32LE((at += 4)))
  if (type === "INT64") return () => conversion.bigint(bytes.readBigInt64LE((at += 8)))
  if (type === "FLOAT") return () => conversion.number(bytes.readFloatLE((at += 4)))
  if (type === "DOUBLE") return () => conversion.number(bytes.readDoubleLE((at += 8)))
  return () => conversion.bytes(bytes, (at += width), at + width)
}

const each = <A>(list: ArrayLike<A>, convert: (value: A) => unknown): Next => {
  let i = 0
  return () => (i < list.length ? convert(list[i++]!) : cutOff())
}

const indexed = (bytes: Buffer, start: number, count: number, dictionary: ReadonlyArray<unknown> = []): Next => {
  if (start >= bytes.length) cutOff()
  const indices = new Uint32Array(count)
  Runs.hybrid(indices, bytes, start + 1, bytes.length, bytes[start]!)
  return each(indices, (index) => (index < dictionary.length ? dictionary[index] : damaged("a page is damaged")))
}

const booleans = (bytes: Buffer, start: number, count: number): Next => {
  if (start + 4 > bytes.length) cutOff()
  const end = start + 4 + bytes.readUInt32LE(start)
  if (end > bytes.length) cutOff()
  const bits = new Uint8Array(count)
  Runs.hybrid(bits, bytes, start + 4, end, 1)
  return each(bits, (bit) => bit === 1)
}

/** BYTE_STREAM_SPLIT: all first bytes, then all second bytes, … */
const together = (leaf: Leaf, bytes: Buffer, start: number, count: number): Buffer => {
  const width = widthOf(leaf)
  if (width === undefined || leaf.type === "BOOLEAN") {
    return damaged(`a page of ${leaf.type} has the encoding BYTE_STREAM_SPLIT`)
  }
  if (start + width * count > bytes.length) cutOff()
  const joined = Buffer.alloc(width * count)
  for (let stream = 0, at = start; stream < width; stream++) {
    for (let i = 0; i < count; i++) joined[i * width + stream] = bytes[at++]!
  }
  return joined
}

const lengthsFirst = (leaf: Leaf, bytes: Buffer, start: number, count: number): Next => {
  const position = { at: start }
  const lengths = Runs.deltas(new Int32Array(count), bytes, position, bytes.length)
  return each(lengths, (length) => {
    const begin = position.at
    position.at += length
    if (length < 0 || position.at > bytes.length) cutOff()
    return leaf.conversion.bytes(bytes, begin, position.at)
  })
}

/** DELTA_BYTE_ARRAY: how much of the value before is kept, and what follows it. */
const prefixed = (leaf: Leaf, bytes: Buffer, start: number, count: number): Next => {
  const position = { at: start }
  const prefixes = Runs.deltas(new Int32Array(count), bytes, position, bytes.length)
  const suffixes = Runs.deltas(new Int32Array(count), bytes, position, bytes.length)
  let before = Buffer.alloc(0)
  let i = 0
  return () => {
    const prefix = prefixes[i] ?? cutOff()
    const suffix = suffixes[i++]!
    if (prefix < 0 || prefix > before.length || suffix < 0 || position.at + suffix > bytes.length) cutOff()
    const value = Buffer.allocUnsafe(prefix + suffix)
    before.copy(value, 0, 0, prefix)
    bytes.copy(value, prefix, position.at, position.at + suffix)
    position.at += suffix
    before = value
    if (leaf.type === "FIXED_LEN_BYTE_ARRAY" && value.length !== leaf.width) damaged("a page is damaged")
    return leaf.conversion.bytes(value, 0, value.length)
  }
}
