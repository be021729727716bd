/**
 * The pages of a column chunk, checked before `hyparquet` decodes them: it believes what pages say.
 *
 * Guarantees: where the writer put a checksum, it fits; the pages hold as many values as the footer says;
 * levels and counts fit each other and the schema, so that no page loops, fills memory or is read beyond its
 * end. Bytes that were changed where there is no checksum can still give other values.
 *
 * https://github.com/apache/parquet-format/blob/master/Encodings.md
 */
import * as Zlib from "../../../node/ParquetCodecs.ts"
import * as Zstd from "../../../node/Zstd.ts"
import * as Codecs from "./Codecs.ts"
import { corrupt } from "./CorruptFile.ts"
import type { Chunk } from "./Footer.ts"
import { checkDeltas, checkRuns } from "./Runs.ts"
import type { Leaf } from "./Schema.ts"
import { type Struct, ThriftReader } from "./Thrift.ts"

interface Page {
  readonly kind: "data" | "data v2" | "dictionary"
  readonly encoding: number
  /** Of values, nulls included. */
  readonly count: number
  /** Of version 2, where they are not compressed: levels, and how many values are not null. */
  readonly levels?: { readonly repetitions: Uint8Array; readonly definitions: Uint8Array; readonly present: number }
  readonly isCompressed: boolean
}

/** Takes so many bytes from what a row group may need. @throws CorruptFile where they are too many */
export type Spend = (bytes: number) => void

/** Unpacked. Writers make pages of 1 MB, some of 100 MB. */
const maxPageBytes = Zstd.maxOutputBytes

/** Beyond, JavaScript's arrays become hash tables. */
const maxPageValues = 1 << 24

/** What `hyparquet` needs for a value: a place in the levels, and one in the column. */
const valueBytes = 16

const encodings = { plain: 0, plainDictionary: 2, rle: 3, deltas: 5, lengths: 6, prefixes: 7, dictionary: 8, split: 9 }

/** The kind of a page, and the field of its header that tells more. */
const kinds: ReadonlyArray<readonly [Page["kind"], number] | undefined> = [
  ["data", 5],
  undefined,
  ["dictionary", 7],
  ["data v2", 8],
]

export class Pages {
  readonly #leaf: Leaf
  readonly #chunk: Chunk
  readonly #spend: Spend
  /** By where their compressed values begin. */
  readonly #pages = new Map<number, Page>()
  #hasDictionary = false
  #rows = 0

  /**
   * @param bytes of the chunk; a flag in them is changed (see `#add`)
   * @throws CorruptFile
   */
  constructor(leaf: Leaf, chunk: Chunk, bytes: Uint8Array, spend: Spend) {
    this.#leaf = leaf
    this.#chunk = chunk
    this.#spend = spend
    let values = 0
    for (let at = 0; values < chunk.values;) {
      if (at >= bytes.length) corrupt(`it ends after ${values} of ${chunk.values} values`)
      const reader = new ThriftReader(bytes, at)
      const header = reader.struct()
      at = reader.at + numberIn(header, 3)
      if (at > bytes.length) corrupt("a page goes beyond the column's end")
      const page = this.#add(header, bytes, reader.at, at)
      if (page.kind !== "dictionary") values += page.count
      if (values > chunk.values) corrupt(`it has more than ${chunk.values} values`)
    }
  }

  /** Of the data pages that were unpacked: how many rows begin in them. */
  get rows(): number {
    return this.#rows
  }

  /**
   * The content of the page whose compressed values begin at `offset`.
   *
   * @throws CorruptFile, or what `node:zlib` throws
   */
  unpack(offset: number, stored: Uint8Array, size: number): Uint8Array {
    const page = this.#pages.get(offset) ?? corrupt("a page's levels are damaged")
    const bytes = Codecs.decompress(page.isCompressed ? this.#chunk.codec : "UNCOMPRESSED", stored, size)
    if (page.kind !== "dictionary") this.#checkData(page, bytes)
    else if (page.count > bytes.length * 8) corrupt("a dictionary ends before its values do")
    return bytes
  }

  #add(header: Struct, bytes: Uint8Array, start: number, end: number): Page {
    const [kind, field] = kinds[numberIn(header, 1)] ?? corrupt("a page is of an unknown kind")
    const details = header.values.get(field)
    if (typeof details !== "object") return corrupt("a page is damaged")
    const [size, count] = [numberIn(header, 2), numberIn(details, 1)]
    if (size > maxPageBytes) corrupt(`a page claims to hold ${size} bytes, more than ${maxPageBytes}`)
    if (count > maxPageValues) corrupt(`a page claims to hold ${count} values, more than ${maxPageValues}`)
    this.#spend(size + count * valueBytes)
    const checksum = header.values.get(4)
    if (typeof checksum === "number" && Zlib.checksum(bytes.subarray(start, end)) !== checksum >>> 0) {
      corrupt("a page's checksum does not fit its bytes")
    }
    const encoding = numberIn(details, kind === "data v2" ? 4 : 2)
    if (kind === "dictionary") this.#hasDictionary = true
    else this.#requireEncoding(encoding)
    if (kind !== "data v2") {
      if (kind === "data") this.#requireLevelEncodings(details)
      return this.#set(start, { kind, encoding, count, isCompressed: true })
    }
    const middle = start + numberIn(details, 6)
    const values = middle + numberIn(details, 5)
    if (values > Math.min(end, start + size)) corrupt("a page ends before its levels do")
    const isCompressed = details.values.get(7) !== 0
    // hyparquet passes only compressed pages to a decompressor, where they are checked and get a buffer of their own.
    if (!isCompressed) bytes[details.starts.get(7)!]! ^= 3
    const levels = {
      repetitions: bytes.subarray(start, middle),
      definitions: bytes.subarray(middle, values),
      present: count - numberIn(details, 2),
    }
    return this.#set(values, { kind, encoding, count, isCompressed, levels })
  }

