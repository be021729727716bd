/**
 * Decompresses pages. Has its own Snappy and LZ4: on damaged pages, `hyparquet`'s Snappy (1.31.5) can run forever, and
 * the LZ4 of `hyparquet-compressors` can return zeros. Formats: google/snappy format_description.txt, lz4/lz4
 * lz4_Block_format.md, apache/parquet-format Compression.md.
 */
import * as Zlib from "../../../node/ParquetCodecs.ts"
import * as Zstd from "../../../node/Zstd.ts"
import { corrupt } from "./CorruptFile.ts"

interface Output {
  readonly bytes: Uint8Array
  at: number
}

const writeLiteral = (from: Uint8Array, start: number, length: number, to: Output): void => {
  if (start + length > from.length || to.at + length > to.bytes.length) corrupt("a compressed page is damaged")
  if (length > 32) to.bytes.set(from.subarray(start, start + length), to.at)
  else for (let i = 0; i < length; i++) to.bytes[to.at + i] = from[start + i]!
  to.at += length
}

const writeCopy = (offset: number, length: number, to: Output): void => {
  const start = to.at - offset
  if (offset === 0 || start < 0 || to.at + length > to.bytes.length) corrupt("a compressed page is damaged")
  if (offset >= length && length > 32) to.bytes.copyWithin(to.at, start, start + length)
  else for (let i = 0; i < length; i++) to.bytes[to.at + i] = to.bytes[start + i]!
  to.at += length
}

const requireFull = (to: Output): Uint8Array =>
  to.at === to.bytes.length ? to.bytes : corrupt(`a page has only ${to.at} of its ${to.bytes.length} bytes`)

const decompressSnappy = (from: Uint8Array, size: number): Uint8Array => {
  const to: Output = { bytes: new Uint8Array(size), at: 0 }
  const littleEndian = (at: number, count: number): number => {
    let value = 0
    for (let i = count - 1; i >= 0; i--) value = value * 256 + (from[at + i] ?? corrupt("a compressed page is cut off"))
    return value
  }
  let at = 0
  while (at < from.length && from[at++]! >= 128);
  while (at < from.length) {
    const tag = from[at++]!
    const high = tag >> 2
    if ((tag & 3) === 0) {
      const extra = high < 60 ? 0 : high - 59
      const length = (extra === 0 ? high : littleEndian(at, extra)) + 1
      writeLiteral(from, at + extra, length, to)
      at += extra + length
    } else if ((tag & 3) === 1) {
      writeCopy(littleEndian(at, 1) + ((tag >> 5) << 8), (high & 7) + 4, to)
      at++
    } else {
      const width = (tag & 3) === 2 ? 2 : 4
      writeCopy(littleEndian(at, width), high + 1, to)
      at += width
    }
  }
  return requireFull(to)
}

const lz4Block = (from: Uint8Array, to: Output): void => {
  let at = 0
  const next = (): number => from[at++] ?? corrupt("a compressed page is cut off")
  const lengthOf = (nibble: number): number => {
    let length = nibble
    for (let byte = nibble === 15 ? 255 : 0; byte === 255; length += byte) byte = next()
    return length
  }
  while (at < from.length) {
    const token = next()
    const length = lengthOf(token >> 4)
    writeLiteral(from, at, length, to)
    at += length
    if (at === from.length) return
    const offset = next() + next() * 256
    writeCopy(offset, lengthOf(token & 15) + 4, to)
  }
}

const decompressLz4 = (from: Uint8Array, size: number): Uint8Array => {
  const to: Output = { bytes: new Uint8Array(size), at: 0 }
  lz4Block(from, to)
  return requireFull(to)
}

/** In Hadoop's format, two big-endian sizes precede each block. Some writers omit them and write a single block. */
const decompressLz4Hadoop = (from: Uint8Array, size: number): Uint8Array => {
  const view = new DataView(from.buffer, from.byteOffset, from.length)
  const blocks: Array<{ readonly start: number; readonly end: number; readonly size: number }> = []
  let total = 0
  let end = 0
  while (end + 8 <= from.length && total < size) {
    const block = { start: end + 8, end: end + 8 + view.getUint32(end + 4), size: view.getUint32(end) }
    blocks.push(block)
    total += block.size
    end = block.end
  }
  if (end !== from.length || total !== size) return decompressLz4(from, size)
  const bytes = new Uint8Array(size)
  let at = 0
  for (const block of blocks) {
    bytes.set(decompressLz4(from.subarray(block.start, block.end), block.size), at)
    at += block.size
  }
  return bytes
}

const decompressors: Readonly<Record<string, (bytes: Uint8Array, size: number) => Uint8Array>> = {
  UNCOMPRESSED: (bytes) => bytes,
  SNAPPY: decompressSnappy,
  GZIP: Zlib.gunzip,
  BROTLI: Zlib.decompressBrotli,
  ZSTD: Zstd.decompress,
  LZ4: decompressLz4Hadoop,
  LZ4_RAW: decompressLz4,
}

export const isSupported = (codec: string): boolean => Object.hasOwn(decompressors, codec)

export const decompress = (codec: string, bytes: Uint8Array, size: number): Uint8Array => {
  const decompressed = size === 0 ? bytes.subarray(0, 0) : decompressors[codec]!(bytes, size)
  if (decompressed.length !== size) corrupt(`expected a page of ${size} bytes, found ${decompressed.length}`)
  // hyparquet may read beyond the page, up to the end of the buffer.
  return decompressed.buffer.byteLength === size ? decompressed : Uint8Array.from(decompressed)
}
