/** Checks Parquet's packed integers, because `hyparquet` decodes them without bounds (parquet-format, Encodings.md). */
import { corrupt } from "./CorruptFile.ts"
import { ThriftReader } from "./Thrift.ts"

/** Maximum bits of an index, so that a dictionary has up to 16 million values. */
const maxBits = 24

const maxPadding = 1024

const bitsAt = (bytes: Uint8Array, first: number, bits: number): number => {
  let value = 0
  for (let readBits = 0; readBits < bits;) {
    const from = (first + readBits) & 7
    const count = Math.min(8 - from, bits - readBits)
    value |= ((bytes[(first + readBits) >> 3]! >> from) & ((1 << count) - 1)) << readBits
    readBits += count
  }
  return value
}

export interface Runs {
  readonly tally: ReadonlyArray<number>
  readonly missingBytes: number
}

export const checkRuns = (bytes: Uint8Array, bits: number, count: number, max?: number): Runs => {
  const tally = Array.from({ length: (max ?? 0) + 1 }, () => 0)
  if (bits > maxBits) corrupt("a page is damaged")
  const add = (level: number, times: number) => {
    if (level > max!) corrupt("a page is damaged: a repetition or definition level exceeds the maximum for the column")
    tally[level]! += times
  }
  const reader = new ThriftReader(bytes)
  let end = 0
  for (let checkedValues = 0; checkedValues < count;) {
    const header = reader.varint()
    const values = header % 2 === 0 ? header / 2 : (header - 1) * 4
    if (values > count - checkedValues + (header % 2) * maxPadding)
      corrupt("a page has more values than its header states")
    const usedValues = Math.min(values, count - checkedValues)
    const start = reader.skip(Math.ceil(header % 2 === 0 ? bits / 8 : (usedValues * bits) / 8))
    if (header % 2 === 1) end = start + (values * bits) / 8
    if (max !== undefined && header % 2 === 0) add(bitsAt(bytes, start * 8, Math.ceil(bits / 8) * 8), usedValues)
    else if (max !== undefined) {
      for (let i = 0; i < usedValues; i++) add(bitsAt(bytes, start * 8 + i * bits, bits), 1)
    }
    checkedValues += values
  }
  return { tally, missingBytes: Math.max(0, end - bytes.length) }
}

const maxBlockValues = 1 << 20

export const checkDeltas = (bytes: Uint8Array, start: number, count: number, lengths?: Int32Array): number => {
  const reader = new ThriftReader(bytes, start)
  const blockSize = reader.varint()
  const miniblocks = reader.varint()
  const perMiniblock = blockSize / miniblocks
  const isSound = blockSize <= maxBlockValues && perMiniblock >= 8 && perMiniblock % 8 === 0
  if (!isSound || reader.varint() !== count) corrupt("a page is damaged")
  let value = reader.zigzag()
  const set = (i: number) => {
    if (lengths === undefined) return
    if (value < 0) corrupt("a page has a value of negative length")
    lengths[i] = value
  }
  set(0)
  for (let i = 1; i < count;) {
    const delta = reader.zigzag()
    const widths = reader.skip(miniblocks)
    for (let block = 0; block < miniblocks && i < count; block++, i += perMiniblock) {
      const width = bytes[widths + block]!
      if (width > 64) corrupt("a page is damaged")
      const at = reader.skip((perMiniblock * width) / 8) * 8
      if (lengths === undefined) continue
      for (let k = 0; k < perMiniblock && i + k < count; k++) {
        value = (value + delta + bitsAt(bytes, at + k * width, Math.min(width, 32))) | 0
        set(i + k)
      }
    }
  }
  return reader.at
}
