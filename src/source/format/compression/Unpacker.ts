/** Finds damage that some streams of Node accept: bytes after the last member, and truncated Zstandard frames. */
import { Data, Effect } from "effect"
import * as Decompress from "../../../node/Decompress.ts"
import type { SourceError } from "../../record/SourceError.ts"
import { concat } from "../../../io/RecordBuffer.ts"
import type { ByteReader } from "./ByteReader.ts"

export class Fault extends Data.TaggedError("Fault")<{
  readonly problem: string
  readonly isCutShort?: true
}> {}

export interface Unpacker {
  readonly next: Effect.Effect<Uint8Array | undefined, SourceError | Fault>
  readonly close: () => void
}

type Reader = ByteReader<SourceError>

const cutShort = (name: string): Fault =>
  new Fault({
    problem: `the ${name} data ends too early, so the file may be truncated; download it again`,
    isCutShort: true,
  })

const damaged = (name: string, problem: string): Fault =>
  new Fault({ problem: `the ${name} data is damaged (${problem}); download it again` })

const trailingBytes = (name: string, bytes: Uint8Array): Fault => {
  const hex = [...bytes.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")
  return new Fault({
    problem: `other bytes follow the ${name} data (${hex}${bytes.length > 8 ? " …" : ""}); remove them, or download the file again`,
  })
}

const littleEndian = (bytes: Uint8Array): number => bytes.reduce((sum, byte, i) => sum + byte * 256 ** i, 0)

const stepOf = (decoder: Decompress.Decoder, name: string) =>
  Effect.catchTag(decoder.next, "CorruptData", ({ problem }) => Effect.fail(damaged(name, problem)))

const flag = { headerChecksum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 }

const takeWhole = Effect.fnUntraced(function* (reader: Reader, count: number, name: string) {
  const bytes = yield* reader.take(count)
  return bytes.length === count ? bytes : yield* cutShort(name)
})

const skipTo = Effect.fnUntraced(function* (reader: Reader, fits: (byte: number) => boolean) {
  while (true) {
    const chunk = yield* reader.chunk
    if (chunk === undefined) return false
    const at = chunk.findIndex(fits)
    if (at === -1) continue
    reader.unread(chunk.subarray(at))
    return true
  }
})

const skipGzipHeader = Effect.fnUntraced(function* (reader: Reader) {
  const header = yield* takeWhole(reader, 10, "gzip")
  const flags = header[3]!
  if (header[2] !== 8 || (flags & flag.reserved) !== 0) return yield* damaged("gzip", "an unknown header")
  if ((flags & flag.extra) !== 0) {
    yield* takeWhole(reader, littleEndian(yield* takeWhole(reader, 2, "gzip")), "gzip")
  }
  for (const text of [flag.name, flag.comment]) {
    if ((flags & text) === 0) continue
    yield* skipTo(reader, (byte) => byte === 0)
    yield* takeWhole(reader, 1, "gzip")
  }
  if ((flags & flag.headerChecksum) !== 0) yield* takeWhole(reader, 2, "gzip")
})

export const gzip = (reader: Reader): Unpacker => {
  let decoder: Decompress.Decoder | undefined
  let isFirst = true
  let checksum = 0
  let size = 0
  const begin = Effect.gen(function* () {
    if (!isFirst && !(yield* skipTo(reader, (byte) => byte !== 0))) return undefined
    const beginning = yield* reader.take(9)
    if (beginning.length === 0) return undefined
    const isMember = beginning[0] === 0x1f && (beginning[1] === 0x8b || beginning.length === 1)
    if (!isMember) return yield* trailingBytes("gzip", beginning)
    reader.unread(beginning)
    yield* skipGzipHeader(reader)
    isFirst = false
    checksum = 0
    size = 0
    decoder = Decompress.make("deflate")
    return decoder
  })
  const end = Effect.gen(function* () {
    decoder?.close()
    decoder = undefined
    const trailer = yield* takeWhole(reader, 8, "gzip")
    if (littleEndian(trailer.subarray(0, 4)) !== checksum || littleEndian(trailer.subarray(4)) !== size % 2 ** 32) {
      return yield* damaged("gzip", "the checksum differs")
    }
  })
  return {
    close: () => decoder?.close(),
    next: Effect.gen(function* () {
      while (true) {
        const current = decoder ?? (yield* begin)
        if (current === undefined) return undefined
        const step = yield* stepOf(current, "gzip")
        if (step._tag === "Output") {
          checksum = Decompress.crc32(step.bytes, checksum)
          size += step.bytes.length
          return step.bytes
        }
        if (step._tag === "NeedsInput") {
          const chunk = yield* reader.chunk
          if (chunk === undefined) return yield* cutShort("gzip")
          current.write(chunk)
        } else {
          reader.unread(step.unused)
          yield* end
        }
      }
    }),
  }
}

const zstdMagic = 0xfd2fb528

const isSkippable = (magic: number): boolean => (magic & 0xfffffff0) >>> 0 === 0x184d2a50

export const isZstd = (head: Uint8Array): boolean => {
  const magic = littleEndian(head.subarray(0, 4))
  return magic === zstdMagic || isSkippable(magic)
}

/** The default limit of `node:zlib`. */
const maxWindowBytes = 128 * 1024 * 1024

const windowOf = (descriptor: number): number => 2 ** (10 + (descriptor >> 3)) * (1 + (descriptor & 7) / 8)

const blockTypes = { rle: 1, reserved: 3 }

/** RFC 8878, 3.1.1. */
export const zstd = (reader: Reader): Unpacker => {
  const decoder = Decompress.make("zstd")
  const take = (count: number) => takeWhole(reader, count, "Zstandard")
  let hasChecksum = false
  let next: "header" | "block" | "checksum" = "header"
  const skip = Effect.fnUntraced(function* (count: number) {
    for (let missing = count; missing > 0;) missing -= (yield* take(Math.min(missing, 65_536))).length
  })
  const header = Effect.gen(function* () {
    while (true) {
      const beginning = yield* reader.take(9)
      if (beginning.length === 0) return undefined
      if (beginning.length < 4) return yield* cutShort("Zstandard")
      if (!isZstd(beginning)) return yield* trailingBytes("Zstandard", beginning)
      reader.unread(beginning)
      if (littleEndian(beginning.subarray(0, 4)) === zstdMagic) break
      yield* skip(littleEndian((yield* take(8)).subarray(4)))
    }
    const fixed = yield* take(5)
    const descriptor = fixed[4]!
    const isSingleSegment = (descriptor & 0x20) !== 0
    const windowBytes = isSingleSegment ? 0 : 1
    const dictionaryEnd = windowBytes + [0, 1, 2, 4][descriptor & 3]!
    const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!
    const rest = yield* take(dictionaryEnd + sizeBytes)
    const dictionary = littleEndian(rest.subarray(windowBytes, dictionaryEnd))
    const window = isSingleSegment ? littleEndian(rest.subarray(dictionaryEnd)) : windowOf(rest[0]!)
    if (dictionary !== 0) {
      const problem = `the file was compressed with a dictionary (number ${dictionary}); compress it without one`
      return yield* new Fault({ problem })
    }
    if (window > maxWindowBytes) {
      const problem = `the file needs ${window / 1024 / 1024} MiB of memory to decompress, more than 128 MiB; compress it again without --long or --ultra`
      return yield* new Fault({ problem })
    }
    hasChecksum = (descriptor & 4) !== 0
    next = "block"
    return concat([fixed, rest])
  })
  const block = Effect.gen(function* () {
    const head = yield* take(3)
    const bits = littleEndian(head)
    const type = (bits >> 1) & 3
    if (type === blockTypes.reserved) return yield* damaged("Zstandard", "a block of an unknown type")
    if ((bits & 1) === 1) next = hasChecksum ? "checksum" : "header"
    return concat([head, yield* take(type === blockTypes.rle ? 1 : bits >>> 3)])
  })
  const checksum = Effect.suspend(() => {
    next = "header"
    return take(4)
  })
  const parts = { header, block, checksum }
  return {
    close: decoder.close,
    next: Effect.gen(function* () {
      while (true) {
        const step = yield* stepOf(decoder, "Zstandard")
        if (step._tag === "Output") return step.bytes
        if (step._tag === "Ended") return yield* damaged("Zstandard", "unexpected end")
        const bytes = yield* parts[next]
        if (bytes === undefined) return undefined
        decoder.write(bytes)
      }
    }),
  }
}

export const brotli = (reader: Reader): Unpacker => {
  const decoder = Decompress.make("brotli")
  let isCutShort = false
  return {
    close: decoder.close,
    next: Effect.gen(function* () {
      while (true) {
        const step = yield* isCutShort
          ? Effect.catchTag(decoder.next, "CorruptData", () => Effect.fail(cutShort("Brotli")))
          : stepOf(decoder, "Brotli")
        if (step._tag === "Output") return step.bytes
        if (step._tag === "NeedsInput") {
          const chunk = yield* reader.chunk
          if (chunk === undefined) {
            isCutShort = true
            decoder.end()
          } else decoder.write(chunk)
        } else {
          reader.unread(step.unused)
          const rest = yield* reader.take(9)
          if (rest.length > 0) return yield* trailingBytes("Brotli", rest)
          return undefined
        }
      }
    }),
  }
}
