/**
 * Integers in Parquet's packed forms.
 *
 * Guarantees: nothing is read past `end`, and nothing allocated beyond what the caller asks for: what does
 * not fit throws `Damage`.
 *
 * https://github.com/apache/parquet-format/blob/master/Encodings.md
 */
import { damaged } from "./ParquetDamage.ts"

/** Where the next value is read. */
export interface Position {
  at: number
}

const cutOff = (): never => damaged("a page ends before its values do")

/** Up to 2^53 it is exact. */
const varint = (bytes: Uint8Array, position: Position, end: number): number => {
  let value = 0
  for (let i = 0; i < 10; i++) {
    if (position.at >= end) cutOff()
    const next = bytes[position.at++]!
    value += (next & 0x7f) * 128 ** i
    if (next < 0x80) return value
  }
  return damaged("a page is damaged")
}

/** More bits than these, a dictionary of 16 million values, are not to be expected. */
const widthMax = 24

/** The hybrid of runs and bit-packed values, which levels and dictionary indices have; fills `out`. */
export const hybrid = (out: Uint8Array | Uint32Array, bytes: Uint8Array, start: number, end: number, width: number) => {
  if (width > widthMax) damaged("a page is damaged")
  const position = { at: start }
  const runBytes = (width + 7) >> 3
  const mask = 2 ** width - 1
  for (let i = 0; i < out.length;) {
    const header = varint(bytes, position, end)
    if (header % 2 === 0) {
      if (position.at + runBytes > end) cutOff()
      let value = 0
      for (let k = 0; k < runBytes; k++) value |= bytes[position.at++]! << (8 * k)
      const count = Math.min(header / 2, out.length - i)
      out.fill(value, i, i + count)
      i += count
    } else {
      const groups = (header - 1) / 2
      const count = Math.min(groups * 8, out.length - i)
      // Of the last group, some writers write no more than they need.
      if (position.at + Math.ceil((count * width) / 8) > end) cutOff()
      let at = position.at
      let held = 0
      let heldBits = 0
      for (const last = i + count; i < last; i++) {
        while (heldBits < width) {
          held |= bytes[at++]! << heldBits
          heldBits += 8
        }
        out[i] = held & mask
        held >>>= width
        heldBits -= width
      }
      position.at = Math.min(position.at + groups * width, end)
    }
  }
}

const blockMax = 1 << 20

/** DELTA_BINARY_PACKED: `count` integers of 32 or 64 bits; the position moves behind them. */
export const deltas = <A extends Int32Array | BigInt64Array>(
  out: A,
  bytes: Uint8Array,
  position: Position,
  end: number,
): A => {
  const blockSize = varint(bytes, position, end)
  const miniblocks = varint(bytes, position, end)
  const total = varint(bytes, position, end)
  const perMiniblock = blockSize / miniblocks
  if (blockSize > blockMax || !(perMiniblock >= 8 && perMiniblock % 8 === 0)) damaged("a page is damaged")
  if (total !== out.length) damaged(`a page has ${total} values, expected ${out.length}`)
  let value = zigzag(bytes, position, end)
  const set = (i: number) => {
    if (out instanceof Int32Array) out[i] = Number(BigInt.asIntN(32, value))
    else out[i] = value
  }
  if (total > 0) set(0)
  for (let i = 1; i < total;) {
    const least = zigzag(bytes, position, end)
    const widths = position.at
    position.at += miniblocks
    for (let block = 0; block < miniblocks && i < total; block++) {
      if (widths + block >= end) cutOff()
      const width = bytes[widths + block]!
      const size = (perMiniblock * width) / 8
      if (width > 64) damaged("a page is damaged")
      if (position.at + size > end) cutOff()
      for (let k = 0; k < perMiniblock && i < total; k++, i++) {
        const residual = width === 0 ? 0n : bitsAt(bytes, position.at, k * width, width)
        value = BigInt.asIntN(64, value + least + residual)
        set(i)
      }
      position.at += size
    }
  }
  return out
}

const zigzag = (bytes: Uint8Array, position: Position, end: number): bigint => {
  let value = 0n
  for (let i = 0n; i < 10n; i++) {
    if (position.at >= end) cutOff()
    const next = bytes[position.at++]!
    value |= BigInt(next & 0x7f) << (7n * i)
    if (next < 0x80) return (value >> 1n) ^ -(value & 1n)
  }
  return damaged("a page is damaged")
}

const bitsAt = (bytes: Uint8Array, start: number, bit: number, width: number): bigint => {
  const first = start + (bit >> 3)
  const last = start + ((bit + width - 1) >> 3)
  const shift = bit & 7
  if (shift + width <= 32) {
    let value = 0
    for (let at = last; at >= first; at--) value = (value << 8) | bytes[at]!
    return BigInt((value >>> shift) & (width === 32 ? -1 : (1 << width) - 1)) & 0xff_ff_ff_ffn
  }
  let value = 0n
  for (let at = last; at >= first; at--) value = (value << 8n) | BigInt(bytes[at]!)
  return BigInt.asUintN(width, value >> BigInt(shift))
}
