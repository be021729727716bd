/**
 * A page: checked, unpacked, and taken apart into levels and values.
 *
 * Guarantees: where the writer put a checksum, it fits; there are as many levels as the header says, none
 * higher than the schema allows.
 */
import * as Codecs from "../../../node/ParquetCodecs.ts"
import * as Zstd from "../../../node/Zstd.ts"
import * as Blocks from "./ParquetBlocks.ts"
import { damaged } from "./ParquetDamage.ts"
import * as Encodings from "./ParquetEncodings.ts"
import type { PageHeader } from "./ParquetPageHeader.ts"
import * as Runs from "./ParquetRuns.ts"
import type { Leaf } from "./ParquetSchema.ts"

export interface Page {
  /** Of levels: of values, nulls included. */
  readonly count: number
  /** See `costOf`. */
  readonly cost: number
  /** Rows that begin in it. */
  readonly records: number
  /** Undefined where all are the highest. */
  readonly definitions: Uint8Array | undefined
  /** Undefined where all are 0. */
  readonly repetitions: Uint8Array | undefined
  /** The next that is not null. */
  readonly next: Encodings.Next
}

/** In bytes: of a page, unpacked. Writers make pages of 1 MB, some of 100 MB. */
const sizeMax = Zstd.outputLimit

/** Of a page: one of 67 million nulls is made of few bytes. */
const countMax = 1 << 26

const unpackers: Readonly<Record<string, (bytes: Uint8Array, size: number) => Uint8Array>> = {
  UNCOMPRESSED: (bytes) => bytes,
  SNAPPY: Blocks.unsnappy,
  GZIP: Codecs.gunzip,
  BROTLI: Codecs.unbrotli,
  ZSTD: Zstd.decompress,
  LZ4: Blocks.unlz4Hadoop,
  LZ4_RAW: Blocks.unlz4,
}

export const isSupported = (codec: string): boolean => Object.hasOwn(unpackers, codec)

const unpack = (codec: string, bytes: Uint8Array, size: number): Buffer => {
  const unpacked = size === 0 ? bytes.subarray(0, 0) : unpackers[codec]!(bytes, size)
  if (unpacked.length !== size) damaged(`a page of ${size} bytes has ${unpacked.length}`)
  return Buffer.from(unpacked.buffer, unpacked.byteOffset, unpacked.length)
}

const check = (header: PageHeader, stored: Uint8Array): void => {
  if (header.crc !== undefined && Codecs.checksum(stored) !== header.crc >>> 0) {
    damaged("a page's checksum does not fit its bytes")
  }
}

/**
 * The memory that a page needs at the most, in bytes: as it is, with two levels and an index for each value;
 * of a dictionary, with all values.
 *
 * @throws Damage where no page is so large
 */
export const costOf = ({ kind, size, count }: PageHeader): number => {
  if (size > sizeMax) damaged(`a page claims to hold ${size} bytes, more than ${sizeMax}`)
  if (count > countMax) damaged(`a page claims to hold ${count} values, more than ${countMax}`)
  return size + count * (kind === "dictionary" ? 64 : 6)
}

/** The values of a dictionary page. @throws Damage, or what the unpacker throws */
export const dictionary = (leaf: Leaf, codec: string, header: PageHeader, stored: Uint8Array): Array<unknown> => {
  check(header, stored)
  const bytes = unpack(codec, stored, header.size)
  // A value has at least a bit.
  if (header.count > bytes.length * 8) damaged("a dictionary ends before its values do")
  const plain = 0
  const next = Encodings.values(leaf, plain, bytes, 0, header.count, undefined)
  return Array.from({ length: header.count }, next)
}

/** A data page. @throws Damage, or what the unpacker throws */
export const decode = (
  leaf: Leaf,
  codec: string,
  header: PageHeader,
  stored: Uint8Array,
  dictionary: ReadonlyArray<unknown> | undefined,
): Page => {
  check(header, stored)
  return header.kind === "data v2"
    ? decodeV2(leaf, codec, header, stored, dictionary)
    : decodeV1(leaf, codec, header, stored, dictionary)
}

const decodeV1 = (
  leaf: Leaf,
  codec: string,
  header: PageHeader,
  stored: Uint8Array,
  dictionary: ReadonlyArray<unknown> | undefined,
): Page => {
  const bytes = unpack(codec, stored, header.size)
  let at = 0
  const levels = (max: number, encoding: number | undefined): Uint8Array | undefined => {
    if (max === 0) return undefined
    if (encoding !== rle) damaged("its levels have an encoding that is not supported")
    if (at + 4 > bytes.length) damaged("a page ends before its levels do")
    const start = at + 4
    at = start + bytes.readUInt32LE(at)
    return readLevels(max, header.count, bytes, start, at)
  }
  const [definitionEncoding, repetitionEncoding] = header.levelEncodings
  const repetitions = levels(leaf.repeat, repetitionEncoding)
  const definitions = levels(leaf.definition, definitionEncoding)
  return page(leaf, header, definitions, repetitions, bytes, at, dictionary)
}

const rle = 3

const decodeV2 = (
  leaf: Leaf,
  codec: string,
  header: PageHeader,
  stored: Uint8Array,
  dictionary: ReadonlyArray<unknown> | undefined,
): Page => {
  const { repetitionsSize, definitionsSize } = header
  const start = repetitionsSize + definitionsSize
  if (start > Math.min(stored.length, header.size)) damaged("a page ends before its levels do")
  const levels = (max: number, from: number, to: number) =>
    max === 0 ? undefined : readLevels(max, header.count, stored, from, to)
  const repetitions = levels(leaf.repeat, 0, repetitionsSize)
  const definitions = levels(leaf.definition, repetitionsSize, start)
  const values = stored.subarray(start)
  const bytes = unpack(header.isCompressed ? codec : "UNCOMPRESSED", values, header.size - start)
  return page(leaf, header, definitions, repetitions, bytes, 0, dictionary)
}

const readLevels = (max: number, count: number, bytes: Uint8Array, start: number, end: number): Uint8Array => {
  if (end > bytes.length) damaged("a page ends before its levels do")
  const levels = new Uint8Array(count)
  Runs.hybrid(levels, bytes, start, end, 32 - Math.clz32(max))
  return levels
}

const page = (
  leaf: Leaf,
  header: PageHeader,
  definitions: Uint8Array | undefined,
  repetitions: Uint8Array | undefined,
  bytes: Buffer,
  at: number,
  dictionary: ReadonlyArray<unknown> | undefined,
): Page => {
  const { count } = header
  const present = definitions === undefined ? count : countOf(definitions, leaf.definition, leaf.definition)
  const records = repetitions === undefined ? count : countOf(repetitions, 0, leaf.repeat)
  const next = Encodings.values(leaf, header.encoding, bytes, at, present, dictionary)
  return {
    count,
    cost: costOf(header),
    records,
    definitions: present === count ? undefined : definitions,
    repetitions,
    next,
  }
}

/** How often `level` is among them, none of which may be higher than `max`. */
const countOf = (levels: Uint8Array, level: number, max: number): number => {
  let count = 0
  for (let i = 0; i < levels.length; i++) {
    if (levels[i] === level) count++
    else if (levels[i]! > max) damaged("a page's levels are damaged")
  }
  return count
}
