/** Checks each page of a column chunk: for a damaged page, `hyparquet` may loop, fill memory, or read too far. */
import type { ColumnDecoder, DecodedArray, PageHeader, SchemaTree } from "hyparquet/src/types.js"
import { parquetHeader, readPage } from "hyparquet/src/column.js"
import { convert, DEFAULT_PARSERS } from "hyparquet/src/convert.js"
import { getTreePath } from "hyparquet/src/schema.js"
import { flatten } from "hyparquet/src/utils.js"
import { concat } from "../../../io/RecordBuffer.ts"
import * as Zlib from "../../../node/ParquetCodecs.ts"
import * as Zstd from "../../../node/Zstd.ts"
import * as Codecs from "./Codecs.ts"
import { corrupt } from "./CorruptFile.ts"
import type { Chunk } from "./Footer.ts"
import { checkDeltas, checkRuns } from "./Runs.ts"
import type { Leaf } from "./Schema.ts"
import { ThriftReader } from "./Thrift.ts"
import { parsers } from "./Values.ts"

interface Page {
  readonly header: PageHeader
  readonly encoding: string
  readonly count: number
  readonly stored: Uint8Array
}

export type Spend = (bytes: number) => void

const maxPageBytes = Zstd.maxOutputBytes

/** In V8, arrays with more than 2^25 elements can become slow hash tables. This maximum is below that number. */
const maxPageValues = 1 << 24

/** Memory per value in `hyparquet`: a slot for its level, and one for the value. */
const valueBytes = 16

export class Pages {
  readonly #leaf: Leaf
  readonly #chunk: Chunk
  readonly #spend: Spend
  readonly #pages: Array<Page> = []
  #hasDictionary = false
  #rows = 0

  constructor(leaf: Leaf, chunk: Chunk, bytes: Uint8Array, spend: Spend) {
    this.#leaf = leaf
    this.#chunk = chunk
    this.#spend = spend
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    let values = 0
    for (let at = 0; values < chunk.values;) {
      if (at >= bytes.length) corrupt(`it ends after ${values} of ${chunk.values} values`)
      const start = new ThriftReader(bytes, at).skipStruct()
      const header = parquetHeader({ view, offset: at })
      at = start + sizeOf(header.compressed_page_size)
      if (at > bytes.length) corrupt("a page goes beyond the column's end")
      const page = this.#check(header, bytes.subarray(start, at))
      this.#pages.push(page)
      if (header.type !== "DICTIONARY_PAGE") values += page.count
      if (values > chunk.values) corrupt(`it has more than ${chunk.values} values`)
    }
  }