  #set(offset: number, page: Page): Page {
    this.#pages.set(offset, page)
    return page
  }

  #requireLevelEncodings(details: Struct): void {
    const { maxDefinition, maxRepetition } = this.#leaf
    const isRle = (field: number) => details.values.get(field) === encodings.rle
    if ((maxDefinition > 0 && !isRle(3)) || (maxRepetition > 0 && !isRle(4))) {
      corrupt("its levels have an encoding that is not supported")
    }
  }

  #requireEncoding(encoding: number): void {
    const { type } = this.#leaf
    const isInteger = type === "INT32" || type === "INT64"
    const isBytes = type === "BYTE_ARRAY" || type === "FIXED_LEN_BYTE_ARRAY"
    const isDictionary = encoding === encodings.dictionary || encoding === encodings.plainDictionary
    if (isDictionary && !this.#hasDictionary) corrupt("a page refers to a dictionary, and there is none before it")
    const isSupported =
      encoding === encodings.plain ||
      (isDictionary && type !== "BOOLEAN") ||
      (encoding === encodings.rle && type === "BOOLEAN") ||
      (encoding === encodings.deltas && isInteger) ||
      (encoding === encodings.lengths && type === "BYTE_ARRAY") ||
      (encoding === encodings.prefixes && isBytes) ||
      (encoding === encodings.split && type !== "BYTE_ARRAY" && type !== "BOOLEAN" && type !== "INT96")
    if (!isSupported) corrupt(`a page of ${type} has encoding ${encoding}, which is not supported`)
  }

  #checkData({ count, encoding, levels }: Page, bytes: Uint8Array): void {
    const { maxDefinition, maxRepetition } = this.#leaf
    let at = 0
    /** How often each level occurs. */
    const tally = (max: number, own: Uint8Array | undefined): ReadonlyArray<number> => {
      if (max === 0) return [count]
      const runs = own ?? prefixed(bytes, at)
      if (own === undefined) at += 4 + runs.length
      return checkRuns(runs, 32 - Math.clz32(max), count, max)
    }
    const rows = tally(maxRepetition, levels?.repetitions)[0]!
    const present = tally(maxDefinition, levels?.definitions)[maxDefinition]!
    if (levels !== undefined && levels.present !== present) corrupt("a page has another number of nulls than it claims")
    this.#rows += rows
    if (present > 0) this.#checkValues(encoding, bytes.subarray(at), present)
  }

  #checkValues(encoding: number, bytes: Uint8Array, count: number): void {
    const { type, width } = this.#leaf
    if (encoding === encodings.rle) checkRuns(prefixed(bytes, 0), 1, count)
    else if (encoding === encodings.split && width * count > bytes.length) corrupt("a page ends before its values do")
    else if (encoding === encodings.dictionary || encoding === encodings.plainDictionary) {
      const [bits = corrupt("a page ends before its values do")] = bytes
      if (bits > 0) checkRuns(bytes.subarray(1), bits, count)
    } else if (encoding === encodings.deltas) checkDeltas(bytes, 0, count)
    else if (encoding === encodings.lengths) checkDeltas(bytes, 0, count, new Int32Array(count))
    else if (encoding === encodings.prefixes) {
      const prefixes = new Int32Array(count)
      const suffixes = new Int32Array(count)
      checkDeltas(bytes, checkDeltas(bytes, 0, count, prefixes), count, suffixes)
      let length = 0
      let total = 0
      for (const [i, prefix] of prefixes.entries()) {
        if (prefix > length) corrupt("a value has more in common with the one before than that has")
        length = prefix + suffixes[i]!
        if (type === "FIXED_LEN_BYTE_ARRAY" && length !== width) corrupt("a value is of another length than its column")
        total += length
      }
      this.#spend(total)
    }
  }
}

/** Not negative. */
const numberIn = ({ values }: Struct, field: number): number => {
  const value = values.get(field)
  return typeof value === "number" && value >= 0 ? value : corrupt("a page is damaged")
}

/** What follows its length in bytes. */
const prefixed = (bytes: Uint8Array, at: number): Uint8Array => {
  const length = at + 4 > bytes.length ? Infinity : new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0, true)
  return at + 4 + length > bytes.length
    ? corrupt("a page ends before its levels do")
    : bytes.subarray(at + 4, at + 4 + length)
}