  *decode(rows: number, table: SchemaTree): Generator<undefined, DecodedArray> {
    const schemaPath = getTreePath(table, [...this.#leaf.keys])
    const decoder: ColumnDecoder = {
      pathInSchema: [...this.#leaf.keys],
      type: this.#leaf.type,
      element: schemaPath.at(-1)!.element,
      schemaPath,
      codec: "UNCOMPRESSED",
      parsers: { ...DEFAULT_PARSERS, ...parsers },
      utf8: false,
    }
    const parts: Array<DecodedArray> = []
    let dictionary: DecodedArray | undefined
    for (const page of this.#pages) {
      const { bytes, isEmpty } = this.#unpack(page)
      const sizes = { compressed_page_size: bytes.length, uncompressed_page_size: bytes.length }
      const header = { ...(isEmpty ? withPlainValues(page.header) : page.header), ...sizes }
      const reader = { view: new DataView(bytes.buffer), offset: 0 }
      const last = parts.at(-1)
      const { data } = readPage(reader, header, decoder, dictionary, last, 0)
      if (header.type === "DICTIONARY_PAGE") dictionary = data && convert(data, decoder)
      else if (data !== undefined && data !== last) parts.push(data)
      yield
    }
    if (this.#rows < rows) corrupt(`it ends after ${this.#rows} of ${rows} rows`)
    if (this.#rows > rows) corrupt(`it has more than ${rows} rows`)
    return flatten(parts)
  }

  #unpack(page: Page): { readonly bytes: Uint8Array; readonly isEmpty: boolean } {
    const { header, stored } = page
    const levels = levelBytes(header)
    const isCompressed = header.data_page_header_v2?.is_compressed !== false
    const values = Codecs.decompress(
      isCompressed ? this.#chunk.codec : "UNCOMPRESSED",
      stored.subarray(levels),
      header.uncompressed_page_size - levels,
    )
    const bytes = levels === 0 ? values : concat([stored.subarray(0, levels), values])
    if (header.type === "DICTIONARY_PAGE") {
      if (page.count > bytes.length * 8) corrupt("a dictionary page is too short for its values")
      return { bytes, isEmpty: false }
    }
    const { missing, present } = this.#checkData(page, bytes)
    return { bytes: missing === 0 ? bytes : concat([bytes, new Uint8Array(missing)]), isEmpty: present === 0 }
  }

  #check(header: PageHeader, stored: Uint8Array): Page {
    const size = sizeOf(header.uncompressed_page_size)
    const details = detailsOf(header)
    const count = sizeOf(details.num_values)
    if (size > maxPageBytes) corrupt(`a page header states ${size} bytes; the maximum is ${maxPageBytes}`)
    if (count > maxPageValues) corrupt(`a page header states ${count} values; the maximum is ${maxPageValues}`)
    this.#spend(size + count * valueBytes)
    if (typeof header.crc === "number" && Zlib.checksum(stored) !== header.crc >>> 0) {
      corrupt("the checksum of a page is wrong")
    }
    if (levelBytes(header) > Math.min(stored.length, size))
      corrupt("a page is too short for its repetition and definition levels")
    if (header.type === "DICTIONARY_PAGE") this.#hasDictionary = true
    else this.#requireEncoding(details.encoding)
    if (header.type === "DATA_PAGE") this.#requireLevelEncodings(header)
    return { ...this.#withoutNeedlessLevels(header, stored), encoding: details.encoding, count }
  }

  /** Removes levels (markers of lists and nulls) that the column cannot have. `hyparquet` would misread such levels. */
  #withoutNeedlessLevels(header: PageHeader, stored: Uint8Array): Pick<Page, "header" | "stored"> {
    const { data_page_header_v2: details, type } = header
    if (type !== "DATA_PAGE_V2" || details === undefined) return { header, stored }
    const { definition_levels_byte_length: definition, repetition_levels_byte_length: repetition } = details
    const lengths = {
      repetition_levels_byte_length: this.#leaf.maxRepetition === 0 ? 0 : repetition,
      definition_levels_byte_length: this.#leaf.maxDefinition === 0 ? 0 : definition,
    }
    const removedBytes =
      levelBytes(header) - lengths.repetition_levels_byte_length - lengths.definition_levels_byte_length
    if (removedBytes === 0) return { header, stored }
    const bytes = concat([
      stored.subarray(0, lengths.repetition_levels_byte_length),
      stored.subarray(repetition, repetition + lengths.definition_levels_byte_length),
      stored.subarray(repetition + definition),
    ])
    const size = header.uncompressed_page_size - removedBytes
    return {
      header: { ...header, uncompressed_page_size: size, data_page_header_v2: { ...details, ...lengths } },
      stored: bytes,
    }
  }

  #requireLevelEncodings({ data_page_header: details }: PageHeader): void {
    const { maxDefinition, maxRepetition } = this.#leaf
    const isDefinitionSound = maxDefinition === 0 || details?.definition_level_encoding === "RLE"
    const isRepetitionSound = maxRepetition === 0 || details?.repetition_level_encoding === "RLE"
    if (!isDefinitionSound || !isRepetitionSound) corrupt("unsupported encoding of levels")
  }

  #requireEncoding(encoding: string): void {
    const { type } = this.#leaf
    if (isDictionary(encoding) && !this.#hasDictionary) {
      corrupt("a page refers to a dictionary, but none comes before it")
    }
    const isSupported =
      encoding === "PLAIN" ||
      (isDictionary(encoding) && type !== "BOOLEAN") ||
      (encodedTypes[encoding]?.includes(type) ?? false)
    if (!isSupported) corrupt(`the encoding ${encoding} is not supported for values of the type ${type}`)
  }

  #checkData(
    { count, encoding, header }: Page,
    bytes: Uint8Array,
  ): { readonly missing: number; readonly present: number } {
    const { maxDefinition, maxRepetition } = this.#leaf
    const details = header.data_page_header_v2
    let at = 0
    let missing = 0
    const tally = (max: number, size: number | undefined): ReadonlyArray<number> => {
      if (max === 0) return [count]
      const runs = size === undefined ? withoutLength(bytes, at) : bytes.subarray(at, at + size)
      if (size === undefined) at += 4
      const runCheck = checkRuns(runs, 32 - Math.clz32(max), count, max)
      at += runs.length
      missing += runCheck.missingBytes
      return runCheck.tally
    }
    const rows = tally(maxRepetition, details?.repetition_levels_byte_length)[0]!
    const present = tally(maxDefinition, details?.definition_levels_byte_length)[maxDefinition]!
    if (details !== undefined && count - sizeOf(details.num_nulls) !== present) {
      corrupt("a page has a different number of nulls than its header states")
    }
    this.#rows += rows
    if (present > 0) missing += this.#checkValues(encoding, bytes.subarray(at), present)
    return { missing, present }
  }

  #checkValues(encoding: string, bytes: Uint8Array, count: number): number {
    const { type, width } = this.#leaf
    if (encoding === "RLE") return checkRuns(withoutLength(bytes, 0), 1, count).missingBytes
    if (isDictionary(encoding)) {
      const [bits = corrupt("a page is too short for its values")] = bytes
      return bits > 0 ? checkRuns(bytes.subarray(1), bits, count).missingBytes : 0
    }
    if (encoding === "BYTE_STREAM_SPLIT" && width * count > bytes.length) corrupt("a page is too short for its values")
    else if (encoding === "DELTA_BINARY_PACKED") checkDeltas(bytes, 0, count)
    else if (encoding === "DELTA_LENGTH_BYTE_ARRAY") checkDeltas(bytes, 0, count, new Int32Array(count))
    else if (encoding === "DELTA_BYTE_ARRAY") {
      const prefixes = new Int32Array(count)
      const suffixes = new Int32Array(count)
      checkDeltas(bytes, checkDeltas(bytes, 0, count, prefixes), count, suffixes)
      let length = 0
      let total = 0
      for (const [i, prefix] of prefixes.entries()) {
        if (prefix > length)
          corrupt("a page is damaged: the stated common prefix of two values is longer than the first value")
        length = prefix + suffixes[i]!
        if (type === "FIXED_LEN_BYTE_ARRAY" && length !== width)
          corrupt("a value does not have its column's fixed length")
        total += length
      }
      this.#spend(total)
    }
    return 0
  }
}

const encodedTypes: Readonly<Record<string, ReadonlyArray<string>>> = {
  RLE: ["BOOLEAN"],
  DELTA_BINARY_PACKED: ["INT32", "INT64"],
  DELTA_LENGTH_BYTE_ARRAY: ["BYTE_ARRAY"],
  DELTA_BYTE_ARRAY: ["BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"],
  BYTE_STREAM_SPLIT: ["INT32", "INT64", "FLOAT", "DOUBLE", "FIXED_LEN_BYTE_ARRAY"],
}

const isDictionary = (encoding: string): boolean => encoding === "RLE_DICTIONARY" || encoding === "PLAIN_DICTIONARY"

const withPlainValues = (header: PageHeader): PageHeader => ({
  ...header,
  ...(header.data_page_header && { data_page_header: { ...header.data_page_header, encoding: "PLAIN" } }),
  ...(header.data_page_header_v2 && { data_page_header_v2: { ...header.data_page_header_v2, encoding: "PLAIN" } }),
})

const detailsOf = (header: PageHeader) => {
  if (header.type === "INDEX_PAGE" || header.type === undefined) return corrupt("a page has an unknown type")
  const details = {
    DATA_PAGE: header.data_page_header,
    DATA_PAGE_V2: header.data_page_header_v2,
    DICTIONARY_PAGE: header.dictionary_page_header,
  }[header.type]
  return details ?? corrupt("a page is damaged")
}

const levelBytes = ({ data_page_header_v2: details, type }: PageHeader): number =>
  type !== "DATA_PAGE_V2" || details === undefined
    ? 0
    : sizeOf(details.repetition_levels_byte_length) + sizeOf(details.definition_levels_byte_length)

const sizeOf = (value: unknown): number =>
  typeof value === "number" && value >= 0 ? value : corrupt("a page is damaged")

const withoutLength = (bytes: Uint8Array, at: number): Uint8Array => {
  const length = at + 4 > bytes.length ? Infinity : new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0, true)
  return at + 4 + length > bytes.length
    ? corrupt("a page is cut off: its run-length encoded data is shorter than its declared length")
    : bytes.subarray(at + 4, at + 4 + length)
}
